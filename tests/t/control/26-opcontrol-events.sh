#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# opcontrol --event: what is kept, what the module's counters and the daemon
# get, and what is refused. The CPU and its events are made up here.
# sanitized: yes

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../opcontrol.sh"

fs=$OPROFILE_FS
rc=$HOME/.oprofile/daemonrc
log="Using log file $session/samples/oprofiled.log"
way_out='sample by the timer, --event=timer, or with --source=perf an event of the kernel.s own such as page-faults:1'

OPROFILE_EVENTS_DIR=$TMP/events
export OPROFILE_EVENTS_DIR
cpu=$OPROFILE_EVENTS_DIR/x86-64/made-up
mkdir -p "$cpu"
cat >"$cpu/cpu" <<'END'
name = Made up
counters = 3
default = CYCLES:100000
encoding = x86
match = vendor Nobody family 9
manual = none
END
cat >"$cpu/unit_masks" <<'END'
name:zero type:mandatory default:0x0
	0x00 No unit mask
name:state type:bitmask default:0x03
	0x01 extra: shared Shared
	0x02 extra: owned Owned
name:kind type:exclusive default:any
	0x01 extra: any All
	0x01 extra:inv,cmask=1 none Cycles without
END
cat >"$cpu/events" <<'END'
event:0x76 counters:0,1,2 um:zero minimum:1000 name:CYCLES : Cycles
event:0x41 counters:0,1 um:state minimum:500 name:MISSES : Misses
event:0x1c2 counters:0,1 um:kind minimum:500 name:BRANCHES : Branches
event:0xf0 ext:ibs_op um:zero minimum:500 name:IBS_OPS : Operations
END
mkdir "$fs/proc"
printf 'processor\t: 0\nvendor_id\t: Nobody\ncpu family\t: 9\n' \
	>"$fs/proc/cpuinfo"

# counters NR: those of the module; each has something left in it.
counters() {
	rm -rf "$fs"/[0-9]
	counter=0
	while [ $counter -lt "$1" ]; do
		mkdir "$fs/$counter"
		for file in enabled event count unit_mask kernel user extra; do
			echo 1 >"$fs/$counter/$file"
		done
		counter=$((counter + 1))
	done
	echo 4 >"$fs/pmu_types"
}
# counter NR: its numbers.
counter() {
	(cd "$fs/$1" && for file in enabled event count unit_mask kernel user \
		extra; do printf '%s ' "$(cat $file)"; done)
}
# saved: the lines of daemonrc, without their keys but with their numbers.
saved() {
	sed -n 's/^CHOSEN_EVENTS_//p' "$rc"
	sed -n 's/^NR_CHOSEN = //p' "$rc"
}
events() {
	opcontrol --status | grep '^Event'
}
argv() {
	sed -n "s/^--$1=//p" "$session/argv"
}

counters 3
ok "settings" opcontrol --session-dir="$session"

# ---- the default

is "nothing is chosen at first" "$(saved)" 0
is "--status tells what will be sampled" "$(events)" \
	"Event 0: CYCLES:100000:0:1:1"
says "--start" 0 "Using default event: CYCLES:100000:0:1:1
$log
Daemon started.
Profiler running." --start
is "the first counter" "$(counter 0)" "1 118 100000 0 1 1 118 "
is "others are off" "$(cat "$fs/1/enabled")$(cat "$fs/2/enabled")" 00
is "the daemon's" "$(argv events)" "CYCLES:118:0:100000:0:1:1:0x76"
status=$(opcontrol --status)
like "--status with the daemon" "$status" '^Event 0: CYCLES:100000:0:1:1$'
like "its source" "$status" '^Source: module/perf$'
unlike "no rate of the timer" "$status" 'Timer rate'
ok "shut down" opcontrol --shutdown

# ---- chosen events

ok "several" opcontrol --event=MISSES:500::0 \
	-e CYCLES:0x1000:0,BRANCHES:600:none:1:0
kept="0 = MISSES:500:3:0:1
1 = CYCLES:4096:0:1:1
2 = BRANCHES:600:none:1:0
3"
is "are kept, all fields written out" "$(saved)" "$kept"
is "--status shows them" "$(events)" "Event 0: MISSES:500:3:0:1
Event 1: CYCLES:4096:0:1:1
Event 2: BRANCHES:600:none:1:0"
says "are no default" 0 "$log
Daemon started.
Profiler running." --start
is "counter 0: the event's default mask" "$(counter 0)" "1 65 500 3 0 1 833 "
is "counter 1" "$(counter 1)" "1 118 4096 0 1 1 118 "
# 0x1 in bits 32 to 35, inv and cmask=1
is "counter 2: all bits of the register" "$(counter 2)" \
	"1 450 600 1 1 0 $((0x1018001c2)) "
is "the daemon's, in the same order" "$(argv events)" \
	"MISSES:65:0:500:3:0:1:0x341,CYCLES:118:1:4096:0:1:1:0x76,\
BRANCHES:450:2:600:1:1:0:0x1018001c2"
ok "shut down" opcontrol --shutdown
ok "another setting" opcontrol --separate=lib
is "leaves them" "$(saved)" "$kept"
ok "a new list" opcontrol --event=BRANCHES:700 --event=default
is "replaces the old one" "$(saved)" "0 = BRANCHES:700:any:1:1
1 = CYCLES:100000:0:1:1
2"
ok "with the daemon" opcontrol --start
is "the third counter is off again" "$(cat "$fs/2/enabled")" 0
got=$(opcontrol --event=CYCLES:5000 2>&1)
like "while it runs" "$? $got" '^0 opcontrol: the running daemon keeps'
is "it keeps its events" "$(events)" "Event 0: BRANCHES:700:any:1:1
Event 1: CYCLES:100000:0:1:1"
ok "shut down" opcontrol --shutdown
is "now the new one" "$(events)" "Event 0: CYCLES:5000:0:1:1"

ok "--event=timer" opcontrol --event=timer
is "is kept" "$(saved)" "0 = timer
1"
is "--status has no events" "$(events)" ""
says "says nothing more" 0 "$log
Daemon started.
Profiler running." --start
is "all counters are off" \
	"$(cat "$fs/0/enabled")$(cat "$fs/1/enabled")$(cat "$fs/2/enabled")" 000
is "the daemon has none" "$(argv events)" ""
like "its rate is told" "$(opcontrol --status)" '^Timer rate: 1000 per second'
ok "shut down" opcontrol --shutdown
ok "--event=default" opcontrol --event=default
is "takes the choice back" "$(saved) $(events)" "0 Event 0: CYCLES:100000:0:1:1"

# ---- PMUs

pmus=$fs/sys/bus/event_source/devices
for pmu in cpu_core=4 cpu_atom=10 uncore_imc=14 msr=9; do
	mkdir -p "$pmus/${pmu%=*}"
	echo "${pmu#*=}" >"$pmus/${pmu%=*}/type"
done
echo 0-3 >"$pmus/cpu_core/cpus"
echo 4-7 >"$pmus/cpu_atom/cpus"
echo 0 >"$pmus/uncore_imc/cpumask"
ok "CPUs of two kinds" opcontrol --start-daemon
is "the PMUs of both, no others" "$(cat "$fs/pmu_types")" "4 10"
ok "shut down" opcontrol --shutdown
rm -r "$pmus"/cpu_*
mkdir "$pmus/cpu"
echo 4 >"$pmus/cpu/type"
echo x >"$fs/pmu_types"
ok "CPUs of one kind" opcontrol --start-daemon
is "its PMU" "$(cat "$fs/pmu_types")" 4
ok "shut down" opcontrol --shutdown

# ---- perf_events

ok "with perf" opcontrol --source=perf --timer-rate=200 \
	--event=page-faults:5:0:0,BRANCHES:700:none,faults:6
is "the kernel's own have their usual names" "$(events)" \
	"Event 0: page-faults:5:0:0:1
Event 1: BRANCHES:700:none:1:1
Event 2: page-faults:6:0:1:1"
counters 3
says "--start" 0 "opcontrol: no effect with this source: Timer rate
$log
Daemon started.
Profiler running." --start
is "the daemon's" "$(argv source) $(argv events)" "perf \
page-faults:2:0:5:0:0:1:0x2,BRANCHES:450:1:700:1:1:1:0x1018001c2,\
page-faults:2:2:6:0:1:1:0x2"
is "no counter is touched" "$(counter 0)" "1 1 1 1 1 1 1 "
like "--status" "$(opcontrol --status)" '^Source: perf/page-faults$'
ok "shut down" opcontrol --shutdown
says "with the module it is refused at the start" 1 "opcontrol: page-faults: \
an event of the kernel's own, which the module cannot sample; choose \
--source=perf or an event of the CPU" --start --source=module
like "and when chosen" \
	"$(opcontrol --source=module --event=cycles:5000 2>&1; echo $?)" \
	'^opcontrol: cycles: an event of the kernel'
ok "back" opcontrol --source=auto --event=default --timer-rate=0

# ---- what is no event

# refused NAME STATUS ERE ARG...: one line; nothing is kept.
refused() {
	name=$1 wanted=$2 ere=$3
	shift 3
	got=$(opcontrol "$@" 2>&1)
	like "$name" "$? $got" "^$wanted opcontrol: $ere"
	is "$name: in one line" "$(echo "$got" | wc -l)" 1
	is "$name: nothing is kept" "$(saved)" 0
}
refused "an unknown event" 2 "MISES: x86-64/made-up has no event of this name; \
similar: MISSES\$" --event=MISES:500
refused "an unknown one of the kernel" 2 'page-fault: the kernel has no event ' \
	--event=page-fault:1
refused "the second of two" 2 'FOO: x86-64/made-up has no event' --event=CYCLES:5000,FOO:1
refused "no count" 2 'CYCLES: no count' --event=CYCLES
refused "a count too small" 2 'CYCLES:999: count 999 is below the minimum' \
	--event=CYCLES:999
refused "one too small for stacks" 2 'CYCLES:14999: .* below the minimum.* 15000' \
	--callgraph=8 --event=CYCLES:14999
refused "a bad unit mask" 2 'MISSES:500:4: unit mask 4 is not possible' \
	--event=MISSES:500:4
refused "a unit mask of two meanings" 2 'BRANCHES:500:1: .* not unique' \
	--event=BRANCHES:500:1
refused "no mode" 2 'CYCLES:5000:0:0:0: counts neither' \
	--event=CYCLES:5000:0:0:0
refused "too much" 2 'CYCLES:5000:0:1:1:1: "1": too many fields' \
	--event=CYCLES:5000:0:1:1:1
refused "twice the same" 2 'MISSES: given twice' --event=MISSES:500,MISSES:500
refused "a feature" 1 'IBS_OPS: no ibs_op here; AMD CPUs' --event=IBS_OPS:512
refused "timer and an event" 2 'CYCLES: the timer and counters cannot' \
	-e CYCLES:5000 -e timer
refused "nothing" 2 '--event: no event; give NAME:COUNT, timer' --event=
refused "an empty name" 2 '"": the name of an event is missing' \
	--event=CYCLES:5000,
refused "with another command" 2 '--stop and --event: settings go with' \
	--stop --event=CYCLES:5000

# ---- threads that wait

# waits: the numbers of each folder that is on.
waits() {
	for folder in "$fs"/wait/[0-3]; do
		[ "$(cat "$folder/interval")" -eq 0 ] ||
			echo "$(cat "$folder/counter") $(cat "$folder/unit_mask") $(cat "$folder/interval")"
	done
}
opcontrol --event=default
refused "on a kernel without tracepoints" 1 'THREAD_WAIT: this kernel has no tracepoints' \
	--event=THREAD_WAIT:5000
for folder in 0 1 2 3; do
	mkdir -p "$fs/wait/$folder"
	echo 1 | tee "$fs/wait/$folder/counter" "$fs/wait/$folder/unit_mask" \
		"$fs/wait/$folder/interval" >"$fs/wait/scheduler_end"
done
echo 1 | tee "$fs/timer/enabled" >"$fs/wait/scheduler_start"
ok "waits can be chosen" opcontrol --event=timer,thread_wait:1000000:4,THREAD_WAIT:2000000
is "are kept, all fields written out" "$(events)" "Event 0: timer
Event 1: THREAD_WAIT:1000000:4:1:1
Event 2: THREAD_WAIT:2000000:7:1:1"
ok "they start" opcontrol --start
is "they are on, and the others off" "$(waits)" "1 4 1000000
2 7 2000000"
is "the timer samples beside them" "$(cat "$fs/timer/enabled")" 1
is "the daemon's" "$(argv events)" \
	"TIMER:0:0:0:0:1:1:0x0,THREAD_WAIT:0:1:1000000:4:1:1:0x4,THREAD_WAIT:0:2:2000000:7:1:1:0x7"
ok "shut down" opcontrol --shutdown
ok "beside counters" opcontrol --event=MISSES:500,THREAD_WAIT:5000,CYCLES:5000
ok "they start" opcontrol --start
is "with the numbers that the daemon knows" "$(waits)" "1 7 5000"
is "before" "$(counter 0)" "1 65 500 3 1 1 833 "
is "and after them" "$(counter 2)" "1 118 5000 0 1 1 118 "
ok "shut down" opcontrol --shutdown
ok "alone" opcontrol --event=THREAD_WAIT:5000
ok "they start" opcontrol --start
is "without the timer" "$(cat "$fs/timer/enabled")" 0
ok "shut down" opcontrol --shutdown
ok "back" opcontrol --event=timer
ok "start" opcontrol --start
is "without waits" "$(waits)$(cat "$fs/timer/enabled")" 1
ok "shut down" opcontrol --shutdown
ok "back" opcontrol --event=default
refused "perf_events" 2 'THREAD_WAIT: opcontrol counts it by the module only; choose --source=module' \
	--source=perf --event=THREAD_WAIT:5000
refused "part of nothing" 2 'THREAD_WAIT:5000:8: ' --event=THREAD_WAIT:5000:8
refused "too often" 2 'THREAD_WAIT:10: ' --event=THREAD_WAIT:10
refused "five" 2 'THREAD_WAIT: at most 4 can be counted together' \
	--event=THREAD_WAIT:5000,THREAD_WAIT:6000,THREAD_WAIT:7000,THREAD_WAIT:8000,THREAD_WAIT:9000

# ---- a module that cannot

ok "three events" opcontrol --event=CYCLES:1000,MISSES:2000,BRANCHES:3000
counters 2
says "too few counters" 1 "opcontrol: BRANCHES: the module has 2 counters, one \
is needed for each of 3 events; choose fewer, or free the NMI watchdog's with \
sysctl kernel.nmi_watchdog=0 and load the module again" --start
counters 3
rmdir_file() { rm "$1" && mkdir "$1"; }
rmdir_file "$fs/1/count"
like "a write that is refused" "$(opcontrol --start 2>&1)" \
	"^opcontrol: value 2000 is not accepted by $fs/1/count: Is a"
counters 3
while IFS='|' read -r error cure; do
	echo "start /dev/oprofile/enable: $error" >"$session/mode"
	got=$(opcontrol --start 2>&1)
	like "$error is explained" "$? $(echo "$got" | tail -n 1)" \
		"^1 opcontrol: oprofiled: /dev/oprofile/enable: $error: $cure"
	opcontrol --shutdown >/dev/null
done <<END
Device or resource busy|no counter is free on some CPU; .*sysctl kernel.nmi_watchdog=0
No such file or directory|this CPU has no such event; .*--list-events
Operation not supported|this CPU cannot sample the event; choose
Invalid argument|this CPU refuses the event or its count; choose
END
opcontrol --event=timer
echo "start /dev/oprofile/enable: Invalid argument" >"$session/mode"
like "of the timer nothing is said" "$(opcontrol --start 2>&1)" \
	'^opcontrol: oprofiled: /dev/oprofile/enable: Invalid argument$'
rm "$session/mode"
opcontrol --shutdown >/dev/null

# ---- no counters

ok "an event" opcontrol --event=CYCLES:5000
counters 0
says "that is chosen is never replaced" 1 "opcontrol: CYCLES: no hardware \
counters here; sample by the timer, --event=timer, or with \
--source=perf an event of the kernel's own such as page-faults:1" --start
ok "back" opcontrol --event=default
for source in perf module auto; do
	refused "an event with --source=$source" 1 \
		"CYCLES: no hardware counters here; $way_out" \
		--source=$source --event=CYCLES:5000
done
says "the default is the timer, which is said" 0 "opcontrol: no hardware \
counters here; sampling by the timer (as with \
--event=timer)
$log
Daemon started.
Profiler running." --start
is "without events" "$(argv events)$(events)" ""
ok "shut down" opcontrol --shutdown
ok "but the kernel's own" opcontrol --source=perf --event=page-faults:1
ok "can be sampled" opcontrol --start
is "by the daemon" "$(argv events)" "page-faults:2:0:1:0:1:1:0x2"
ok "shut down" opcontrol --shutdown
ok "back" opcontrol --source=auto --event=default

# ---- a CPU that nothing describes

counters 3
sed -i 's/Nobody/Somebody/' "$fs/proc/cpuinfo"
like "the default is the timer, and why" "$(opcontrol --start 2>&1)" \
	'^opcontrol: this CPU \(vendor Somebody family 0x9\) is not described in .*; sampling by the timer'
ok "shut down" opcontrol --shutdown
refused "an event" 2 "CYCLES: the kernel has no event of this name.*; the \
events of this CPU are unknown: this CPU .*; $way_out" --event=CYCLES:5000
echo 'nearest = vendor Somebody' >>"$cpu/cpu"
like "but by another, and that is said" "$(opcontrol --start 2>&1)" \
	"^opcontrol: there is no list of this CPU's events; events are those of the nearest, x86-64/made-up\$"
like "which is taken" "$(opcontrol --status 2>&1)" '^Event 0: CYCLES:100000:0:1:1'
ok "shut down" opcontrol --shutdown
sed -i 's/Somebody/Nobody/' "$fs/proc/cpuinfo"
echo 'event:0x1 nonsense:1' >>"$cpu/events"
like "event files that are damaged are named" "$(opcontrol --start 2>&1)" \
	"^opcontrol: $cpu/events:5: .*; sampling by the timer"
ok "shut down" opcontrol --shutdown

# ---- a settings file

# file LINE...: is the settings file.
file() {
	printf '%s\n' "SESSION_DIR=$session" "$@" >"$rc"
}
file 'NR_CHOSEN=1' 'CHOSEN_EVENTS_0=CYCLES:7000:0:1:1'
is "one of the original" "$(events)" "Event 0: CYCLES:7000:0:1:1"
file 'NR_CHOSEN=2' 'CHOSEN_EVENTS_0=CYCLES:7000:0:1:1'
like "one event too few" "$(opcontrol --status 2>&1)" \
	"^opcontrol: $rc: CHOSEN_EVENTS_1: there is no such line"
file 'NR_CHOSEN=x'
like "a number that is none" "$(opcontrol --status 2>&1)" \
	"^opcontrol: $rc:2: NR_CHOSEN: \"x\" is not a whole number"
file 'NR_CHOSEN=18446744073709551615' 'CHOSEN_EVENTS_0=A:1'
like "or too large" "$(opcontrol --status 2>&1)" \
	"^opcontrol: $rc: CHOSEN_EVENTS_1: there is no such line"
file 'NR_CHOSEN=0' 'CHOSEN_EVENTS_0=A:1'
is "none of a list" "$(opcontrol --event=timer; saved)" "0 = timer
1"

# ---- the list

rm -f "$fs/proc/cpuinfo"
# shellcheck disable=SC2016 # the script expands it
printf '#!/bin/sh\necho "list $*"\nexit ${LIST_STATUS:-0}\n' >"$TMP/bin/ophelp"
chmod +x "$TMP/bin/ophelp"
says "--list-events is ophelp's" 0 "list " --list-events
says "-l too" 0 "list " -l
exits "it may fail" 1 env LIST_STATUS=1 "$TMP/bin/opcontrol" -l
echo bad >"$rc"
says "whatever the settings are" 0 "list " -l
rm "$TMP/bin/ophelp"
like "without ophelp" "$(PATH=/usr/bin:/bin opcontrol -l 2>&1)" \
	"^opcontrol: ophelp: no such program in $TMP/bin or on PATH"
rm "$rc"

done_testing
