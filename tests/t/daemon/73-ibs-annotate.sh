#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Where loads wait for memory: source lines and instructions by the latency of
# data cache misses that AMD IBS tells.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

cat >"$TMP/work.c" <<'END'
long table[1024];
long near(long i);
long far(long i);
long near(long i)
{
	return table[i & 7];
}
long far(long i)
{
	return table[i & 1023];
}
int main(void)
{
	return (int)(near(3) + far(5));
}
END
ok "a program" "${CC:-cc}" -g -O1 -o "$TMP/work" "$TMP/work.c"

# offset FUNCTION: where it is in the file
offset() {
	objdump -dF --no-show-raw-insn --disassemble="$1" "$TMP/work" |
		sed -n "s/.*<$1> (File Offset: \(0x[0-9a-f]*\)).*/\1/p" | head -n 1
}
near=$(offset near)
far=$(offset far)

# loads OFFSET LATENCY TIMES: that many loads that missed.
loads() {
	awk -v pc="$1" -v cycles="$2" -v nr="$3" 'BEGIN {
		for (i = 0; i < nr; i++)
			printf "ibs-op %s 0x1000000007 0 0 0 3 0x%04x00020081 0 0\n", pc, cycles
	}'
}
{
	cat <<-END
		stream 1 8
		cookie 1 0 0 0 0 - $TMP/work
		cpu 0
		ctx 12 1
		tgid 12
		image 1
		user
	END
	loads "$near" 20 50
	loads "$far" 300 10
} | stream "$TMP/rec"
ok "its loads" replay "$TMP/rec" \
	--ext-feature=ibs:op:IBS_OP_ALL,IBS_OP_DC_LOAD_LAT:50000:1

# annotated OPTION...: lines with numbers, without the comments.
annotated() {
	"$BIN/opannotate" --all --session-dir="$SESSION" "$@" 2>"$TMP/err"
}
lines=$(annotated --source event:IBS_OP_DC_LOAD_LAT)
like "the line that waits" "$lines" '^ *3000 75\.0000 :'
like "the one that does not" "$lines" '^ *1000 25\.0000 :'
insns=$(annotated --assembly event:IBS_OP_ALL,IBS_OP_DC_LOAD_LAT)
like "by samples it is the other way" "$insns" \
	'<near>: .* near total: +50 83\.3333 +1000 25\.0000'
like "beside each other" "$insns" '<far>: .* far total: +10 16\.6667 +3000 75\.0000'
done_testing
