#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# operf's command line. What is wrong in it is said before anything is made.

. "$(dirname "$0")/../lib.sh"

cd "$TMP" || exit 1

# says NAME TEXT ARG...: fails with operf's own status, and that is all.
says() {
	name=$1 text=$2
	shift 2
	status=0
	got=$("$BIN/operf" "$@" 2>&1) || status=$?
	is "$name" "$status $got" "125 operf: $text"
}

# ---- modes

says "nothing to profile" "nothing to profile; give a command, --pid or \
--system-wide, see operf --help"
says "only options" "nothing to profile; give a command, --pid or \
--system-wide, see operf --help" --append -t
says "two modes" "--pid and --system-wide: give one of them" -s -p 1
says "a process, the system and a command" "--pid and --system-wide: give one \
of them" -s -p 1 true
says "an unknown option" "--nonsense: unknown option; see operf --help" \
	--nonsense true
says "a short one" "-y: unknown option; see operf --help" -y true
says "an argument that is missing" "--pid: missing argument; see operf --help" \
	--pid

for option in --help --usage --version; do
	got=$("$BIN/operf" $option 2>&1 >/dev/full)
	is "$option to a full disk" "$? $got" "125 operf: standard output: \
cannot write to it; is its disk full?"
done

# ---- values

for pid in x 0 -1 1x 4294967297 ''; do
	says "--pid '$pid'" "--pid=$pid: not the number of a process; ps lists \
them" "--pid=$pid"
done
says "a process and a cgroup" "--cgroup and --pid: give one of them" -p 1 --cgroup=/
says "the system and a cgroup" "--cgroup and --system-wide: give one of them" \
	-s --cgroup=/
for path in '' a,b; do
	says "--cgroup '$path'" "--cgroup=$path: not the path of a cgroup; give \
one without commas, as in /proc/PID/cgroup" --cgroup="$path"
done
for pids in 1,x '1,' ',1' 1,,2; do
	says "--pid $pids" "--pid=$(echo "$pids" | tr -d 12,): not the number of \
a process; ps lists them" "--pid=$pids"
done
says "a number that is none, and another option" "--pid=x: not the number of a \
process; ps lists them" --pid=x --pid=1
for seconds in x 0 -1 1s 1e99 nan inf 0.0001 31536001 ''; do
	says "--duration '$seconds'" "--duration=$seconds: not a number of \
seconds; give one from 0.001 to 31536000" "--duration=$seconds" true
done
for rate in x 0 -5 100001 1e3 ''; do
	says "--rate '$rate'" "--rate=$rate: not a number of samples per \
second; give one from 1 to 100000" "--rate=$rate" true
done
for depth in x 0 -1 1025 ''; do
	says "--callgraph '$depth'" "--callgraph=$depth: not a number of \
frames; give one from 1 to 1024" "--callgraph=$depth" true
done
for mib in x -1 1048577 8MiB ''; do
	says "--pack-at '$mib'" "--pack-at=$mib: not a number of MiB; give one \
from 1 to 1048576, or 0 for never" "--pack-at=$mib" true
done
for keep in 0 1001 x; do
	says "--keep=$keep" "--keep=$keep: not a number of sessions; give one from 1 to 1000" \
		--keep=$keep true
done
says "--max-disk" "--max-disk=5MB: not a number of MiB; give one from 1 to \
1048576, or 0 for any" --max-disk=5MB true
says "--cpu-budget" "--cpu-budget=half: not a part of each CPU; give percent, \
such as 1 or 0.5, or none" --cpu-budget=half true
says "--rate with events" "--rate and --events: --rate is for the CPU clock, \
which is sampled without --events; give one of them" \
	--rate=100 -e cpu-clock:1000000 true
says "--verbose with a word that is none" "--verbose=sfiles: unknown word; use debug, sfile, arcs, samples, module, misc, ext or all" \
	-V debug,sfiles true

# ---- events

# A machine whose CPU has two events, the second of them with unit masks.
OPROFILE_FS=$TMP/fs
OPROFILE_EVENTS_DIR=$TMP/fs/events
export OPROFILE_FS OPROFILE_EVENTS_DIR
cpu=$OPROFILE_EVENTS_DIR/x86-64/made-up
mkdir -p "$OPROFILE_FS/proc" "$cpu"
printf 'processor\t: 0\nvendor_id\t: Nobody\n' >"$OPROFILE_FS/proc/cpuinfo"
cat >"$cpu/cpu" <<'END'
name = Made up
counters = 1
default = CYCLES:1000
encoding = x86
match = vendor Nobody
manual = none
END
cat >"$cpu/unit_masks" <<'END'
name:zero type:mandatory default:0x0
	0x00 No unit mask
name:state type:bitmask default:0x03
	0x01 extra: shared Shared
	0x02 extra: owned Owned
END
cat >"$cpu/events" <<'END'
event:0x76 counters:0 um:zero minimum:1000 name:CYCLES : Cycles
event:0x41 counters:0 um:state minimum:500 name:MISSES : Misses
END

says "an unknown event" "nonsense: x86-64/made-up has no event of this name; \
ophelp lists them" -e nonsense:1000 true
says "one that is like another" "MISES: x86-64/made-up has no event of this name; \
similar: MISSES" -e MISES:1000 true
says "one that is like one of the kernel" "page-fault: the kernel has no event of \
this name; similar: page-faults" -e page-fault:1 true
says "no count" "cpu-clock: no count; give the number of events per sample, as in \
cpu-clock:1000" -e cpu-clock true
says "an empty count" "MISSES::0: no count; give the number of events per \
sample, as in MISSES:500" -e MISSES::0 true
for count in x -1 1.5 99999999999999999999; do
	says "a count of $count" "cpu-clock:$count: count $count is not a whole \
number; give one, as in cpu-clock:1000" -e "cpu-clock:$count" true
done
says "a count of 0" "page-faults:0: count 0 is below the minimum of \
page-faults, 1; a smaller one would flood the machine with interrupts" \
	-e faults:0 true
says "a count that is too large" "cpu-clock:9223372036854775808: count \
9223372036854775808 is too large" -e cpu-clock:9223372036854775808 true
says "a unit mask of the kernel's" "cpu-clock:1000:0x01: unit mask 0x01 is not \
possible for cpu-clock; give 0x00" -e cpu-clock:1000:0x01 true
says "a bad unit mask" "MISSES:500:4: unit mask 4 is not possible for MISSES; \
give bits of 0x01 (shared), 0x02 (owned)" -e MISSES:500:4 true
says "a bad name of one" "MISSES:500:shared+gone: unit mask gone is no name for \
MISSES; give bits of 0x01 (shared), 0x02 (owned)" -e MISSES:500:shared+gone true
says "a kernel flag" "cpu-clock:1000:0:2: \"2\" for kernel is neither 0 nor 1" \
	-e cpu-clock:1000:0:2 true
says "a user flag" "MISSES:1000::1:yes: \"yes\" for user is neither 0 nor 1" \
	-e MISSES:1000::1:yes true
says "neither kernel nor user" "cpu-clock:1000:0:0:0: counts neither the kernel \
nor user programs; one must be 1" -e cpu-clock:1000:0:0:0 true
says "too many parts" "cpu-clock:1000:0:1:1:1: \"1\": too many fields; the form is \
NAME:COUNT:UNITMASK:KERNEL:USER" -e cpu-clock:1000:0:1:1:1 true
says "one bad of two" "y: x86-64/made-up has no event of this name; ophelp lists \
them" -e cpu-clock:1000,y:1000 true
says "an empty name" '"": the name of an event is missing; ophelp lists them' -e , true
says "twice the same" "page-faults: given twice with the same unit mask; all \
events must be distinct" -e faults:5,page-faults:5 true
sed -i s/Nobody/Somebody/ "$OPROFILE_FS/proc/cpuinfo"
says "a CPU that is not described" "INST_RETIRED: the kernel has no event of this name; \
the events of this CPU are unknown: this CPU (vendor Somebody) is not described in \
$OPROFILE_EVENTS_DIR" -e INST_RETIRED:1000 true
rm -r "$OPROFILE_FS"
says "no event files" "INST_RETIRED: the kernel has no event of this name; the events of \
this CPU are unknown: OPROFILE_EVENTS_DIR: $OPROFILE_EVENTS_DIR: no such folder" \
	-e INST_RETIRED:1000 true
unset OPROFILE_FS OPROFILE_EVENTS_DIR

# ---- help

for option in --help -h "-?"; do
	got=$("$BIN/operf" "$option" 2>&1)
	is "$option exits with 0" $? 0
	like "$option tells the options" "$got" '^ +-p, --pid=PID'
done
for option in --usage -u; do
	got=$("$BIN/operf" "$option" 2>&1)
	is "$option exits with 0" $? 0
	like "$option tells the options" "$got" '\[-s\|--system-wide\]'
done
like "the version" "$("$BIN/operf" --version)" '^operf: oprofile [0-9.]+$'
is "-v is the same" "$("$BIN/operf" -v)" "$("$BIN/operf" --version)"
if [ -e /dev/full ]; then
	exits "a full disk is noticed" 125 sh -c "'$BIN/operf' -v >/dev/full"
else
	skip "a full disk is noticed" "no /dev/full"
fi

is "nothing was made" "$(ls "$TMP")" ""
done_testing
