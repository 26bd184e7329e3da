#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# opcontrol --source: who takes the samples, what the daemon is told of it, and
# what people are.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../opcontrol.sh"

fs=$OPROFILE_FS
fs_text() {
	(cd "$fs" && cat abi_version buffer_size buffer_watershed \
		cpu_buffer_size timer/rate | tr '\n' ' ')
}
untouched=$(fs_text)
ok "settings" opcontrol --session-dir="$session" --event=timer

# ---- each source by name

# SETTINGS | DAEMON'S --source= | REASON | STDERR
while IFS='|' read -r settings source reason notes; do
	# Several settings to a row.
	# shellcheck disable=SC2086
	opcontrol --setup --buffer-size=0 --buffer-watershed=0 \
		--cpu-buffer-size=0 --timer-rate=0 --callgraph=0 \
		--callgraph-stack=16384 $settings 2>&1 |
		grep -v 'separates samples in libraries'
	before=$(opcontrol --status)
	out=$(opcontrol --start 2>"$TMP/err")
	is "$settings: --start" "$? $(echo "$out" | tail -n 2)" "0 Daemon started.
Profiler running."
	is "$settings: stderr" "$(cat "$TMP/err")" "$notes"
	is "$settings: the daemon's options" \
		"$(grep '^--source' "$session/argv")" "--source=$source
--source-reason=$reason"
	status=$(opcontrol --status)
	case $source in
	perf*)
		live=perf/cpu-clock saved=perf
		is "$settings: oprofilefs is not written" "$(fs_text)" \
			"$untouched"
		unlike "$settings: --status has no sizes of buffers" \
			"$status" '[Bb]uffer'
		;;
	*) live=module/timer saved=module ;;
	esac
	like "$settings: --status before" "$before" "^Source: $saved\$"
	like "$settings: --status with the daemon" "$status" "^Source: $live\$"
	is "$settings: --status says the same reason before and then" \
		"$(echo "$before$status" | grep -c "^Source reason: $reason\$")" 2
	is "$settings: --shutdown" "$(opcontrol --shutdown 2>&1)" \
		"Stopping profiling.
Killing daemon."
done <<END
--source=perf|perf|chosen by --source=perf|
--source=perf --timer-rate=250|perf:rate=250|chosen by --source=perf|
--source=perf --buffer-size=65536|perf|chosen by --source=perf|opcontrol: no effect with this source: Buffer size
--source=perf --buffer-size=65536 --timer-rate=9 --cpu-buffer-size=64|perf:rate=9|chosen by --source=perf|opcontrol: no effect with this source: Buffer size, CPU buffer size
--source=perf --callgraph=64|perf:callgraph=64|chosen by --source=perf|
--source=perf --timer-rate=9 --callgraph=1|perf:rate=9,callgraph=1|chosen by --source=perf|
--source=perf --callgraph=1 --callgraph-stack=0|perf:callgraph=1|chosen by --source=perf|opcontrol: no effect with this source: Call-graph stack
--source=module|oprofilefs:$fs|chosen by --source=module|
--source=auto|oprofilefs:$fs|OPROFILE_FS stands in for it|
END
is "no depth was written" "$(cat "$fs/backtrace_depth")" 0
ok "with stacks" opcontrol --setup --source=module --callgraph=64
ok "--start" opcontrol --start
is "the module was told" "$(cat "$fs/backtrace_depth")" 64
like "--status says so" "$(opcontrol --status)" '^Call-graph depth: 64$'
ok "--shutdown" opcontrol --shutdown
is "its own part of a stack is left to it" "$(cat "$fs/backtrace_stack")" 16384
for bytes in 65536 0 16384; do
	ok "$bytes bytes" opcontrol --setup --callgraph-stack=$bytes
	ok "--start" opcontrol --start
	is "the module was told" "$(cat "$fs/backtrace_stack")" $bytes
	ok "--shutdown" opcontrol --shutdown
done
ok "without" opcontrol --setup --callgraph=0
ok "--start" opcontrol --start
is "the module was told that, too" "$(cat "$fs/backtrace_depth")" 0
ok "--shutdown" opcontrol --shutdown
ok "the numbers of a row are gone" opcontrol --setup --source=auto \
	--buffer-size=0 --buffer-watershed=0 --cpu-buffer-size=0 --timer-rate=0

# ---- all commands without oprofilefs

mv "$fs" "$fs.away"
requests >/dev/null
while IFS='|' read -r option wanted; do
	got=$(opcontrol "$option" 2>&1)
	is "perf without oprofilefs: $option" \
		"$? $(echo "$got" | tr '\n' '/')" "$wanted/"
done <<END
--source=perf|0 
--init|0 
--start-daemon|0 Using log file $session/samples/oprofiled.log/Daemon started.
--start|0 Profiler running.
--start|0 Profiler running.
--dump|0 
--reset|0 Signalling daemon... done
--save=one|0 Signalling daemon... done
--stop|0 Stopping profiling.
--shutdown|0 Killing daemon.
--reset|0 
--start|0 Using log file $session/samples/oprofiled.log/Daemon started./Profiler running.
--deinit|0 Stopping profiling./Killing daemon.
--deinit|0 
END
is "the daemon was asked" "$(requests | tr '\n' ' ')" "start start dump reset \
save one stop shutdown start shutdown "

# ---- no module, although it is asked for

for source in module auto; do
	opcontrol --source=$source
	for option in --init --start-daemon --start; do
		got=$(opcontrol $option 2>&1)
		like "$option --source=$source without oprofilefs" "$? $got" \
			"^1 opcontrol: $fs/abi_version: cannot read: No such \
file .*; or do without the module: --source=perf\$"
		is "is one line" "$(echo "$got" | wc -l)" 1
	done
	ok "no daemon has started" not test -e "$session/run/lock"
done
mv "$fs.away" "$fs"
echo 7 >"$fs/abi_version"
like "a module of another version names both ways out" \
	"$(opcontrol --start 2>&1)" '--deinit and .*--source=perf$'
echo 1 >"$fs/abi_version"

# ---- new settings while a daemon runs

ok "a daemon with perf" opcontrol --start --source=perf
got=$(opcontrol --setup --source=module 2>&1)
like "another source while it runs is for the next" "$? $got" \
	'^0 opcontrol: the running daemon keeps its settings'
like "--status knows" "$(opcontrol --status)" '^Source: perf/cpu-clock$'
ok "shut down" opcontrol --shutdown
like "now the other one is next" "$(opcontrol --status)" '^Source: module$'
mkdir -p "$session/samples/current"
cat >"$session/samples/current/ledger" <<END
source = perf/cpu-clock
taken = 10
stored = 10
pending = 0
END
like "of the last samples the source is told too" "$(opcontrol --status)" \
	'^Sample source: perf/cpu-clock$'

# ---- auto where the kernel does not take the module

unset OPROFILE_FS
echo "no module" >"$TMP/text.ko"
if [ "$(id -u)" -ne 0 ]; then
	skip "auto without the module" "only root can start a daemon"
elif grep -q oprofilefs /proc/filesystems; then
	skip "auto without the module" "this kernel has it"
else
	ok "auto" opcontrol --setup --source=auto
	for file in "$TMP/none.ko" "$TMP/text.ko"; do
		name=${file##*/}
		export OPROFILE_MODULE="$file"
		reason=$(opcontrol --start --source=module 2>&1 |
			sed -n 's/^opcontrol: \(.*\); or do without.*/\1/p')
		like "$name: --source=module fails" "$reason" '; .'
		opcontrol --source=auto
		ok "$name: --init does with perf" opcontrol --init
		opcontrol --start >/dev/null 2>"$TMP/err"
		is "$name: auto does with perf and says why in one clause" \
			"$? $(cat "$TMP/err")" \
			"0 opcontrol: sampling with perf_events: ${reason%%;*}"
		is "$name: the daemon knows the whole reason" \
			"$(grep '^--source' "$session/argv")" "--source=perf
--source-reason=$reason"
		is "$name: and so has --status" \
			"$(opcontrol --status | sed -n 's/^Source//p')" \
			": perf/cpu-clock
 reason: $reason"
		is "$name: it is said once" "$(opcontrol --start 2>&1)" \
			"Profiler running."
		ok "$name: --deinit" opcontrol --deinit
	done
	export OPROFILE_MODULE="$TMP/none.ko"
	like "what will be used is foreseen" "$(opcontrol --status)" \
		'^Source: perf$'
	export OPROFILE_MODULE="$TMP/text.ko"
	# Only loading it tells that it is no module.
	case $reason in
	*/text.ko:*) wanted=": auto
 reason: the module if it loads, else perf" ;;
	*) wanted=": perf
 reason: $reason" ;;
	esac
	is "as far as it can be" \
		"$(opcontrol --status | sed -n 's/^Source//p')" "$wanted"
	ok "nothing has been mounted" \
		not grep -q ' /dev/oprofile ' /proc/self/mountinfo
fi

done_testing
