#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two hardware counters at once over a program whose instructions are counted
# beforehand: shares, periods, and the split of kernel and user.
# timeout: 900
# vm-arch: arm64
# vm-icount: yes
# vm-check: 6.12-arm64
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

ROUNDS=$(by_tier 150 300)

# The emulated machine is slow, which the kernel takes for our fault.
sysctl -q -w kernel.perf_event_max_sample_rate=100000
sysctl -q -w kernel.perf_cpu_time_max_percent=0

# share EVENT NAME: percent of the program's samples of an event.
share() {
	report -l "event:$1" image:"$TESTBIN/insns"
	percent "$(samples "$2")" "$(total)"
}

# taken: how many samples of cycles of the program that is.
taken() {
	report -l event:CPU_CYCLES image:"$TESTBIN/insns"
	echo $(($(samples insns_many) + $(samples insns_few)))
}

# of_kind PART: the sample files whose image is in that space.
of_kind() {
	find "$SESSION/samples/current" -type f | sample_names | grep "{dep}/$1/"
}

# profile EVENT...: of one run of the program.
profile() {
	events=$(printf ',%s' "$@")
	ok "start $*" start --separate=lib,kernel "--event=${events#,}"
	"$TESTBIN/insns" "$ROUNDS" >"$TMP/truth"
	ok "stop" stop
	ok "taken = stored + lost" sums_up
	"$BIN/opcontrol" --status | grep -i event | sed 's/^/# /'
	"$BIN/opcontrol" --shutdown >/dev/null
}

ok "counters" "$BIN/opcontrol" --init
is "the module has counters" "$(cat /dev/oprofile/cpu_type)" perf
diag "counters: $(cd /dev/oprofile && echo [0-9]*)"

profile CPU_CYCLES:100000:0:0:1 INST_RETIRED:50000:0:0:1
many=$(awk '/^insns_many/ { print $2 }' "$TMP/truth")
few=$(awk '/^insns_few/ { print $2 }' "$TMP/truth")
truth=$(percent "$many" $((many + few)))
for event in CPU_CYCLES INST_RETIRED; do
	got=$(share $event insns_many)
	ok "$event: $got is within 3 points of $truth" near "$got" "$truth" 3
done
# An instruction takes one cycle here. (The emulator tells overflows of the
# other counter only when something else happens, so these are too few.)
nr=$(taken)
expected=$(((many + few) / 100000))
ok "$nr samples of cycles, $expected wanted" \
	near "$nr" "$expected" $((expected / 33))

profile CPU_CYCLES:200000:0:0:1
nr=$(taken)
ok "twice the count: $nr samples, $((expected / 2)) wanted" \
	near "$nr" $((expected / 2)) $((expected / 66))
is "user only: sample files of the kernel" "$(of_kind '{kern}')" ""

profile CPU_CYCLES:100000:0:1:0
is "kernel only: sample files of others" "$(of_kind '{root}')" ""
ok "kernel only: there are samples" [ "$(ledger stored)" -gt 10 ]

exits "no such event" 2 start --event=NO_SUCH_EVENT:100000
exits "too small a count" 2 start --event=CPU_CYCLES:1
"$BIN/opcontrol" --reset >/dev/null 2>&1
ok "deinit" "$BIN/opcontrol" --deinit
ok "no complaint from the kernel" kernel_is_content
done_testing
