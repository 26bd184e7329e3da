#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole profiler on another machine: built for it, with its own kernels,
# libraries and symbols.
# tier: all
# timeout: 600
# vm-arch: arm64
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

is "the machine" "$(uname -m)" aarch64
ok "start" start --separate=lib,kernel
ok "the module is loaded" grep -q '^oprofile ' /proc/modules
"$TESTBIN/burnmix" 4 >"$TMP/truth"
ok "stop" stop
ok "taken = stored + lost" sums_up
ok "status" "$BIN/opcontrol" --status

ok "report" report -l image:"$TESTBIN/burnmix"
sed 's/^/# /' "$TMP/report" | head -20
is "what was used" "$(cut -d ' ' -f 1 "$TMP/truth" | tr '\n' ' ')" \
	"burn_alpha burn_beta burn_lib kernel "
while read -r name truth; do
	got=$(share "$name")
	points=$(chance "$truth" "$(total)")
	ok "$name: $got is within $points points of $truth" \
		near "$got" "$truth" "$points"
done <"$TMP/truth"

report -l
ok "the report of all holds every stored sample" \
	[ "$(total)" -eq "$(ledger stored)" ]
end_profiler
done_testing
