#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Where a sample ran: names of processes and threads, cgroups, and the links that
# programs were run by, from the stream to each format of the report; and all of
# it live, by perf_events. What /proc tells is in tests/unit/daemon/source/test_opd_names.c, the
# forms of cgroups are in test_op_cgroup.c.
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

groups=
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	[ -z "$groups" ] || rmdir "$groups/a" "$groups/b" "$groups" 2>/dev/null
}

report() {
	"$BIN/opreport" --session-dir="$SESSION" "$@" 2>"$TMP/err"
}
# body ARG...: the report without its header.
body() {
	report -n "$@"
}
# tasks ARG...: the rows of tasks alone.
tasks() {
	body "$@" | grep -v '^	'
}

# ---- a stream in words ------------------------------------------------------

docker=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
stream "$TMP/stream" <<END
stream 1 8
event 0 0 0 0 1 1 TIMER
cookie 1 0 0 0 0 - /usr/bin/redis-check-rdb
cookie 2 0 0 0 0 - /lib/libc.so.6
cookie 3 0 0 0 0 - /opt/none/sh
kernel-range first 0xffffffff81000000 0xffffffff82000000 - vmlinux
cpu 1
task-name 4100 4100 redis-server
task-name 4100 4103 bio_lazy
task-name 4100 4103 bio_aof
task-cgroup 4100 4026531841 /system.slice/redis-server.service
task-run-as 4100 1 /usr/bin/redis-server
ctx 4103 1
tgid 4100
image 2
user
sample 0x2000 0 x4
ctx 4100 1
tgid 4100
image 1
sample 0x2008 0 x3
ctx 4104 1
tgid 4100
sample 0x2008 0 x2
task-cgroup 4200 4026532999 /system.slice/docker-$docker.scope
task-name 4200 4200 "a\\x1b[2J"
ctx 4200 3
tgid 4200
image 3
sample 0x10 0
task-cgroup 4300 0 ""
ctx 4300 3
tgid 4300
sample 0x10 0 x5
kernel
sample 0xffffffff81000010 0
END
everything="--separate-kernel=1 --separate-thread=1 --separate-cgroup=1"
# shellcheck disable=SC2086 # words
ok 'a session with names' replay "$TMP/stream" $everything
is 'its file of names' "$(cat "$CURRENT/tasks")" 'name.4100.4100 = redis-server
mounts.4100 = 4026531841
name.4100.4103 = bio_aof
name.4200.4200 = a%1b[2J
mounts.4200 = 4026532999
run./usr/bin/redis-server = /usr/bin/redis-check-rdb'
is 'sample files are of cgroups, and of the link that was run' \
	"$(files | grep -v '/{kern}/')" \
	"{root}/opt/none/sh/{cgroup}/system.slice/docker-$docker.scope/{dep}/{root}/opt/none/sh/TIMER.0.0.4200.4200.all
{root}/opt/none/sh/{no-cgroup}/{dep}/{root}/opt/none/sh/TIMER.0.0.4300.4300.all
{root}/usr/bin/redis-server/{cgroup}/system.slice/redis-server.service/{dep}/{root}/lib/libc.so.6/TIMER.0.0.4100.4103.all
{root}/usr/bin/redis-server/{cgroup}/system.slice/redis-server.service/{dep}/{root}/usr/bin/redis-check-rdb/TIMER.0.0.4100.4100.all
{root}/usr/bin/redis-server/{cgroup}/system.slice/redis-server.service/{dep}/{root}/usr/bin/redis-check-rdb/TIMER.0.0.4100.4104.all"

is 'tasks are rows of the summary' "$(body)" \
	"        6 37.5000 4300/4300  sh                    unknown
	        5 83.3333 sh
	        1 16.6667 vmlinux
        4 25.0000 4100/4103  redis-server/bio_aof  redis-server.service
	        4 100.000 libc.so.6
        3 18.7500 4100/4100  redis-server          redis-server.service
	        3 100.000 redis-check-rdb
        2 12.5000 4100/4104  redis-server/?        redis-server.service
	        2 100.000 redis-check-rdb
        1  6.2500 4200/4200  a?[2J                 docker:0123456789ab
	        1 100.000 sh"
is 'and of the table of symbols' "$(report -l | grep -A2 '^samples')" \
	'samples  %        tgid/tid   process/thread        cgroup                image name               symbol name
5        31.2500  4300/4300  sh                    unknown               sh                       /opt/none/sh
4        25.0000  4100/4103  redis-server/bio_aof  redis-server.service  libc.so.6                /lib/libc.so.6'
is 'threads of a process are one with --merge=tid' \
	"$(tasks --merge=tid,cgroup --layout=rows)" \
	'        9 56.2500 4100  redis-server
        6 37.5000 4300  sh
        1  6.2500 4200  a?[2J'
is 'columns can be asked for' \
	"$(report --merge=tid,cgroup --layout=columns | grep '^Proc\|^ .*tgid:')" \
	'Processes with a thread group ID of 4100 (redis-server)
Processes with a thread group ID of 4200 (a?[2J)
Processes with a thread group ID of 4300
        tgid:4100|        tgid:4200|        tgid:4300|'
is 'and are taken while there are few' \
	"$(report --merge=tgid | grep '^ .*cgroup:')" \
	'   cgroup:unknown|cgroup:docker:...|cgroup:redis-s...|'
is 'rows can be asked for, too' "$(tasks --merge=tgid --layout=rows)" \
	'        9 56.2500 redis-server.service
        6 37.5000 unknown
        1  6.2500 docker:0123456789ab'
is 'merged away, nothing tells tasks' "$(tasks --merge=tgid,cgroup)" \
	'        9 56.2500 redis-server
        7 43.7500 sh'

# ---- what is asked for ------------------------------------------------------

# first SPEC: the samples of the first row.
first() {
	body --merge=tgid,cgroup "$1" | awk 'NR == 1 { print $1 }'
}
for spec in cgroup:redis-server.service 'cgroup:/system.slice/redis*' \
	'cgroup:redis*' tgid:4100 image:redis-server \
	image:/usr/bin/redis-server; do
	is "$spec" "$(first "$spec")" 9
done
is 'what is in the program itself' "$(tasks -x --merge=tgid,cgroup image:redis-server)" \
	'        5 100.000 redis-server'
is 'a container' "$(first 'cgroup:docker:*')" 1
is 'what nobody could tell' "$(first cgroup:unknown)" 6
body cgroup:redis-serve >"$TMP/out"
like 'a mistyped one is said, with what there is' "$(cat "$TMP/err")" \
	'^opreport: cgroup:redis-serve: no sample files match; cgroups here: .*redis-server.service'
for option in --json --xml --csv -c -d; do
	report --layout=rows $option >"$TMP/out"
	is "--layout=rows with $option is refused" "$? $(wc -l <"$TMP/err")" '2 1'
done

# ---- other formats ----------------------------------------------------------

cat >"$TMP/classes.py" <<'END'
import json, sys
for c in json.load(open(sys.argv[1]))["classes"]:
    print(c["tgid"], c["tid"], *(c.get(k) for k in (
        "process", "thread", "cgroup_name", "mount_namespace")), sep=", ")
END
cat >"$TMP/columns.py" <<'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
for r in rows:
    if r["row"] == "symbol" and r["image"].startswith("/lib"):
        print(r["process"], r["thread"], r["cgroup"], r["samples"])
print({None in r for r in rows})
END
ok 'JSON' report --json -l -o "$TMP/json"
is 'JSON tells names and cgroups' "$(python3 "$TMP/classes.py" "$TMP/json")" \
	'4300, 4300, None, None, unknown, None
4200, 4200, a?[2J, a?[2J, docker:0123456789ab, 4026532999
4100, 4100, redis-server, redis-server, redis-server.service, 4026531841
4100, 4103, redis-server, bio_aof, redis-server.service, 4026531841
4100, 4104, redis-server, None, redis-server.service, 4026531841'
ok 'CSV' report --csv -l -o "$TMP/csv"
is 'CSV has columns for them, in each row' \
	"$(python3 "$TMP/columns.py" "$TMP/csv")" \
	'redis-server bio_aof /system.slice/redis-server.service 4
{False}'
ok 'XML' report --xml -o "$TMP/xml"
is 'XML names processes and threads' \
	"$(grep -E '<(process|thread) ' "$TMP/xml" | head -n 6)" \
	'<process  pid="4300" name="/opt/none/sh">
<thread  tid="4300">
<process  pid="4200" name="/opt/none/sh" comm="a?[2J" cgroup="/system.slice/docker-'$docker'.scope">
<thread  tid="4200" comm="a?[2J">
<process  pid="4100" name="/usr/bin/redis-server" comm="redis-server" cgroup="/system.slice/redis-server.service">
<thread  tid="4100" comm="redis-server">'

# ---- the file of names ------------------------------------------------------

report -l >"$TMP/before"
ok 'an archive' "$BIN/oparchive" --session-dir="$SESSION" -o "$TMP/archive"
"$BIN/opreport" -l "archive:$TMP/archive" >"$TMP/after" 2>"$TMP/err"
ok 'tells the same' diff "$TMP/before" "$TMP/after"
# shellcheck disable=SC2086 # words
ok 'a later run adds to the names' replay_more "$TMP/stream" $everything
is 'which are the same' "$(wc -l <"$CURRENT/tasks")" 6
echo 'name.1 = x' >"$CURRENT/tasks"
body -l >"$TMP/out"
like 'a damaged one is said' "$(cat "$TMP/err")" \
	'^opreport: warning: .*/tasks: name.1 = x: is invalid; names of threads are missing$'
rm "$CURRENT/tasks"
is 'without one there are numbers, and applications' \
	"$(tasks --merge=cgroup | sed -n '/4103/s/^.* 4100/4100/p')" \
	'4100/4103  redis-server/?'

# A stream may say anything.
stream "$TMP/bad" <<'END'
stream 1 8
cookie 1 0 0 0 0 - /opt/none/sh
cpu 0
task-cgroup 7 0 no/slash
task-cgroup 7 0 /two//slashes
task-cgroup 7 0 "/{dep}/{root}/..\x0a/%"
task-run-as 7 1 relative
task-name 9999999999 1 x
cpu 0
ctx 7 1
tgid 7
image 1
user
sample 0x10 0
END
# shellcheck disable=SC2086 # words
ok 'a stream of nonsense' replay "$TMP/bad" $everything
is 'leads nowhere else' "$(files)" \
	'{root}/opt/none/sh/{cgroup}/%7bdep}/%7broot}/..%0a/%25/{dep}/{root}/opt/none/sh/TIMER.0.0.7.7.all'
is 'its records are counted' \
	"$(log | sed -n 's/.*incomplete code structs: //p')" 4

# ---- live -------------------------------------------------------------------

if ! "$TESTBIN/canperf" own 2>"$TMP/canperf"; then
	skip 'names, live' "no perf events for this user: $(cat "$TMP/canperf")"
	done_testing
fi

# operf ARG...: into a fresh session.
operf() {
	rm -rf "$SESSION"
	"$BIN/operf" --session-dir="$SESSION" --rate=1000 "$@" 2>"$TMP/err"
}

mkdir "$TMP/bin"
cp "$TESTBIN/named" "$TMP/bin/redis-check-rdb"
ln -s redis-check-rdb "$TMP/bin/redis-server"
ok 'forty threads with names, by operf --separate=thread' \
	operf --separate=thread --record="$TMP/record" \
	"$TMP/bin/redis-server" 40 20 boss
report -l -n image:redis-server >"$TMP/rows"
is 'each has its row' "$(
	awk '$NF == "burn_named" { print $4 }' "$TMP/rows" | sort -u
)" "$(for i in $(seq 0 39); do echo "boss/worker_$i"; done | sort)"
is 'no row is wider than 120 columns' \
	"$(awk 'length > 120' "$TMP/rows" | wc -l)" 0
is 'their application is called as it was run' \
	"$(report --merge=tgid --csv | awk -F, '$2 == "image" { print $4 }' |
		sort -u | sed 's|.*/||')" redis-server
# The link that is here, by whatever path, and what it leads to.
whole=$(report -n --merge=all | awk 'NR == 1 { print $1 }')
ln -s bin "$TMP/folder"
for path in "$TMP/bin/redis-server" "$TMP/folder/redis-server"; do
	is "$path chooses all of it" "$(report -n --merge=all "$path" |
		awk 'NR == 1 { print $1 }')" "$whole"
done
for format in --json --csv --xml; do
	report $format >"$TMP/out"
	like "$format has the names" "$(cat "$TMP/out")" 'worker_39'
done
report --layout=rows >"$TMP/out"
without_cost "$TMP/out" >"$TMP/before"
ok 'a replay of that' replay "$TMP/record" --separate-kernel=1 \
	--separate-thread=1 --no-vmlinux
report --layout=rows >"$TMP/out"
without_cost "$TMP/out" >"$TMP/after"
ok 'gives the same report' diff "$TMP/before" "$TMP/after"

# Two cgroups, where they can be made.
mounted=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
own=$(sed -n 's/^0:://p' /proc/self/cgroup)
groups=$mounted${own%/}/oprofile-test-$$
if [ -z "$mounted" ] ||
	! mkdir "$groups" "$groups/a" "$groups/b" 2>"$TMP/mkdir" ||
	! (echo 0 >"$groups/a/cgroup.procs") 2>"$TMP/mkdir"; then
	skip 'two cgroups, live' "no cgroup can be made and entered here: $(
		cat "$TMP/mkdir" 2>/dev/null
	)"
	done_testing
fi
# in_group NAME COMMAND...: run in that cgroup.
cat >"$TMP/in_group" <<END
#!/bin/sh
echo 0 >"$groups/\$1/cgroup.procs"
shift
exec "\$@"
END
chmod +x "$TMP/in_group"
ok 'two cgroups' operf --separate=cgroup --record="$TMP/record" sh -c "
	'$TMP/in_group' a '$TESTBIN/named' 1 300
	'$TMP/in_group' b '$TESTBIN/named' 1 300"
for g in a b; do
	is "the samples of $g are in it" \
		"$(body -l "cgroup:*/oprofile-test-$$/$g" |
			awk '$NF == "burn_named" { print ($1 > 100) }')" 1
done
is 'and in no other' "$(report -l --csv image:named |
	awk -F, '$6 == "burn_named" { print $3 }' | sort | sed 's|.*/||')" \
	'a
b'
report --layout=rows >"$TMP/out"
without_cost "$TMP/out" >"$TMP/before"
ok 'a replay of them' replay "$TMP/record" --separate-kernel=1 \
	--separate-cgroup=1 --no-vmlinux
report --layout=rows >"$TMP/out"
without_cost "$TMP/out" >"$TMP/after"
ok 'gives the same report' diff "$TMP/before" "$TMP/after"

done_testing
