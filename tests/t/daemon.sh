# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For the scripts that replay a stream: source it after lib.sh.

SESSION=$TMP/session
CURRENT=$SESSION/samples/current

# stream FILE: turn the words on standard input into a stream.
stream() {
	"$TESTBIN/mkstream" >"$1" || exit 1
}

# replay FILE OPTION...: count it in a fresh session.
replay() {
	rm -rf "$SESSION"
	replay_more "$@"
}

# replay_more FILE OPTION...: count it in the session that is there.
replay_more() {
	replay_file=$1
	shift
	"$BIN/oprofiled" --session-dir="$SESSION" --source="file:$replay_file" \
		"$@"
}

# files: the names of all sample files, sorted.
files() {
	(cd "$CURRENT" && find . -type f ! -name ledger | sed 's|^\./||' | sort)
}

# pairs NAME: what is in a sample file, "KEY COUNT" per line.
pairs() {
	"$TESTBIN/mkodb" --dump "$CURRENT/$1" |
		sed -n 's/^\(0x[0-9a-f]*\)[[:blank:]]\{1,\}\([0-9]*\)$/\1 \2/p'
}

# ledger: the ledger of the session without its source.
ledger() {
	grep -v '^source' "$CURRENT/ledger"
}

# log: the daemon's log.
log() {
	cat "$SESSION/samples/oprofiled.log"
}
