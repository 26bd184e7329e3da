#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ophelp: what it lists and answers, from the event files of the build.

. "$(dirname "$0")/../lib.sh"

ophelp=$BIN/ophelp
unset OPROFILE_EVENTS_DIR COLUMNS

# error NAME STATUS ERE ARG...: ophelp ends with STATUS, says one line that
# matches on stderr, and nothing on stdout.
error() {
	name=$1 wanted=$2 ere=$3
	shift 3
	status=0
	out=$("$ophelp" "$@" 2>"$TMP/err") || status=$?
	is "$name: exit status" "$status" "$wanted"
	like "$name: says so" "$(cat "$TMP/err")" "^ophelp: $ere"
	is "$name: in one line" "$(wc -l <"$TMP/err") $out" "1 "
}

# says NAME TEXT ARG...: TEXT is all that ophelp says, on stdout.
says() {
	name=$1 wanted=$2
	shift 2
	is "$name" "$("$ophelp" "$@" 2>&1)" "$wanted"
}

like "--version" "$("$ophelp" --version)" '^ophelp: oprofile [0-9]'
help=$("$ophelp" --help)
for word in check-events events unit-mask extra-mask min-count get-cpu-type \
	get-default-event list-cpus check version cpu-type=TYPE search=TEXT \
	xml json ignore-count callgraph=DEPTH; do
	like "--help names --$word" "$help" "--$word"
done

# ---- lists ----

list=$("$ophelp" --cpu-type=x86-64/family10)
is "the list begins with the CPU and the manual" "$(echo "$list" | head -n 4)" \
	'oprofile: available events for CPU type "AMD64 family10"

See BIOS and Kernel Developer'"'"'s Guide (BKDG) for AMD Family 10h Processors
(31116), section 3.14 "Performance Counter Events"'
is "an event without a unit mask" \
	"$(echo "$list" | grep -A2 '^CPU_CLK_UNHALTED:')" \
	'CPU_CLK_UNHALTED: (counter: all)
	Cycles outside of halt state (min count: 50000)
REQUESTS_TO_L2: (counter: all)'
is "an event with a unit mask" \
	"$(echo "$list" | grep -A6 '^SERIAL_UOPS_IN_FP_SCHEDULER:')" \
	'SERIAL_UOPS_IN_FP_SCHEDULER: (counter: all)
	Cycles with a serializing operation in the floating point scheduler (min
        count: 500)
	Unit masks (default 0x3)
	----------
	0x01: (name=bottom_execute) Cycles with a bottom-execute operation
	0x02: (name=bottom_serialize) Cycles with a bottom-serialize operation'
like "COLUMNS is the width" \
	"$(COLUMNS=200 "$ophelp" -c x86-64/family10)" \
	'^	Cycles with a serializing operation in .* \(min count: 500\)$'
like "counters are listed where not all will do" \
	"$("$ophelp" -c i386/p4)" '^BRANCH_RETIRED: \(counter: 3, 7\)$'
like "a default that has a name" "$("$ophelp" -c i386/skylake)" \
	'^	Unit masks \(default all_branches\)$'
is "--search looks into names" \
	"$("$ophelp" -c x86-64/family10 -s cPu_ClK | grep -c '(counter:')" 1
like "--search looks into unit masks" \
	"$("$ophelp" -c x86-64/family10 --search=nta_prefetched)" \
	'^DATA_CACHE_LINES_EVICTED:'
error "--search without a hit" 1 'nothing-here: x86-64/family10 has no event' \
	-c x86-64/family10 -s nothing-here
like "--callgraph raises the minimum" \
	"$("$ophelp" -c x86-64/family10 --callgraph=1)" 'min count: 750000\)'
like "--list-cpus" "$("$ophelp" --list-cpus)" \
	'^x86-64/family10  *AMD64 family10$'

# ---- events of time ----

waits='THREAD_WAIT: (counter: the kernel'"'"'s scheduler)
	Nanoseconds that a thread was blocked or waited for a CPU (min count:
        1000)
	Unit masks (default 0x7)
	----------
	0x01: blocked in interruptible sleep
	0x02: blocked in uninterruptible sleep
	0x04: ready, and waiting for a CPU
	Give operf --wall, or THREAD_WAIT:COUNT in a list of events to operf, or
        to opcontrol with the kernel module.'
latency='CPU_LATENCY: (counter: samples of the CPU clock)
	Nanoseconds that a thread had a CPU, divided by the number of threads of
        its process that had one (min count: 1000000)
	Give operf --latency.'
for cpu in x86-64/family10 timer; do
	is "$cpu: the list ends with events of time" \
		"$("$ophelp" -c $cpu | tail -n 17)" "
Events of time, on all machines:

$waits
$latency"
	says "$cpu: one of them is explained" "$latency" -c $cpu cpu_latency
	error "$cpu: no counter counts it" 1 \
		'CPU_LATENCY: no counter .*; ophelp CPU_LATENCY explains' \
		-c $cpu -e CPU_LATENCY:1000000
done
says "--search looks into them, too" "Events of time, on all machines:

$waits" -c x86-64/family10 -s uninterruptible

# ---- other formats ----

"$ophelp" -c i386/skylake --xml >"$TMP/list.xml"
like "--xml" "$(cat "$TMP/list.xml")" '<event event_name="CPU_CLK_UNHALTED" .* counter_mask="15" min_count="6000">'
if command -v xmllint >/dev/null; then
	for cpu in $("$ophelp" --list-cpus | cut -d' ' -f1); do
		"$ophelp" -c "$cpu" --xml
	done >"$TMP/all" 2>&1
	grep -v '^<?xml' "$TMP/all" | { echo '<all>'; cat; echo '</all>'; } \
		>"$TMP/all.xml"
	ok "--xml is well formed for every CPU" xmllint --noout "$TMP/all.xml"
else
	skip "--xml is well formed for every CPU" "no xmllint; install libxml2-utils"
fi
if command -v perl >/dev/null && perl -MJSON::PP -e1 2>/dev/null; then
	for cpu in $("$ophelp" --list-cpus | cut -d' ' -f1); do
		"$ophelp" -c "$cpu" --json | perl -MJSON::PP -0777 -ne '
			$d = decode_json($_);
			print "$d->{cpu_type} ", scalar(@{$d->{events}}), "\n"'
	done >"$TMP/json" 2>&1
	like "--json can be read" "$(cat "$TMP/json")" '^i386/ppro 6[0-9]$'
	is "--json can be read for every CPU" "$(wc -l <"$TMP/json")" \
		"$("$ophelp" --list-cpus | wc -l)"
else
	skip "--json can be read" "no perl with JSON::PP"
fi

# ---- questions ----

says "the code of an event" 118 -c x86-64/family10 CPU_CLK_UNHALTED
says "--min-count" 50000 -c x86-64/family10 -m CPU_CLK_UNHALTED
says "--min-count of a specification" 7500 \
	-c x86-64/family10 -m DATA_CACHE_MISSES:1 --callgraph=2
says "--get-cpu-type" "AMD64 family10" -c x86-64/family10 -r
for line in i386/ppro=CPU_CLK_UNHALTED:100000:0:1:1 \
	i386/p4=GLOBAL_POWER_EVENTS:100000:1:1:1 \
	x86-64/hammer=CPU_CLK_UNHALTED:100000:0:1:1 \
	arm/armv8-pmuv3=CPU_CYCLES:100000:0:1:1 \
	ppc64/power7=CYCLES:100000:0:1:1; do
	says "--get-default-event of ${line%=*}" "${line#*=}" -c "${line%=*}" -d
done
says "--unit-mask by default" 63 -c x86-64/family10 -u DISPATCHED_FPU_OPS:5000
says "--unit-mask by name" cycles_div_busy \
	-c i386/nehalem -u ARITH:2000000:cycles_div_busy
says "--unit-mask without a count" 1 -c i386/nehalem -i -u ARITH:1
says "--extra-mask without extra bits" 1 \
	-c i386/nehalem -E ARITH:2000000:cycles_div_busy
says "--extra-mask of a number" 0 \
	-c x86-64/family10 -E DISPATCHED_FPU_OPS:5000
says "--extra-mask" 25165824 -c i386/nehalem -E UOPS_ISSUED:6000:stall_cycles

# ---- specifications ----

says "--check-events" "0 1 " \
	-c x86-64/family10 -e CPU_CLK_UNHALTED:100000 DATA_CACHE_MISSES:5000
says "--events" "CPU_CLK_UNHALTED:118:0:100000:0:1:1,\
SEGMENT_REGISTER_LOADS:800:1:500:3:0:1,L3_EVICTIONS:17179873251:2:500:15:1:1" \
	-c x86-64/family10 -n default SEGMENT_REGISTER_LOADS:500:es+cs:0 \
	L3_EVICTIONS:500
says "eight events of a Pentium 4" "3 7 0 4 2 6 1 5 " -c i386/p4 -e \
	BRANCH_RETIRED:6000 INSTR_RETIRED:6000 GLOBAL_POWER_EVENTS:6000 \
	BPU_FETCH_REQUEST:3000 MEMORY_CANCEL:3000 X87_FP_UOP:3000 \
	TC_DELIVER_MODE:6000 UOP_QUEUE_WRITES:3000
error "an unknown event" 1 'DATA_CACHE_MISES: .*no event of this name; similar: DATA_CACHE_MISSES' \
	-c x86-64/family10 -e DATA_CACHE_MISES:5000
error "a count below the minimum" 1 'CPU_CLK_UNHALTED:10: count 10 .* 50000;' \
	-c x86-64/family10 -e CPU_CLK_UNHALTED:10
error "the same with call graphs" 1 '.* of CPU_CLK_UNHALTED, 750000;' \
	-c x86-64/family10 -e CPU_CLK_UNHALTED:100000 --callgraph=1
error "no count" 1 'CPU_CLK_UNHALTED: no count; .*CPU_CLK_UNHALTED:50000' \
	-c x86-64/family10 -e CPU_CLK_UNHALTED
error "an impossible unit mask" 1 '.*: unit mask 0xff00 is not possible for' \
	-c x86-64/family10 -e DATA_CACHE_LINES_EVICTED:500:0xff00
error "an event twice" 1 'CPU_CLK_UNHALTED: given twice .* distinct' \
	-c x86-64/family10 -e CPU_CLK_UNHALTED:100000 CPU_CLK_UNHALTED:100000
error "too many events" 1 'RETIRED_MOVE_OPS: no counter is free: with .*, it needs 5|RETIRED_MOVE_OPS: no counter is free: with CPU_CLK_UNHALTED, .* 5 counters, the CPU has 4' \
	-c x86-64/family10 -e CPU_CLK_UNHALTED:100000 DATA_CACHE_MISSES:500 \
	RETIRED_SSE_OPS:500 CYCLES_FPU_EMPTY:500 RETIRED_MOVE_OPS:500
error "three events for two counters" 1 'UOPS_RETIRED: no counter is free: with BRANCH_RETIRED, INSTR_RETIRED it competes for counters 3, 7;' \
	-c i386/p4 -e BRANCH_RETIRED:6000 INSTR_RETIRED:6000 UOPS_RETIRED:6000

# ---- the command line ----

error "no event" 2 '--check-events: no event is given' -c x86-64/family10 -e
error "two events for --unit-mask" 2 'B:1: too many words for --unit-mask' \
	-c x86-64/family10 -u A:1 B:1
error "two names" 2 'B: too many words; see' -c x86-64/family10 A B
error "two modes" 2 '--check-events and --unit-mask: give one at a time' -e -u A
error "two formats" 2 '--xml and --json: give one of them' --xml --json
error "a format of no list" 2 '--json: only for the list' --json -r
error "an unknown option" 2 '--foo: unknown option; see ophelp --help' --foo
error "a CPU type of the original without a list" 1 \
	'tile/tilegx: there is no list of its events here; ocount -e rCODE' \
	-c tile/tilegx
like "a number of the original's" "$("$ophelp" -c 35 -r 2>&1)" \
	'^AMD64 family10$'
says "that is another in 0.9.9" "ophelp: --cpu-type=47: i386/nehalem, as \
OProfile 1.4 had numbers; with those of 0.9.9 it is arm/armv6
Intel Nehalem microarchitecture" -c 47 -r
says "one that is the same" "Pentium Pro" -c 0 -r
says "one that 0.9.9 had not" "Cavium ThunderX2" -c 87 -r
error "no number of theirs" 1 '88: no such CPU type' -c 88
"$ophelp" -l | grep -E '^(i386|x86-64)/' | grep -v '/p4' | while read -r cpu _; do
	"$ophelp" -c "$cpu" -e CPU_CLK_UNHALTED:100000 2>&1 | grep -q '^[0-9]' || echo "$cpu"
done >"$TMP/without"
is "CPU_CLK_UNHALTED:100000 works on every x86 CPU" "$(cat "$TMP/without")" ""
error "an unknown CPU type" 1 'nope: no such CPU type; ophelp --list-cpus' \
	--cpu-type=nope
error "a CPU type that leads elsewhere" 1 '\.\./etc: no such CPU type' \
	--cpu-type=../etc
error "an unknown event's code" 1 'NOPE: x86-64/family10 has no event' \
	-c x86-64/family10 NOPE

# ---- the timer ----

is "the list of a machine without counters" \
	"$("$ophelp" -c timer | head -n 1)" "Using timer interrupt."
says "its CPU type" "CPU with timer interrupt" -c timer -r
says "its default event" "" -c timer -d
error "its events" 1 'X:1: there are no events in timer mode' -c timer -e X:1
got=$("$ophelp" 2>"$TMP/err")
status=$?
if grep -q 'samples are taken by the timer' "$TMP/err"; then
	is "this machine has no counters" "$status $(echo "$got" | head -n 1)" \
		"0 Using timer interrupt."
	is "and it is said in one line" "$(wc -l <"$TMP/err")" 1
else
	like "this machine's events" "$got" '^oprofile: available events for CPU'
fi

# ---- where the files are ----

mkdir -p "$TMP/events/x86-64/own" "$TMP/empty" "$TMP/inst/bin" "$TMP/inst/share"
printf '%s\n' 'name = Own' 'counters = 1' 'default = E:1' 'manual = M' \
	>"$TMP/events/x86-64/own/cpu"
printf 'name:u type:mandatory default:0x0\n\t0x0 None\n' \
	>"$TMP/events/x86-64/own/unit_masks"
echo 'event:0x12 counters:0 um:u minimum:1 name:E : An event' \
	>"$TMP/events/x86-64/own/events"
OPROFILE_EVENTS_DIR=$TMP/events
export OPROFILE_EVENTS_DIR
says "OPROFILE_EVENTS_DIR" 18 -c x86-64/own E
error "its types alone are there" 1 'i386/p4: there is no list' -c i386/p4
OPROFILE_EVENTS_DIR=$TMP/none
error "OPROFILE_EVENTS_DIR that is not there" 1 'OPROFILE_EVENTS_DIR: .*/none: no such' \
	-l
OPROFILE_EVENTS_DIR=$TMP/empty
error "an empty OPROFILE_EVENTS_DIR" 1 '.*: no CPU types' --check
unset OPROFILE_EVENTS_DIR
cp "$ophelp" "$TMP/inst/bin/ophelp"
mv "$TMP/events" "$TMP/inst/share/oprofile"
is "an installed ophelp finds its own" \
	"$("$TMP/inst/bin/ophelp" -c x86-64/own E)" 18

if [ -w /dev/full ]; then
	"$ophelp" -c x86-64/family10 >/dev/full 2>"$TMP/err"
	is "a full disk is an error" "$?" 1
	like "and told" "$(cat "$TMP/err")" '^ophelp: standard output: cannot be written: No space'
fi

done_testing
