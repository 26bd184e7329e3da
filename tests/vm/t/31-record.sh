#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the module samples, recorded by opcontrol while it is counted and counted
# once more elsewhere: the same account and the same reports, byte by byte.
# timeout: 600
# vm-check: 6.1
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

# again NAME FOLDER OPTION...: the stream counted into $TMP/FOLDER.
again() {
	name=$1 folder=$TMP/$2
	shift 2
	ok "$name: the stream is replayed" "$BIN/oprofiled" \
		--session-dir="$folder" --source="file:$TMP/stream" "$@"
	ok "$name: the same account" cmp "$SESSION/samples/current/ledger" \
		"$folder/samples/current/ledger"
	# What names come from is of where it ran, not of where it is counted.
	for kept in symbols images; do
		[ ! -e "$SESSION/$kept" ] || cp -R "$SESSION/$kept" "$folder/"
	done
}
# same NAME OPTION...: of opreport, which names its folder in some reports.
same() {
	what=$1
	shift
	(cd "$SESSION" && "$BIN/opreport" --session-dir=. "$@") \
		>"$TMP/report" 2>"$TMP/report.err"
	(cd "$folder" && "$BIN/opreport" --session-dir=. "$@") \
		>"$TMP/replayed" 2>"$TMP/replayed.err"
	ok "$what: opreport $*" cmp "$TMP/report" "$TMP/replayed"
	diff "$TMP/report" "$TMP/replayed" | head -n 5 | sed "s/^/# /"
	ok "$what: is no empty report" [ "$(wc -l <"$TMP/report")" -gt 5 ]
}

ok "start" start --separate=lib,kernel --callgraph=64 --record="$TMP/stream"
"$TESTBIN/forkstorm" 100 3 >/dev/null
ok "a module is loaded meanwhile" modprobe zlib_deflate
"$TESTBIN/burnmix" 1 >/dev/null
ok "stop" stop
ok "taken = stored + lost" sums_up
again "the module" one --separate-lib=1 --separate-kernel=1
for options in '' -l -d -c --format=xml --format=folded --format=csv; do
	# shellcheck disable=SC2086 # one word or none
	same "the module" $options
done
report -l
ok "has names of the program" at_least "$(samples burn_alpha)" 1
"$BIN/opstream" --stats "$TMP/stream" | sed 's/^/# /'
ok "the stream says what took it" sh -c \
	"'$BIN/opstream' '$TMP/stream' | sed -n 2p | grep -q '^source 0x0 .module/timer'"
end_profiler
"$BIN/opcontrol" --record=none
ok "no complaint from the kernel" kernel_is_content
done_testing
