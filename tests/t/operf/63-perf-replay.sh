#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What perf_events told is a stream like any other: recorded while it is counted
# and counted again elsewhere, it gives the same samples to the last one.
# timeout: 600
# sanitized: yes
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

needs_perf own
background=
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	for pid in $background; do kill -KILL "$pid" 2>/dev/null; done
}

# counts FOLDER: of each sample file its name and all that is in it.
counts() {
	(cd "$1/samples/current" && find . -type f ! -name ledger ! -name tasks) |
		sort |
		while read -r file; do
			echo "$file"
			"$TESTBIN/mkodb" --dump "$1/samples/current/$file"
		done
}
account() {
	without_cost "$1/samples/current/ledger"
}

# opreport FOLDER [OPTION]
opreport() {
	folder=$1
	shift
	(cd "$folder" && "$BIN/opreport" --session-dir=. --merge=tgid,tid "$@") \
		2>"$TMP/opreport.err"
}

# start_daemon SOURCE OPTION...: records into $TMP/stream. Sets daemon.
start_daemon() {
	source=$1
	shift
	rm -rf "$SESSION" "$TMP/stream"
	mkfifo "$TMP/ready"
	"$BIN/oprofiled" --session-dir="$SESSION" --foreground --ready-fd=3 \
		--source="$source" --record="$TMP/stream" \
		--separate-lib=1 --separate-kernel=1 "$@" 3>"$TMP/ready" &
	daemon=$!
	background="$background $daemon"
	is "the daemon is ready" "$(tr -d '\0' <"$TMP/ready")" ""
	rm "$TMP/ready"
	ok "start" control start
}
control() {
	"$TESTBIN/control" "$SESSION/run/control" "$1"
}
stop_daemon() {
	ok "shutdown" control shutdown
	wait "$daemon"
	is "the daemon's exit status" $? 0
}

# again NAME FOLDER CMD...: the stream counted once more into $TMP/FOLDER, by
# CMD and the daemon, is the same.
again() {
	again=$1 folder=$TMP/$2
	shift 2
	ok "$again" "$@" "$BIN/oprofiled" --session-dir="$folder" \
		--source="file:$TMP/stream" --separate-lib=1 \
		--separate-kernel=1 ${options:+"$options"}
	counts "$folder" >"$TMP/counts"
	ok "$again: the same counts in the same files" \
		cmp "$TMP/first" "$TMP/counts"
	is "$again: the same account" "$(account "$folder")" \
		"$(account "$SESSION")"
}
# same_reports NAME FOLDER OPTION...: reports of the session and of FOLDER, once
# with these options and in each of the ways to look at a profile.
same_reports() {
	reports=$1 folder=$2
	shift 2
	# What names come from is of where it ran, not of where it is counted.
	for kept in symbols images; do
		[ ! -e "$SESSION/$kept" ] || cp -R "$SESSION/$kept" "$folder/"
	done
	for kind in '' -l -d "${@:-}"; do
		opreport "$SESSION" ${kind:+"$kind"} ${images:+"$images"} |
			without_cost >"$TMP/report.1"
		opreport "$folder" ${kind:+"$kind"} ${images:+"$images"} |
			without_cost >"$TMP/report.2"
		ok "$reports: the same report of opreport $kind" \
			diff "$TMP/report.1" "$TMP/report.2"
		ok "$reports: it is not empty" [ "$(wc -l <"$TMP/report.1")" -gt 1 ]
		[ "$kind" != -l ] ||
			ok "$reports: which has names" \
				grep -q ' burn_child$' "$TMP/report.1"
	done
}
# same NAME [OPTION [IMAGES]]: what was recorded counts the same wherever it is
# done, and makes the same report, of these images where others may change now.
same() {
	name=$1 options=${2-} images=${3-}
	ok "$name: taken = stored + lost" sums_up
	ok "$name: there are samples" [ "$(ledger stored)" -gt 0 ]
	counts "$SESSION" >"$TMP/first"
	again "$name: another folder" one env
	same_reports "$name" "$TMP/one"
	if [ "$(id -u)" -eq 0 ]; then
		user_folder two
		chmod a+r "$TMP/stream"
		again "$name: another user" two as_user
	fi
	# By now the daemon knows the program by the stream alone.
	mv "$TMP/program" "$TMP/gone"
	again "$name: without the program" three env
	mv "$TMP/gone" "$TMP/program"
	rm -rf "$TMP/one" "$TMP/two" "$TMP/three"
}

cp "$TESTBIN/forkstorm" "$TMP/program"
canperf=$TESTBIN/canperf OPERF=$BIN/operf
for_users "$BIN/oprofiled" "$BIN/opreport" "$TESTBIN/control" \
	"$TESTBIN/mkodb" "$TESTBIN/dlburn" "$TESTBIN/libburn_a.so" \
	"$TESTBIN/libburn_b.so"

mkfifo "$TMP/gate"
# shellcheck disable=SC2016 # for the command
sh -c 'read -r _ <"$0"; exec "$@"' "$TMP/gate" "$TMP/program" 20 3 \
	>"$TMP/truth" &
command=$!
background="$background $command"
start_daemon perf:exec=$command,rate=1000 --separate-thread=1
echo >"$TMP/gate"
wait $command
is "the command's exit status" $? 0
stop_daemon
same "a command" --separate-thread=1

# With whole stacks, as people do it.
rm -rf "$SESSION" && mkdir "$SESSION"
ok "operf records what it profiles" "$OPERF" -g --record="$TMP/stream" \
	--session-dir="$SESSION" "$TMP/program" 20 3
name="operf -g"
ok "$name: taken = stored + lost" sums_up
ok "$name: the stream is replayed" "$BIN/oprofiled" --session-dir="$TMP/one" \
	--source="file:$TMP/stream" --separate-kernel=1
is "$name: the same account" "$(account "$TMP/one")" "$(account "$SESSION")"
same_reports "$name" "$TMP/one" -c --format=folded --format=xml --format=csv \
	--format=flamegraph
ok "$name: and stacks" grep -q 'burn_child' "$TMP/report.2"
rm -rf "$TMP/one"

if "$canperf" system 2>"$TMP/why"; then
	start_daemon perf:rate=1000
	"$TMP/program" 20 3 >"$TMP/truth"
	"$TESTBIN/dlburn" 0.2 "$TESTBIN/libburn_a.so" \
		"$TESTBIN/libburn_b.so" >"$TMP/truth"
	ok "dump" control dump
	"$TMP/program" 10 1 >"$TMP/truth"
	stop_daemon
	# As if it had been dear, which is not so of what is counted again.
	sed -i 's/^cost.divisor = .*/cost.divisor = 4/' \
		"$SESSION/samples/current/ledger"
	same "all there is" '' "image:$TMP/program,$TESTBIN/dlburn"
else
	skip "all there is" "$(cat "$TMP/why")"
fi
done_testing
