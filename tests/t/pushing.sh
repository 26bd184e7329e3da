# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# oppush and a server for it (sink.py), for the scripts that push profiles, sourced
# after lib.sh.

# shellcheck disable=SC1083,SC2034,SC2119,SC2154 # braces in names; what others use and set
. "$TOP/tests/t/viewers.sh"

[ -x "$BIN/oppush" ] || skip_all "install the Debian package libcurl4-openssl-dev"

viewers_program
main=$(at main) busy=$(at busy) idle=$(at idle) leaf=$(at leaf)
SPOOL=$TMP/spool SINK=$TMP/sink

# count BUSY IDLE: what the session has counted by now.
count() {
	mkdir -p "$SESSION/samples/current"
	rm -rf "${SESSION:?}/samples/current/$P"
	profile current TIMER.0.0.all.all.all "$1" "$2"
	cat >"$SESSION/samples/current/ledger" <<-END
	source = file
	taken = $(($1 + $2 + 100))
	stored = $(($1 + $2 + 100))
	pending = 0
	END
}

# start_sink [CERT KEY]: in $SINK, its port in $PORT.
# shellcheck disable=SC2120 # there are no arguments in some scripts
start_sink() {
	mkdir -p "$SINK"
	rm -f "$SINK/port"
	python3 "$TOP/tests/t/sink.py" "$SINK" "$@" 2>"$SINK/errors" &
	SINK_PID=$!
	until [ -e "$SINK/port" ]; do
		kill -0 "$SINK_PID" || bail "$(cat "$SINK/errors")"
		sleep 0.02
	done
	PORT=$(cat "$SINK/port")
}
stop_sink() {
	kill "$SINK_PID"
	wait "$SINK_PID" 2>/dev/null
}
bail() {
	diag "$*"
	exit 1
}

# push [OPTION...]: once, to the server or $URL; the exit status and messages.
push() {
	"$BIN/oppush" --once --url="${URL:-http://127.0.0.1:$PORT}" --spool="$SPOOL" \
		--session-dir="$SESSION" --timeout=1 --label=host=here "$@" \
		>"$TMP/out" 2>"$TMP/err"
	echo "$? $(cat "$TMP/err")"
}
# due [MS]: the next attempt may be made at once, or when that time has come.
due() {
	sed -i "s/^retry_at = .*/retry_at = ${1:-0}/" "$SPOOL/state"
}
plan() {
	printf '%s\n' "$@" >"$SINK/plan"
}
state() {
	sed -n "s/^$1 = //p" "$SPOOL/state"
}
waiting() {
	find "$SPOOL" -name 'profile-*' | wc -l
}
# top [FILE...]: "SAMPLES FUNCTION" of profiles that were taken, as go tool pprof
# adds them up; without, of each that was taken, once.
top() {
	[ $# -gt 0 ] || set -- "$SINK"/taken/*.1.pb.gz
	HOME=$TMP go tool pprof -top -nodefraction=0 -edgefraction=0 \
		-sample_index=samples "$@" 2>"$TMP/go.err" |
		awk '/^ +flat  flat%/ { rows = 1; next } rows && $1 { print $1, $6 }' |
		sed 's|/.*/||; s/\[\(.*\)\]/\1/' | sort
}
# newest: profile that was taken.
newest() {
	# shellcheck disable=SC2012 # names are ours
	ls -t "$SINK"/taken/*.gz | head -n 1
}
# shown: the same of opreport.
shown() {
	symbols | awk '$1 { print $1, $3 }' | sed 's/\[\(.*\)\]/\1/' | sort
}
taken_equal_shown() {
	if command -v go >/dev/null; then
		is "$1" "$(top)" "$(shown)"
	else
		skip "$1: no go here"
	fi
}
