#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Children that live for 5 to 20 ms: none is too short to be seen.
#
# Of what is counted here some may be missing: 1 % of the samples and of the
# processes, and what chance adds to that (rarely in perf.sh).
# timeout: 900
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

needs_perf own

# storm NR NAME: NR children.
storm() {
	nr=$1 name=$2
	rm -rf "$SESSION"
	profiled "$name" --separate-thread "$TESTBIN/forkstorm" "$nr" 3
	like "$name: operf tells the same account" "$(cat "$TMP/operf.err")" \
		"^operf: $(ledger taken) samples taken, $(ledger stored) stored, "
	diag "$(cat "$TMP/truth")"

	rows --merge=tgid,tid >"$TMP/all"
	head -n 12 "$TMP/all" | sed 's/^/# /'
	user_rows <"$TMP/all" >"$TMP/user"
	user=$(sum '.*' '.*' <"$TMP/user")
	own=$(awk -F '\t' 'FNR == NR { own[$1] = 1; next } $2 in own' \
		"$TMP/images" "$TMP/user" | sum '.*' '.*')
	ok "$name: $own of $user user samples and $(ledger lost) lost ones are \
in their image" rarely $((user + $(ledger lost) - own)) \
		$((user + $(ledger lost))) 1
	program=$(sum forkstorm '.*' <"$TMP/user")
	nameless=$(sum forkstorm '([(]no symbols[)]|/.*)' <"$TMP/user")
	ok "$name: $nameless of $program in the program have no name" \
		rarely "$nameless" "$program" 1
	ok "$name: most are of the children's own function" \
		[ "$(sum forkstorm burn_child <"$TMP/user")" -gt $((user / 2)) ]

	# Sample files are named EVENT.COUNT.UM.TGID.TID.CPU.
	seen=$(sample_files | sed -n 's|.*/{dep}/{root}/.*/forkstorm/||p' |
		cut -d. -f4 | sort -u | wc -l)
	ok "$name: $seen of $((nr + 1)) processes were seen at work" \
		rarely $((nr + 1 - seen)) $((nr + 1)) 1
}

# What the program is made of.
{
	ldd "$TESTBIN/forkstorm" |
		sed -n 's|^[^/]*\(/[^ ]*\) (.*|\1|p' |
		xargs readlink -f | sed 's|.*/||'
	printf '%s\n' forkstorm '[vdso]'
} >"$TMP/images"

many=200 few=100
[ "${TIER:-check}" = check ] || many=1000 few=300
storm $many "$many children"

# What the kernel does for a program that begins is the program's, and not the
# kernel's own.
rm -rf "$SESSION"
# shellcheck disable=SC2016 # for the command
profiled 'programs that begin' sh -c \
	'for i in $(seq 400); do seq 1; done >/dev/null'
report -l --csv
sums=$(awk -F , '$2 == "symbol" { all += $10; if ($4 == "/vmlinux") own += $10 }
	END { print own + 0, all + 0 }' "$TMP/report")
ok "programs that begin: ${sums% *} of ${sums#* } samples have none" \
	rarely "${sums% *}" "${sums#* }" 1

# CPUs are sampled then, and all processes are told of. Others come and go by the
# hundred, and none of those that count gets lost among them: they have a sample
# for each millisecond, less four times the deviation of so many.
if [ "$(id -u)" -eq 0 ]; then
	"$TESTBIN/forkstorm" 100000 8 >/dev/null &
	others=$!
	rm -rf "$SESSION"
	profiled "among others" "$TESTBIN/forkstorm" 60 3
	kill "$others" && wait "$others" 2>/dev/null
	ran=$(sed -n 's/^cpu \([0-9]*\).*/\1/p' "$TMP/truth")
	counted=$(($(ledger taken) * 1000 / RATE))
	ok "among others: $counted of $ran ms of CPU time are counted" \
		awk -v ran="$ran" -v n="$counted" \
		'BEGIN { exit !(ran > 0 && n >= ran * 0.98 - 4 * sqrt(ran)) }'

	for_users "$BIN/operf" "$BIN/oprofiled" "$BIN/opreport" \
		"$TESTBIN/canperf" "$TESTBIN/forkstorm"
	AS=as_user
	if as_user "$TESTBIN/canperf" own 2>"$TMP/why"; then
		storm $few "$few children of an ordinary user"
	else
		skip "an ordinary user" "$(cat "$TMP/why")"
	fi
fi
done_testing
