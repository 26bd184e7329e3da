#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 1,000 children that live for 5 to 20 ms: none is too short to be seen.
# timeout: 900
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/perf.sh"

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
	share=$(percent "$own" $((user + $(ledger lost))))
	ok "$name: $share % of $user user samples and $(ledger lost) lost ones \
are in their image" at_least "$share" 99
	program=$(sum forkstorm '.*' <"$TMP/user")
	nameless=$(sum forkstorm '([(]no symbols[)]|/.*)' <"$TMP/user")
	share=$(percent $((program - nameless)) "$program")
	ok "$name: $share % of those in the program have a name" \
		at_least "$share" 99
	ok "$name: the children's own function is among them" \
		[ "$(sum forkstorm burn_child <"$TMP/user")" -gt $((user / 10)) ]

	# Sample files are named EVENT.COUNT.UM.TGID.TID.CPU.
	seen=$(sample_files | sed -n 's|.*/{dep}/{root}/.*/forkstorm/||p' |
		cut -d. -f4 | sort -u | wc -l)
	ok "$name: $seen of $((nr + 1)) processes were seen at work" \
		[ "$seen" -ge $((nr * 99 / 100)) ]
}

# What the program is made of.
{
	ldd "$TESTBIN/forkstorm" |
		sed -n 's|^[^/]*\(/[^ ]*\) (.*|\1|p' |
		xargs readlink -f | sed 's|.*/||'
	printf '%s\n' forkstorm '[vdso]'
} >"$TMP/images"

storm 1000 "1,000 children"
if [ "$(id -u)" -eq 0 ]; then
	for_users "$BIN/operf" "$BIN/oprofiled" "$BIN/opreport" \
		"$TESTBIN/canperf" "$TESTBIN/forkstorm"
	AS=as_user
	if as_user "$TESTBIN/canperf" own 2>"$TMP/why"; then
		storm 300 "300 children of an ordinary user"
	else
		skip "an ordinary user" "$(cat "$TMP/why")"
	fi
fi
done_testing
