# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Sessions for the scripts that give our files to browsers and to other people's
# viewers, sourced after lib.sh: viewers_sessions makes, below $SESSION,
#
#	current   all samples with stacks, some of them broken; with an account
#	flat      no stacks
#	mixed     stacks of some samples, several applications
#	two       two events
#	inlines   inlined functions, in stacks and without
#	threads   two threads of one process and one of another, in two cgroups
#
# They are of $TMP/prog, whose build-id is $BUILD_ID.

# shellcheck disable=SC2034 # for the scripts
SESSION=$TMP/session P="{root}$TMP/prog" Z="{root}/lib/libz.so.1"
KERNEL_ID=0123456789abcdef

# sample SESSION NAME [OPTION...] <pairs; tree likewise <stacks
sample() {
	session=$1 name=$2
	shift 2
	"$TESTBIN/mkodb" "$SESSION/samples/$session/$name" timer-hz=1000 "$@"
}

tree() {
	session=$1 name=$2
	shift 2
	"$TESTBIN/mktree" "$SESSION/samples/$session/$name" timer-hz=1000 "$@"
}

# kernel_symbols: those of the kernel $KERNEL_ID in the session.
kernel_symbols() {
	mkdir -p "$SESSION/symbols"
	cat >"$SESSION/symbols/vmlinux-$KERNEL_ID" <<-END
	oprofile symbols 1 vmlinux $KERNEL_ID
	0 T _stext
	1000 T do_syscall_64
	2000 t schedule
	END
}

# write_account: of 1,012 samples in the session "current", of which 12 are lost.
write_account() {
	cat >"$SESSION/samples/current/ledger" <<-END
	source = file
	taken = 1012
	stored = 1000
	pending = 0
	lost.lost_overflow = 12
	stacks.whole = 990
	stacks.truncated = 10
	stacks.no_unwind_data = 0
	stacks.broken = 0
	stacks.not_stored = 0
	stacks.frames = 3000
	stacks.arcs = 2000
	stacks.arcs_too_far = 0
	stacks.arcs_not_stored = 0
	END
}

# report ARG...: what opreport writes there; messages are in $TMP/err.
report() {
	"$BIN/opreport" --session-dir="$SESSION" "$@" 2>"$TMP/err"
}

# symbols [ARG...]: "SELF TOTAL NAME" of each symbol as opreport -l has them,
# where there are totals; code without symbols is "[IMAGE]".
symbols() {
	report -l --json "$@" | python3 -c '
import json, os, sys
sums = {}
for s in json.load(sys.stdin)["symbols"]:
    name = s["symbol"] if "size" in s or s.get("inlined") else \
        "[%s]" % os.path.basename(s["image"])
    own, total = sums.get(name, (0, 0))
    sums[name] = (own + sum(s["samples"]),
                  total + sum(s.get("total", s["samples"])))
print("\n".join(sorted("%d %d %s" % (*sums[n], n) for n in sums)))'
}

viewers_program() {
	cat >"$TMP/prog.c" <<'END_OF_C'
static inline __attribute__((always_inline)) int inner(int x)
{
	for (int i = 0; i < x; i++)
		x ^= x * 77 + i;
	return x;
}
static inline __attribute__((always_inline)) int middle(int x)
{
	return inner(x + 1) * 3;
}
__attribute__((noinline)) int inlines(int x) { return middle(x) / 5 + x % 7; }
__attribute__((noinline)) int leaf(int x) { return x + 1; }
__attribute__((noinline)) int busy(int x) { return leaf(x) + inlines(x) + 1; }
__attribute__((noinline)) int idle(int x) { return leaf(x) + 2; }
int main(int argc, char **argv) { return busy(argc) + idle(argv != 0); }
END_OF_C
	${CC:-cc} -g -O1 -fno-optimize-sibling-calls -Wl,--build-id \
		-o "$TMP/prog" "$TMP/prog.c" || exit 1
	BUILD_ID=$(readelf -n "$TMP/prog" | sed -n 's/.*Build ID: //p')
}

# at SYMBOL [OFFSET]: an offset in it.
at() {
	nm "$TMP/prog" | awk -v f="$1" '$3 == f { print "0x" $1 }' |
		while read -r start; do echo $((start + ${2:-3})); done
}

# inlined FUNCTION: an offset in inlines() where that is the innermost function.
inlined() {
	nm -S "$TMP/prog" | awk '$4 == "inlines" { print "0x" $1, "0x" $2 }' |
		while read -r start size; do
			seq $((start + 1)) $((start + size - 1))
		done | xargs printf '%x\n' |
		addr2line -a -i -f -e "$TMP/prog" | awk -v f="$1" '
			/^0x/ { at = $1; getline; if ($1 == f) { print at; exit } }' |
		while read -r at; do echo $((at)); done
}

images() {
	cat <<-END
	image p root:$TMP/prog mtime=$TMP/prog build-id=$BUILD_ID
	image z root:/lib/libz.so.1
	image k kern:vmlinux kernel build-id=$KERNEL_ID
	image cut kern:[truncated] pseudo
	END
}

# in_prog SESSION NAME, and so on: samples of that application in these images.
in_prog() {
	sample "$1" "$P/{dep}/$P/$2" "mtime=$TMP/prog" "build-id=$BUILD_ID"
}

in_kernel() {
	sample "$1" "$P/{dep}/{kern}/vmlinux/$2" kind=kernel "build-id=$KERNEL_ID"
}

# profile SESSION EVENT BUSY IDLE: with 100 samples elsewhere, 10 of them broken.
profile() {
	{
		images
		cat <<-END
		stack $3 p+$main p+$busy p+$leaf
		stack $4 p+$main p+$idle p+$leaf
		stack 20 p+$main p+$busy k+0x1004 k+0x2008
		stack 20 p+$main p+$busy k+0x1004 k+0x1004 k+0x2008
		stack 35 p+$main p+$busy z+0x10
		stack 10 cut+0 p+$leaf
		stack 15 p+$main
		END
	} | tree "$1" "$P/{tree}/$2"
	printf '%s %s\n' "$leaf" $(($3 + $4 + 10)) "$main" 15 | in_prog "$1" "$2"
	echo "0x2008 40" | in_kernel "$1" "$2"
	echo "0x10 35" | sample "$1" "$P/{dep}/$Z/$2"
}

viewers_sessions() {
	viewers_program
	main=$(at main) busy=$(at busy) idle=$(at idle) leaf=$(at leaf)
	inner=$(inlined inner) outer=$(inlined inlines)
	kernel_symbols
	profile current TIMER.0.0.all.all.all 700 200
	write_account
	printf '%s 70\n%s 25\n' "$leaf" "$busy" |
		in_prog flat TIMER.0.0.all.all.all
	echo "0x2008 5" | in_kernel flat TIMER.0.0.all.all.all
	profile mixed TIMER.0.0.all.all.all 300 100
	printf '%s 40\n%s 2\n' "$leaf" "$busy" |
		in_prog mixed TIMER.0.0.all.all.all
	echo "0x1004 8" | sample mixed \
		"{root}/bin/other/{dep}/{kern}/vmlinux/TIMER.0.0.all.all.all" \
		kind=kernel "build-id=$KERNEL_ID"
	profile two CPU.100000.0.all.all.all 10 90
	profile two MISS.5000.0.all.all.all 900 0
	printf '%s 30\n%s 12\n' "$inner" "$outer" |
		in_prog inlines TIMER.0.0.all.all.all
	{
		images
		echo "stack 21 p+$main p+$busy p+$(at inlines 0)"
		echo "stack 7 p+$main p+$(at inlines 0)"
	} | tree inlines "$P/{tree}/TIMER.0.0.all.all.all"
	for id in 7.7 7.8 9.9; do
		what="{cgroup}/web.slice/nginx.service/"
		[ $id != 9.9 ] || what="{cgroup}/"
		echo "$leaf 3" | sample threads \
			"$P/${what}{dep}/$P/TIMER.0.0.$id.all" \
			"mtime=$TMP/prog" "build-id=$BUILD_ID"
		{
			images
			echo "stack 3 p+$main p+$leaf"
		} | tree threads "$P/${what}{tree}/TIMER.0.0.$id.all"
	done
	cat >"$SESSION/samples/threads/tasks" <<-END
	name.7.7 = prog
	name.7.8 = worker
	END
}
