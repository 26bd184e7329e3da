#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# No stack that a report calls whole is wrong: programs of many kinds, whose stacks are
# known from their sources and from the calls in their code, are profiled, and each
# whole stack is compared frame by frame. `make check-stacks` prints the table.
# timeout: 1800
# tier: all
# sanitized: no
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"
needs_perf own
[ "$(uname -m)" = x86_64 ] || skip_all "the programs are of x86-64"
command -v objdump >/dev/null ||
	skip_all "objdump not found; install the Debian package binutils"
RATE=2000
LEAST_NOTICED=50 # percent
PROGRAMS=$TOP/tests/t/stacks/programs
cd "$TMP" || exit 1
mkdir -p work/.debug hidden
TABLE=${STACKS_TABLE:-$TMP/table}
printf '%-32s %7s %7s %7s %7s %7s\n' program stacks whole wrong noticed off >"$TABLE"

# true_stacks NAME SOURCE CHECK... -- COMMAND...: the stacks of the command are as
# SOURCE says. CHECK are arguments of whole_stacks.py.
true_stacks() {
	name=$1 rules=$PROGRAMS/$2
	shift 2
	checks=
	while [ "$1" != -- ]; do
		checks="$checks $1"
		shift
	done
	shift
	rm -rf "$SESSION"
	profiled "$name" -g "$@"
	# Names that the program was stripped of.
	if [ -e "hidden/$name" ]; then
		rm -rf "$SESSION/store"
		mv "hidden/$name" "work/.debug/$name.debug"
	fi
	"$BIN/opreport" --session-dir="$SESSION" --no-inlines --format=speedscope \
		>"$TMP/profile" 2>"$TMP/report.err"
	status=0
	# shellcheck disable=SC2086 # arguments without blanks
	"$PROGRAMS/../whole_stacks.py" --rules="$rules" $checks "$name" \
		"$TMP/profile" >"$TMP/row" 2>&1 || status=$?
	is "$name: each whole stack is right" "$status" 0
	grep -v '^#' "$TMP/row" >>"$TABLE"
	sed 's/^[^#]/# &/' "$TMP/row"
	# A rule that notices nothing would say the same.
	noticed=$(awk '!/^#/ { print $5 }' "$TMP/row")
	nr_whole=$(awk '!/^#/ { print $3 }' "$TMP/row")
	ok "$name: the absence of ${noticed:-no} % of all callers would be noticed" \
		[ $((${nr_whole:-0} * 10)) -lt "$(ledger stored)" -o \
		"${noticed:-0}" -ge "$LEAST_NOTICED" ]
}

# stripped NAME: work/NAME becomes a stripped twin of itself, which gets its names back
# after it was profiled.
stripped() {
	objcopy --only-keep-debug "work/$1" "hidden/$1"
	cp "work/$1" "work/$1.twin"
	(cd hidden && cp "$1" "$1.debug" &&
		objcopy --strip-all --add-gnu-debuglink="$1.debug" "../work/$1" &&
		rm "$1.debug")
}

# ---- C ---------------------------------------------------------------------------

MUSL='libc_start_main_stage2'
# c NAME CHECK... -- CC FLAG...: account.c so compiled.
c() {
	name=$1
	shift
	checks=
	while [ "$1" != -- ]; do
		checks="$checks $1"
		shift
	done
	shift
	"$@" -D_GNU_SOURCE -o "work/$name" "$PROGRAMS/account.c" || exit 1
	twin=work/$name
	case $name in
	*_s)
		stripped "$name"
		twin=work/$name.twin
		;;
	esac
	# shellcheck disable=SC2086 # arguments without blanks
	true_stacks "$name" account.c $checks --calls="$twin" --account=truth -- \
		"work/$name" "$ROUNDS"
}
ROUNDS=200
NO_DATA='-fno-asynchronous-unwind-tables -fno-unwind-tables -fomit-frame-pointer'
c c -- gcc -O2
c c_O0 -- gcc -O0
c c_fp -- gcc -O2 -fno-omit-frame-pointer
# shellcheck disable=SC2086 # flags
c c_no_unwind_data -- gcc -O2 $NO_DATA
c c_static -- gcc -O2 -static
c c_static_s -- gcc -O2 -static
# shellcheck disable=SC2086 # flags
c c_static_no_unwind_data_s -- gcc -O2 -static $NO_DATA
if command -v clang >/dev/null; then
	c c_clang -- clang -O2
fi
if command -v musl-gcc >/dev/null; then
	ROUNDS=50
	c musl --root='\[libc.so\]' -- musl-gcc -O2
	c musl_static --root=$MUSL -- musl-gcc -O2 -static
	c musl_static_s --root=$MUSL -- musl-gcc -O2 -static
	# shellcheck disable=SC2086 # flags
	c musl_static_no_unwind_data_s --root=$MUSL -- musl-gcc -O2 -static $NO_DATA
else
	skip "musl" "install the Debian package musl-tools"
fi

# ---- 32 bits -----------------------------------------------------------------------

gcc -m32 -O2 -fomit-frame-pointer -fno-pie -no-pie -static -nostdlib \
	-o work/bare32 "$PROGRAMS/bare32.c" || exit 1
true_stacks bare32 bare32.c --calls=work/bare32 -- work/bare32
true_stacks stacks32 ../../../helper/stacks32.c --calls="$TESTBIN/stacks32" -- \
	"$TESTBIN/stacks32"

# ---- switches of stacks ------------------------------------------------------------

for flags in '' "$NO_DATA"; do
	# shellcheck disable=SC2086 # flags
	gcc -O2 $flags -D_GNU_SOURCE -o work/switches "$PROGRAMS/switches.c" || exit 1
	for how in handler high low null alarm context fiber vfork; do
		true_stacks "$how${flags:+_no_unwind_data}" switches.c \
			--calls=work/switches --program=switches -- work/switches $how
	done
done

# ---- Go ----------------------------------------------------------------------------

if command -v go >/dev/null; then
	# go_build NAME SOURCE FLAGS
	go_build() {
		cp "$PROGRAMS/$2.go" "work/$2.go"
		HOME=$TMP GOCACHE=$TMP/cache GO111MODULE=off GOFLAGS='' \
			go build -ldflags="$3" -o "work/$1" "work/$2.go" || exit 1
	}
	for source in account grow clock account_cgo; do
		case $source in
		account*) account=--account=truth ;;
		*) account= ;;
		esac
		go_build twin $source ''
		go_build go_${source} $source ''
		go_build go_${source}_w $source -w
		go_build go_${source}_s_w $source '-s -w'
		# Nothing says how deep a recursion is.
		LEAST_NOTICED=50
		[ $source != grow ] || LEAST_NOTICED=5
		for name in go_${source} go_${source}_w go_${source}_s_w; do
			# shellcheck disable=SC2086 # an argument, or none
			true_stacks $name $source.go --root=runtime.goexit \
				--calls=work/$name --calls=work/twin $account \
				-- work/$name
		done
	done
else
	skip "Go" "no go"
fi

# ---- Java --------------------------------------------------------------------------

if command -v javac >/dev/null && [ -e "$O/lib/libjvmti_oprofile.so" ]; then
	javac -g -d work "$PROGRAMS/Account.java" || exit 1
	JAVA_ROOT='.*;JavaCalls::call_helper[^;]*;(call_stub|StubRoutines[^;]*)'
	# All that is called from interpreted methods is guessed; what is whole are
	# the threads of the JVM, of which only the beginning is known.
	LEAST_NOTICED=1
	java() {
		name=$1
		shift
		JITDUMPDIR=$TMP true_stacks "$name" Account.java --root="$JAVA_ROOT" \
			--account=truth -- java -XX:-UsePerfData -cp work \
			"-XX:CompileCommand=quiet" \
			"-XX:CompileCommand=dontinline,Account*::*" "$@" Account
	}
	java java
	java java_frame_pointers -XX:+PreserveFramePointer
else
	skip "Java" "no javac, or no agent; install openjdk-17-jdk-headless"
fi

sed 's/^/# /' "$TABLE"
done_testing
