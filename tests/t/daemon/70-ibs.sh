#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# AMD IBS: what is derived from raw registers, against a model that was
# written from the manuals alone (tests/helper/ibs_model.py). Where samples go,
# the logs, and what is refused is in tests/unit/daemon/feature/test_opd_extended.c.
# timeout: 300
# sanitized: yes
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

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

# ---- samples of all families, all events

NR=20000
[ "${TIER:-check}" = check ] || NR=100000
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
	exits "$refused_name" 2 replay "$TMP/small" "$@"
	replay "$TMP/small" "$@" 2>"$TMP/err"
	like "$refused_name: why" "$(cat "$TMP/err")" "^oprofiled: $refused_text"
	is "$refused_name: one line" "$(wc -l <"$TMP/err")" 1
}

refused "an unknown feature" '--ext-feature=ibz: no such feature; the features are ibs:' \
	--ext-feature=ibz
refused "no event" 'ibs: op: no event' --ext-feature=ibs:op::64:1

done_testing
