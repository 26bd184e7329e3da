#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# operf and perf(1) sample the same run of the same program, each by a clock of
# its own: the shares of the symbols are the same but for chance. What chance
# may do is told in shares.awk.
#
# That it is the same run makes other load of the machine no reason for a
# difference: whatever slows the program does it for both.
# timeout: 900
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

tab=$(printf '\t')

# differ NAMES OURS THEIRS: the table into $TMP/table.
differ() {
	! awk -f "$TOP/tests/t/shares.awk" "$@" >"$TMP/table"
}

# ---- what tells them apart -----------------------------------------------------

cat >"$TMP/names" <<END
a.out${tab}100${tab}40${tab}first
a.out${tab}100${tab}0${tab}same_as_first
a.out${tab}110${tab}5${tab}part_of_first
a.out${tab}140${tab}20${tab}second
lib.so${tab}100${tab}40${tab}first@@V_1
vmlinux${tab}ffffffff81000000${tab}-${tab}entry
vmlinux${tab}ffffffff81000000${tab}-${tab}same_entry
END
# profile FIRST SECOND OTHER LIB KERNEL [NAME IMAGE ENTRY]: counts, and other
# names for the first, the library and the kernel's.
profile() {
	printf '%s\t%s\t%s\n' "$1" a.out "${6-first}" "$2" a.out second \
		"$3" a.out '(no symbols)' "$4" "${7-lib.so}" first \
		"$5" vmlinux "${8-entry}"
}
profile 400 300 200 60 40 >"$TMP/one"
ok "a profile is like itself" not differ "$TMP/names" "$TMP/one" "$TMP/one"
profile 435 265 190 70 40 >"$TMP/two"
ok "and like one that chance may have made" \
	not differ "$TMP/names" "$TMP/one" "$TMP/two"
profile 4000 3000 2000 600 400 part_of_first lib.so same_entry >"$TMP/two"
ok "or one of ten times as many samples, by other names" \
	not differ "$TMP/names" "$TMP/one" "$TMP/two"
like "which are told" "$(cat "$TMP/table")" \
	'^one symbol, a\.out first: first, part_of_first$'
while read -r name counts; do
	# shellcheck disable=SC2086 # numbers
	profile $counts >"$TMP/two"
	ok "$name makes a difference" differ "$TMP/names" "$TMP/one" "$TMP/two"
done <<'END'
another-share 500 200 200 60 40
no-kernel 420 315 205 60 0
a-new-name 400 300 200 60 40 third
another-library 400 300 200 60 40 first libother.so
END
: >"$TMP/two"
ok "so does an empty one" differ "$TMP/names" "$TMP/one" "$TMP/two"

# ---- names in symbol tables ----------------------------------------------------

# symbols_of FILE IMAGE: "IMAGE ADDRESS SIZE NAME" of its functions, with those
# of the file that has its debug symbols.
symbols_of() {
	id=$(readelf -n "$1" 2>/dev/null | awk '/Build ID:/ { print $3 }')
	debug=/usr/lib/debug/.build-id/${id%"${id#??}"}/${id#??}.debug
	{
		nm -S -t d --defined-only "$1"
		nm -D -S -t d --defined-only "$1"
		[ ! -e "$debug" ] || nm -S -t d --defined-only "$debug"
	} 2>/dev/null | awk -v image="$2" -v OFS='\t' '
		NF == 3 { $4 = $3; $3 = $2; $2 = 0 }
		$3 ~ /^[tTwWiu]$/ { print image, $1 + 0, $2 + 0, $4 }' |
		sort -k 2,2n -k 3,3nr
}

# names: those of all images in the session.
names() {
	sample_files | grep '/{dep}/{root}/' |
		sed -e 's|.*/{dep}/{root}||' -e 's|/[^/]*$||' \
			-e 's|/{build:[^/]*$||' | sort -u |
		while read -r file; do
			symbols_of "$file" "${file##*/}"
		done
	awk -v OFS='\t' '$2 ~ /^[tTwW]$/ {
		image = $4 ? substr($4, 2, length($4) - 2) : "vmlinux"
		print image, $1, "-", $3
	}' /proc/kallsyms | sort -k 1,2
}

# ---- the two profiles ----------------------------------------------------------

# perf tells no inlined functions; samples that are lost have no image.
our_rows() {
	rows --demangle=none --no-inlines
	lost=$(ledger lost)
	[ "$lost" -eq 0 ] || printf '%s\t[unknown]\t-\n' "$lost"
}

# perf's report in the same form, without what is operf's own and its helpers'.
their_rows() {
	perf report -f -i work/perf.data --stdio --no-demangle -n -t "$tab" \
		--sort comm,dso,sym 2>"$TMP/perf.err" | awk -F '\t' -v OFS='\t' '
	/^#/ || NF < 5 { next }
	{ for (i = 2; i <= 5; i++) gsub(/^ +| +$/, "", $i) }
	$3 ~ /^(operf|oprofiled|opsymbols|perf|perf-exec)$/ { next }
	{
		sub(/^\[.\] /, "", $5)
		if ($4 ~ /^\[kernel/) $4 = "vmlinux"
		else if ($4 ~ /^\[/ && $4 !~ /^\[(vdso|unknown|vsyscall)\]$/)
			$4 = substr($4, 2, length($4) - 2)
		print $2, $4, $5
	}'
}

# perf_record ARG...: the kernel tells two listeners wrong things if only one
# of them wants build-ids, so both do. What the profiled program prints goes to
# $TMP/out.
perf_record() {
	$AS perf record --buildid-mmap -N -e "$PERF_EVENT" -m "$PERF_PAGES" \
		-o work/perf.data "$@" >"$TMP/out" 2>"$TMP/perf.err"
}

# profile_both COMMAND...: by both profilers. Sets status.
profile_both() {
	SESSION=$TMP/work/session
	CURRENT=$SESSION/samples/current
	rm -rf "$SESSION" work/perf.data work/big.s
	$AS mkdir "$SESSION"
	status=0
	perf_record -F $PERF_RATE -- "$BIN/operf" --session-dir="$SESSION" \
		--rate="$RATE" "$@" || status=$?
}

# nr_lost: 0 if neither lost samples, as nobody got to read its buffers.
nr_lost() {
	perf report -f -i work/perf.data --stats 2>/dev/null |
		awk -v n="$(ledger lost.sample_lost_overflow)" '
		$1 ~ /^LOST/ { n += $3 } END { print n }'
}

# compare NAME COMMAND...: in a run of which nothing was lost: losses are not
# spread evenly.
compare() {
	name="$1$WHO"
	shift
	for _ in 1 2 3 4 5; do
		profile_both "$@"
		if [ "$status" -ne 0 ] || [ "$(nr_lost)" -eq 0 ]; then
			break
		fi
	done
	is "$name: exit status" "$status" 0
	if [ "$status" -ne 0 ]; then
		diag "$(cat "$TMP/perf.err")"
		return
	fi
	ok "$name: taken = stored + lost" sums_up
	names >"$TMP/names"
	our_rows >"$TMP/ours"
	their_rows >"$TMP/theirs"
	ok "$name: shares are those of perf report" \
		not differ "$TMP/names" "$TMP/ours" "$TMP/theirs"
	diag "$(cat "$TMP/table")"
}

cd "$TMP" || exit 1
user_folder work
cat >work/words.py <<'END'
import json, re, zlib

def words(n):
    x = 1
    for _ in range(n):
        x = x * 1103515245 + 12345 & 0x7fffffff
        yield "w%x" % (x >> 12)

def count(text):
    seen = {}
    for word in re.findall(r"w[0-9a-f]+", text):
        seen[word] = seen.get(word, 0) + 1
    return sorted(seen.items(), key=lambda item: (-item[1], item[0]))

for i in range(12):
    text = json.dumps(list(words(20000 + i)))
    top = count(text)
    size = len(zlib.compress(text.encode(), 6))
print(size, top[0])
END
awk -v nr=100 -f "$TOP/tests/t/big_c.awk" >work/big.c

# compare_all: in the mode that AS and PERF_* say.
compare_all() {
	# How much an ordinary user may lock differs. With 16 pages perf must be
	# woken four times a second, or it loses samples.
	for PERF_PAGES in 256 16; do
		perf_record true && break
	done
	if ! perf_record true; then
		skip "operf and perf$WHO" \
			"perf does not run: $(tail -n 1 "$TMP/perf.err")"
		return
	fi
	compare gcc gcc -O2 -S -o work/big.s work/big.c
	# What else an ordinary user does is told by the first program.
	[ "$AS" = '' ] || [ "${TIER:-check}" != check ] || return
	compare demo "$TESTBIN/demo_work" 2
	if [ -n "$python" ]; then
		compare python "$python" work/words.py
	else
		skip "python$WHO" "no python3"
	fi
}

# Clocks that do not go in step.
RATE=4000 PERF_RATE=3989
max=$(cat /proc/sys/kernel/perf_event_max_sample_rate 2>/dev/null || echo 0)
[ "$max" -ge $RATE ] || RATE=$max PERF_RATE=$((max - 11))

python=/usr/bin/python3
[ -x $python ] || python=$(command -v python3)
if ! command -v perf >/dev/null; then
	skip "operf and perf" "no perf; install linux-perf"
	done_testing
fi

AS='' WHO='' PERF_EVENT=cpu-clock
if [ "$(id -u)" -ne 0 ]; then
	PERF_EVENT=cpu-clock:u
	needs_perf own
	compare_all
	done_testing
fi
compare_all

for_users "$BIN/operf" "$BIN/oprofiled" "$BIN/opreport" "$TESTBIN/canperf" \
	"$TESTBIN/demo_work"
AS=as_user WHO=', an ordinary user' PERF_EVENT=cpu-clock:u
if as_user "$TESTBIN/canperf" own 2>"$TMP/why"; then
	compare_all
else
	skip "operf and perf$WHO" "$(cat "$TMP/why")"
fi
done_testing
