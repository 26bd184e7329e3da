#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# oppush: profiles of spans come to a server that fails in all ways, each once, and
# add up to what opreport shows. (39-oppush-bounds.sh: however it ends, and with a full
# spool.)
# sanitized: yes
# timeout: 300
# shellcheck disable=SC1083 # the braces of names of sample files
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../pushing.sh"

# ---- one span after the other ----------------------------------------------------

count 700 200
start_sink
is "all that is there" "$(push)" "0 "
is "is one request" "$(sed 's/from=[0-9]*&until=[0-9]*/SPAN/' "$SINK/log")" \
	"ok: POST /ingest?name=oprofile%7Bhost%3Dhere%7D&SPAN&format=pprof&spyName=oprofile HTTP/1.1"
taken_equal_shown "with the samples of opreport"
is "nothing new" "$(push)" "0 "
is "is no request" "$(wc -l <"$SINK/log")" 1
count 750 200
is "some are new" "$(push --name=web-1 --label=zone=a/b)" "0 "
like "service and labels" "$(tail -n 1 "$SINK/log")" \
	'name=web-1%7Bhost%3Dhere%2Czone%3Da%2Fb%7D&from='
if command -v go >/dev/null; then
	is "and nothing else is sent" "$(top "$SINK"/taken/web-1-2-*)" "50 leaf"
	like "as CPU time of this span" "$(HOME=$TMP go tool pprof -raw \
		"$SINK"/taken/web-1-2-* 2>/dev/null | tr '\n' ' ')" \
		'PeriodType: cpu nanoseconds .*Time: .*Duration: .*samples/count\[dflt\] cpu/nanoseconds  *50  *50000000:'
fi
taken_equal_shown "both add up"
is "where spans meet" "$(cd "$SINK/taken" && echo oprofile-1-* | cut -d- -f4 | cut -d. -f1)" \
	"$(cd "$SINK/taken" && echo web-1-2-* | cut -d- -f4)"
like "the status" "$("$BIN/oppush" --status --spool="$SPOOL" | tr '\n' ' ')" \
	'^'"$SPOOL"': waiting: 0 profiles with 0 samples, 0 of 64 MiB 2 profiles made, .*; 0 with 0 samples refused'

# ---- a server that fails ---------------------------------------------------------

n=800
# fails NAME STEP ERE: a span while the server does this; the profile waits.
fails() {
	n=$((n + 10))
	count $n 200
	plan "$2"
	like "$1" "$(push)" "^1 oppush: $3"
	is "$1: it waits" "$(waiting) $(find "$SPOOL" -name 'pending*' -o -name 'report*')" "1 "
	due $(($(date +%s) + 100))000
	like "$1: as does who asks too early" "$(push)" \
		'^1 oppush: 1 profiles wait, for [0-9]* s more'
	is "$1: the server is not asked" "$(wc -l <"$SINK/plan")" 0
	due
	before=$(wc -l <"$SINK/log")
	is "$1: then it is sent" "$(push)" "0 oppush: the server accepts profiles again; 0 wait"
	is "$1: once" "$(($(wc -l <"$SINK/log") - before)) $(waiting)" "1 0"
}
fails "an error of the server" 500 'the server answers 500: what\?\[31m; 1 profiles wait'
fails "a server that is overrun" "429 7" '.* 429: .* the next attempt is in 7 s'
fails "a server that is away for long" "503 999999" '.* 503: .* the next attempt is in 3600 s'
fails "a server that takes its time" stall '.*imed out.*; 1 profiles wait'
fails "a connection that is reset" reset '.*; 1 profiles wait'
fails "a connection that is closed" hang-up '.*; 1 profiles wait'
fails "a server that sends elsewhere" 302 '.* 302: '
fails "a server that lets nobody in" 401 '.* 401: '
fails "an answer that is cut" cut-head '.*; 1 profiles wait'
is "a profile that may be there comes again as the same" \
	"$(cd "$SINK/taken" && for f in *.2.pb.gz; do
		cmp "$f" "${f%2.pb.gz}1.pb.gz" && echo same; done)" same
count 900 200
plan cut-body
is "an answer without all of its body" "$(push)" "0 "
taken_equal_shown "nothing is missing, and nothing there twice"
stop_sink
count 910 200
like "no server" "$(push)" '^1 oppush: .*onnect.*; 1 profiles wait'
due
count 920 200
like "spans wait one after the other" "$(push)" \
	'^1 oppush: .*onnect.*; 2 profiles wait, .*\(failure 2\)'
start_sink
due
is "and are sent" "$(push)" "0 oppush: the server accepts profiles again; 1 wait"
is "the oldest first" "$(tail -n 2 "$SINK/headers" >/dev/null; grep '^idempotency-key' \
	"$SINK/headers" | tail -n 2 | cut -d- -f4 | sort -n -c && echo sorted)" sorted
taken_equal_shown "nothing is missing"

# ---- a profile that is refused ---------------------------------------------------

count 930 200
for i in 1 2 3 4; do
	plan 422
	like "refused $i times" "$(push)" '^1 oppush: '
	due
done
plan 422
like "refused for good" "$(push)" \
	'^0 oppush: .* 422: .*; profile [0-9]* with 10 samples is dropped, as it was refused 5 times'
is "which is counted" "$(waiting) $(state dropped_profiles) $(state dropped_samples)" "0 1 10"
count 950 200
is "the next one" "$(push)" "0 "
if command -v go >/dev/null; then
	like "tells" "$(HOME=$TMP go tool pprof -comments \
		"$(newest)" 2>/dev/null)" \
		'^10 samples of earlier profiles are missing: no server accepted them$'
fi

# ---- sessions --------------------------------------------------------------------

SPOOL=$TMP/again
rm -rf "$SINK/taken"
mkdir "$SINK/taken"
count 700 200
is "a session" "$(push)" "0 "
count 30 20
like "that is reset" "$(push)" \
	'^0 oppush: the session is new; samples that the previous session recorded after its last profile'
if command -v go >/dev/null; then
	is "is pushed from its beginning" "$(top "$SINK"/taken/oprofile-2-*)" "$(shown)"
fi
like "a part of a session" "$(SPOOL=$TMP/part; push image:/nowhere)" \
	'^1 oppush: .*no sample files'
made=$SESSION SESSION=/nowhere
like "no session" "$(push)" '^1 oppush: /nowhere/samples/current: No such'
SESSION=$made

# ---- Parca -----------------------------------------------------------------------

SPOOL=$TMP/parca
is "Parca" "$(push --server=parca --tenant=t1)" "0 "
is "has its own place" "$(tail -n 1 "$SINK/log")" "ok: POST /api/profiles/writeraw HTTP/1.1"
is "and JSON" "$(python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
print(r["tenant"], r["normalized"], *(f"{l['\''name'\'']}={l['\''value'\'']}"
    for l in r["series"][0]["labels"]["labels"]))' "$SINK/json")" \
	"t1 True __name__=process_cpu job=oprofile host=here"
like "the tenant" "$(tail -n 9 "$SINK/headers")" '^x-scope-orgid: t1$'
if command -v go >/dev/null; then
	is "with the samples" "$(top "$(newest)")" "$(shown)"
fi

# ---- a token, and TLS ------------------------------------------------------------

stop_sink
SPOOL=$TMP/token
echo geheim >"$TMP/token-of-mine"
like "a token in the open" "$(push --token-file="$TMP/token-of-mine")" \
	'^2 oppush: --token-file: over http:// all on the way can read the token'
like "a password in the URL" "$("$BIN/oppush" --once --url=http://me:pw@localhost 2>&1)" \
	'^oppush: --url: a password there is seen by all users'
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
	-subj /CN=localhost -addext subjectAltName=DNS:localhost \
	-keyout "$TMP/key.pem" -out "$TMP/cert.pem" 2>/dev/null
start_sink "$TMP/cert.pem" "$TMP/key.pem"
secure() {
	URL=https://localhost:$PORT
	push --token-file="$TMP/token-of-mine" "$@"
}
like "a server that nobody knows" "$(secure)" '^1 oppush: .*certificate.*; 1 profiles wait'
due
is "one that is known" "$(secure --ca-file="$TMP/cert.pem")" \
	"0 oppush: the server accepts profiles again; 0 wait"
is "gets the token" "$(grep -c '^authorization: Bearer geheim$' "$SINK/headers")" 1
printf 'two\nlines\n' >"$TMP/token-of-mine"
count 60 20
like "what is no token" "$(secure --ca-file="$TMP/cert.pem")" \
	'^1 oppush: .*token-of-mine: has not exactly one line; .*; 1 profiles wait'
stop_sink
URL=

# ---- as a service ----------------------------------------------------------------

# serve STEP [OPTION...]: pushes until the server has logged this.
serve() {
	step=$1
	shift
	"$BIN/oppush" --url="http://127.0.0.1:$PORT/" --spool="$SPOOL" "$@" \
		--session-dir="$SESSION" --label=host=here 2>"$TMP/service.err" &
	service=$!
	until grep -qs "^$step" "$SINK/log"; do
		kill -0 $service || bail "$(cat "$TMP/service.err")"
		sleep 0.02
	done
}
# end_service: its exit status.
end_service() {
	kill -TERM $service
	wait $service
	status=$?
}

rm -rf "$SINK"
start_sink
SPOOL=$TMP/service
plan 500 hang-up
serve ok --interval=3600
like "one spool, one program" "$(push)" '^1 oppush: .*: another oppush uses it'
end_service
is "it ends when told to" $status 0
is "after two failures" "$(sed 's/:.*//' "$SINK/log" | tr '\n' ' ')" "500 hang-up ok "
like "which it told" "$(cat "$TMP/service.err")" 'the server accepts profiles again; 0 wait'
is "the spool is empty" "$(waiting)" 0
plan stall
count 70 20
serve stall --timeout=100
end_service
is "it waits for no server then" "$status $(waiting)" "0 1"
stop_sink

# ---- a history -------------------------------------------------------------------

# span BEGIN END BUSY IDLE: so much was counted then.
span() {
	count "$3" "$4"
	mkdir "$CURRENT/.span-$1-$2"
	find "$CURRENT" -mindepth 1 -maxdepth 1 ! -name '.span-*' \
		-exec mv -t "$CURRENT/.span-$1-$2" {} +
}
# begin_history: a new session and a new spool.
begin_history() {
	rm -rf "$CURRENT" "$SPOOL" "$SINK"
	start_sink
}
CURRENT=$SESSION/samples/current

begin_history
count 100 40
is "before the first span ends" "$(push)" "0 "
now=$(date +%s)
first=$((now - 900)) second=$((now - 840)) third=$((now - 780))
# That was so long ago.
sed -i "s/^end = .*/end = $((now - 930))000000000/" "$SPOOL/state"
span $((now - 960)) $first 130 60
is "the span that has it" "$(push)" "0 "
is "is one more request" "$(wc -l <"$SINK/log")" 2
if command -v go >/dev/null; then
	is "of what was not pushed" "$(top "$SINK"/taken/oprofile-2-*)" "50 leaf"
fi
taken_equal_shown "both add up to what the span has"
span $first $second 7 5
span $second $third 3 2
is "two more spans" "$(push)" "0 "
is "are two profiles" "$(wc -l <"$SINK/log")" 4
like "of their times" "$(tail -n 2 "$SINK/log" | tr '\n' ' ')" \
	"from=$first&until=$second&.*from=$second&until=$third&"
taken_equal_shown "all four add up to the session"
is "nothing new" "$(push)" "0 "
is "is no request" "$(wc -l <"$SINK/log")" 4
count 50 50
is "what is in no span yet" "$(push)" "0 "
is "waits for its span" "$(wc -l <"$SINK/log")" 4
rm -rf "$CURRENT/.span-$second-$third"
span $second $((third + 60)) 9 9
is "a span with what was pushed and what was not" "$(push)" \
	"0 oppush: 60 s of the history are not pushed, as they are in one span with what was"
is "is passed over" "$(wc -l <"$SINK/log")" 4
is "which is said once" "$(push)" "0 "
stop_sink
span $((third + 60)) $((third + 120)) 1 1
like "no server" "$(push)" '^1 oppush: .*; 1 profiles wait'
start_sink
due
is "is nothing lost" "$(push)" "0 oppush: the server accepts profiles again; 0 wait"
stop_sink

begin_history
span $((now - 9000)) $((now - 4000)) 500 0
span $((now - 3700)) $((now - 3000)) 10 0
span $((now - 3000)) $((now - 60)) 20 0
is "who pushes a history for the first time" "$(push)" \
	"0 oppush: the history before the last hour is not pushed"
is "sends the last hour" "$(wc -l <"$SINK/log")" 2
rm -rf "$SPOOL"
is "a part that has no samples" "$(push image:/no/program 2>&1)" \
	"0 oppush: the history before the last hour is not pushed"
is "is no request" "$(wc -l <"$SINK/log")" 2
is "and is not looked for again" "$(push image:/no/program) $(state end)" \
	"0  $((now - 60))000000000"
stop_sink

# ---- options ---------------------------------------------------------------------

# usage NAME ERE [OPTION...]
usage() {
	name=$1 ere=$2
	shift 2
	like "$name" "$("$BIN/oppush" --spool="$TMP/none" "$@" 2>&1; echo $?)" "^oppush: $ere"
	ok "$name: no spool is made" [ ! -e "$TMP/none" ]
}
url=--url=http://localhost
usage "no server" 'no server; name it with --url'
usage "no URL" 'localhost: is no URL of a server' --url=localhost
usage "another protocol" 'ftp://x: is no URL' --url=ftp://x
usage "another server" '--server=x: give pyroscope or parca' $url --server=x
usage "an interval of nothing" '--interval=0: give a number from 1 to 86400' $url --interval=0
usage "no size" '--spool-max=big: give a number' $url --spool-max=big
usage "a label without value" '--label=zone: write KEY=VALUE' $url --label=zone
usage "a label that is none" '--label: 1a is no key' $url --label=1a=b
usage "a value with a comma" '--label: the value of a is empty or has' $url --label=a=b,c
usage "a label twice" '--label: a is there twice' $url --label=a=b --label=a=c
usage "a name with blanks" '--name=my service: use letters' $url --name="my service"
done_testing
