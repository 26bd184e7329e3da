#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/vm/run itself, seen from outside. Boots a kernel for each question.
# timeout: 1200

. "$(dirname "$0")/../t/lib.sh"

# vm [OPTION]...: run the script on stdin; sets $status, $out and $err.
vm() {
	"$TOP/tests/vm/run" "$@" >"$TMP/stdout" 2>"$TMP/stderr"
	status=$?
	out=$(cat "$TMP/stdout")
	err=$(cat "$TMP/stderr")
}

mkdir -p "$TMP/a tree/put it"
printf 'x\n' >"$TMP/a tree/put it/a file"
vm --out "$TMP/a tree/out" --put "$TMP/a tree/put it/a file" - \
	'two words' "it's" '*' '' <<'END'
echo "out $#: $1|$2|$3|$4"
echo 'err' >&2
echo again >/dev/stderr
cat 'a file'
ls
id -u
echo "$HOME $(nproc)"
mount | grep -c -e ' /sys/kernel/debug ' -e ' /dev/shm ' -e ' /tmp ' -e ' /run '
command -v opcontrol
mkdir /out/deep && seq 1000 >'/out/deep/a file'
touch /usr/bin/made-in-the-guest
rm /bin/sh
"$O/tests/hold" 1 &
exit 7
END
is "exit status comes back" "$status" 7
is "arguments, files and folders go in" "$out" "out 4: two words|it's|*|
x
a file
0
/root 2
4
$BIN/opcontrol"
is "stderr is told apart" "$err" "err
again"
is "the folder comes back" "$(md5sum <"$TMP/a tree/out/deep/a file")" \
	"$(seq 1000 | md5sum)"
ok "the host is unharmed" test -x /bin/sh
ok "nothing of the guest is left" not test -e /usr/bin/made-in-the-guest

vm --kernel 6.12 --smp 1 - <<'END'
uname -r
nproc
seq 20000
seq 20000 >&2
END
like "the other kernel boots" "$out" '^6\.12\.'
is "with one CPU" "$(sed -n 2p "$TMP/stdout")" 1
is "a lot of output is whole" "$(tail -n +3 "$TMP/stdout" | md5sum)" \
	"$(seq 20000 | md5sum)"
is "on stderr too" "$(md5sum <"$TMP/stderr")" "$(seq 20000 | md5sum)"

vm --timeout 45 - <<'END'
echo '<4>a last word' >/dev/kmsg
"$O/tests/hold" 1
END
is "a hung guest ends with 124" "$status" 124
like "it is reported" "$err" 'killed after 45 s'
like "with its console" "$err" 'a last word'

vm - <<'END'
echo before
echo c >/proc/sysrq-trigger
"$O/tests/hold" 1
END
is "a panic ends with 125" "$status" 125
is "what came before it is there" "$out" before
like "the panic is shown" "$err" 'Kernel panic'

# ---- a batch

mkdir "$TMP/scripts"

# script NAME: stdin.
script() {
	cat >"$TMP/scripts/$1.sh"
}

# result N FILE: of the batch's N-th script.
result() {
	cat "$TMP/batch/$1/$2"
}

script dirty <<'END'
echo "in $(pwd): $(cat data)"
opcontrol --start --event=timer --session-dir=/tmp/oprofile-test.x >&2
"$O/tests/hold" 1 &
echo 4 >/proc/sys/kernel/perf_event_paranoid
echo 0 >/sys/devices/system/cpu/cpu1/online
exit 3
END
script clean <<'END'
echo "$(nproc) CPUs, module: $(grep -c '^oprofile ' /proc/modules)"
echo "paranoid: $(cat /proc/sys/kernel/perf_event_paranoid)"
echo "left: $(pidof hold oprofiled) $(echo /tmp/*.x/) $(dmesg | wc -l)"
END
script hung <<'END'
# timeout: 5
echo before
"$O/tests/hold" 1
END
script dies <<'END'
echo c >/proc/sysrq-trigger
"$O/tests/hold" 1
END
script late <<'END'
echo "still there"
END
mkdir -p "$TMP/batch/1/put"
echo given >"$TMP/batch/1/put/data"
vm --batch "$TMP/batch" "$TMP/scripts/dirty.sh" "$TMP/scripts/clean.sh" "$TMP/scripts/hung.sh" \
	"$TMP/scripts/dies.sh" "$TMP/scripts/late.sh"
is "a batch" "$status $out" "0 "
is "has a status of each" "$(cat "$TMP"/batch/*/status | tr '\n' ' ')" \
	"3 0 124 125 0 "
is "and its output" "$(result 1 stdout)" "in /tmp/work: given"
is "the next one finds a clean machine" "$(result 2 stdout)" \
	"2 CPUs, module: 0
paranoid: 3
left:  /tmp/*.x/ 0"
is "one that hangs is ended by its own limit" "$(result 3 stdout)" before
like "one that the guest dies of tells so" "$(result 4 stderr)" 'Kernel panic'
is "another guest runs the rest" "$(result 5 stdout)" "still there"

vm --kernel 1.0 true
is "a kernel that is not to be had" "$status" 125
vm --put "$TMP/missing" true
is "a file that is not there" "$status" 125
vm "$TMP/missing"
is "a script that is not there" "$status" 125
done_testing
