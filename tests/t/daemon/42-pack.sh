#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A session whose sample files are packed makes the same reports as one that was
# never packed, whatever happened to daemon and packer in between.
# timeout: 900
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

# ---- replayed, in parts

# programs PART: what 120 programs, a library and the kernel did, stacks and all.
# Each part has other counts, some programs of its own and a new build of one.
programs() {
	awk -v part="$1" 'BEGIN {
		print "stream 1 8"
		print "kernel-range first 0xffffffff81000000 " \
			"0xffffffff82000000 - vmlinux"
		print "cookie 1 0 0 0 0 - /lib/libc.so.6"
		for (i = 2; i < 120; i++)
			print "cookie " i " 0 0 0 0 " \
				(i == 7 ? "ab0" part : "-") " /opt/bin/prog" \
				(i % 10 ? i : i "." part)
		print "cpu 0"
		for (i = 2; i < 120; i++) {
			print "ctx " i " " i "\ntgid " i "\nimage " i "\nuser"
			print "sample " i * 16 " 0 x" part
			print "sample " part * 4096 " 0"
			print "trace\nimage 1\nuser\nsample 64 0"
			print "image " i "\nuser\nsample " i * 16 + 1 " 0"
			print "sample " part * 8 + i % 3 + 1 " 0"
			print "trace-end " i % 2
			print "kernel\nsample 0xffffffff81000" i + 100 " 0"
		}
	}'
}
for part in 1 2 3 4; do
	programs $part | stream "$TMP/part$part"
done

# session FOLDER OPTION...: all parts counted one behind another.
session() {
	SESSION=$TMP/$1
	shift
	for part in 1 2 3 4; do
		ok "part $part, $*" replay_more "$TMP/part$part" \
			--separate-lib=1 --separate-kernel=1 "$@"
	done
}
# same REPORT...: of both sessions, and what is said about them.
same() {
	for folder in loose packed; do
		"$BIN/opreport" --session-dir="$TMP/$folder" "$@" \
			>"$TMP/report.$folder" 2>"$TMP/err.$folder"
		sed "s|$TMP/$folder|FOLDER|g" "$TMP/err.$folder" \
			>"$TMP/said.$folder"
	done
	ok "opreport $*: there is something" test -s "$TMP/report.loose"
	ok "opreport $*: the same" cmp "$TMP/report.loose" "$TMP/report.packed"
	ok "opreport $*: the same complaints" \
		diff "$TMP/said.loose" "$TMP/said.packed"
}
same_all() {
	same
	same -l
	same -d
	same -c
	same --format=folded
	same --format=json
	ok "the same account" cmp "$TMP/loose/samples/current/ledger" \
		"$TMP/packed/samples/current/ledger"
}
# at_rest FOLDER: what lies in its samples/current.
at_rest() {
	(cd "$TMP/$1/samples/current" && find . -mindepth 1 -maxdepth 1) | sort
}
# blocks FOLDER: KiB on the disk.
blocks() {
	du -sk "$TMP/$1/samples/current" | cut -f1
}

session loose --pack-at=0
session packed --pack-at=1
is "all is in the pack" "$(at_rest packed)" './ledger
./packed'
like "or not, as asked for" "$(at_rest loose)" '{loose}'
ok "it takes a tenth: $(blocks packed) of $(blocks loose) KiB" \
	[ $(($(blocks packed) * 10)) -lt "$(blocks loose)" ]
same_all
"$BIN/opreport" --session-dir="$TMP/packed" -l >"$TMP/report.packed.l" 2>/dev/null
same --by-build
same --by-build -l
same build-id:ab01 -l
like "the log says it" "$(log)" 'packed [0-9]* sample files, .* KiB'
like "the statistics do" "$(log)" '^Nr. packs made: 1$'

# Header and index of the pack are damaged: all that it holds is found.
cp -R "$TMP/packed" "$TMP/index"
len=$(wc -c <"$TMP/index/samples/current/packed")
for where in 3 $((len - 60)); do
	printf 'xx' | dd of="$TMP/index/samples/current/packed" bs=1 \
		seek="$where" conv=notrunc 2>/dev/null
	"$BIN/opreport" --session-dir="$TMP/index" -l 2>"$TMP/err" >"$TMP/out"
	ok "without an index the report is the same" \
		cmp "$TMP/out" "$TMP/report.packed.l"
	like "which is said" "$(cat "$TMP/err")" \
		'packed: its index is damaged, but all sample files in it were found'
done
SESSION=$TMP/index CURRENT=$TMP/index/samples/current
ok "the next daemon goes on with it" replay_more "$TMP/part1"
like "and makes the index anew" "$(log)" 'has been rebuilt; nothing is lost'
unlike "no report complains" \
	"$("$BIN/opreport" --session-dir="$TMP/index" 2>&1)" 'packed'

# The pack is cut: what was in it is lost, which is said.
cp -R "$TMP/packed" "$TMP/damaged"
SESSION=$TMP/damaged CURRENT=$TMP/damaged/samples/current
truncate -s 200 "$CURRENT/packed"
ok "beside a damaged pack samples are taken" replay_more "$TMP/part1"
like "it is renamed" "$(at_rest damaged)" '^\./packed.bad$'
like "which the log says" "$(log)" 'packed: damaged sample file'
# shellcheck disable=SC2016 # for awk
ok "the account has it" awk '
	/^taken/ { taken = $3 } /^stored/ { stored = $3 }
	/^lost.lost_damaged_file/ { damaged = $3 } /^lost/ { lost += $3 }
	END { exit !(damaged && stored && taken == stored + lost) }' \
	"$CURRENT/ledger"

# ---- live, with a folder that stands in for /dev/oprofile

SESSION=$TMP/live CURRENT=$TMP/live/samples/current FS=$TMP/fs
oprofilefs "$FS"
daemon=
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	[ -z "$daemon" ] || kill -KILL "$daemon" 2>/dev/null
}

start_daemon() {
	mkfifo "$TMP/ready"
	"$BIN/oprofiled" --session-dir="$SESSION" --foreground --ready-fd=3 \
		--source="oprofilefs:$FS" --separate-thread=1 --pack-at=1 \
		3>"$TMP/ready" 9<&- 2>"$TMP/daemon.err" &
	daemon=$!
	why=$(tr -d '\0' <"$TMP/ready")
	rm "$TMP/ready"
	[ -z "$why" ] || diag "$why"
}
control() {
	"$TESTBIN/control" "$SESSION/run/control" "$1"
}
# 300 threads have two samples each.
awk 'BEGIN {
	for (i = 1; i <= 300; i++)
		printf "cpu 0\nctx %d 0\ntgid %d\nkernel\n" \
			"sample 0xffffffffd0000000 0 x2\n", i, i
}' | stream "$TMP/threads"
taken=0
count_threads() {
	cat "$TMP/threads" >&9
	taken=$((taken + 600))
	control dump
}
# stored: the samples that reports find.
stored() {
	"$BIN/opreport" --session-dir="$SESSION" --merge=tgid,tid 2>/dev/null |
		awk '$1 ~ /^[0-9]+$/ { n += $1 } END { print n + 0 }'
}
# packer: the daemon's child, if it has one.
packer() {
	cat "/proc/$daemon/task/$daemon/children"
}

# killed WHEN WHO: both, or the daemon alone. The packer begins before a dump is
# answered. What it makes later, WHEN, is known before it has begun.
killed() {
	name="$2 killed when $1"
	start_daemon
	"$TESTBIN/await" event "$CURRENT" "$1" >"$TMP/watching" &
	watcher=$!
	await text "$TMP/watching"
	control start >/dev/null
	ok "$name: samples are taken" count_threads
	child=$(packer)
	if ! wait $watcher; then
		ok "$name: it comes" false
		done_testing
	fi
	kill -KILL "$daemon"
	# shellcheck disable=SC2086 # nothing or a number
	[ "$2" = daemon ] || kill -KILL $child 2>/dev/null
	wait "$daemon" 2>/dev/null
	is "$name: all are there" "$(stored)" "$taken"
	# A packer ends with its daemon.
	[ -z "$child" ] || await end "$child"
	is "$name: all are there once nobody packs" "$(stored)" "$taken"
}
start_daemon
control start >/dev/null
ok "samples are taken" count_threads
is "all are there" "$(stored)" "$taken"
ok "and further ones" count_threads
is "and all of these" "$(stored)" "$taken"
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null
is "after kill -9 all are there" "$(stored)" "$taken"
rounds=1
[ "${TIER:-check}" = check ] || rounds=10
while [ $rounds -gt 0 ]; do
	# Loose files have moved, a pack is begun, it has taken its place.
	for when in '.packing-*' .packed.grow packed; do
		killed "$when" daemon
		killed "$when" both
	done
	rounds=$((rounds - 1))
done
start_daemon
ok "not killed: samples are taken" count_threads
ok "shutdown" control shutdown
wait "$daemon"
is "its end" $? 0
daemon=
is "all are there" "$(stored)" "$taken"
is "and in the pack" "$(at_rest live)" './ledger
./packed
./tasks'
is "the account" "$(sed -n 's/^stored = //p' "$CURRENT/ledger")" "$taken"
done_testing
