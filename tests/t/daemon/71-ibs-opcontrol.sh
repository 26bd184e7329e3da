#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Events of AMD IBS in ophelp and opcontrol: what is listed and refused, and
# what the module's folders and the daemon get.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../opcontrol.sh"

fs=$OPROFILE_FS
OPROFILE_EVENTS_DIR=$O/events
export OPROFILE_EVENTS_DIR
CPU=x86-64/family10

ophelp() {
	"$BIN/ophelp" -c "$CPU" "$@"
}

# ---- ophelp

is "kinds stand for counters" "$(ophelp -e IBS_FETCH_ALL:50000 IBS_OP_ALL:50000:1)" \
	"ibs_fetch ibs_op "
is "they take none" "$(ophelp -e CPU_CLK_UNHALTED:100000 IBS_OP_ALL:50000 \
	DATA_CACHE_MISSES:5000 RETIRED_UOPS:50000 IBS_OP_LOAD:50000 \
	DATA_CACHE_ACCESSES:50000)" "0 ibs_op 1 2 ibs_op 3 "
list=$(COLUMNS=400 ophelp)
is "the list has all of family 10h" "$(printf '%s\n' "$list" |
	grep -oE 'counter: ibs_(fetch|op)' | sort | uniq -c | tr -s ' ')" \
	" 13 counter: ibs_fetch
 47 counter: ibs_op"
like "with what they mean" "$list" \
	'Cycles that sampled loads waited for data that missed the data cache, added up \(min count: 50000\)'
for cpu in "$TOP"/events/x86-64/*; do
	CPU=x86-64/${cpu##*/}
	counts=$(ophelp 2>/dev/null | grep -c 'counter: ibs_')
	case $CPU in
	*/hammer | */family11h | */generic) is "$CPU has none" "$counts" 0 ;;
	*) ok "$CPU has $counts" [ "$counts" -ge 40 ] ;;
	esac
done
CPU=x86-64/family10

# The daemon knows events by name; sample files tell the code.
sed -n 's/^{ \(0xf[0-9a-f]*\), "\([A-Z0-9_]*\)".*/\1 \2/p' \
	"$TOP/daemon/feature/opd_ibs_events.c" | sort -u >"$TMP/daemons"
cat "$TOP"/events/*/*/events | sed -n \
	's/^event:\(0x[0-9a-f]*\) ext:ibs_.* name:\([^ ]*\) .*/\1 \2/p' |
	sort -u >"$TMP/listed"
ok "codes and names are the daemon's" diff "$TMP/daemons" "$TMP/listed"

# wrong NAME ERE SPEC...: one line, status 1.
wrong() {
	wrong_name=$1 wrong_text=$2
	shift 2
	got=$(ophelp -e "$@" 2>&1)
	like "$wrong_name" "$? $got" "^1 ophelp: $wrong_text"
	is "$wrong_name: one line" "$(printf '%s\n' "$got" | wc -l)" 1
}
same="all events of ibs_op are derived from the same samples, give them the same"
wrong "unequal counts" \
	"IBS_OP_LOAD: count 60000, but IBS_OP_ALL has 50000; $same count" \
	IBS_OP_ALL:50000 IBS_OP_LOAD:60000
wrong "unequal unit masks" "IBS_OP_LOAD: unit mask 0, but IBS_OP_ALL has 1; $same unit mask" \
	IBS_OP_ALL:50000 IBS_OP_LOAD:50000:0
wrong "unequal modes" "IBS_OP_LOAD: kernel 0, but IBS_OP_ALL has 1; $same kernel" \
	IBS_OP_ALL:50000 IBS_OP_LOAD:50000:1:0:1
ok "kinds may differ" "$BIN/ophelp" -c "$CPU" -e IBS_OP_ALL:50000 IBS_FETCH_ALL:60000
wrong "no multiple of 16" \
	"IBS_OP_ALL:50001: count 50001 is not a multiple of 16, .*; give 50016" IBS_OP_ALL:50001
wrong "too small a count" "IBS_OP_ALL:49984: count 49984 is below the minimum" \
	IBS_OP_ALL:49984
wrong "a unit mask that is none" "IBS_OP_ALL:50000:16: unit mask 16 is not possible" \
	IBS_OP_ALL:50000:16
wrong "a unit mask of fetches" "IBS_FETCH_ALL:50000:1: unit mask 1 is not possible" \
	IBS_FETCH_ALL:50000:1
wrong "an unknown event" "IBS_OP_LOADS: .* has no event of this name; similar: IBS_OP_LOAD" \
	IBS_OP_LOADS:50000
wrong "twice the same" "IBS_OP_LOAD: given twice" IBS_OP_LOAD:50000 IBS_OP_LOAD:50000

# ---- opcontrol, with a module that has IBS

mkdir "$fs/proc"
printf 'processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 16\nmodel\t\t: 4\n' \
	>"$fs/proc/cpuinfo"
for kind in fetch op; do
	mkdir -p "$fs/ibs_$kind" "$fs/sys/bus/event_source/devices/ibs_$kind"
	for file in enable max_count kernel user type; do
		echo 7 >"$fs/ibs_$kind/$file"
	done
done
echo 11 >"$fs/sys/bus/event_source/devices/ibs_fetch/type"
echo 12 >"$fs/sys/bus/event_source/devices/ibs_op/type"
echo 7 >"$fs/ibs_fetch/rand_enable"
echo 7 >"$fs/ibs_op/dispatched_ops"
# folder KIND FILE...: what is in them.
folder() {
	folder=$fs/ibs_$1
	shift
	for file; do sed 's/$/ /' "$folder/$file"; done | tr -d '\n' |
		sed 's/ $//'
}
argv() {
	sed -n "s/^--$1=//p" "$session/argv"
}

ok "events of both kinds" opcontrol --session-dir="$session" \
	--event=IBS_OP_ALL:50000,IBS_FETCH_LATENCY:60000 \
	--event=IBS_OP_DC_LOAD_LAT:50000
ok "start" opcontrol --start
is "fetch" "$(folder fetch enable max_count kernel user type rand_enable)" \
	"1 60000 1 1 11 1"
is "op" "$(folder op enable max_count kernel user type dispatched_ops)" \
	"1 50000 1 1 12 1"
is "the daemon" "$(argv ext-feature)" \
	"ibs:fetch:IBS_FETCH_LATENCY:60000:0|op:IBS_OP_ALL,IBS_OP_DC_LOAD_LAT:50000:1"
is "has no others" "$(argv events)" ""
like "--status tells them" "$(opcontrol --status)" '^Event 1: IBS_FETCH_LATENCY:60000:0:1:1$'
ok "shut down" opcontrol --shutdown

for nr in 0 1; do
	mkdir "$fs/$nr"
	for file in enabled event count unit_mask kernel user extra; do
		echo 7 >"$fs/$nr/$file"
	done
done
echo 4 >"$fs/pmu_types"
ok "with events of counters" opcontrol --event=IBS_OP_ALL:50000:0:0:1 \
	--event=CPU_CLK_UNHALTED:100000 --event=DATA_CACHE_MISSES:5000
ok "start again" opcontrol --start
is "fetch is off" "$(folder fetch enable)" 0
is "op, user code, cycles" "$(folder op enable kernel user dispatched_ops)" "1 0 1 0"
is "counters are numbered without them" "$(cat "$fs/0/count") $(cat "$fs/1/count")" \
	"100000 5000"
like "for the daemon, too" "$(argv events)" \
	'^CPU_CLK_UNHALTED:118:0:100000:.*,DATA_CACHE_MISSES:65:1:5000:[^,]*$'
is "and its feature" "$(argv ext-feature)" "ibs:op:IBS_OP_ALL:50000:0"
ok "shut down again" opcontrol --shutdown

# refused NAME ERE STATUS ARG...
refused() {
	name=$1 text=$2 wanted=$3
	shift 3
	got=$(opcontrol "$@" 2>&1)
	like "$name" "$? $got" "^$wanted opcontrol: $text"
	is "$name: one line" "$(printf '%s\n' "$got" | wc -l)" 1
}
refused "unequal counts are refused" "IBS_OP_LOAD: count 60000, but IBS_OP_ALL" 2 \
	--event=IBS_OP_ALL:50000,IBS_OP_LOAD:60000
refused "an odd count, too" "IBS_OP_ALL:50001: count 50001 is not a multiple" 2 \
	--event=IBS_OP_ALL:50001
refused "perf_events cannot" \
	"IBS_OP_ALL: of ibs_op, which only the module samples; choose --source=module" 2 \
	--source=perf --event=IBS_OP_ALL:50000
ok "dispatched ops" opcontrol --event=IBS_OP_ALL:50000:1
rm "$fs/ibs_op/dispatched_ops"
refused "on a CPU without" "ibs_op: this CPU cannot count dispatched ops" 1 --start
rm -r "$fs/ibs_op"
refused "a machine without" "IBS_OP_ALL: no ibs_op here; AMD CPUs" 1 --start
refused "when it is chosen, too" "IBS_OP_LOAD: no ibs_op here" 1 --event=IBS_OP_LOAD:50000
ok "without events of IBS there is nothing to write" opcontrol --start \
	--event=CPU_CLK_UNHALTED:100000
is "no feature" "$(argv ext-feature)" ""
done_testing
