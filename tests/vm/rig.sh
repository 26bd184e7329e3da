#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/vm/run itself, seen from outside. Boots a kernel for each question.
# timeout: 600

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
sleep 1000 &
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
sleep 1000
END
is "a hung guest ends with 124" "$status" 124
like "it is reported" "$err" 'killed after 45 s'
like "with its console" "$err" 'a last word'

vm - <<'END'
echo before
echo c >/proc/sysrq-trigger
sleep 1000
END
is "a panic ends with 125" "$status" 125
is "what came before it is there" "$out" before
like "the panic is shown" "$err" 'Kernel panic'

vm --kernel 1.0 true
is "a kernel that is not to be had" "$status" 125
vm --put "$TMP/missing" true
is "a file that is not there" "$status" 125
vm "$TMP/missing"
is "a script that is not there" "$status" 125
done_testing
