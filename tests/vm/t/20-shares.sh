#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program that spends known shares of its time in two functions, a library
# and a system call is reported with these shares, and no sample is missing
# from the account.
# timeout: 600
# vm-icount: yes
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
end_profiler
done_testing
