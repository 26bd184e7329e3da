#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Weights of precise samples: what loads cost, in a column of its own. Which
# sample a weight is for is in tests/unit/daemon/feature/test_opd_extended.c.
# sanitized: yes
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

# A sample each 1000 loads; load number i at 0x1000 + 16 * (i % 5) took i * i
# cycles, and every seventh does not tell.
{
	cat <<-'END'
		stream 1 8
		event 0 0xcd 1000 0x1 1 1 LOADS
		event 1 0x3c 5000 0x0 1 1 CYCLES
		cookie 1 0 0 0 0 - /bin/busy
		cpu 3
		ctx 12 1
		tgid 11
		image 1
		user
	END
	awk 'BEGIN {
		for (i = 0; i < 1000; i++) {
			if (i % 7)
				printf "weight %d\n", i * i
			printf "sample 0x%x %d\n", 4096 + 16 * (i % 5), i % 3 == 2
		}
	}'
} | stream "$TMP/loads"
awk 'BEGIN {
	for (i = 0; i < 1000; i++)
		if (i % 7)
			sum[(i % 3 == 2) " " (i % 5)] += i * i
	for (at in sum) {
		split(at, k, " ")
		printf "%s 0x%x %d\n", k[1] ? "CYCLES" : "LOADS", 4096 + 16 * k[2], sum[at]
	}
}' | sort >"$TMP/wanted"
busy='{root}/bin/busy/{dep}/{root}/bin/busy'
loads=$busy/LOADS.1000.1.all.all.all
latency=$busy/LOADS_LATENCY.1000.1.all.all.all
cycles=$busy/CYCLES_LATENCY.5000.0.all.all.all

ok "a stream with weights" replay "$TMP/loads"
is "without the feature they are passed over" "$(files)
$(ledger)" "$busy/CYCLES.5000.0.all.all.all
$loads
taken = 1000
stored = 1000
pending = 0"
before=$(pairs "$loads")
ok "with it" replay "$TMP/loads" --ext-feature=weight
{
	pairs "$latency" | sed 's/^/LOADS /'
	pairs "$cycles" | sed 's/^/CYCLES /'
} | sort >"$TMP/got"
ok "each place has the sum of its weights" diff "$TMP/wanted" "$TMP/got"
is "samples are what they were" "$(pairs "$loads")" "$before"
is "and no more of them are accounted for" "$(ledger)" "taken = 1000
stored = 1000
pending = 0"
ok "another daemon goes on" replay_more "$TMP/loads" --ext-feature=weight
is "its account agrees with the files" "$(ledger)" "taken = 2000
stored = 2000
pending = 0"
"$BIN/opreport" --session-dir="$SESSION" event:LOADS,LOADS_LATENCY \
	>"$TMP/report" 2>"$TMP/report.err"
sed 's/^/# /' "$TMP/report"
is "a column of latencies beside that of samples" \
	"$(awk '$NF == "busy" { print $1, $3 }' "$TMP/report")" \
	"1334 $(awk '$1 == "LOADS" { n += 2 * $3 } END { print n }' "$TMP/wanted")"
like "the log has a section" "$(log)" '^Nr. samples with a weight: 857$'

exits "arguments" 2 replay "$TMP/loads" --ext-feature=weight:5
like "are refused" "$(replay "$TMP/loads" --ext-feature=weight:5 2>&1)" \
	"^oprofiled: weight: '5': it takes no arguments\$"
done_testing
