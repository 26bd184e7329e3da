#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# opmerge: the sum of archives has what they have, kept apart by labels, and
# damaged archives cost nothing but themselves.
# sanitized: yes
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR/../vm
. "$TOP/tests/vm/lib.sh"

cd "$TMP" || exit 1
merge() {
	"$BIN/opmerge" "$@" 2>err
}
report() {
	"$BIN/opreport" "$@" 2>err
}
# symbols ARCHIVE SPEC...: samples, application and name of each symbol.
symbols() {
	archive=$1
	shift
	report "archive:$archive" -l "$@" | awk '$1 ~ /^[0-9]+$/ { print $1, $(NF-1), $NF }'
}
# summed: symbols of several reports, added up.
summed() {
	awk '{ n[$2 " " $3] += $1 } END { for (i in n) print n[i], i }' | sort
}
# stored ARCHIVE SPEC...: the samples that its account has.
stored() {
	archive=$1
	shift
	report "archive:$archive" "$@" | sed -n 's/^Samples: .* = \([0-9]*\) stored.*/\1/p'
}
samples_of() {
	echo "$1/var/lib/oprofile/samples"
}
# refuses NAME STATUS ERE ARG...: opmerge ends so, and there is no sum.
refuses() {
	name=$1 wanted=$2 ere=$3
	shift 3
	merge "$@" >out
	got=$?
	like "$name" "$got $(cat out err)" "^$wanted .*$ere"
}

# ---- a fleet: 20 archives of 10 hosts, 5 builds of 4 programs

all=$("$TESTBIN/mkfleet" fleet 0 20 10 4 5) || exit 1
ok "archives are merged" merge -o sum fleet/[0-9]*
is "without a word" "$(cat err)" ""
ok "the sum has all hashes" sh -c "cd sum &&
	sha256sum --quiet --strict -c .oparchive/SHA256SUMS &&
	[ \$(wc -l <.oparchive/SHA256SUMS) -eq \$((\$(find . -type f | wc -l) - 1)) ]"
is "its account is the sum of theirs" "$(stored sum)" "$all"
is "and so are its symbols" "$(symbols sum | summed)" \
	"$(for i in fleet/[0-9]*; do symbols "$i"; done | summed)"
is "nothing to complain about" "$(cat err)" ""
# A sum is of machines at different times, and its folder as old as the sum.
for time in 0s-1h -1h today; do
	exits "time:$time of a sum" 1 "$BIN/opreport" archive:sum "time:$time"
	like "time:$time: it is said" "$(cat "$test_log")" "it has no time line, and sums of opmerge never have"
done
is "each build is there once" "$(find sum/var/lib/oprofile/images -type f | wc -l)" 20
is "and apart" "$(report archive:sum --by-build | grep -c 'program-0 (build ')" 5
is "call trees add up" \
	"$(report archive:sum --format=folded | awk '{ n += $NF } END { print n }')" \
	"$(for i in fleet/[0-9]*; do report "archive:$i" --format=folded; done |
		awk '{ n += $NF } END { print n }')"
ok "others read it, too" "$BIN/opannotate" --assembly archive:sum
ok "opgprof does" "$BIN/opgprof" archive:sum label:version=1.1 /usr/bin/program-1

# ---- labels

is "a host is what its archives are" "$(symbols sum host:host-3 | summed)" \
	"$({ symbols fleet/3 && symbols fleet/13; } | summed)"
is "with its account" "$(stored sum host:host-3)" \
	"$(($(stored fleet/3) + $(stored fleet/13)))"
is "a version, by a pattern" "$(stored sum 'label:version=1.[02]')" \
	"$(($(stored sum label:version=1.0) + $(stored sum label:version=1.2)))"
is "values of a label are alternatives" "$(stored sum label:version=1.0,version=1.2)" \
	"$(stored sum 'label:version=1.[02]')"
is "labels are not" "$(stored sum label:version=1.3,host=host-3)" \
	"$(stored sum host:host-3)"
report archive:sum host:host-5 label:version=1.1
like "none has both" "$(cat err)" 'no session has all of these labels together'
report archive:sum host:hots-5
like "what hosts there are" "$(cat err)" \
	'host:hots-5: no session has that label; values of host here: .*host-5'
report archive:sum label:version
like "a label has a value" "$(cat err)" "'version' is no label; give KEY=VALUE"
is "columns" "$(report archive:sum --by-label=version | grep -o 'version:[0-9.]*' | tr '\n' ' ')" \
	"version:1.0 version:1.1 version:1.2 version:1.3 version:1.4 "
is "columns of a label that nobody has" \
	"$(report archive:sum --by-label=region | grep -c region)" 0
is "hosts are labels of pprof" \
	"$(report archive:fleet/1 --by-label=host --format=pprof -o p.gz &&
		zcat p.gz | grep -ac host-1)" 1

# ---- in whatever way

ok "a part" merge -o part1 fleet/[0-4] fleet/1?
ok "the rest" merge -o part2 fleet/[5-9]
ok "the sum of sums" merge -o again part2 part1
ok "is the sum" diff -r sum again
ok "one thread, little memory, another order" merge -j1 --memory=16 -o slow \
	fleet/9 fleet/1? fleet/[0-8]
ok "is the sum, too" diff -r sum slow
ok "names from a list" sh -c "ls -d fleet/[0-9]* | '$BIN/opmerge' --files-from=- -o listed"
ok "make the same sum" diff -r sum listed
ok "without hosts and versions" merge -o small --drop-labels=host,version fleet/[0-9]*
is "there is one session" "$(ls "$(samples_of small)")" cpu-type=timer
is "with all samples" "$(stored small)" "$all"
is "and the same symbols" "$(symbols small | summed)" "$(symbols sum | summed)"
ok "labels may be dropped later" merge -o smaller --drop-labels=host,version sum
ok "with the same outcome" diff -r small smaller
ok "one label is kept" merge -o versions --keep-labels=version sum
is "its values are" "$(find "$(samples_of versions)" -name packed | wc -l)" 5

# ---- an archive of oparchive

S=$TMP/session
prog="{root}/usr/bin/prog"
sample() {
	file=$S/samples/current/$1
	shift
	"$TESTBIN/mkodb" "$file" "$@"
}
for tid in 11 12 13; do
	printf '%s\n' "0x1000 $tid" |
		sample "$prog/{dep}/$prog/{build:aa$tid}/TIMER.0.0.10.$tid.0" build-id=aa$tid
	printf '0x2000 1\n' |
		sample "$prog/{dep}/$prog/{build:bb}/TIMER.0.0.10.$tid.1" build-id=bb
done
for range in 0x1000.0x2000 0x5000.0x6000; do
	printf '%s\n' '0x10 4' '0x20 5' |
		sample "$prog/{dep}/{anon:heap}/10.$range/TIMER.0.0.all.all.all" \
			kind=anon anon-start=${range%.*}
done
printf '0x10 7\n' | sample "{kern}/ext4/{dep}/{kern}/ext4/TIMER.0.0.all.all.all" kind=module
printf '%s\n' 'source = test' 'taken = 64' 'stored = 64' 'pending = 0' \
	>"$S/samples/current/ledger"
ok "an archive with a label" "$BIN/oparchive" --session-dir="$S" -o one --label=version=2
like "has this machine's name" "$(cat "one$S/samples/current/labels")" \
	"host = $(uname -n)
.*version = 2"
unlike "but not its machine-id" "$(cat "one$S/samples/current/labels")" \
	"$(cat /etc/machine-id 2>/dev/null || echo none)"
"$BIN/oparchive" --session-dir="$S" -o two --label=2 2>err
like "a label has a key" "$? $(cat err)" '^2 oparchive: 2: not a label; give KEY=VALUE'
ok "another one, of another host" "$BIN/oparchive" --session-dir="$S" -o two \
	--label=version=2 --label=host=other
"$BIN/oparchive" archive:two -o three
is "an archive of an archive keeps its labels" \
	"$(cat "three$S/samples/current/labels")" "$(cat "two$S/samples/current/labels")"
ok "both are merged" merge -o both --keep-labels=version one two
is "threads are added up" \
	"$(report archive:both --by-build lib-image:/usr/bin/prog |
		awk '$1 ~ /^[0-9]+$/ { print $1 }' | sort -n | tr '\n' ' ')" "6 22 24 26 78 "
is "anonymous memory is one for each name" \
	"$(report archive:both --long-filenames | grep -o '36 .*heap.*')" \
	"36 31.5789 heap (tgid:0 range:0x0-0xffffffff)"
is "and all is there" "$(stored both)" 128

# ---- a session with a history

rm -rf "$S"
for span in .span-1000-2000/ .span-2000-3000/ ''; do
	printf '0x1000 10\n' | sample "$span$prog/{dep}/$prog/{build:aa}/TIMER.0.0.all.all.all" \
		build-id=aa
	printf '%s\n' 'source = test' 'taken = 11' 'stored = 10' 'pending = 0' 'lost.x = 1' \
		>"$S/samples/current/${span}ledger"
done
mkdir "$S/samples/current/.dropped-500-1000"
printf '%s\n' 'source = test' 'taken = 5' 'stored = 0' 'pending = 0' 'lost.history_full = 5' \
	>"$S/samples/current/.dropped-500-1000/ledger"
ok "an archive with a history" "$BIN/oparchive" --session-dir="$S" -o times
ok "is merged" merge -o timeless times
is "all of its samples and its account" "$(report archive:timeless | grep ^Samples:)" \
	"$(report archive:times | grep ^Samples:)"
like "are there" "$(report archive:timeless | "$TESTBIN/facts")" '^Samples: 33 = 30 '

# ---- binaries of another archive

cp "$BIN/opmerge" binary-of-ours
id=$(readelf -n binary-of-ours | sed -n 's/.*Build ID: //p')
ours="{root}$TMP/binary-of-ours"
main=$(readelf -SW binary-of-ours |
	sed -n 's/.* \.text *PROGBITS *[0-9a-f]* *\([0-9a-f]*\).*/0x\1/p')
rm -rf "$S"
printf '%s 17\n' "$main" | sample "$ours/{dep}/$ours/{build:$id}/TIMER.0.0.all.all.all" \
	build-id="$id"
ok "an archive without binaries" "$BIN/oparchive" --session-dir="$S" -o bare --samples-only
ok "has none" sh -c '! find bare -name "binary-of-ours*" -type f | grep .'
ok "one with them" "$BIN/oparchive" --session-dir="$S" -o full --symbols-only
ok "gives them to the sum" merge -o named --drop-labels=host bare full
is "which has the names of both" "$(symbols named | awk '{ print $1 }')" 34
"$BIN/oparchive" --session-dir="$S" -o never --samples-only --symbols-only 2>err
like "one or the other" "$? $(cat err)" '^2 oparchive: --samples-only leaves out'

# ---- damage

# Whoever spoils a file may spoil the hashes, too.
rehash() {
	(cd "$1" && find . -type f ! -name SHA256SUMS | sed 's|^\./||' | sort |
		xargs sha256sum >.oparchive/SHA256SUMS)
}
cp -R fleet/1 changed
printf x | dd of="$(samples_of changed)/current/packed" bs=1 seek=100 conv=notrunc 2>/dev/null
cp -R changed rotten
rehash rotten
cp -R fleet/1 headless
printf 'format = x\n' >headless/.oparchive/facts
cp -R fleet/1 gone
rm "$(samples_of gone)/current/ledger"
cp -R fleet/1 later
echo 'format = 99' >later/.oparchive/facts
rehash later
cp -R fleet/1 misled
echo 'version' >"$(samples_of misled)/current/labels"
rehash misled
mkdir empty
got=$(merge -o rest fleet/2 changed rotten headless gone later misled empty nowhere fleet/3
	echo $?)
is "damaged archives make it fail" "$got" 1
for bad in changed:packed:\ it\ is\ not\ the\ archived\ file rotten:.*damaged \
	headless:.*not\ the\ archived\ file gone:.*ledger:\ it\ is\ missing \
	later:.*format\ 99 misled:.*labels:1: empty:.*no\ session nowhere:.*No\ such; do
	like "${bad%%:*} is named" "$(cat err)" "${bad%%:*}: left out: .*${bad#*:}"
done
like "they are counted" "$(tail -n 1 err)" '^opmerge: 8 of 10 archives were left out'
ok "the others" merge -o others fleet/2 fleet/3
ok "are merged as if those were not there" diff -r rest others
merge -o none changed
like "nothing is left" "$? $(tail -n 1 err)" '^1 .*no archive can be used; nothing is written'
ok "then there is no sum" test ! -e none
ok "and nothing hidden" sh -c '! ls -d .none* 2>/dev/null'
cp -R fleet/1 binary
chmod u+w binary/usr/bin/program-1
rm binary/usr/bin/program-1
echo spoilt >binary/usr/bin/program-1
merge -o some binary fleet/2
like "a changed binary is said" "$? $(cat err)" \
	'^1 .*binary/usr/bin/program-1: it is not the archived file; the sum is without it'
is "its samples count" "$(stored some)" "$(($(stored fleet/1) + $(stored fleet/2)))"
ok "another archive has it whole" sh -c "'$BIN/opmerge' -o whole binary fleet/1; test -e \
	whole/var/lib/oprofile/images/program-1-*"
ok "an archive that is named twice" merge -o once fleet/1 ./fleet/1
like "counts once" "$(cat err) $(stored once)" "named twice; it counts once $(stored fleet/1)\$"

# ---- killed, interrupted

if ! command -v strace >/dev/null || ! strace -o /dev/null true 2>why; then
	skip "what is killed" "no strace, or it may not trace"
else
	# at CALL NR SIGNAL: a merge that gets the signal at its NRth system call
	# CALL.
	at() {
		strace -f -o /dev/null -e trace="$1" -e inject="$1:signal=$3:when=$2" \
			"$BIN/opmerge" -j1 -o killed fleet/[0-3] 2>err
	}
	writes=openat,pwrite64,rename,link,mkdir,fchmod
	strace -f -o calls -e trace=$writes "$BIN/opmerge" -j1 -o killed fleet/[0-3]
	mv killed wanted
	# places NR: NR places, the last one included, among the calls of each kind.
	places() {
		sed 's/^[0-9]* *\([a-z0-9]*\)(.*/\1/' calls | awk -v nr="$1" '
			/^[a-z]/ { n[$1]++ }
			END {
				for (call in n)
					for (i = 1; i <= nr; i++)
						print call, int(1 + (n[call] - 1) * i / nr)
			}' | sort -u
	}
	survived='' wrong=''
	while read -r call nr; do
		at "$call" "$nr" KILL && survived="$survived $call $nr"
		[ ! -e killed ] || diff -r wanted killed >differ || wrong="$wrong $call $nr"
		rm -rf killed .killed.*
	done <<-LIST
		$(places "$(by_tier 1 6)")
	LIST
	is "a merge is killed at each of its kinds of system calls" "$survived" ""
	is "and its sum is there as a whole or not at all" "$wrong" ""
	wrong=''
	while read -r call nr; do
		at "$call" "$nr" TERM && wrong="$wrong $call $nr: it went on"
		[ ! -e killed ] || diff -r wanted killed >differ || wrong="$wrong $call $nr: a part"
		[ -e killed ] || grep -q 'ended early; nothing is kept' err ||
			wrong="$wrong $call $nr: no word"
		! ls -d .killed.* >left 2>/dev/null || wrong="$wrong $call $nr: something is left"
		rm -rf killed .killed.*
	done <<-LIST
		$(places "$(by_tier 1 3)")
	LIST
	is "a signal leaves nothing, or all where it comes at the end" "$wrong" ""
fi

# ---- command lines

refuses "no place" 2 'nowhere to write to' fleet/1
refuses "no archives" 2 'nothing to merge' -o new
refuses "a label that is none" 2 "'Host' is no name of a label" -o new --keep-labels=Host fleet/1
refuses "a number that is none" 2 '--jobs=0: not a number from 1' -o new -j0 fleet/1
refuses "something is there" 1 'already exists' -o sum fleet/1
ok "an archive may be replaced" merge --force -o once fleet/1 fleet/2
is "by the new one" "$(stored once)" "$(($(stored fleet/1) + $(stored fleet/2)))"
done_testing
