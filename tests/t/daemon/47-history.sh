#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A history from the daemon to reports: spans, times in specifications, the
# difference of two spans, symbols over time, archives, and what each says where
# there is nothing.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

TZ=UTC0
HOME=$TMP/home
export TZ HOME
mkdir "$HOME"
cd "$TMP" || exit 1
"$BIN/opcontrol" --setup --session-dir="$SESSION" --no-vmlinux >/dev/null || exit 1

# A binary with two functions.
cat >work.c <<'END'
__attribute__((noinline)) int early(int n)
{
	return n * 3;
}
__attribute__((noinline)) int late(int n)
{
	return n * 5;
}
int main(int argc, char **argv)
{
	(void)argv;
	return early(argc) + late(argc);
}
END
${CC:-cc} -g -o work work.c || exit 1
start=$(readelf -SW work | sed -n 's/.* \.text *PROGBITS *[0-9a-f]* *\([0-9a-f]*\).*/0x\1/p')
# place FUNCTION: where it is in the file.
place() {
	echo $((start + 0x$(nm work | sed -n "s/ T $1\$//p") - \
		0x$(nm work | sed -n 's/ T _start$//p')))
}

# take EARLY LATE OPTION...: so many samples of each, in a span.
take() {
	{
		echo "stream 1 8"
		echo "cookie 1 0 0 0 0 - $TMP/work"
		printf '%s\n' "cpu 0" "ctx 1 1" "tgid 1" "image 1" "user"
		echo "sample $(place early) 0 x$1"
		echo "sample $(place late) 0 x$2"
	} | stream samples
	shift 2
	replay_more samples --history=100M,minute:9d "$@" || exit 1
}
# span BEGIN END EARLY LATE: likewise, of that time.
span() {
	take "$3" "$4"
	for dir in "$CURRENT"/.span-*; do
		case $spans in
		*"$dir "*) ;;
		*) mv "$dir" "$CURRENT/.span-$1-$2" || exit 1 ;;
		esac
	done
	spans="$spans$CURRENT/.span-$1-$2 "
}
# report ARG...: with its messages behind it.
report() {
	"$BIN/opreport" --session-dir="$SESSION" "$@" 2>err
	cat err
}
# nr FUNCTION ARG...: its samples in a report.
nr() {
	function=$1
	shift
	report -l "$@" | awk -v f="$function" '$NF == f { print $1 }'
}

# Six spans of ten minutes, yesterday from 14:00:03 on: one function comes, the
# other goes. The days of this test begin at midnight UTC.
noon=$(date -d 'yesterday 14:00' +%s)
day=$(date -d yesterday +%F)
spans=
for i in 0 1 2 3 4 5; do
	span $((noon + 600 * i + 3)) $((noon + 600 * i + 603)) \
		$((100 - 10 * i)) $((10 + 20 * i))
done
is "each run of the daemon ends with a span" \
	"$(find "$CURRENT" -mindepth 1 -maxdepth 1 -name '.span-*' | wc -l)" 6
ok "nothing is beside them" [ -z "$(files | grep -v '^\.span-')" ]

# ---- times

is "without a time all samples are shown" "$(nr early) $(nr late)" "450 360"
like "the head says of when" "$(report)" \
	"^Time: $day 14:00:03 to $day 15:00:03, 6 spans\$"
is "an hour of yesterday" \
	"$(nr early 'time:yesterday 14:00-15:00') $(nr late 'time:yesterday 14:00-15:00')" \
	"450 360"
is "its first half" "$(nr early 'time:yesterday 14:00-14:30')" 270
is "and its second one" "$(nr early 'time:yesterday 14:30-15:00')" 180
is "a date" "$(nr late "time:$day 14:40-14:50")" 90
is "with seconds, as heads have them" \
	"$(nr late "time:$day 14:40:03-$day 14:50:03")" 90
is "seconds since the epoch" "$(nr late "time:@$((noon + 603))-@$((noon + 1203))")" 30
is "two times add up" \
	"$(nr late 'time:yesterday 14:00-14:10,yesterday 14:50-15:00')" 120
is "two days" "$(nr late time:-2d)" 360
like "less than a span is the whole span" \
	"$(report 'time:yesterday 14:12-14:13')" \
	"^Time: $day 14:10:03 to $day 14:20:03, 1 span; asked for $day 14:12:00 to $day 14:13:00, but the history is no finer there\$"
like "the account is of these spans alone" \
	"$(report 'time:yesterday 14:00-14:10' | "$TESTBIN/facts")" '^Samples: 110 = 110 '
is "annotation of a time" \
	"$("$BIN/opannotate" --session-dir="$SESSION" --source \
		'time:yesterday 14:50-15:00' 2>err |
		sed -n 's/^ *\([0-9]*\) [0-9.]* :\([a-z]*\)$/\2 \1/p')" \
	"late 110
early 50"

# ---- what there is not

like "no such time" "$(report time:-10min)" \
	"^opreport: time:-10min: nothing was profiled then; the history begins at $day 14:00:03, see opreport --over-time\$"
like "before it began" "$(report time:2001-01-01)" \
	"^opreport: time:2001-01-01: the history begins at $day 14:00:03; ask for a later time\$"
like "the future" "$(report time:2200-01-01)" \
	'^opreport: time:2200-01-01: this is in the future; give a time that is past'
like "the wrong way round" "$(report 'time:yesterday 15:00-14:00')" \
	'^opreport: time:yesterday 15:00-14:00: this ends before it begins; give the earlier time first$'
like "no time at all" "$(report time:noon)" \
	'^opreport: time:noon: not a time; give one such as time:-10min'
exits "each is an error" 1 "$BIN/opreport" --session-dir="$SESSION" time:-10min

# ---- differences

report -l --intervals '{' 'time:yesterday 14:00-14:10' '}' \
	'{' 'time:yesterday 14:50-15:00' '}' >difference
like "two spans are compared" "$(cat difference)" \
	"^Time of the old profile: $day 14:00:03 to $day 14:10:03, 1 span\$"
like "what came" "$(cat difference)" '^110 +68\.7500 .* \+656\.2500 .* \* .* late$'
like "what went" "$(cat difference)" '^50 +31\.2500 .* -65\.6250 .* \* .* early$'

# ---- over time

LC_ALL=C.UTF-8 report --over-time >over
is "symbols over time" "$(sed -n '/^samples/,$p' over | sed 's/ *$//')" \
	"samples  %        14:00                                      15:00  peak %    symbol name
810      100.000  $(printf '▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇████████████████████████')  0.3       all samples; peak: per second
450      55.5556  $(printf '████████▇▇▇▇▇▇▇▇▆▆▆▆▆▆▆▆▅▅▅▅▅▅▅▅▄▄▄▄▄▄▄▄▃▃▃▃▃▃▃▃')  90.9091   early
360      44.4444  $(printf '▂▂▂▂▂▂▂▂▃▃▃▃▃▃▃▃▅▅▅▅▅▅▅▅▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇████████')  68.7500   late"
like "without UTF-8, too" "$(report --over-time)" \
	'^450 +55\.5556 +@@@@@@@@########\*{8}\+{8}={8}-{8}  90\.9091   early$'
is "as CSV each span is a column" \
	"$(report --over-time --csv | awk -F, '$6 == "late" { print $3, $10 }' | head -n 2)" \
	"time:$day 14:00:03-$day 14:10:03 10
time:$day 14:10:03-$day 14:20:03 30"
is "a column's name is a time" \
	"$(nr late "time:$day 14:10:03-$day 14:20:03")" 30
report --over-time --json >json
is "in JSON they have times" "$(python3 -c 'import json
second = json.load(open("json"))["classes"][1]
print("[%d,%d,%d]" % (second["begin"], second["end"], second["samples"]))')" \
	"[$((noon + 603)),$((noon + 1203)),120]"
report --over-time --xml >xml
ok "XML is valid" xmllint --noout --schema "$TOP/libpp/format/opreport.xsd" xml
is "with a column for each" "$(grep -c '<class ' xml)" 6
like "formats without columns of times" "$(report --over-time --format=pprof -o x)" \
	'^opreport: --over-time: there are no columns of times in pprof; use text, xml, json or csv$'
like "other tables" "$(report --over-time --callgraph)" \
	'^opreport: --over-time is a table of symbols; leave --callgraph out$'
like "comparisons" "$(report --over-time '{' 'time:-2d' '}' '{' 'time:-1d' '}')" \
	'^opreport: --over-time shows no comparisons; give one profile$'

# ---- archives, checks, saved sessions

ok "an archive of a time" "$BIN/oparchive" --session-dir="$SESSION" -o archive \
	'time:yesterday 14:00-14:20'
is "has that" "$(nr early archive:archive)" 190
is "and its times" "$(nr early archive:archive 'time:yesterday 14:10-14:20')" 90
like "all are checked" "$(report --check)" \
	': 12 files with 810 samples: all sound$|: 13 files with 810 samples: all sound$'
printf x | dd of="$CURRENT/.span-$((noon + 3))-$((noon + 603))/packed" bs=1 \
	seek=40 conv=notrunc 2>dd.err
like "damage is found" "$(report --check)" '^.*/\.span-[0-9-]*/packed: .*nothing is lost$'
like "and repaired" "$(report --repair)" '1 damaged, 1 repaired$'
is "so that nothing is lost" "$(nr early) $(nr late)" "450 360"
like "the status adds up spans" \
	"$("$BIN/opcontrol" --status)" '^Samples stored: 810$'

cp -r "$CURRENT" "$SESSION/samples/old"
rm -rf "$SESSION/samples/old"/.span-*-$((noon + 2403))
is "another session has a history of its own" \
	"$(nr early session:old 'time:yesterday 14:30-14:40') $(nr early session:old)" \
	" 380"

# ---- what is dropped

# With an age of a day the daemon drops what is older: all of it.
take 1 2 --history=100M,minute:1h
like "what was dropped is in the head" "$(report)" \
	"^Time: .*, 1 span; 810 samples up to $day 15:00:03 dropped\$"
is "and not in the report" "$(nr early) $(nr late)" "1 2"
like "nor to be had" "$(report 'time:yesterday 14:00-15:00')" \
	"^opreport: time:yesterday 14:00-15:00: samples up to $day 15:00:03 were dropped; ask for a later time, and keep more with opcontrol --setup --history=SIZE\$"
like "the status says it" \
	"$("$BIN/opcontrol" --status)" \
	"^Samples dropped from the history: 810, up to $day 15:00:03\$"
like "so do archives" "$("$BIN/oparchive" --session-dir="$SESSION" -o archive2 2>&1
	report archive:archive2)" '810 samples up to'

# ---- no history

replay samples
like "a session without" "$(report --over-time)" \
	'^opreport: .*/current: it has no times to show; leave out --over-time, and profile with operf, or opcontrol --setup --history=SIZE$'
like "has no part of its time" "$(report time:-2d--1d)" \
	'^opreport: .*/current: it has no history to choose a time of; leave out time:, and profile with'
is "but all of it" "$(nr late time:-1h)" 2
exits "too little room is refused" 2 "$BIN/oprofiled" --history=1M
exits "so is another grain" 2 "$BIN/oprofiled" --history=100M,week:4d

done_testing
