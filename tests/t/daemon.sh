# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For the scripts that replay a stream: source it after lib.sh.

SESSION=$TMP/session
CURRENT=$SESSION/samples/current

# oprofilefs FOLDER [NAME=VALUE...]: a folder that stands in for /dev/oprofile,
# with these values; its buffer is a pipe, which the samples are to be written
# to at descriptor 9.
oprofilefs() {
	fs=$1
	shift
	mkdir -p "$fs/stats/cpu0" "$fs/timer"
	for pair in enable=0 dump= abi_version=1 pointer_size=8 cpu_type=timer \
		buffer_size=131072 buffer_watershed=32768 \
		cpu_buffer_size=8192 backtrace_depth=0 timer/rate=1000 \
		stats/event_lost_overflow=0 stats/cpu0/sample_received=0 \
		stats/cpu0/sample_lost_overflow=0 "$@"; do
		printf '%s' "${pair#*=}" >"$fs/${pair%%=*}"
	done
	mkfifo "$fs/buffer"
	# Both ends, so that the pipe never ends.
	exec 9<>"$fs/buffer"
}

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
	(cd "$CURRENT" && find . -type f ! -name ledger ! -name tasks | sed 's|^\./||' | sample_names | sort)
}

# pairs NAME: what is in a sample file, "KEY COUNT" per line.
pairs() {
	"$TESTBIN/mkodb" --dump "$CURRENT/$(sample_path "$1")" |
		sed -n 's/^\(0x[0-9a-f]*\)[[:blank:]]\{1,\}\([0-9]*\)$/\1 \2/p'
}

# ledger: the ledger of the session without its source, what ran, and what it cost.
ledger() {
	grep -v -e '^source' -e '^cost\.' -e '^run\.' "$CURRENT/ledger"
}

# log: the daemon's log.
log() {
	cat "$SESSION/samples/oprofiled.log"
}
