#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# AMD IBS: what is derived from raw registers, against a model that was
# written from the manuals alone (tests/helper/ibs_model.py).
# timeout: 300
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/daemon.sh"

command -v python3 >/dev/null || skip_all "the model needs python3"

# model MODE ARG...: the model.
model() {
	python3 "$TOP/tests/helper/ibs_model.py" "$@"
}

# expect [EVENT]...: what the model counts in $TMP/samples, into $TMP/wanted;
# STORED, NONE and INVALID are what becomes of the samples.
expect() {
	model count "$@" <"$TMP/samples" >"$TMP/counted"
	read -r _ STORED NONE INVALID <"$TMP/counted"
	sed 1d "$TMP/counted" >"$TMP/wanted"
}

# names KIND: all events of all CPUs of a kind, with commas between.
names() {
	cat "$TOP"/events/*/*/events | sed -n "s/.* ext:ibs_$1 .* name:\([^ ]*\) .*/\1/p" |
		sort -u | paste -sd,
}

# world: a stream up to where the samples of one image begin.
world() {
	cat <<-'END'
		stream 1 8
		cookie 1 0 0 0 0 - /bin/busy
		cpu 3
		ctx 12 1
		tgid 11
		image 1
		user
	END
}

# counts: "EVENT 0xKEY COUNT" of all sample files of the session, sorted.
counts() {
	files | while read -r file; do
		name=${file##*/}
		pairs "$file" | sed "s/^/${name%%.*} /"
	done | sort
}

# kept KEY: a number of the ledger.
kept() {
	ledger | awk -v key="$1" '$1 == key { n = $3 } END { print n + 0 }'
}

# ---- 100,000 samples of all families, all events

NR=100000
fetch=$(names fetch)
op=$(names op)
all="ibs:fetch:$fetch:50000:0|op:$op:50000:1"
model make $NR 1 >"$TMP/samples"
{ world && model stream <"$TMP/samples"; } | stream "$TMP/ibs"
ok "$NR samples are replayed" replay "$TMP/ibs" --ext-feature="$all"
expect
counts >"$TMP/got"
is "every event happened" "$(cut -d' ' -f1 "$TMP/wanted" | sort -u | paste -sd,)" \
	"$(printf '%s,%s' "$fetch" "$op" | tr , '\n' | sort -u | paste -sd,)"
diag "$(wc -l <"$TMP/wanted") counts of $(cut -d' ' -f1 "$TMP/wanted" | sort -u | wc -l) events"
ok "all counts are the model's" diff "$TMP/wanted" "$TMP/got"
is "each is stored or has no valid address" \
	"$(kept taken) $(kept stored) $(kept lost.lost_ibs_no_address)" \
	"$NR $STORED $INVALID"

# ---- the account, where most samples are none of the events

some=ibs:op:IBS_OP_MISPREDICTED_RETURNS,IBS_OP_DC_LOAD_LAT:50000:0
ok "two events" replay "$TMP/ibs" --ext-feature="$some"
expect IBS_OP_MISPREDICTED_RETURNS IBS_OP_DC_LOAD_LAT
counts >"$TMP/got"
ok "they are the model's" diff "$TMP/wanted" "$TMP/got"
is "a sample without any of them is not lost in silence" \
	"$(kept taken) $(kept stored) $(kept lost.lost_no_ibs_event) $(kept lost.lost_ibs_no_address)" \
	"$NR $STORED $NONE $INVALID"
ok "another daemon goes on from there" replay_more "$TMP/ibs" \
	--ext-feature="$some"
is "and the files bear the account out" \
	"$(kept taken) $(kept stored) $(kept lost.lost_damaged_file)" \
	"$((2 * NR)) $((2 * STORED)) 0"
ok "without the feature" replay "$TMP/ibs"
is "all are lost for one cause" "$(kept stored) $(kept lost.lost_no_ibs_event)" \
	"0 $NR"

# ---- each as any other sample: kernel, anonymous memory, separated, deferred

load='op 0x10 0x1000000007 0x1 0x2 0x2000000003 0x0 0x4000020001 0x7f0000001234 0x99'
{
	cat <<-END
		stream 1 8
		kernel-range first 0xffffffff81000000 0xffffffff82000000 - vmlinux
		cpu 3
		ctx 12 1
		tgid 11
		image 1
		user
		ibs-$load
		cookie 1 0 0 0 0 - /bin/busy
		anon 0x7f0000000000 0x7f0000021000 anon
		ibs-$load
		kernel
	END
	echo "ibs-$load" | sed 's/0x10 /0xffffffff81000040 /'
} | stream "$TMP/places"
ok "samples anywhere" replay "$TMP/places" --separate-thread=1 --separate-cpu=1 \
	--ext-feature=ibs:op:IBS_OP_LOAD,IBS_OP_TAG_TO_RETIRE,IBS_OP_COMP_TO_RET,:64:2
all=/IBS_OP_LOAD.64.2.11.12.3
cycles=/IBS_OP_COMP_TO_RET.64.2.11.12.3
anon='{anon:anon}/11.0x7f0000000000.0x7f0000021000'
is "are in the files of their place" "$(files)" \
	"{kern}/vmlinux/{dep}/{kern}/vmlinux$cycles
{kern}/vmlinux/{dep}/{kern}/vmlinux$all
{root}/bin/busy/{dep}/$anon$cycles
{root}/bin/busy/{dep}/$anon$all
{root}/bin/busy/{dep}/{root}/bin/busy$cycles
{root}/bin/busy/{dep}/{root}/bin/busy$all"
is "at their key" "$(pairs "{kern}/vmlinux/{dep}/{kern}/vmlinux$all")" "0x40 1"
is "one that waited for its name, too; cycles are added" \
	"$(pairs "{root}/bin/busy/{dep}/{root}/bin/busy$cycles")" "0x10 3"
is "the memory log, in the order in which places were known" \
	"$(cat "$SESSION/samples/ibs_memaccess.log")" \
	"# access address physical latency offset tgid tid cpu image application
load 0x7f0000001234 - 64 0x10 11 12 3 /bin/busy /bin/busy
load 0x7f0000001234 - 64 0x10 11 12 3 anon /bin/busy
load 0x7f0000001234 - 64 0x40 11 12 3 vmlinux vmlinux"
ok "branches are not logged" [ ! -e "$SESSION/samples/ibs_bta.log" ]
{
	world
	echo 'ibs-op 0x10 0x1500000027 0x1 0x2 0x3800000000 0x0 0x0 0x0 0x0 0xcafe'
	echo 'ibs-op 0x10 0x1500000027 0x1 0x2 0x0 0x0 0x0 0x0 0x0 0xcafe'
	echo 'ibs-op 0x10 0x1000000007 0x1 0x2 0x3800000000 0x0 0x0 0x0 0x0'
} | stream "$TMP/branches"
ok "branches" replay "$TMP/branches" --ext-feature=ibs:op:IBS_OP_ALL:64:4
is "the branch log, of what has a target" "$(cat "$SESSION/samples/ibs_bta.log")" \
	"# target taken mispredicted offset tgid tid cpu image application
0xcafe 1 1 0x10 all all all /bin/busy /bin/busy"

# ---- logs that are full, or their disk is

log_file=$SESSION/samples/ibs_memaccess.log
memory=--ext-feature=ibs:op:IBS_OP_LOAD:64:2
{
	world
	for _ in 1 2 3; do echo "ibs-$load"; done
} | stream "$TMP/loads"
line='load 0x7f0000001234 - 64 0x10 all all all /bin/busy /bin/busy'
ok "three loads" replay "$TMP/loads" "$memory"
like "all are logged" "$(log)" '^Nr. IBS memory accesses not logged: 0$'
# Where the first line ends is the bound.
truncate -s $(((256 << 20) - ${#line} - 1)) "$log_file"
ok "a log that is nearly full" replay_more "$TMP/loads" "$memory"
is "gets what fits, and says so" "$(tail -n 1 "$log_file")" \
	"# what comes after 256 MiB is left out"
is "and is no longer" "$(stat -c %s "$log_file")" $(((256 << 20) + 39))
like "the rest is counted" "$(log)" '^Nr. IBS memory accesses not logged: 2$'
is "and told once" "$(log | grep -c 'ibs_memaccess.log has 256 MiB, nothing')" 1
is "its samples are stored" "$(kept taken) $(kept stored)" "6 6"
ok "a log that is full" replay_more "$TMP/loads" "$memory"
is "stays as it is" "$(stat -c %s "$log_file")" $(((256 << 20) + 39))
like "all is left out" "$(log)" '^Nr. IBS memory accesses not logged: 3$'
ln -sf /dev/full "$log_file"
ok "a disk that is full" replay_more "$TMP/loads" "$memory"
is "what could not be written counts, too" \
	"$(log | grep -c '^Nr. IBS memory accesses not logged: 3$')" 2
like "and why is told" "$(log)" \
	'ibs_memaccess.log cannot be written, it ends here: No space left'
rm "$log_file"

# ---- damage

{
	world
	echo 'record 14 0 0x10 0x1500000027 0x1 0x2 0x3800000000 0x0 0x0 0x0 0x0'
	echo "image 1"
	echo "ibs-fetch 0x10 0x1000000007 0x4000000000000 0x0 0x0"
} | stream "$TMP/cut"
ok "a record that is cut short" replay "$TMP/cut" \
	--ext-feature='ibs:op:IBS_OP_ALL:64:1|fetch:IBS_FETCH_ALL:64:0'
is "is no sample, and ends the context" "$(ledger)" "taken = 1
stored = 0
pending = 0
lost.lost_no_context = 1"
like "which the log tells" "$(log)" '^Nr. IBS records without all registers: 1$'

# ---- statistics

{
	world
	echo "ibs-$load"
	echo "ibs-$load"
	echo "ibs-fetch 0x10 0x1000000007 0x500000000 0x0 0x0"
} | stream "$TMP/few"
ok "statistics" replay "$TMP/few" \
	--ext-feature='ibs:op:IBS_OP_DC_LOAD_LAT,IBS_OP_ALL:64:1|fetch:IBS_FETCH_COMPLETED:64:0'
is "the log has a section" "$(log | sed -n '/IBS Statistics/,/registers/p')" \
	"-- IBS Statistics --
Nr. IBS fetch samples: 1
Nr. IBS fetches killed: 1
Nr. IBS fetch samples without a chosen event: 1
IBS_FETCH_COMPLETED: 0
Nr. IBS op samples: 2
Nr. IBS ops without a valid address: 0
Nr. IBS op samples without a chosen event: 0
IBS_OP_DC_LOAD_LAT: 0
IBS_OP_ALL: 2
Nr. IBS records without all registers: 0"

# ---- reports

model make 3000 2 10 >"$TMP/samples"
{ world && model stream <"$TMP/samples"; } | stream "$TMP/small"
ok "a small session" replay "$TMP/small" \
	--ext-feature=ibs:op:IBS_OP_ALL,IBS_OP_LOAD,IBS_OP_DC_LOAD_LAT:50000:1
"$BIN/opreport" --session-dir="$SESSION" >"$TMP/report" 2>"$TMP/report.err"
sed 's/^/# /' "$TMP/report"
expect
# sum EVENT: what the model counts in all.
sum() {
	awk -v name="$1" '$1 == name { n += $3 } END { print n }' "$TMP/wanted"
}
is "a column for each event" \
	"$(awk '$NF == "busy" { print $1, $3, $5 }' "$TMP/report" | sort -u)" \
	"$(sum IBS_OP_ALL) $(sum IBS_OP_DC_LOAD_LAT) $(sum IBS_OP_LOAD)"

# ---- what is refused, each in one line, with status 2

# refused NAME ERE OPTION...
refused() {
	refused_name=$1 refused_text=$2
	shift 2
	exits "$refused_name" 2 replay "$TMP/few" "$@"
	replay "$TMP/few" "$@" 2>"$TMP/err"
	like "$refused_name: why" "$(cat "$TMP/err")" "^oprofiled: $refused_text"
	is "$refused_name: one line" "$(wc -l <"$TMP/err")" 1
}

refused "an unknown feature" '--ext-feature=ibz: no feature is called so; known are ibs:' \
	--ext-feature=ibz
refused "half a name" '--ext-feature=ib:op:IBS_OP_ALL:64:1: no feature' \
	--ext-feature=ib:op:IBS_OP_ALL:64:1
refused "a feature twice" '--ext-feature=ibs: given twice' \
	--ext-feature=ibs:op:IBS_OP_ALL:64:1 --ext-feature=ibs:op:IBS_OP_ALL:64:1
refused "an unknown event" 'ibs: IBS_OP_NO: no event of IBS is called so' \
	--ext-feature=ibs:op:IBS_OP_ALL,IBS_OP_NO:64:1
refused "an event of the other kind" 'ibs: IBS_FETCH_ALL: an event of fetch, not of op' \
	--ext-feature=ibs:op:IBS_FETCH_ALL:64:1
refused "an event twice" 'IBS_OP_ALL: given twice' \
	--ext-feature=ibs:op:IBS_OP_ALL,IBS_OP_ALL:64:1
refused "no event" 'ibs: op: no event' --ext-feature=ibs:op::64:1
refused "an odd count" 'ibs: op: count 50001: .*multiples of 16' \
	--ext-feature=ibs:op:IBS_OP_ALL:50001:1
refused "count 0" 'ibs: op: count 0: ' --ext-feature=ibs:op:IBS_OP_ALL:0:1
refused "a unit mask of fetches" 'ibs: fetch: unit mask 1: only 0' \
	--ext-feature=ibs:fetch:IBS_FETCH_ALL:64:1
refused "a unit mask too many" 'ibs: op: unit mask 8: bits of 0x7' \
	--ext-feature=ibs:op:IBS_OP_ALL:64:8
refused "a kind twice" 'ibs: op: given twice' \
	--ext-feature='ibs:op:IBS_OP_ALL:64:1|op:IBS_OP_LOAD:64:1'
refused "no arguments" "ibs: '': the form is fetch:" --ext-feature=ibs
refused "too few" 'ibs: op: the form is fetch:' --ext-feature=ibs:op:IBS_OP_ALL:64
refused "too many" 'ibs: op: the form is fetch:' --ext-feature=ibs:op:IBS_OP_ALL:64:1:1

done_testing
