# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For the scripts that sample by perf_events on this very machine, mostly with
# operf: source it after lib.sh. What is sampled is the CPU clock, which every
# kernel has, RATE times a second.

# shellcheck source-path=SCRIPTDIR/../vm
. "$TOP/tests/vm/lib.sh"

CURRENT=$SESSION/samples/current
AS= # as_user: operf and what it profiles run as an ordinary user

# Other users look at what is here, too.
chmod 755 "$TMP"

# needs_perf own | system: or the script ends as skipped.
needs_perf() {
	"$TESTBIN/canperf" "$@" 2>"$TMP/canperf" ||
		skip_all "no perf events for this user: $(cat "$TMP/canperf")"
}

# operf ARG...: into the session, at its rate, whatever that costs; what it says
# goes to $TMP/operf.err.
operf() {
	mkdir -p "$SESSION"
	[ -z "$AS" ] || give_to_user "$SESSION"
	$AS "$BIN/operf" --session-dir="$SESSION" --rate=$RATE \
		--cpu-budget=none "$@" \
		2>"$TMP/operf.err"
}

# profiled NAME ARG...: operf ends well, what the command prints is in
# $TMP/truth, the account is complete. Without that there is nothing to look at.
profiled() {
	name=$1 status=0
	shift
	operf "$@" >"$TMP/truth" || status=$?
	is "$name: the command's exit status" "$status" 0
	if [ "$status" -ne 0 ]; then
		diag "$(cat "$TMP/operf.err")"
		done_testing
	fi
	ok "$name: taken = stored + lost" sums_up
}

# all_stacks: the sum of what the ledger says became of them.
all_stacks() {
	awk '/^stacks\.(frames|arcs)/ { next }
		/^stacks\./ { sum += $3 } END { print sum + 0 }' "$CURRENT/ledger"
}

# rows ARG...: the lines of opreport -l, as COUNT, IMAGE and SYMBOL with tabs
# between. A report of one image has no column for it.
rows() {
	if ! report -l --format=csv "$@"; then
		cat "$TMP/report.err" >&2
		return 1
	fi
	only=$(awk -F , 'NR == 2 { sub(/.*\//, "", $5); print $5 }' "$TMP/report")
	if ! report -l "$@"; then
		cat "$TMP/report.err" >&2
		return 1
	fi
	awk -v only="$only" '
	/^samples / {
		image = /  image name  / ? 3 : 0
		symbol = 3 + (/  image name  / > 0) + (/  app name  / > 0)
		next
	}
	symbol && $1 ~ /^[0-9]+$/ {
		text = $0
		for (i = 1; i < symbol; i++) sub(/^[^ ]+ +/, "", text)
		print $1 "\t" (image ? $image : only) "\t" text
	}' "$TMP/report"
}

# sum IMAGE SYMBOL: of the counts of the rows on stdin whose image and symbol
# match these expressions as a whole.
sum() {
	awk -F '\t' -v image="^($1)\$" -v symbol="^($2)\$" '
		$2 ~ image && $3 ~ symbol { n += $1 } END { print n + 0 }'
}

# What stands in place of a name: the image of all its samples, or an address.
NAMELESS='[(]no symbols[)]|[(]0x[0-9a-f]*[)]|anon [(]tgid:.*'

# all_named NAME: of the samples of the rows on stdin, whatever they are of, at
# least 95 % have a name.
all_named() {
	cat >"$TMP/whole"
	whole=$(sum '.*' '.*' <"$TMP/whole")
	nameless=$(sum '.*' "$NAMELESS" <"$TMP/whole")
	ok "$1: $nameless of all $whole samples have no name" \
		[ "$whole" -gt 100 -a $((nameless * 100)) -le $((whole * 5)) ]
}

# sample_files: their names, whether they are packed or not.
sample_files() {
	(
		cd "$CURRENT" && find . -path './{*' -type f
		[ ! -e packed ] || "$TESTBIN/mkpack" --list packed
	) | sed 's|^[^{]*||' | sample_names
}

# kernel_images: those of the kernel in the session, a name per line.
kernel_images() {
	sample_files | sed -n 's|.*/{dep}/{kern}/\([^/]*\)/.*|\1|p' | sort -u
}

# user_rows: those rows on stdin that are not the kernel's.
user_rows() {
	kernel_images >"$TMP/kernel_images"
	awk -F '\t' -v kernel="$TMP/kernel_images" '
		BEGIN { while ((getline < kernel) > 0) is_kernel[$1] = 1 }
		!($2 in is_kernel)'
}

# rarely PART WHOLE PERCENT: PART of WHOLE samples, each of them with a chance
# of PERCENT, are not too many: that many come in one of 1,000,000 cases. And
# WHOLE is enough to tell: a chance of one half makes that few in one of as many.
# Both are sums of the binomial distribution.
rarely() {
	awk -v part="$1" -v whole="$2" -v percent="$3" '
	# Put the chances of 0, 1, ... of n hits into sums[], up to n.
	function sum_up(sums, n, p,    log_of, k) {
		log_of = n * log(1 - p)
		sums[0] = exp(log_of)
		for (k = 1; k <= n; k++) {
			log_of += log((n - k + 1) / k * p / (1 - p))
			sums[k] = sums[k - 1] + exp(log_of)
		}
	}
	BEGIN {
		ALARM = 1e-6
		if (whole < 1)
			exit 1
		sum_up(good, whole, percent / 100)
		sum_up(bad, whole, 0.5)
		for (most = 0; 1 - good[most] > ALARM; most++)
			;
		exit !(part <= most && bad[most] < ALARM)
	}'
}

# for_users PROGRAM...: copies of these, and of what waits, where anybody may
# run them. Sets BIN and TESTBIN to their folder.
for_users() {
	mkdir -p "$TMP/bin"
	cp -- "$@" "$TESTBIN/await" "$TESTBIN/hold" "$TMP/bin/" || exit 1
	chmod -R a+rX "$TMP/bin"
	BIN=$TMP/bin TESTBIN=$TMP/bin
}

# user_folder NAME: makes an ordinary user's folder of this name in $TMP.
user_folder() {
	mkdir -p "$TMP/$1"
	give_to_user "$TMP/$1"
}
