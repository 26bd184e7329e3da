#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# oppush is killed at many moments, and each sample comes to the server once; what is
# on its way stays within the spool, and what does not fit there waits in the session.
# tier: all
# sanitized: yes
# timeout: 600
# shellcheck disable=SC2119 # functions without arguments
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../pushing.sh"

count 300 200
start_sink
is "a profile" "$(push)" "0 "

# ---- killed at any moment --------------------------------------------------------

if command -v strace >/dev/null; then
	calls=openat,write,rename,renameat,renameat2,unlink,fsync,fdatasync,sendto,close
	n=300 killed=0
	for when in $(seq 1 2 120); do
		count $((n += 1)) 200
		ASAN_OPTIONS=detect_leaks=0 strace -qq -o "$TMP/trace" -e trace="$calls" \
			-e inject="$calls:signal=KILL:when=$when" \
			"$BIN/oppush" --once --url="http://127.0.0.1:$PORT" --spool="$SPOOL" \
			--session-dir="$SESSION" --label=host=here >"$TMP/out" 2>&1
		[ $? -ne 137 ] || killed=$((killed + 1))
	done
	ok "killed at many moments ($killed)" [ $killed -gt 25 ]
	count 1000 200
	like "who comes later goes on" "$(push)" '^0 '
	is "nothing stays behind" "$(cd "$SPOOL" && echo *)" "lock state sum-$(state number).pb.gz"
	is "and nothing hidden" "$(find "$SPOOL" -name '.*' ! -path "$SPOOL")" ""
	taken_equal_shown "nothing is missing, and nothing there twice"
else
	skip "killed at any moment: no strace"
fi

# ---- a spool that is full --------------------------------------------------------

rm -rf "${SINK:?}/taken"
mkdir "$SINK/taken"
# A session whose profiles are large: names that do not pack.
many=$TMP/many
big() {
	rm -rf "$many"
	python3 -c '
import hashlib, sys
for i in range(15000):
    name = "".join(hashlib.sha256(f"{i} {j}".encode()).hexdigest() for j in range(2))
    print("app;f" + name, sys.argv[1])' "$1" >"$TMP/big.folded"
	"$BIN/opimport" -o "$many" "$TMP/big.folded" 2>"$TMP/err" || bail "$(cat "$TMP/err")"
}
big 5
plan 500
SPOOL=$TMP/small
like "a large profile" "$(SESSION=$many; push --spool-max=2)" '^1 oppush: .* 500: .*; 1 prof'
like "its bytes" "$(find "$SPOOL" -name 'profile-*' -size +1024k)" profile-
mv "$many" "$many.old"
big 50
rm -r "${many:?}.old/samples/current/"*
mv "$many/samples/current/"* "$many.old/samples/current/"
mv "$many/images/"* "$many.old/images/"
rm -r "$many"
mv "$many.old" "$many"
sed -i 's/^taken = .*/taken = 900000/' "$many/samples/current/ledger"
plan 500
due
like "one more has no room" "$(SESSION=$many; push --spool-max=2)" \
	'^1 oppush: .*: has 1 MiB of profiles, as many as it may; until some are sent, what'
is "the spool is within its bound" "$(waiting)" 1
due
like "with room again" "$(SESSION=$many; push --spool-max=2)" '^0 oppush: '
is "the next profile has all of it" "$(waiting) $(state number)" "0 2"
# In a name is how many samples a profile has; what it has is told by go.
! command -v go >/dev/null ||
	is "both have all samples" "$(for f in "$SINK"/taken/*; do
		HOME=$TMP go tool pprof -top "$f" 2>/dev/null; done |
		sed -n 's/.* of \([0-9]*\) total.*/\1/p' | tr '\n' ' ')" \
		"75000 675000 "
rm -rf "$SPOOL"
like "larger than the spool" "$(SESSION=$many; push --spool-max=1)" \
	'^1 oppush: .*: one profile has more bytes than --spool-max; allow more'
is "is not made" "$(ls "$SPOOL")" "lock"

stop_sink
done_testing
