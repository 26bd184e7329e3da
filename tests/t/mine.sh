# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For the scripts that ask a daemon for the samples of one user: source it after
# tests/vm/lib.sh. Programs run for two users and root; some of them give rights,
# and one process changes its user while it runs.

# shellcheck disable=SC2154 # lib.sh sets it
ALICE=$((test_user + 1))
BOB=$((test_user + 2))

as() {
	as_uid=$1
	shift
	setpriv --reuid="$as_uid" --regid="$as_uid" --clear-groups \
		--inh-caps=-all -- "$@"
}
# mine USER: their samples in mine-USER, and the images in them, NAME COUNT.
mine() {
	mkdir "mine-$1" && chown "$1" "mine-$1"
	as "$1" "$BIN/opcontrol" --mine="mine-$1" --session-dir="$SESSION"
}
# images FOLDER: a line "NAME COUNT" for each of the programs of this test, of
# samples in the programs themselves.
images() {
	"$BIN/opreport" --session-dir="$1" -m all --format=csv 2>"$TMP/err" |
		awk -F , -v own="$TMP/" '$2 == "image" &&
			($5 ~ /perl$/ || ($5 ~ /-tool$/ && index($5, own) == 1)) {
			sub(/.*\//, "", $5)
			n[$5] += $10
		} END { for (i in n) print i, n[i] }' | sort
}
names() {
	images "$1" | sed 's/ .*//' | tr '\n' ' '
}
# make_tools: the programs, in $TMP.
make_tools() {
	for name in alice bob root setuid setgid short; do
		cp "$TESTBIN/spin" "$name-tool"
	done
	chmod 755 ./*-tool
	chmod u+s setuid-tool
	chmod g+s setgid-tool
}

# run_tools: as each of the users.
run_tools() {
	./root-tool 100000000 >/dev/null
	# Root that becomes Alice without another program is nobody's.
	perl -e '$( = $) = $ARGV[0]; $< = $> = $ARGV[0];
		for ($i = 0; $i < 5000000; $i++) { }' "$ALICE"
	cat >alice.sh <<'END'
./alice-tool 300000000
./setuid-tool 100000000
./setgid-tool 100000000
i=0
while [ $((i += 1)) -le 40 ]; do
	./short-tool 5000000
done
END
	as "$ALICE" sh alice.sh >/dev/null
	as "$BOB" sh -c './bob-tool 200000000; true' >/dev/null
}

# check_mine: what each of them gets.
check_mine() {
	images "$SESSION" >all
	diag "$(tr '\n' ' ' <all)"
	perl=$(basename "$(realpath "$(command -v perl)")")
	is "root sees all of them" "$(sed 's/ .*//' all | tr '\n' ' ')" \
		"alice-tool bob-tool $perl root-tool setgid-tool setuid-tool short-tool "
	ok "Alice asks" mine "$ALICE"
	diag "$(images "mine-$ALICE" | tr '\n' ' ')"
	is "she sees her programs alone" "$(names "mine-$ALICE")" \
		"alice-tool short-tool "
	ok "also those that lived for a moment" [ \
		"$(images "mine-$ALICE" | sed -n 's/short-tool //p')" -gt \
		$(($(sed -n 's/short-tool //p' all) / 2)) ]
	like "with one number for the kernel" \
		"$(find "mine-$ALICE/samples/current" -type f | sample_names |
			sed -n 's|.*/{dep}/{kern}/\([^/]*\)/.*|\1|p' | sort -u)" '^(kernel)?$'
	ok "Bob asks" mine "$BOB"
	is "he sees his" "$(names "mine-$BOB")" "bob-tool "
	# But for the program that asks.
	mine $((BOB + 1)) >out 2>&1
	is "whoever ran nothing has nothing" "$(names "mine-$((BOB + 1))")" ""
}
