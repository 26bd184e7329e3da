#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Recording a stream, its text form, and options of the daemon.
# sanitized: yes
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

stream "$TMP/good" <<'END'
stream 1 8 2400000 timer
event 0 250 0 0 1 1 TIMER
event 1 118 100000 0 1 1 CPU_CLK_UNHALTED
cookie 1 0 0 0 0 - /bin/sh
cpu 0
ctx 1 1
tgid 1
image 1
user
sample 0x1000 0 x3
sample 0x1000 1
record 99 0 1
lost 2 event_lost_overflow
END

replay "$TMP/good" --record="$TMP/copy"
ok 'the record of a replay is the same' cmp "$TMP/good" "$TMP/copy"
files >"$TMP/files"
cp "$CURRENT/ledger" "$TMP/ledger"
replay "$TMP/copy"
is 'and makes the same files' "$(files)" "$(cat "$TMP/files")"
ok 'and the same ledger' cmp "$CURRENT/ledger" "$TMP/ledger"
exits 'a record that cannot be written' 1 replay "$TMP/good" \
	--record=/nowhere/copy

"$BIN/opstream" "$TMP/good" >"$TMP/text"
"$TESTBIN/mkstream" "$TMP/text" >"$TMP/again"
ok 'words to text to words' cmp "$TMP/good" "$TMP/again"
"$BIN/opstream" - <"$TMP/again" >"$TMP/text2"
ok 'text to words to text' cmp "$TMP/text" "$TMP/text2"
{ cat "$TMP/good"; printf 'some\377bytes'; } >"$TMP/odd"
"$BIN/opstream" "$TMP/odd" | "$TESTBIN/mkstream" >"$TMP/again"
ok 'any bytes come back' cmp "$TMP/odd" "$TMP/again"
is 'what is in a stream' "$("$BIN/opstream" --stats "$TMP/good" |
	sed 's/^ *//')" '4  samples
1  ctx
1  cpu
1  image
1  user
1  tgid
1  stream
2  event
1  cookie
1  lost
1  record 99'
exits 'opstream of no file' 1 "$BIN/opstream" "$TMP/nothing"
exits 'opstream of a folder' 1 "$BIN/opstream" "$TMP"
exits 'opstream with a strange option' 2 "$BIN/opstream" --dance
exits 'opstream of two files' 2 "$BIN/opstream" "$TMP/good" "$TMP/good"

for option in --dance --separate-lib=2 --separate-cpu=x --source=nowhere \
	--events=A:1 --verbose=loud --vmlinux=/nowhere/vmlinux; do
	exits "oprofiled $option" 2 "$BIN/oprofiled" \
		--session-dir="$SESSION" "$option"
done
exits 'oprofiled with a word' 2 "$BIN/oprofiled" word
like 'its version' "$("$BIN/oprofiled" --version)" '^oprofiled: oprofile '
like 'its help' "$("$BIN/oprofiled" --help)" 'separate-kernel'
like 'no module is an error in one line, in the background too' \
	"$("$BIN/oprofiled" --session-dir="$SESSION" \
		--source=oprofilefs:/nowhere 2>&1)" \
	'^oprofiled: /nowhere: No such file .*opcontrol --init$'

done_testing
