#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Each program that reads or writes a session, while a system call fails, each in
# turn: what comes of it is what always does, or the reason is said and the status
# is 1, or the account has what is missing. In the first tier some of the calls.
# timeout: 7200
# The sanitizers make thousands of system calls of their own.
# sanitized: no
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"
# shellcheck source-path=SCRIPTDIR/../vm
. "$TOP/tests/vm/lib.sh"

command -v strace >/dev/null || skip_all "no strace"
cd "$TMP" || exit 1
strace -o /dev/null true 2>why || skip_all "$(cat why)"

# programs NR [PLACES]: a stream of NR programs with a stack each, in several
# folders; the last one has stacks at so many places.
programs() {
	awk -v nr="$1" -v places="${2:-1}" 'BEGIN {
		print "stream 1 8\ncpu 0"
		for (i = 1; i <= nr; i++) {
			print "cookie " i " 0 0 0 0 0" i % 10 " /opt/dir" i % 4 "/app" i
			print "ctx " i " " i "\ntgid " i "\nimage " i "\nuser"
			for (j = 0; j < (i < nr ? 1 : places); j++)
				print "trace\nsample " (i + j) * 16 " 0\n" \
					"sample " i * 8 + 1 " 0\ntrace-end 0"
		}
	}'
}
programs 40 20000 | stream many
programs 3 | stream few

# A binary with names, lines, and code that can be shown.
cat >work.c <<'END'
__attribute__((noinline)) int work(int n)
{
	return n * 3;
}
int main(int argc, char **argv)
{
	(void)argv;
	return work(argc);
}
END
cc -g -o work work.c || exit 1
text=$(readelf -SW work | sed -n 's/.* \.text *PROGBITS *[0-9a-f]* *\([0-9a-f]*\).*/0x\1/p')
work=$((text + 0x$(nm work | sed -n 's/ T work$//p') - \
	0x$(nm work | sed -n 's/ T _start$//p')))
{
	echo "stream 1 8"
	echo "cookie 1 0 0 0 0 - $TMP/work"
	printf '%s\n' "cpu 0" "ctx 1 1" "tgid 1" "image 1" "user" "sample $work 0 x3"
} | stream binary

# faults WHAT EVERY OPTION... -- COMMAND...: EVERY of the first tier; or two, of
# both tiers, as FIRST/SECOND.
faults() {
	what=$1 first=${2%/*} second=1
	[ "$first" = "$2" ] || second=${2#*/}
	shift 2
	ok "$what" "$TOP/tests/faults" --every "$(by_tier "$first" "$second")" "$@"
	diag "$what: $(tail -n 1 "$test_log")"
}

# account SESSION TAKEN: the account adds up to TAKEN samples (-: as many as it
# says), and what it says is stored is there, each with its stack.
cat >account <<EOF
#!/bin/sh
ledger=\$1/samples/current/ledger
awk -v wanted="\$2" '
	/^taken/ { taken = \$3 } /^stored/ { stored = \$3 } /^lost/ { lost += \$3 }
	/^stacks\\./ && !/^stacks\\.(frames|arcs)/ { stacks += \$3 }
	END {
		exit !(taken == stored + lost && (wanted == "-" ||
			(taken == wanted && stacks == stored)))
	}' "\$ledger" || exit 1
found=\$("$BIN/opreport" --session-dir="\$1" -l 2>/dev/null |
	awk '\$1 ~ /^[0-9]+\$/ { n += \$1 } END { print n + 0 }')
[ "\$(sed -n 's/^stored = //p' "\$ledger")" -eq "\$found" ]
EOF
# shown SESSION: what reports say of it.
cat >shown <<END
#!/bin/sh
for how in -l -c --format=folded; do
	"$BIN/opreport" --session-dir="\$1" \$how 2>&1
done
END
chmod +x account shown

# ---- reports

replay few --separate-lib=1 --pack-at=0
mv "$SESSION" loose
replay many --separate-lib=1 --pack-at=1
mv "$SESSION" packed
ok "one session is packed" test -e packed/samples/current/packed
replay binary --pack-at=0
mv "$SESSION" lines
like "one has names" "$("$BIN/opreport" --session-dir=lines -l 2>&1)" ' work$'

for how in -l --callgraph --format=folded; do
	faults "opreport $how, packed" 149 -- \
		"$BIN/opreport" --session-dir=packed "$how"
done
faults "oparchive of a pack" 61 \
	--result 'cd {}/out && find . -type f | sort | xargs cat' -- \
	"$BIN/oparchive" --session-dir=packed -o {}/out

# Of these, tests/unit/pp/test_pp_faults.c has each call with one error.
if [ "${TIER:-check}" != check ]; then
	for how in -l --callgraph --format=folded; do
		faults "opreport $how" 1 -- \
			"$BIN/opreport" --session-dir=loose "$how"
	done
	faults "opreport with symbols" 1 -- \
		"$BIN/opreport" --session-dir=lines -l
	faults "opreport with lines" 1 -- \
		"$BIN/opreport" --session-dir=lines -l -g
	faults "opreport as a page" 1 -- \
		"$BIN/opreport" --session-dir=lines --format=html
	faults "opreport --check" 1 -- \
		"$BIN/opreport" --session-dir=lines --check
	faults "opannotate" 1 -- "$BIN/opannotate" --session-dir=lines --source
	faults "opannotate to files" 1 \
		--result 'grep -rv "^ \* Command" {}/out' -- \
		"$BIN/opannotate" --session-dir=lines --source --output-dir={}/out
	faults "opannotate of instructions" 1 -- \
		"$BIN/opannotate" --session-dir=lines --assembly
	faults "opgprof" 1 --result 'md5sum {}/gmon' -- \
		"$BIN/opgprof" --session-dir=lines -o {}/gmon "$TMP/work"
	faults "oparchive" 1 \
		--result 'cd {}/out && find . -type f | sort | xargs cat' -- \
		"$BIN/oparchive" --session-dir=lines --with-sources -o {}/out
	"$TESTBIN/mkfleet" fleet 0 3 2 2 2 >/dev/null || exit 1
	faults "opmerge" 1 \
		--result 'cd {}/out && find . -type f | sort | xargs cat' -- \
		"$BIN/opmerge" -j1 -o {}/out fleet/0 fleet/1 fleet/2
	faults "opsymbols" 1 --prepare "cp -R lines {}/s" \
		--result 'cd {}/s && find . -type f | sort | xargs md5sum' -- \
		"$BIN/opsymbols" --session-dir={}/s
fi

# ---- opimport

"$TESTBIN/mkclassic" --abi abi version=0x13 align=8 big-endian=0
printf '%s\n' '0x1004 9' '0x1000 7' | "$TESTBIN/mkclassic" old version=0x13 \
	align=8 big-endian=0 event=118 count=100000 cpu-type=35 mtime=1577934245
faults "opimport" 11 --result "$TESTBIN/mkodb --dump {}/new; ls -A {}" -- \
	"$BIN/opimport" -a abi -o {}/new old

# ---- those who write

# The account has what a daemon lost, and nothing of it is made up.
faults "oprofiled" 149 --calls all --result "$TMP/shown {}/s" --account "$TMP/account {}/s 3" -- \
	"$BIN/oprofiled" --session-dir={}/s --source=file:few --separate-lib=1 \
	--pack-at=0
faults "oprofiled adds to a pack" 149 --prepare "cp -R packed {}/s" \
	--result "$TMP/shown {}/s" --account "$TMP/account {}/s 20042" -- \
	"$BIN/oprofiled" --session-dir={}/s --source=file:few --separate-lib=1 \
	--pack-at=1
# Each run takes seconds and makes thousands of calls: in the second tier alone.
if [ "${TIER:-check}" != check ]; then
	if "$TESTBIN/canperf" own 2>why; then
		faults "operf" 1/199 --follow --varies \
			--account "$TMP/account {}/s -" -- \
			"$BIN/operf" --session-dir={}/s -- "$TESTBIN/burnmix" 1
		faults "operf, its processes and events" 1/9 --follow --varies \
			--calls others --account "$TMP/account {}/s -" -- \
			"$BIN/operf" --session-dir={}/s -- "$TESTBIN/burnmix" 0.1
	else
		skip "operf" "$(cat why)"
	fi
fi
done_testing
