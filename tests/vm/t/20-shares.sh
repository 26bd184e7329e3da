#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program that spends known shares of its time in two functions, a library
# and a system call is reported with these shares, and no sample is missing
# from the account.
# timeout: 600
# vm-icount: yes
# vm-debug: 6.1-kcsan 6.1-rt 6.12-rt: with KASAN sampling is a share of its own
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

# share NAME: percent of the report's samples in a function or the kernel.
share() {
	if [ "$1" = kernel ]; then
		part=$(awk '/ vmlinux / && $1 ~ /^[0-9]+$/ { n += $1 }
			END { print n + 0 }' "$TMP/report")
	else
		part=$(samples "$1")
	fi
	percent "$part" "$(total)"
}

ok "start" start --separate=lib,kernel
"$TESTBIN/burnmix" "$(by_tier 3 10)" >"$TMP/truth"
ok "stop" stop
ok "taken = stored + lost" sums_up
ok "status" "$BIN/opcontrol" --status

ok "report" report -l image:"$TESTBIN/burnmix"
sed 's/^/# /' "$TMP/report" | head -20
while read -r name truth; do
	got=$(share "$name")
	points=$(chance "$truth" "$(total)")
	ok "$name: $got is within $points points of $truth" \
		near "$got" "$truth" "$points"
done <"$TMP/truth"

report
ok "a summary" [ -s "$TMP/report" ]
ok "summary holds every stored sample" \
	sh -c "report_total=\$(awk '/^ *[0-9]+ / && !/^\t/ { n += \$1 } END { print n }' '$TMP/report'); [ \"\$report_total\" -eq $(ledger stored) ]"
report -l
ok "so does the symbol report" [ "$(total)" -eq "$(ledger stored)" ]

# ---- the rate is divided while all this runs

# seconds: since the boot.
seconds() {
	cut -d ' ' -f 1 /proc/uptime
}

# work_at DIVISOR: burnmix's work is sampled so, and its samples count for those of
# the full rate.
work_at() {
	echo "$1" >/dev/oprofile/rate_divisor
	work "a rate divided by $1"
}

# work NAME: the same, as it is divided. How long a dump takes is no part of it.
work() {
	"$BIN/opcontrol" --dump
	taken=$(ledger taken)
	begun=$(seconds) got=$(module_stat sample_received)
	"$TESTBIN/burnmix" "$(by_tier 3 10)" >"$TMP/truth"
	ended=$(seconds) got=$(($(module_stat sample_received) - got))
	"$BIN/opcontrol" --dump
	due=$(awk -v a="$begun" -v b="$ended" -v r=$RATE \
		'BEGIN { print (b - a) * r }')
	ok "$1: samples that count for $got of $due" \
		near "$(percent "$got" "$due")" 100 5
	ok "$1: the account has all of these" \
		at_least "$(($(ledger taken) - taken))" "$got"
}

ok "shutdown" "$BIN/opcontrol" --shutdown
ok "start again" start --separate=lib,kernel
is "the full rate" "$(cat /dev/oprofile/rate_divisor)" 1
for wrong in 0 3 256; do
	exits "no divisor $wrong" 1 sh -c "echo $wrong >/dev/oprofile/rate_divisor"
done
work_at 1
work_at 8
work_at 2
is "the rate stays, as no budget is given" \
	"$(cat /dev/oprofile/rate_divisor)" 2
ok "the module tells what it cost" \
	[ "$(cat /dev/oprofile/stats/cpu0/handler_ns)" -gt 0 ]
ok "stop" stop
ok "taken = stored + lost" sums_up
report -l image:"$TESTBIN/burnmix"
# (1 + 8 + 2) thirds of the work, squares of weights over weights: 11 / 3
while read -r name truth; do
	got=$(share "$name")
	points=$(chance "$truth" $(($(total) * 3 / 11)))
	ok "$name: $got is within $points points of $truth" \
		near "$got" "$truth" "$points"
done <"$TMP/truth"

# ---- a budget that is too small

lowered() {
	[ "$(cat /dev/oprofile/rate_divisor)" -gt 1 ]
}

ok "shutdown again" "$BIN/opcontrol" --shutdown
ok "start with a budget" start --separate=lib,kernel --cpu-budget=0.01
wait_until "a lower rate" lowered
ok "a fresh session" "$BIN/opcontrol" --reset
work "a rate that the daemon lowers"
"$BIN/opcontrol" --status >"$TMP/status"
sed 's/^/# /' "$TMP/status"
# Where a kernel checks itself, a lower rate may save too little to be kept.
like "--status tells the rate" "$(cat "$TMP/status")" \
	"$(by_kernel '^Rate now: divided by ' '^Rate lowered: to [0-9]+/s for ')"
like "and the cost" "$(cat "$TMP/status")" '^Cost: [0-9.]+ % of the CPUs: '
ok "stop" stop
ok "taken = stored + lost" sums_up
report -l image:"$TESTBIN/burnmix"
like "so does a report" "$(cat "$TMP/report")" \
	'^Rate lowered to [0-9]+/s for [0-9]+ s of [0-9]+ s to stay within 0.01 % of each CPU; cost '
grain=$(awk -v s="$(ledger cost.spread)" -v n="$(ledger stored)" \
	'BEGIN { printf "%d", 1 + s / n + 0.999 }')
while read -r name truth; do
	got=$(share "$name")
	points=$(chance "$truth" $(($(total) / grain)))
	ok "$name: $got is within $points points of $truth" \
		near "$got" "$truth" "$points"
done <"$TMP/truth"
end_profiler
done_testing
