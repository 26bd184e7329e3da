#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Samples of AMD IBS through the kernel: another module hands in what the
# hardware would have left in its registers, and what comes out is compared
# with the model. The emulated PC has no IBS itself, which must be said.
# timeout: 1800
# shellcheck disable=SC1083 # braces in the names of sample files
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

PROVIDER=$O/module/$(uname -r)/test/op_test_provider.ko
NR=$(by_tier 5000 100000)

model() {
	python3 "$TOP/tests/helper/ibs_model.py" "$@"
}

# names KIND: all events of all CPUs of a kind, with commas between.
names() {
	cat "$TOP"/events/*/*/events | sed -n "s/.* ext:ibs_$1 .* name:\([^ ]*\) .*/\1/p" |
		sort -u | paste -sd,
}

# counts FOLDER: "EVENT 0xKEY COUNT" of the sample files of an image, sorted.
counts() {
	for file in "$SESSION/samples/current/$(sample_path "$1")%-{build:"*; do
		name=${file##*%-}
		"$TESTBIN/mkodb" --dump "$file" | sed -n \
			"s/^\(0x[0-9a-f]*\)[[:blank:]]\{1,\}\([0-9]*\)\$/${name%%.*} \1 \2/p"
	done | sort
}

ok "init" "$BIN/opcontrol" --init
ok "without the hardware there is no folder" \
	[ ! -e /dev/oprofile/ibs_op ] && [ ! -e /dev/oprofile/ibs_fetch ]

# ---- 100,000 samples in the kernel

model make "$NR" 3 >"$TMP/samples"
stext=$(awk '$3 == "_stext" { print $1 }' /proc/kallsyms)
ok "load" insmod "$PROVIDER" mode=ibs
exits "nothing is taken before the start" 1 model feed /proc/op_test_ibs "$stext" <"$TMP/samples"
# All at once: the reader is slow here.
echo 4194304 >/dev/oprofile/buffer_size
echo 262144 >/dev/oprofile/cpu_buffer_size
fetch=$(names fetch)
op=$(names op)
"$BIN/oprofiled" --session-dir="$SESSION" \
	--ext-feature="ibs:fetch:$fetch:50000:0|op:$op:50000:1"
SOCKET=$SESSION/run/control
ok "start" "$TESTBIN/control" "$SOCKET" start
ok "$NR samples" model feed /proc/op_test_ibs "$stext" <"$TMP/samples"
is "all were received" "$(module_stat sample_received)" "$NR"
ok "stop" "$TESTBIN/control" "$SOCKET" stop
ok "taken = stored + lost" sums_up
is "all were taken" "$(ledger taken)" "$NR"
model count <"$TMP/samples" >"$TMP/counted"
read -r _ stored _ invalid <"$TMP/counted"
is "none was lost but for its address" \
	"$(ledger stored) $(ledger lost.lost_ibs_no_address)" "$stored $invalid"
sed 1d "$TMP/counted" >"$TMP/wanted"
counts '{kern}/vmlinux/{dep}/{kern}/vmlinux' >"$TMP/got"
diag "$(wc -l <"$TMP/wanted") counts"
ok "all counts are the model's" cmp "$TMP/wanted" "$TMP/got"
report -l event:IBS_OP_ALL,IBS_OP_DC_LOAD_LAT
head -12 "$TMP/report" | sed 's/^/# /'
like "opreport has a column for each" "$(cat "$TMP/report")" \
	'^[0-9]+ +[0-9.]+ +[0-9]+ +[0-9.]+ +'

# ---- in user mode: looked up like any other sample

ok "start anew" "$TESTBIN/control" "$SOCKET" reset
head -n 500 "$TMP/samples" >"$TMP/few"
ok "start again" "$TESTBIN/control" "$SOCKET" start
ok "500 samples of a program" model feed /proc/op_test_ibs self <"$TMP/few"
ok "stop again" "$TESTBIN/control" "$SOCKET" stop
ok "taken = stored + lost, again" sums_up
python=$(readlink -f "$(command -v python3)")
model count <"$TMP/few" | sed 1d >"$TMP/wanted"
counts "{root}$python/{dep}/{root}$python" >"$TMP/got"
ok "are in its file, exactly" cmp "$TMP/wanted" "$TMP/got"
diff "$TMP/wanted" "$TMP/got" | head -5 | sed 's/^/# /'

# The program has entered the kernel since: nothing waits for its way back.
ok "start for late ones" "$TESTBIN/control" "$SOCKET" reset
ok "start them" "$TESTBIN/control" "$SOCKET" start
ok "500 late samples" model feed /proc/op_test_ibs late <"$TMP/few"
ok "stop them" "$TESTBIN/control" "$SOCKET" stop
ok "taken = stored + lost, of late ones" sums_up
if is_real_time; then
	is "PREEMPT_RT: these are lost" "$(ledger lost.sample_lost_busy)" 500
else
	counts "{root}$python/{dep}/{root}$python" >"$TMP/got"
	ok "are in its file, exactly, though late" cmp "$TMP/wanted" "$TMP/got"
fi

# ---- what cannot be

ok "start once more" "$TESTBIN/control" "$SOCKET" start
before=$(module_stat sample_invalid_eip)
python3 -c '
import os, struct
file = os.open("/proc/op_test_ibs", os.O_WRONLY)
for size in 0, 3, 200, 0xffffffff:
    os.write(file, struct.pack("<QIHHI76s", 0xffffffff81000000, 16, 1, 0, size, b""))
'
ok "stop at last" "$TESTBIN/control" "$SOCKET" stop
is "data of an impossible size" "$(($(module_stat sample_invalid_eip) - before))" 4
ok "taken = stored + lost, to the end" sums_up
ok "shutdown" "$TESTBIN/control" "$SOCKET" shutdown
ok "unload" rmmod op_test_provider
ok "no complaint from the kernel" kernel_is_content
ok "deinit" "$BIN/opcontrol" --deinit
done_testing
