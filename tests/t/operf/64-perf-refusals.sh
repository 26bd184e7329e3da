#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Whatever keeps operf from sampling: one line that tells it and the way out,
# and no session that looks like one without samples.
#
# What it sets below /proc/sys/kernel is for all profilers of the machine.
# alone: yes
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

needs_perf own
SYSCTL=/proc/sys/kernel

# set_sysctl NAME VALUE: until the end of this script.
set_sysctl() {
	[ -e "$TMP/sysctl.$1" ] || cat "$SYSCTL/$1" >"$TMP/sysctl.$1"
	echo "$2" >"$SYSCTL/$1"
}
reset_sysctls() {
	for saved in "$TMP"/sysctl.*; do
		[ ! -e "$saved" ] ||
			cat "$saved" >"$SYSCTL/${saved#"$TMP/sysctl."}"
	done
}
background=
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	reset_sysctls
	for pid in $background; do kill -KILL "$pid" 2>/dev/null; done
}
# may_set NAME: whether this user may set it.
may_set() {
	{ cat "$SYSCTL/$1" >"$TMP/value" &&
		cat "$TMP/value" >"$SYSCTL/$1"; } 2>/dev/null
}

# said: what operf has said, but for the note on what this user may sample, and
# on time without samples, as of a virtual CPU that waits for a real one.
said() {
	grep -v -e '^operf: only user code is sampled' \
		-e '^operf: warning: samples stand for' "$TMP/err"
}
# refused NAME STATUS ERE CMD...: CMD is operf, which says one line, runs
# nothing and leaves no session.
refused() {
	name=$1 wanted=$2 ere=$3 status=0
	shift 3
	rm -rf "$TMP/work/session"
	$AS mkdir "$TMP/work/session"
	out=$("$@" 2>"$TMP/err") || status=$?
	is "$name: exit status" "$status" "$wanted"
	like "$name: the reason" "$(cat "$TMP/err")" "^operf: $ere"
	is "$name: in one line, without an end of the command" \
		"$(said | wc -l) $out" "1 "
	is "$name: no session" \
		"$(find "$TMP/work/session" -name current -o -name ledger)" ""
}
# samples_taken NAME CMD...: CMD is operf, which has samples and tells how many.
samples_taken() {
	name=$1
	shift
	rm -rf "$TMP/work/session"
	$AS mkdir "$TMP/work/session"
	ok "$name: works" "$@"
	like "$name: the account is told" "$(cat "$test_log")" \
		'^operf: [1-9][0-9]* samples taken, [1-9][0-9]* stored'
}

for_users "$BIN/operf" "$BIN/oprofiled" "$BIN/opreport" "$TESTBIN/noperf" \
	"$TESTBIN/canperf" "$TESTBIN/burnmix" "$TESTBIN/libburn.so"
user_folder work
# limited LIMIT VALUE CMD...: with this limit of ulimit.
cat >"$TESTBIN/limited" <<'END'
#!/bin/bash
ulimit "$1" "$2" && shift 2 && exec "$@"
END
chmod 755 "$TESTBIN/limited"
cd "$TMP/work" || exit 1
# operf PREFIX...: of what $target says.
operf() {
	# shellcheck disable=SC2086 # words
	"$@" "$BIN/operf" --session-dir="$TMP/work/session" --rate=1000 \
		$target
}
# Whether it has run is seen by this.
hello='echo hello'

# ---- what is no program or process -----------------------------------------------

printf 'echo hello\n' >plain
printf '\177ELF\2\1\1\0' >broken
chmod 755 broken
printf '#!/no/such/interpreter\n' >script
chmod 755 script
target=no-such-program
refused "a program that does not exist" 127 \
	'no-such-program: no such program on PATH; ' operf env
target=./no-such-program
refused "a path that does not exist" 127 \
	'\./no-such-program: no such program; ' operf env
target=./plain
refused "a file that is not executable" 126 \
	'\./plain: may not be executed; try chmod \+x' operf env
target=./broken
refused "a file that is no program" 126 \
	'\./broken: not a program of this machine' operf env
target=./script
refused "a script without an interpreter" 126 \
	'\./script: its interpreter .* is missing' operf env
target=/
refused "a folder" 126 '/: is a folder, not a program; give the path of a program' operf env

true &
target=--pid=$!
wait $!
refused "a process that has ended" 125 \
	'process [0-9]+: no such process; ps lists them' operf env
target=--pid=2147483647
refused "a process that cannot be" 125 \
	'process 2147483647: no such process; ps lists them' operf env

# ---- a program that ends at once -------------------------------------------------

# It has a sample or not, depending on how fast it is.
target=true
rm -rf session
mkdir session
operf env >"$TMP/out" 2>"$TMP/err"
is "a program that ends at once: its exit status" $? 0
is "a program that ends at once: one line" "$(said | wc -l)" 1
like "a program that ends at once: what came of it" "$(said)" \
	"^operf: ([1-9][0-9]* samples? taken, .*|warning: no samples were taken: the \
command used [0-9.]+ ms of CPU time, a sample is taken every 1\.0 ms; .*)\$"

# ---- seccomp, as in containers ---------------------------------------------------

target=$hello
if "$TESTBIN/noperf" 1 true 2>"$TMP/why"; then
	for number in 1 13 38; do
		refused "perf_event_open fails with errno $number" 125 \
			'.*a seccomp filter forbids perf_event_open' \
			operf "$TESTBIN/noperf" $number
	done
	target=--system-wide
	refused "perf_event_open fails, system-wide" 125 \
		'.*a seccomp filter forbids perf_event_open' \
		operf "$TESTBIN/noperf" 1
else
	skip "perf_event_open fails" "$(cat "$TMP/why")"
fi

# ---- descriptors -----------------------------------------------------------------

target=$hello
# Each number of them is another place to fail.
for nr in $(seq 4 200); do
	rm -rf session
	mkdir session
	status=0
	out=$(operf "$TESTBIN/limited" -n "$nr" 2>"$TMP/err") || status=$?
	# With enough of them it works.
	[ "$status" -ne 0 ] || break
	like "$nr descriptors" "$status: $(cat "$TMP/err")" \
		'^125: operf: .*ulimit -n'
	is "$nr descriptors: one line" "$(said | wc -l) $out" "1 "
	is "$nr descriptors: no session" \
		"$(find session -name current -o -name ledger)" ""
done
ok "$nr descriptors are enough" [ "$status" -eq 0 ]
# So they are for more programs: files that are held open leave some for the
# account.
cat >several <<END
#!/bin/sh
exec >/dev/null
i=0
while [ \$i -lt 50000 ]; do i=\$((i + 1)); done
awk 'BEGIN { while (i < 500000) i++ }'
sed -n '/\(.\).*\1\1/p' "$BIN/operf"
"$TESTBIN/burnmix" 0.1
END
chmod 755 several
target=./several
samples_taken "several programs with $nr descriptors" \
	operf "$TESTBIN/limited" -n "$nr"

# ---- rights ----------------------------------------------------------------------

AS=as_user
if ! as_user "$TESTBIN/canperf" own 2>"$TMP/why"; then
	target=$hello
	refused "an ordinary user who may not" 125 \
		'.*(kernel\.perf_event_paranoid|seccomp|security module)' \
		operf as_user
	skip "an ordinary user" "$(cat "$TMP/why")"
	done_testing
fi

if as_user "$TESTBIN/canperf" system 2>"$TMP/why"; then
	skip "the whole system" "this user may sample it"
else
	target=--system-wide
	refused "an ordinary user, the whole system" 125 \
		'.*kernel\.perf_event_paranoid.*(root|CAP_PERFMON).*' \
		operf as_user
fi
if [ "$(id -u)" -eq 0 ]; then
	"$TESTBIN/hold" $$ &
	background="$background $!"
	target=--pid=$!
	refused "a process of another user" 125 \
		"process $!: .*(another user|CAP_)" operf as_user
else
	skip "a process of another user" "not root"
fi

target="$TESTBIN/burnmix 0.3"
if ! may_set perf_event_paranoid; then
	skip "kernel.perf_event_paranoid" "it cannot be set here"
	skip "root without CAP_PERFMON" "it cannot be set here"
else
	set_sysctl perf_event_paranoid 3
	if as_user "$TESTBIN/canperf" own 2>"$TMP/why"; then
		# To this kernel 3 is no more than 2.
		samples_taken "kernel.perf_event_paranoid 3" operf as_user
		like "kernel.perf_event_paranoid 3: what is left" \
			"$(cat "$test_log")" '^operf: only user code is sampled'
	else
		refused "kernel.perf_event_paranoid 3" 125 \
			'.*kernel\.perf_event_paranoid is 3.*=2' operf as_user
	fi
	set_sysctl perf_event_paranoid 2
	samples_taken "kernel.perf_event_paranoid 2" operf as_user
	like "kernel.perf_event_paranoid 2: what is left" "$(cat "$test_log")" \
		'^operf: only user code is sampled, as kernel\.perf_event_paranoid is 2'
	unlike "kernel.perf_event_paranoid 2: nothing of the kernel" \
		"$("$BIN/opreport" --session-dir=session -l 2>&1)" vmlinux
	AS=
	target=--system-wide
	refused "root without CAP_PERFMON" 125 \
		'.*CAP_PERFMON' operf setpriv --inh-caps=-all \
		--bounding-set=-perfmon,-sys_admin
	AS=as_user
	target="$TESTBIN/burnmix 0.3"
	set_sysctl perf_event_paranoid 1
	samples_taken "kernel.perf_event_paranoid 1" operf as_user
	unlike "kernel.perf_event_paranoid 1: nothing is left out" \
		"$(cat "$test_log")" 'only user code'
	like "kernel.perf_event_paranoid 1: the kernel is in" \
		"$("$BIN/opreport" --session-dir=session -l 2>/dev/null)" vmlinux
	set_sysctl perf_event_paranoid 2
fi

# ---- memory ----------------------------------------------------------------------

if may_set perf_event_mlock_kb; then
	set_sysctl perf_event_mlock_kb 0
	target=$hello
	refused "no memory may be locked" 125 \
		'.*(ulimit -l|perf_event_mlock_kb)' \
		operf as_user "$TESTBIN/limited" -l 0
	# With little, the rings are small.
	target="$TESTBIN/burnmix 0.3"
	set_sysctl perf_event_mlock_kb 64
	samples_taken "little memory may be locked" operf as_user "$TESTBIN/limited" -l 0
	reset_sysctls
else
	skip "no memory may be locked" "kernel.perf_event_mlock_kb cannot be set here"
fi
done_testing
