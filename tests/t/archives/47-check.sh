#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opreport --check finds damage of each kind and says what it costs; --repair
# mends what can be mended, and nothing while a daemon runs.
# sanitized: yes
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

awk 'BEGIN {
	print "stream 1 8\ncpu 0"
	for (i = 1; i <= 110; i++) {
		print "cookie " i " 0 0 0 0 0" i % 10 " /opt/dir" i % 4 "/app" i
		print "ctx " i " " i "\ntgid " i "\nimage " i "\nuser"
		print "trace\nsample " i * 16 " 0\nsample " i * 8 + 1 " 0\ntrace-end 0"
		print "call 0 1 " i, i * 8, i, i * 16
	}
}' | stream "$TMP/stream"
replay "$TMP/stream" --separate-lib=1 --pack-at=0
mv "$SESSION" "$TMP/loose"
replay "$TMP/stream" --separate-lib=1 --pack-at=1
mv "$SESSION" "$TMP/packed"
ok "one is packed" test -e "$TMP/packed/samples/current/packed"

# fresh KIND: SESSION is a copy of it.
fresh() {
	rm -rf "$SESSION"
	cp -R "$TMP/$1" "$SESSION"
}
check() {
	"$BIN/opreport" --session-dir="$SESSION" "$@" 2>"$TMP/err"
}
# spoil FILE WHERE: change three bytes.
spoil() {
	printf '\125\252\125' | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
# finds WHAT ERE: one thing is wrong, and the line says it.
finds() {
	out=$(check --check)
	is "$1: the status" $? 1
	like "$1: the line" "$out" "$2"
	is "$1: there is one, and the sum" "$(printf '%s\n' "$out" | wc -l)" 2
	like "$1: the sum" "$out" ': 1 damaged$'
	is "$1: nothing else is said" "$(wc -l <"$TMP/err")" 1
}
# repaired WHAT SAMPLES: it can be, and these are there then.
repaired() {
	ok "$1: it is repaired" check --repair
	out=$(check --check)
	is "$1: it is sound then" $? 0
	like "$1: with its samples" "$out" " with $2 samples: all sound"
}
one() {
	find "$CURRENT" -name '[!.]*' -path "$1" -type f | sort | head -n 1
}
group=$(grep -abo "$(printf '\211OPG')" "$TMP/packed/samples/current/packed" |
	head -n 1 | cut -d: -f1)

# ---- sound ones

for kind in loose packed; do
	fresh $kind
	out=$(check --check)
	is "$kind: sound" "$? $out" "0 $SESSION: 331 files with 110 samples: all sound"
	out=$(check --repair)
	is "$kind: nothing to repair" "$? $out" \
		"0 $SESSION: 331 files with 110 samples: all sound"
	ok "$kind: and nothing changed" diff -r "$TMP/$kind/samples" "$SESSION/samples"
done

# ---- loose files

fresh loose
file=$(one '*%-app1%-{dep}%-*app1%-{build*')
rm "$CURRENT/ledger"
spoil "$file" 2
finds 'a table' "$file: it is damaged: the samples in it are lost"
is 'a table: it cannot be repaired' "$(check --repair >"$TMP/out"; echo $?)" 1
ok 'a table: and stays' test -e "$file"
fresh loose
spoil "$(one '*%-{cg}%-*')" 9
finds 'arcs' '{cg}.*: it is .*: the calls in it are lost, not their samples'
fresh loose
spoil "$(one '*%-{tree}%-*')" 2
finds 'a call tree' '{tree}.*: it is damaged: the stacks in it are lost, not their samples'
fresh loose
rm "$(one '*%-app1%-{dep}%-*app1%-{build*')"
finds 'a table that is gone' 'ledger: 1 of the 110 samples .*: they are missing'
fresh loose
: >"$CURRENT/{loose}/strange"
finds 'a strange name' 'strange: it has no name of a sample file'

# ---- packs

fresh packed
spoil "$CURRENT/packed" 3
finds 'the header of a pack' 'packed: its header or index is damaged: nothing is lost'
like 'a report says it, too' \
	"$("$BIN/opreport" --session-dir="$SESSION" 2>&1 >"$TMP/out")" \
	'packed: its index is damaged, but all .* found; .*opreport --repair'
repaired 'the header of a pack' 110
fresh packed
spoil "$CURRENT/packed" $(($(wc -c <"$CURRENT/packed") - 50))
finds 'the index of a pack' 'packed: its header or index is damaged: nothing is lost'
repaired 'the index of a pack' 110
ok 'it is what it was' cmp "$CURRENT/packed" "$TMP/packed/samples/current/packed"
fresh packed
spoil "$CURRENT/packed" $((group + 70))
finds 'a group of a pack' 'packed: the data to rebuild its index from is damaged: nothing is lost'
repaired 'a group of a pack' 110
fresh packed
rm "$CURRENT/ledger"
spoil "$CURRENT/packed" 70
finds 'an entry of a pack' 'packed: {root}/opt/dir0/app100/.*: it is damaged: '
repaired 'an entry of a pack' '1(09|10)'
ok 'the damaged one is kept' test -e "$CURRENT/packed.bad"
fresh packed
rm "$CURRENT/ledger"
truncate -s $((group + 2000)) "$CURRENT/packed"
finds 'a pack that was cut' \
	'packed: its header or index is damaged: its end is lost; 64 sample files found in it'
ok 'a pack that was cut: it is repaired' check --repair
ok 'a pack that was cut: it is sound then' check --check
fresh packed
rm "$CURRENT/ledger"
truncate -s 100 "$CURRENT/packed"
finds 'a pack without anything' 'packed: it is damaged: all that it holds is lost'

# ---- the rest

fresh loose
echo x >"$CURRENT/ledger"
finds 'the account' 'ledger: it is damaged: the number of samples lost before is unknown'
fresh loose
echo x >"$CURRENT/.packed.grow"
finds 'an unfinished file' '.packed.grow: it is unfinished, as its daemon was killed: nothing is lost'
repaired 'an unfinished file' 110
ok 'an unfinished file: it is gone' test ! -e "$CURRENT/.packed.grow"
fresh loose
echo x >"$SESSION/symbols/vmlinux-0123"
finds 'symbols' 'vmlinux-0123: it is damaged: that kernel'
fresh loose
mkdir -p "$SESSION/store/.build-id/01"
echo x >"$SESSION/store/.build-id/01/23"
finds 'the store' '01/23: it is damaged: samples of that file have no names'
rm "$SESSION/store/.build-id/01/23"
echo x >"$SESSION/store/.build-id/01/23.inlines"
finds 'what was inlined' '01/23.inlines: it is damaged: reports read again what was inlined'
fresh loose
cp -R "$CURRENT" "$SESSION/samples/saved"
spoil "$(find "$SESSION/samples/saved" -path '*%-{tree}%-*' -type f | head -n 1)" 2
finds 'a saved session' 'samples/saved/.*{tree}.*: it is damaged'
fresh loose
echo x >"$CURRENT/packed.bad"
file=$(one '*%-app1%-{dep}%-*app1%-{build*')
cp "$file" "$file.bad"
out=$(check --check)
is 'what was set aside is no damage' "$?" 0
like 'but it is said' "$out" '\.bad: set aside by a daemon: it is not counted'

# ---- beside a daemon

fresh packed
spoil "$CURRENT/packed" 3
mkdir -p "$SESSION/run"
exec 8>"$SESSION/run/lock"
flock 8
finds 'beside a daemon' 'packed: its header'
is 'nothing is repaired' "$(check --repair; echo $?)" 1
like 'which is said' "$(cat "$TMP/err")" '^opreport: .*a daemon or another check uses this session'
: >"$CURRENT/.packed.grow"
finds 'what it makes is no damage' 'packed: its header'
exec 8>&-
is 'words' "$(check --check /bin/sh; echo $?)" 2
is 'no session' "$("$BIN/opreport" --session-dir="$TMP/none" --check 2>&1; echo $?)" \
	"opreport: $TMP/none/samples: No such file or directory
1"
done_testing
