#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opreport: which samples a profile specification chooses, which columns they
# make, and what is said where a specification or a set of columns is wrong.
# sanitized: yes
. "$(dirname "$0")/../lib.sh"

SESSION=$TMP/session
NR=0

# sample SESSION NAME COUNT [OPTION...]: a sample file with one key.
sample() {
	session=$1 name=$2 count=$3
	shift 3
	echo "0x$((NR += 1)) $count" |
		"$TESTBIN/mkodb" "$SESSION/samples/$session/$name" "$@"
}

report() {
	"$BIN/opreport" --session-dir="$SESSION" "$@" 2>"$TMP/err"
}

# total ARG...: of the first column of applications.
total() {
	report -n "$@" | awk '/^ / { n += $1 } END { print n + 0 }'
}

# refused STATUS ERE ARG...: that status, no output, one line about it.
refused() {
	status=$1 ere=$2
	shift 2
	report "$@" >"$TMP/out"
	[ $? -eq "$status" ] && [ ! -s "$TMP/out" ] &&
		[ "$(wc -l <"$TMP/err")" -eq 1 ] && grep -Eq "$ere" "$TMP/err"
}

A='{root}/bin/a,1'
B='{root}/usr/bin/b'
C='{root}/lib/libc.so.6'
E=CYCLES.1000
sample current "$A/{dep}/$A/$E.0.10.10.0" 1
sample current "$A/{dep}/$A/$E.0.10.10.1" 2
sample current "$A/{dep}/$C/$E.0.10.11.0" 4
sample current "$A/{dep}/$C/$E.1.10.11.1" 8
sample current "$B/{dep}/$B/$E.0.20.20.0" 16
sample current "$B/{dep}/$C/$E.0.20.20.1" 32
sample current "$B/{dep}/$C/MISSES.500.3.20.20.1" 64
sample old "$B/{dep}/$B/$E.0.20.20.0" 128
sample older "$B/{dep}/$B/$E.0.20.20.0" 256
merged() {
	total --merge=all "$@"
}

# ---- what is chosen ----------------------------------------------------------

set -f
while read -r wanted words; do
	# shellcheck disable=SC2086 # words
	is "${words:-all}" "$(merged $words event:CYCLES)" "$wanted"
done <<'END'
63
15 image:/bin/a\,1
15 image:/bin/*
48 image:/usr/*
44 lib-image:*libc*
63 image:/bin/*,/usr/*
63 image:all
12 image:/bin/* lib-image:/lib/*
19 image-exclude:*libc*
3 image:/bin/* image-exclude:*libc*
44 libc.so.6
15 /bin/a,1
44 /lib/*
47 libc.so.6 /bin/a,1
44 libc.so.6 image:/usr/bin/none,/none*
60 libc.so.6 image:/usr/*
8 unit-mask:1
55 unit-mask:0
55 unit-mask:0x0
63 unit-mask:all
63 count:1000
15 tgid:10
60 tid:11,20
21 cpu:0
63 cpu:0,1
8 cpu:1 tid:11
128 session:old
384 session:old,older
384 session:old,older,current session-exclude:current
128 image:/bin/* session:old image:all
END
set +f
is "an event" "$(merged event:MISSES)" 64
is "events" "$(report -n --merge=all event:MISSES,CYCLES unit-mask:0,3 |
	awk '/libc/ { print $1, $3 }')" "36 64"
is "a session by its path" "$(merged "session:$SESSION/samples/old")" 128
is "what is excluded in vain is no mistake" \
	"$(merged event:CYCLES image-exclude:/none)" 63
is "it is not said, either" "$(cat "$TMP/err")" ""
is "one of two names in vain" "$(merged event:CYCLES,CYCLE)" 63
like "is said" "$(cat "$TMP/err")" \
	'^opreport: warning: event:CYCLE: no sample files match; events here: CYCLES'

# ---- what is not there -------------------------------------------------------

ok "an image, with those there are" refused 1 \
	'^opreport: image:/bin/x: .*; applications here: .*/bin/a,1' image:/bin/x
ok "a library" refused 1 'lib-image:libd.so: .*: /lib/libc.so.6' \
	lib-image:libd.so
ok "a library that is no application here" refused 1 \
	'image:/lib/libc.so.6: .*; it is a library of theirs: write lib-image:/lib/libc.so.6$' \
	image:/lib/libc.so.6
sample apart "$C/{dep}/$C/$E.0.all.all.all" 512
for tag in image lib-image; do
	is "one that was not kept apart, by $tag:" \
		"$(total session:apart $tag:/lib/libc.so.6)" 512
done
ok "a path" refused 1 '/lib/lib: no sample files' /lib/lib
ok "a tag" refused 1 "'evnt:' is not a tag; the tags are event, " evnt:CYCLES
ok "an event" refused 1 'event:CYCLE: .*: CYCLES, MISSES' event:CYCLE
ok "a count" refused 1 'count:999: .*: 1000, 500|500, 1000' count:999
ok "a unit mask" refused 1 'unit-mask:7: .*unit masks here: 0, 1, 3' unit-mask:7
ok "a tgid" refused 1 'tgid:11: .*tgids here: 10, 20' tgid:11
ok "a session" refused 1 'ol: no such session .*: old, ' session:ol
ok "no session is left" refused 1 'no session is left' session-exclude:current
ok "nothing matches all of it" refused 1 'together' cpu:1 tid:10 unit-mask:3
for bad in cpu:one count:abc tgid: unit-mask:0x tid:-1; do
	ok "$bad" refused 1 "^opreport: $bad: " "$bad"
done
ok "a word twice" refused 1 'given twice' cpu:1 cpu:1
ok "an empty word" refused 1 'empty' ""
ok "an archive that is not there" refused 1 "archive:$TMP/no: " \
	"archive:$TMP/no"
ok "an archive without a session" refused 1 'holds no session' "archive:$TMP"

# ---- an archive --------------------------------------------------------------

mkdir -p "$TMP/archive$TMP" "$TMP/archive2/var/lib/oprofile"
cp -r "$SESSION" "$TMP/archive$SESSION"
cp -r "$SESSION/samples" "$TMP/archive2/var/lib/oprofile"
is "at the session's own place" "$(merged "archive:$TMP/archive" session:old)" \
	128
is "at the default place" "$(merged "archive:$TMP/archive2" session:old)" 128

# ---- columns -----------------------------------------------------------------

# heads ARG...: the titles of the summary's columns.
heads() {
	report "$@" | sed -n 's/  samples|.*//p;/|$/p' | head -n 1 | tr -d ' '
}
is "one column has the event" "$(heads --merge=all event:MISSES)" "MISSES:500|"
is "events" "$(heads --merge=all)" "CYCLES:1000|MISSES:500|"
is "unit masks" "$(heads --merge=tgid,cpu event:CYCLES)" \
	"CYCLES:1000:0x00|CYCLES:1000:0x01|"
# counted ARG...: what the header says was counted.
counted() {
	report "$@" | grep ^Counted
}
is "unit masks that are merged and differ" "$(counted --merge=all event:CYCLES)" \
	"Counted CYCLES events with different unit masks count 1000"
is "also those of different columns" \
	"$(counted --merge=tgid,unitmask event:CYCLES unit-mask:0,1)" \
	"Counted CYCLES events with different unit masks count 1000"
for merge in all unitmask,tgid,cpu tgid,cpu; do
	is "one that is merged with none: $merge" \
		"$(counted --merge=$merge event:CYCLES unit-mask:1)" \
		"Counted CYCLES events with a unit mask of 0x01 count 1000"
done
is "cpus" "$(heads --merge=tgid,unitmask event:CYCLES)" "cpu:0|cpu:1|"
is "tgids" "$(heads --merge=tid,cpu,unitmask event:CYCLES)" "tgid:10|tgid:20|"
sample whole "$B/{dep}/$B/$E.0.all.all.all" 512
is "a session that is separated beside one that is not" \
	"$(report --merge=cpu session:old,whole | sed -n '3,5p' | tr -s ' ')" "\
Processes with a thread group ID of all
Processes with a thread group ID of 20
 tgid:all| tgid:20|"
rm -r "$SESSION/samples/whole"
is "tids" "$(heads --merge=cpu event:CYCLES unit-mask:0 tgid:10)" "tid:10|tid:11|"
is "sessions, if asked for" \
	"$(heads --by-session session:old,older event:CYCLES)" \
	"session:old|session:older|"
is "else merged" "$(heads session:old,older event:CYCLES)" "CYCLES:1000|"
is "tids that are the tgids are no second difference" \
	"$(heads tid:10,20 cpu:0 event:CYCLES)" "tgid:10|tgid:20|"
for merge in cpu tid tgid; do
	ok "three differences are refused with --merge=$merge" refused 1 \
		'differ in event .* and in .*--merge=' --merge=$merge \
		--layout=columns
done
ok "two are, with both ways out" refused 1 \
	'differ in tgid \(tgid:10, tgid:20\) and in cpu \(cpu:0, cpu:1\), .*; add --merge=cpu or choose with tgid:10$' \
	event:CYCLES unit-mask:0 --merge=tid --layout=columns
# The advice is good.
ok "the one" report event:CYCLES unit-mask:0 --merge=tid,cpu
ok "and the other" report event:CYCLES unit-mask:0 --merge=tid tgid:10
ok "a session is a difference, too" refused 1 'session:old.*leave out' \
	--by-session --merge=tid,unitmask,cpu --layout=columns \
	session:old,current event:CYCLES
for format in --json --csv --xml; do
	ok "$format writes them all" report $format
done
ok "--merge=lib and -x" refused 2 'merge=lib' --merge=lib -x
is "merged libraries" "$(report -n --merge=lib,tgid,cpu,unitmask event:CYCLES |
	awk '{ print $1, $3 }' | tr '\n' ' ')" "44 libc.so.6 16 b 3 a,1 "

# ---- tasks and a terminal ----------------------------------------------------

# The first thread has least of the function that has most of all.
rm -r "$SESSION"
sample current "$A/{dep}/$A/$E.0.10.10.all" 3
sample current "$A/{dep}/$B/$E.0.10.10.all" 2
sample current "$A/{dep}/$B/$E.0.10.11.all" 50
sample current "$A/{dep}/$A/$E.0.10.12.all" 10
is "symbols are sorted by the sum of all columns" \
	"$(report -l -n | awk '{ print $1, $3, $5 }')" "\
2 50 0
3 0 10"
is "by the first one, if columns are asked for" \
	"$(report -l -n --layout=columns | awk '{ print $1, $3, $5 }')" "\
3 0 10
2 50 0"
# on_terminal COLUMNS ARG...: a report there.
on_terminal() {
	columns=$1
	shift
	script -qec "stty cols $columns; '$BIN/opreport' --session-dir='$SESSION' \
		--no-pager -l -n $* 2>/dev/null" /dev/null </dev/null | tr -d '\r'
}
is "a terminal with room has columns" "$(on_terminal 130 | awk '{ print $1, $3, $5 }')" "\
2 50 0
3 0 10"
is "one without has rows" "$(on_terminal 80 | awk '{ print $1, $3 }')" "\
50 10/11
10 10/12
3 10/10
2 10/10"
is "unless columns are asked for" "$(on_terminal 80 --layout=columns | wc -l)" 2
is "or names in full" "$(on_terminal 80 --wide | wc -l)" 2

# ---- times of threads

# The cpu clock with a sample each millisecond; the name of a thread is unknown.
SESSION=$TMP/threads
for tid in 11 12 13 14 15 16 17 18 19; do
	sample current "$A/{dep}/$A/cpu-clock.1000000.0.10.$tid.all" 20
done
sample current "$A/{dep}/$A/cpu-clock.1000000.0.10.10.all" 400
sample current "$A/{dep}/$A/$E.0.10.10.all" 7
sample current "$B/{dep}/$B/THREAD_WAIT.1000000.7.20.20.all" 1500
is "threads are sorted by all their time, and pools are one row" \
	"$(report --threads | sed -n '/total s/,$p')" "\
   total s     ran s  waited s    CYCLES:1000  thread
      1.50         0      1.50              0  b  20/20
      0.40      0.40         0              7  a,1  10/10
      0.18      0.18         0              0  a,1/?  10, 9 threads"
is "eight are no pool" "$(report -n --threads tid:10,11,12,13,14,15,16,17,18 |
	wc -l)" 9
is "threads of pools, if asked for" "$(report -n --threads=all | wc -l)" 11
is "small ones are left out" "$(report -n --threads -t 30 | wc -l)" 1
is "processes, where threads are added up" \
	"$(report -n --threads --merge=tid event:cpu-clock | tr -s ' ')" \
	" 0.58 a,1 10"
is "as CSV" "$(report --threads --csv tgid:20 | sed 1d | grep -v 'thread')" "\
1,waited,,,,,,,,,,b,20,20,1,1.500000000
1,waited_for,,,,other,,,,,,b,20,20,1,1.500000000"
like "as JSON" "$(report --threads --json | tr -d ' \n')" \
	'"threads":\[\{"name":"b","tgid":20,"tid":20,"ran_ns":0,"waited_ns":1500000000,.*\{"name":"a,1/\?","tgid":10,"threads":9,'
sample current "$B/{dep}/$B/THREAD_WAIT.1000000.3.20.20.all" 100
ok "times twice" refused 1 'several events are of the same time; choose' --threads
is "one of them" "$(report -n --threads event:THREAD_WAIT unit-mask:3 |
	tr -s ' ')" " 0.10 b 20/20"
sample current "$A/{dep}/$A/$E.0.all.all.all" 1
ok "samples that are of no thread" refused 1 'not separated by thread; profile with --separate=thread$' \
	--threads event:CYCLES
done_testing
