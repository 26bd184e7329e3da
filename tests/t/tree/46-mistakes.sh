#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Mistakes that users make: each is answered in one line, with the cause and what
# to do, and with the right exit status.
. "$(dirname "$0")/../lib.sh"

cd "$TMP" || exit 1
E=CYCLES.100000.0.all.all.all
session() {
	echo "0x10 5" | "$TESTBIN/mkodb" \
		"$1/samples/${2:-current}/{root}/bin/x/{dep}/{root}/bin/x/$E" \
		event=118 count=100000 cpu-type=x86-64/family10
	printf '%s\n' 'source = test' 'taken = 5' 'stored = 5' 'pending = 0' \
		>"$1/samples/${2:-current}/ledger"
}
session have
session damaged
printf '%0512d' 0 \
	>"damaged/samples/current/{root}/bin/x/{dep}/{root}/bin/x/MISSES.100000.0.all.all.all"
session ledger
echo garbage >ledger/samples/current/ledger
session second previous
mkdir -p second/samples/current empty empty2/samples/current
mkdir there
touch there/file

# mistake STATUS ERE COMMAND...: the last line of what is said, and how many
# lines there are of the program itself.
mistake() {
	wanted=$1 ere=$2
	shift 2
	program=$1
	tool=$BIN/$1
	shift
	"$tool" "$@" >out 2>err </dev/null
	got=$?
	is "$program $*: status" "$got" "$wanted"
	grep "^$program: " err | grep -v "^$program: warning: " >said
	is "$program $*: one line" "$(wc -l <said)" 1
	like "$program $*: says why and what to do" "$(cat said)" "^$program: $ere"
}

unset OPROFILE_EVENTS_DIR
mistake 127 'nosuchprog: no such program on PATH; ' operf nosuchprog
mistake 126 '/etc/passwd: may not be executed; try chmod' operf /etc/passwd
mistake 126 '[.]: is a folder, not a program; ' operf .
mistake 125 'nothing to profile; give a command, ' operf
mistake 125 '--sesion-dir=x: unknown option; did you mean --session-dir[?] ' operf --sesion-dir=x true
mistake 125 '--callgraph 64: .*--callgraph=64' operf --callgraph 64 true
mistake 125 '--pid=abc: not the number of a process; ps lists them' operf --pid=abc
mistake 125 'process 4194305: .*ps' operf --pid=4194305
mistake 125 'NOSUCH: .*; ophelp lists ' operf -e NOSUCH:1000 ls
mistake 125 'cpu-clock: no count; give ' operf -e cpu-clock true
mistake 125 'cpu-clock:10: count 10 is below the minimum' operf -e cpu-clock:10 true
mistake 125 '--rate and --events: ' operf --rate 1000 --events page-faults:1 true
mistake 125 '.*--vmlinux=/nope: No such file or directory; give ' operf -d have -k /nope true
mistake 125 '--session-dir=/dev/null: is not a folder; ' operf -d /dev/null true
mistake 1 '.*empty/samples: there are no samples; profile first' opreport --session-dir=empty
mistake 1 '.*/empty2/samples/current: there are no sample files; profile first \(operf' \
	oparchive --session-dir="$TMP/empty2" -o arch
for program in opreport oparchive opgprof; do
	set -- --session-dir="$TMP/second"
	[ $program != oparchive ] || set -- "$@" -o arch
	mistake 1 '.*/current: the last run has no samples; those of the run before are in session:previous$' \
		$program "$@"
done
mistake 1 '/nope/samples: there are no samples; .*--session-dir' opreport --session-dir=/nope
mistake 1 'nope: no such session in .*; its sessions: current' \
	opreport --session-dir="$TMP/have" session:nope
mistake 1 'foo: no sample files match; images here: ' opreport --session-dir=have foo
mistake 1 'event:cycle: no sample files match; events here: CYCLES' \
	opreport --session-dir=have event:cycle
mistake 1 "foo:bar: .*'foo:' is not a tag; the tags are " opreport --session-dir=have -l foo:bar
mistake 1 '--include-symbols=nosuchfn: no symbol ' opreport --session-dir=have -i nosuchfn -l
mistake 2 '--format=svg: unknown; use text, ' opreport --session-dir=have --format=svg
mistake 1 '.*: the samples have no stacks; profile with --callgraph' \
	opreport --session-dir="$TMP/have" --format=flamegraph
mistake 1 'a brace is missing; compare with ' opreport -l '{'
mistake 2 'nothing to show; add --source or --assembly' opannotate
mistake 2 'nowhere to write to; name a folder with --output-directory' oparchive
mistake 1 'there: already exists; remove it, name another folder' \
	oparchive --session-dir=have -o there
mistake 1 'foo: no such CPU type; ophelp --list-cpus' ophelp -c foo
OPROFILE_EVENTS_DIR=/nope
export OPROFILE_EVENTS_DIR
mistake 1 'OPROFILE_EVENTS_DIR: /nope: no such folder; give ' ophelp -c x86-64/zen3
unset OPROFILE_EVENTS_DIR
mistake 125 'process 4194305: .*ps' ocount -p 4194305
mistake 125 '--pid=: ' operf --pid=
mistake 2 '--threshold=x: not a percentage' opreport --threshold=x
mistake 2 '--nosuch: unknown option; see opreport --help' opreport --nosuch
mistake 2 '--nosuch: unknown option; see opannotate --help' opannotate --nosuch
mistake 2 '--sort=foo: unknown key; use ' opreport --sort=foo
mistake 2 '--merge=foo: unknown; use ' opreport --merge=foo
mistake 2 '--demangle=foo: unknown; use ' opreport --demangle=foo
mistake 1 'perf[.]data: no sample files match; images here: ' opreport --session-dir=have perf.data
mistake 2 '--color=red: unknown; use ' opannotate -s --color=red
mistake 2 '--tree=up: unknown; use ' opreport --tree=up

# What users of perf type.
mistake 125 '-F: use --rate=99' operf -F 99 true
mistake 125 '-F: use --rate=99' operf -F99 true
mistake 125 '--freq: use --rate=99' operf --freq=99 true
mistake 125 '--call-graph: use -g; ' operf --call-graph=dwarf true
mistake 125 '-o: samples go to a folder; use --session-dir=out[.]data' operf -o out.data true
mistake 125 '--all-cpus: use --system-wide' operf --all-cpus true
mistake 125 '-C: use --separate=cpu, then opreport cpu:0' operf -C 0 true
mistake 125 '-G: use --cgroup=web' operf -G web true
mistake 125 '--count: give the count with the event: --events=NAME:9' operf --count=9 true
mistake 125 '-b: branches are not recorded; ' operf -b true
mistake 125 '-m: leave it out; ' operf -m 64 true
mistake 127 'record: OProfile has a program for each task; write operf and the command' \
	operf record true
mistake 127 'report: .*; run opreport' operf report
mistake 127 'list: .*; run ophelp' ocount list
mistake 2 '--stdio: leave it out; text is the default' opreport --stdio
mistake 2 '--no-children: leave it out; -l sorts by ' opreport --no-children
mistake 2 '--children: use -l --sort=total' opreport --children
mistake 2 '--percent-limit: use --threshold=2' opreport --percent-limit=2
mistake 2 '-G: use --tree=callers' opreport -G
mistake 2 '--comm: name programs: opreport image:sh' opreport --comm=sh
mistake 2 '--input: use --session-dir=DIR; .*: opimport -o DIR perf[.]data' \
	opreport --input=perf.data
touch perf.data
mistake 2 '--input: use --session-dir=DIR; .*: opimport -o DIR perf[.]data' \
	opreport -i perf.data
mistake 2 '--sort=dso: use --sort=image' opreport --sort=dso,sym
mistake 2 'graph: -g is for source lines; .* opreport --tree' opreport -g graph,0.5
mistake 1 'main: no sample files match; .*; a function is chosen by .* with --include-symbols=main$' \
	opannotate --session-dir=have --source main
mistake 125 '-c: .*: --events=NAME:10000' operf -c 10000 true
mistake 125 '-t: .*; for one use --pid=PID -t, then opreport tid:12' operf -t 12 true
mistake 2 "-M: use --assembly --objdump-params='-M intel'" opannotate -M intel
mistake 125 '-I: use --time-interval=100' ocount -I 100 true
mistake 125 '-a: use --system-wide' ocount -a true
mistake 2 '--threshhold=3: unknown option; did you mean --threshold[?] opreport --help ' \
	opreport --threshhold=3

# Words in the wrong place, and habits from other programs.
mistake 127 'ls -l: no such program; give the program and its arguments as separate words' \
	operf 'ls -l'
mistake 125 '--pid and --system-wide: give one of them' operf --system-wide --pid=1
mistake 125 '-p: missing argument; see operf --help' operf -p
mistake 125 '--session-dir=: no such folder, .*; give one' operf --session-dir= true
mistake 125 '--duration=10s: not a number of seconds; give one' operf --duration=10s true
mistake 125 '--callgraph=deep: not a number of frames; give one' operf --callgraph=deep true
mistake 125 '--rate=0: not a number of samples per second; give one' operf --rate=0 true
mistake 125 'cgroup /nope: no such cgroup; see ' operf --cgroup=/nope true
mistake 125 '"": the name of an event is missing; ophelp lists them' operf -e '' true
mistake 125 'cpu-clock:many: count many is not a whole number; give one, as in cpu-clock:[0-9]+' \
	operf -e cpu-clock:many true
mistake 125 'cpu-clock: given twice' operf -e cpu-clock:100000,cpu-clock:100000 true
mistake 1 'current: no sample files match; .*; it is a session: write session:current$' \
	opreport --session-dir=have current
mistake 1 'have: no sample files match; .*; it is a session folder: write --session-dir=have$' \
	opreport --session-dir=have have
mistake 1 'session=current: no sample files match; .*; write session:current$' \
	opreport --session-dir=have session=current
mistake 1 'tid=7: no sample files match; .*; write tid:7$' opreport --session-dir=have tid=7
mistake 1 '.*/have/samples/current/samples: there are no samples; name the folder that samples is in, --session-dir=.*/have$' \
	opreport --session-dir=have/samples/current
mistake 1 '.*/have/samples/samples: .*, --session-dir=.*/have$' opannotate -s \
	--session-dir=have/samples
mistake 1 "tid:abc: 'abc' is not a number; give " opreport --session-dir=have tid:abc
mistake 1 'cpu:99: no sample files match; CPUs here: all' opreport --session-dir=have cpu:99
mistake 1 'archive:/nope: No such file or directory; give ' opreport archive:/nope
mistake 1 '/nope: No such file or directory; give --root ' opreport --session-dir=have --root=/nope
mistake 1 '/nope: No such file or directory; give --image-path ' \
	opreport --session-dir=have -p /nope
mistake 1 '/nope/x: cannot be written: .*; name a file in a folder ' \
	opreport --session-dir=have -o /nope/x
mistake 2 '--xml, --json, .* name a format; choose one' opreport --json --csv
mistake 2 '--debug-info is about symbols; add --symbols' opreport -g
mistake 2 '--callgraph does not show the addresses in a symbol; leave --details out' opreport -c -d
mistake 2 '--layout=wide: unknown; use rows or columns' opreport --layout=wide
mistake 2 '--xml=old: unknown; use --xml or --xml=classic' opreport --xml=old
mistake 2 '--html: missing argument; see opreport --help' opreport --html
mistake 2 '--output-dir is for source files; leave out --assembly' opannotate -s -a --output-dir=x
mistake 2 '--objdump-params is about instructions; add --assembly' \
	opannotate -s --objdump-params=-x
mistake 1 'nope: no such session in .*; its sessions: current' \
	oparchive --session-dir=have -o arch session:nope
mistake 1 'nosuch: no sample files match; images here: ' opgprof --session-dir=have nosuch
mistake 2 '--unit-mask: no event is given; give one' ophelp --unit-mask
mistake 1 'NOSUCH: x86-64/zen3 has no event of this name; ophelp' \
	ophelp -e NOSUCH:1000 -c x86-64/zen3
mistake 125 'nothing to count: give a command, ' ocount
mistake 127 'nosuchprog: no such program on PATH; ' ocount nosuchprog
mistake 125 '--system-wide and a command: .*; run ocount once for each' ocount -s true
mistake 125 '--time-interval=0: .*; give 10 to ' ocount -i 0 true
mistake 1 '.*terminal; use --once ' optop --session-dir=have
mistake 2 '--nosuch: unknown option; see optop --help' optop --nosuch
mistake 1 '/nope: contains no folder samples; name ' opimport --session /nope --output imp
mistake 1 'there/file: is empty; give a file of perf record, pprof, callgrind or folded stacks' \
	opimport there/file -o imp
mistake 1 '/nope: No such file or directory; give a file of perf record, pprof, callgrind or folded stacks' \
	opimport /nope -o imp
mistake 1 '/nope/samples: there are no samples; ' opsymbols --session-dir=/nope
mistake 2 'no command; give one, such as --start' opcontrol
mistake 2 'start: not an option; write --start' opcontrol start
mistake 2 'foo: not an option; see opcontrol --help' opcontrol foo
mistake 2 '--start and --stop: only one command at a time; ' opcontrol --start --stop
mistake 2 '"a/b" cannot name a saved session: .*; choose another' opcontrol --save=a/b

for program in opreport opannotate oparchive opgprof opimport opsymbols optop \
	ophelp opstream operf ocount; do
	like "$program -h is help" "$("$BIN/$program" -h 2>&1)" '^ .*--version '
done

# What is no failure is said all the same.
report() {
	"$BIN/opreport" --session-dir="$1" -l 2>err
}
like "a damaged sample file is counted in the header" "$(report damaged)" \
	'^Not shown: 1 sample file could not be read$'
like "and told of" "$(cat err)" 'MISSES.*it is damaged; left out$'
like "in JSON, too" "$("$BIN/opreport" --session-dir=damaged --json 2>err | tr -d ' \n')" \
	'"unread_files":1,'
like "in CSV, too" "$("$BIN/opreport" --session-dir=damaged --csv 2>err)" '^1,unread,.*,1$'
unlike "but not where all is well" "$(report have)" 'Not shown'
report ledger >out
like "a damaged account is told of" "$(cat err)" 'how many samples were lost is not known'

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	# An ordinary user, who can reach the tools.
	mkdir "$TMP/bin" && cp "$BIN/operf" "$BIN/oprofiled" "$BIN/opreport" \
		"$BIN/opcontrol" "$BIN/opsymbols" "$TMP/bin" && chmod 755 "$TMP" "$TMP/bin"
	mkdir -m 700 secret && session secret
	as_user "$TMP/bin/opreport" --session-dir="$TMP/secret" 2>said
	is "a session of root's: status" "$?" 1
	like "is refused with what to do" "$(cat said)" \
		'^opreport: .*: Permission denied; run as the user who profiled or as root, or profile with --readable-by=GROUP$'
	as_user "$TMP/bin/opcontrol" --start 2>said
	is "opcontrol --start of a user: status" "$?" 1
	like "is refused with what to do" "$(cat said)" \
		'^opcontrol: --start: you must be root; try sudo'
	as_user "$TMP/bin/operf" --session-dir="$TMP/have" true 2>said
	is "operf into a folder of root's: status" "$?" 125
	like "is refused with what to do" "$(cat said)" '^operf: .*(give|--session-dir|own)'
fi
done_testing
