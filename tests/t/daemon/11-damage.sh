#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Streams, sample files and ledgers that are not as they should be.
# sanitized: yes
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

sh='{root}/bin/sh/{dep}/{root}/bin/sh/TIMER.0.0.all.all.all'

# one_line COMMAND...: it fails, and says why in one line.
one_line() {
	"$@" >"$TMP/out" 2>"$TMP/err" && return 1
	[ ! -s "$TMP/out" ] && [ "$(wc -l <"$TMP/err")" -eq 1 ] &&
		grep -q '^oprofiled: ' "$TMP/err"
}

stream "$TMP/good" <<'END'
stream 1 8
cookie 1 0 0 0 0 - /bin/sh
cpu 0
ctx 1 1
tgid 1
image 1
user
sample 0x1000 0 x3
END

# ---- files that are no streams

: >"$TMP/empty"
ok 'an empty file' one_line replay "$TMP/empty"
ok 'no file at all' one_line replay "$TMP/nothing"
ok 'a folder' one_line replay "$TMP"
yes | head -c 1000 >"$TMP/yes"
ok 'something else' one_line replay "$TMP/yes"
like 'it says what is wanted' "$(cat "$TMP/err")" 'not a recorded stream'
echo 'stream 2 8' | stream "$TMP/version2"
ok 'a later version' one_line replay "$TMP/version2"
like 'it says which' "$(cat "$TMP/err")" 'version 2'
# The magic with its bytes turned round, and all words likewise.
echo 'raw 0xffffffffffffffff 0x1100000003000000 0x4f5053545245414d
raw 0x0100000000000000 0x0800000000000000' | stream "$TMP/swapped"
ok 'the other byte order' one_line replay "$TMP/swapped"
like 'it says so' "$(cat "$TMP/err")" 'other byte order'

# ---- streams that are damaged

{
	"$BIN/opstream" "$TMP/good"
	cat <<'END'
record 77 0 1 2 3
sample 0x1000 0
record 3 0
sample 0x1004 0
cpu 0
sample 0x1008 0
image 1
user
sample 0x100c 9
sample 0x1010 0
raw 0xffffffffffffffff 0xffffffff00000001
user
sample 0x1014 0
cpu 1
user
image 2
sample 0x1018 0
lost 7 event_lost_overflow
raw 0x101c
END
} | stream "$TMP/bad"
ok 'a damaged stream replays' replay "$TMP/bad"
is 'what is sound is stored' "$(pairs "$sh")" '0x1000 4
0x1010 1'
is 'the rest has causes' "$(ledger | sort)" 'lost.event_lost_overflow = 7
lost.lost_bad_counter = 1
lost.lost_no_context = 2
lost.lost_no_image_name = 1
pending = 0
stored = 5
taken = 16'
like 'the log counts unknown codes' "$(log)" '^Nr. unknown codes: 1$'
like 'and what was skipped' "$(log)" '^Nr. words skipped after them: 6$'
ok 'a stream on a pipe' sh -c \
	"rm -rf '$SESSION'; cat '$TMP/good' | '$BIN/oprofiled' \
	--session-dir='$SESSION' --source=file:-"
is 'is the same' "$(pairs "$sh")" '0x1000 3'

len=$(wc -c <"$TMP/bad")
for part in 41 100 137 200 "$((len - 9))" "$((len - 1))"; do
	head -c "$part" "$TMP/bad" >"$TMP/cut"
	ok "cut after $part bytes" replay "$TMP/cut"
done

# ---- two runs, and files that are damaged in between

replay "$TMP/good"
ok 'a second run' replay_more "$TMP/good"
is 'adds to the counts' "$(pairs "$sh")" '0x1000 6'
is 'and to the ledger' "$(ledger)" 'taken = 6
stored = 6
pending = 0'
echo 'no ledger' >"$CURRENT/ledger"
ok 'a damaged ledger' replay_more "$TMP/good"
is 'is made anew from the files' "$(ledger)" 'taken = 9
stored = 9
pending = 0'
ok 'and kept beside' grep -q 'no ledger' "$CURRENT/ledger.bad"
head -c 5000 /dev/zero | tr '\0' x >"$CURRENT/$(sample_path "$sh")"
ok 'a damaged sample file' replay_more "$TMP/good"
is 'makes way' "$(pairs "$sh")" '0x1000 3'
ok 'and is kept' test -s "$CURRENT/$(sample_path "$sh").bad"
is 'and its samples are accounted for' "$(ledger)" 'taken = 12
stored = 3
pending = 0
lost.lost_damaged_file = 9'

# ---- other builds of an image

stream "$TMP/build1" <<'END'
stream 1 8
cookie 1 0 0 0 0 1111 /bin/sh
cpu 0
image 1
user
sample 0x1000 0 x3
END
"$BIN/opstream" "$TMP/build1" | sed 's/1111/2222/' | stream "$TMP/build2"
replay "$TMP/build1"
ok 'another build' replay_more "$TMP/build2"
for build in 1111 2222; do
	is "build $build does not mix" "$(pairs "${sh%/*}/{build:$build}/${sh##*/}")" \
		'0x1000 3'
done
is 'and all is stored' "$(ledger)" 'taken = 6
stored = 6
pending = 0'

done_testing
