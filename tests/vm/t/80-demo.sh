#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The session of `make demo` and `make vm-demo`: hot spots of the program, libc
# and, for root, the kernel.
# timeout: 600
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

quietly() {
	"$@" >"$TMP/out" 2>"$TMP/err"
}

# demo NAME COMMAND...: the session, and what each of them shows.
demo() {
	name=$1
	shift
	ok "$name: the demo runs" quietly "$@"
	# Which of the system's binaries are stripped is not the demo's doing,
	# nor that the machine has no counters.
	is "$name: without complaint" "$(grep -v -e 'is stripped' \
		-e 'no hardware counters' \
		-e '^operf:' "$TMP/err")" ""
	sed 's/^/# /' "$TMP/out"
	shows 'demo_work .*escape_time'
	shows 'libc\.so'
	shows '[Ss]amples taken: [1-9]|^taken = [1-9]'
}

# shows ERE
shows() {
	ok "$name: it shows $1" grep -Eq "$1" "$TMP/out"
}

demo module "$TOP/utils/demo" --session module
shows 'vmlinux .*chacha'
shows '^Source: module/timer'
ok "the module is gone" not grep -q '^oprofile ' /proc/modules

demo perf "$TOP/utils/demo" --session perf
shows 'vmlinux .*chacha'
shows '^Source: perf/'

set -- as_user "$TOP/utils/demo" --session
echo 3 >/proc/sys/kernel/perf_event_paranoid
exits "user: without a permission it fails" 1 quietly "$@"
like "user: and says which" "$(cat "$TMP/err")" \
	'^operf: .*kernel.perf_event_paranoid=2'
echo 2 >/proc/sys/kernel/perf_event_paranoid
demo user "$@"
shows '^source = perf/'
ok "no complaint from the kernel" kernel_is_content
done_testing
