# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What every test script sources first, on the host and in the VM alike:
#
#	. "$(dirname "$0")/lib.sh"
#
# It prints TAP. A test is one call of ok, exits, is, expected, like, unlike or skip;
# the last line of a script is done_testing. Sets:
#
#	TOP      the source tree
#	BIN      folder with opreport, oprofiled, opcontrol, opstream
#	TESTBIN  folder with mkstream, mkodb and the other programs for tests
#	TMP      a fresh empty folder, removed at exit
#
# The build folder is $O as for make: relative to TOP, "build" if not set.
# A script may define at_exit to stop what it started.

LC_ALL=C
NO_COLOR=1
export LC_ALL NO_COLOR
unset CDPATH DEBUGINFOD_URLS

TOP=$(cd "$(dirname "$0")" && pwd) || exit 1
while [ ! -e "$TOP/tests/t/lib.sh" ]; do
	[ "$TOP" != / ] || { echo "Bail out! $0 is not in the tree"; exit 1; }
	TOP=$(dirname "$TOP")
done
case ${O:=build} in
/*) ;;
*) O=$TOP/$O ;;
esac
# shellcheck disable=SC2034 # for the scripts
BIN=$O/bin
# shellcheck disable=SC2034
TESTBIN=$O/tests

TMP=$(mktemp -d "${TMPDIR:-/tmp}/oprofile-test.XXXXXX") || exit 1
OPROFILE_CACHE_DIR=$TMP/cache
export OPROFILE_CACHE_DIR
test_log=$TMP.log
test_nr=0
test_failed=0
test_finished=

test_cleanup() {
	test_status=$?
	if command -v at_exit >/dev/null; then at_exit; fi
	[ -n "$test_finished" ] ||
		echo "Bail out! ended without done_testing, status $test_status"
	rm -rf "$TMP" "$test_log"
}
trap test_cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# sample_path NAME: where the loose sample file of that name is in its session folder
# (libdb/db_folder.h). sample_names: from such paths to names.
sample_path() {
	printf '%s\n' "$1" | sed 's|/|%-|g' | awk '{
		for (path = "{loose}/"; length($0) > 240; path = path "%_/") {
			for (n = 238; substr($0, n, 2) ~ /^%|^.[.]/; n--)
				;
			path = path substr($0, 1, n)
			$0 = substr($0, n + 1)
		}
		print path $0
	}'
}
sample_names() {
	sed 's|{loose}/||; s|%_/||g; s|%-|/|g'
}

# An ordinary user, for scripts that root runs; another one for each script, as
# the memory that perf may lock is one sum for all processes of a user.
test_user=$((100000 + $(od -An -N3 -tu4 /dev/urandom)))

# as_user CMD...: as an ordinary user, without any privilege.
as_user() {
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid=$test_user --regid=$test_user --clear-groups \
			--inh-caps=-all -- "$@"
	else
		"$@"
	fi
}

# give_to_user FILE...: makes files and folders the ordinary user's.
give_to_user() {
	[ "$(id -u)" -ne 0 ] || chown -R $test_user:$test_user "$@"
}

# made ARG...: make in the tree with this build folder, and with the flags that it
# was built with, so that nothing is compiled again.
made() {
	test_flags=$(sed -n 's/.* -fsanitize=\([^ ]*\).*/SANITIZE=\1/p' "$O/flags")
	! grep -q -e ' -Werror ' "$O/flags" ||
		test_flags="$test_flags DEVELOPER=1"
	# shellcheck disable=SC2086 # words
	make -C "$TOP" O="$O" $test_flags "$@"
}

# diag TEXT...: lines for people, not part of the results.
diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

# gone PID: the process has ended, though perhaps nobody has waited for it.
gone() {
	case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in
	'' | [ZX]*) return 0 ;;
	*) return 1 ;;
	esac
}

# running_vmlinux FILE: what is taken for the kernel that runs, by its banner
running_vmlinux() {
	{ printf '\177ELF' && cat /proc/version; } >"$1"
}

# await WHAT ARG...: sleep until something has happened, as tests/helper/await.c
# tells; what has not happened after two minutes is a failed test, the last one.
await() {
	test_got=$("$TESTBIN/await" "$@" 2>&1) && return
	test_result "await $*" 1
	diag "$test_got"
	done_testing
}

# Print one result: test_result NAME STATUS.
test_result() {
	test_nr=$((test_nr + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $test_nr - $1"
	else
		test_failed=$((test_failed + 1))
		echo "not ok $test_nr - $1"
	fi
}

# ok NAME CMD...: CMD exits with 0. What it printed is shown if it does not.
ok() {
	test_name=$1
	shift
	exits "$test_name" 0 "$@"
}

# exits NAME STATUS CMD...: CMD exits with STATUS.
exits() {
	test_name=$1 test_wanted=$2
	shift 2
	test_got=0
	"$@" >"$test_log" 2>&1 || test_got=$?
	[ "$test_got" -eq "$test_wanted" ]
	test_result "$test_name" $?
	[ "$test_got" -eq "$test_wanted" ] ||
		diag "exit status $test_got, not $test_wanted, of: $*
$(tail -n 100 "$test_log")"
}

# is NAME GOT WANTED: two texts are the same.
is() {
	[ "$2" = "$3" ]
	test_result "$1" $?
	[ "$2" = "$3" ] || diag "got:
$2
wanted:
$3"
}

# expected NAME GOT: a text is that of the file tests/expect/t/ROOM/SCRIPT/NAME.txt,
# with "-" for each blank of NAME. Prints the difference; `tests/run --accept SCRIPT`
# writes the file.
expected() {
	test_got=${0%.sh}
	test_got=$TOP/tests/expect/${test_got##*/tests/}/$(echo "$1" | tr ' ' -).txt
	if [ -n "$OPROFILE_TESTS_ACCEPT" ] &&
		! printf '%s\n' "$2" | cmp -s - "$test_got"; then
		mkdir -p "${test_got%/*}" && printf '%s\n' "$2" >"$test_got" &&
			echo "${test_got#"$TOP/"}" >>"$OPROFILE_TESTS_ACCEPT"
	fi
	printf '%s\n' "$2" | diff -uN --label wanted --label printed "$test_got" - \
		>"$test_log" 2>&1
	test_result "$1" $?
	[ ! -s "$test_log" ] || diag "$(cat "$test_log")"
}

# like NAME GOT ERE: some line of a text matches.
like() {
	printf '%s\n' "$2" | grep -Eq -e "$3"
	test_got=$?
	test_result "$1" $test_got
	[ $test_got -eq 0 ] || diag "got:
$2
wanted a line that matches:
$3"
}

# unlike NAME GOT ERE: no line of a text matches.
unlike() {
	printf '%s\n' "$2" | grep -Eq -e "$3"
	test_got=$?
	[ $test_got -eq 1 ]
	test_result "$1" $?
	[ $test_got -eq 1 ] || diag "got:
$2
wanted no line that matches:
$3"
}

# not CMD...: for `ok NAME not CMD...`.
not() {
	! "$@"
}

# skip NAME WHY: a test that cannot run here.
skip() {
	test_nr=$((test_nr + 1))
	echo "ok $test_nr - $1 # SKIP $2"
}

# skip_all WHY: nothing in this script can run here.
skip_all() {
	echo "1..0 # SKIP $*"
	test_finished=yes
	exit 0
}

# without_cost [FILE]: an account or a report without what ran, what sampling cost
# and how far the rate was lowered for that, which a replay elsewhere cannot tell.
without_cost() {
	sed -E '/^run\./d; /^ *"run": /d; /^Run: /d
		/^cost\./d; /^ *"cost": /d; s/ cost="[^"]*"//; s/,$//
		/^Rate.* lowered to /d; s/; rate lowered to .* are wider//
		s/ loweredby="[^"]*" loweredfor="[^"]*" of="[^"]*"//' "$@"
}

# library NAME: what the loader takes for it in programs of 64 bits, by a regular
# expression; other kinds may be installed, too.
library() {
	PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null |
		sed -n "s/.*$1 .*\(x86-64\|AArch64\).*=> //p" | head -n 1
}

# done_testing: the plan; exits with 1 if a test failed.
done_testing() {
	echo "1..$test_nr"
	test_finished=yes
	[ "$test_failed" -eq 0 ] || exit 1
	exit 0
}

# place_of_wait NAME: a pattern of the kernel's functions that the thread NAME of
# the program waits goes to wait in.
place_of_wait() {
	case $1 in
	sleep) echo 'nanosleep' ;;
	pipe) echo 'pipe_read' ;;
	lock) echo 'futex_(do_)?wait' ;;
	*) echo 'exit_to_user|irqentry_exit|el0' ;;
	esac
}
