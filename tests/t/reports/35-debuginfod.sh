#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Debug files from a debuginfod server: asked when that is wanted and never by
# itself; a server that is away, silent or wrong costs one line and some
# seconds, not the report.
. "$(dirname "$0")/../lib.sh"
command -v python3 >/dev/null || skip_all "no python3"
grep -q '^#define HAVE_DEBUGINFOD' "$O/config.h" ||
	skip_all "built without libdebuginfod-dev"

cd "$TMP" || exit 1
SESSION=$TMP/session CURRENT=$TMP/session/samples/current
E=CPU_CLK_UNHALTED.100000.0.all.all.all
mkdir -p src bin served
printf '%s\n' '#define FAR __attribute__((noinline, noclone))' \
	'static int FAR first(int x) { return x * 3 + NAME; }' \
	'int main(int argc, char **argv) { (void)argv; return first(argc); }' \
	>src/work.c
server=
at_exit() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
}

# program NAME NUMBER: one with samples, its debug file in served/.
program() {
	(cd src && ${CC:-cc} -O1 -g -Wl,--build-id -DNAME="$2" -o "../bin/$1" work.c) || exit 1
	id=$(readelf -n "bin/$1" | sed -n 's/.*Build ID: //p')
	nm "bin/$1" | awk '$3 == "first" { sub(/^0+/, "", $1); print "0x" $1, 30 }' |
		"$TESTBIN/mkodb" \
			"$CURRENT/{root}$TMP/bin/$1/{dep}/{root}$TMP/bin/$1/$E" \
			event=118 count=100000 build-id="$id"
	objcopy --only-keep-debug "bin/$1" "served/$id.debug"
}
program one 1
program two 2
strip bin/one bin/two
CURRENT=$TMP/own/samples/current
program unstripped 3

# serve HOW: start a server that sends files, junk, or nothing; its address is
# in $url, the requests that it gets in "asked".
serve() {
	at_exit
	rm -f port asked
	: >asked
	python3 - "$1" <<'END' &
import http.server, os, socket, sys
how = sys.argv[1]
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass
    def do_GET(self):
        with open("asked", "a") as log:
            log.write(self.path + "\n")
        parts = self.path.split("/")
        path = "served/%s.debug" % parts[2]
        if how == "junk":
            data = b"<html>a proxy</html>"
        elif len(parts) == 4 and parts[3] == "debuginfo" and os.path.exists(path):
            data = open(path, "rb").read()
        else:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
if how == "silent":
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
else:
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    port = server.server_port
with open("port.new", "w") as out:
    out.write(str(port))
os.rename("port.new", "port")
if how == "silent":
    connections = []
    while True:
        connections.append(server.accept())
        with open("asked", "a") as log:
            log.write("connection\n")
server.serve_forever()
END
	server=$!
	await text port
	url=http://127.0.0.1:$(cat port)
}

# fresh: nothing is known from before.
fresh() {
	rm -rf cache
	: >asked
}
DEBUGINFOD_CACHE_PATH=$TMP/cache DEBUGINFOD_TIMEOUT=2
export DEBUGINFOD_CACHE_PATH DEBUGINFOD_TIMEOUT

# report [ARG...]: names and lines; what is said goes to err.
report() {
	"$BIN/opreport" --session-dir="$SESSION" -n -l -g "$@" 2>err |
		awk '{ n = split($3, p, "/"); print p[n], $NF }'
}
named="work.c:2 first
work.c:2 first"

serve files
nameless=$(report)
unlike "without a word nothing has a name" "$nameless" first
is "and nothing is asked" "$(cat asked)" ""
is "names and lines of a server" "$(report --debuginfod="$url")" "$named"
is "without a word" "$(cat err)" ""
is "each was asked for once" "$(wc -l <asked)" 2
is "what came is kept" "$(report --debuginfod="$url")" "$named"
is "and not asked for again" "$(wc -l <asked)" 2
fresh
is "by the environment" "$(DEBUGINFOD_URLS=$url report)" "$named"
fresh
like "opannotate asks, too" "$("$BIN/opannotate" --session-dir="$SESSION" \
	--source --debuginfod="$url" 2>&1)" "^ *30 .* :  *2  .*first\\(int x\\)"
fresh
ok "oparchive asks, too" "$BIN/oparchive" --session-dir="$SESSION" \
	--debuginfod="$url" -o archive
: >asked
is "a report on the archive needs no server" \
	"$(DEBUGINFOD_URLS=$url report archive:archive)" "$named"
is "and asks none" "$(cat asked)" ""
fresh
ok "opgprof asks, too" "$BIN/opgprof" --session-dir="$SESSION" -o gmon \
	--debuginfod="$url" "image:$TMP/bin/one"
is "for its image" "$(wc -l <asked)" 1
fresh
is "a program that has its own names and lines" \
	"$(SESSION=$TMP/own report --debuginfod="$url")" "work.c:2 first"
is "needs no server" "$(cat asked)" ""

# ---- a server that has no such file -------------------------------------------

mv served gone
fresh
is "none is there" "$(report --debuginfod="$url")" "$nameless"
unlike "is no failure of the server" "$(cat err)" debuginfod:
mv gone served

# ---- servers that fail ----------------------------------------------------------

# fails TITLE ERE: the report is made without names, one line says why.
fails() {
	is "$1: the report is made" "$(report --debuginfod="$url")" "$nameless"
	is "$1: one line" "$(grep -c 'warning: debuginfod' err)" 1
	like "$1: that says why" "$(cat err)" "^opreport: warning: debuginfod: $2"
}
kill "$server" && wait "$server" 2>/dev/null
server=
fresh
fails "stopped" "$url.*: Connection refused; the report is made without it"
serve junk
fresh
fails "junk" "$url.*: sent a file that is not the debug file of $TMP/bin/[a-z]*; the report"
is "junk: it is asked once" "$(wc -l <asked)" 1
is "junk: nothing of it is kept" "$(find cache -name debuginfo)" ""
serve silent
fresh
fails "silent" "$url.*: sent nothing for 2 seconds; the report"

# Ctrl-C ends the waiting, not the report.
fresh
DEBUGINFOD_TIMEOUT=60
"$BIN/opreport" --session-dir="$SESSION" -n -l --debuginfod="$url" >out 2>err &
report=$!
await line asked connection
kill -INT "$report"
wait "$report"
is "interrupted: the report is made" "$? $(wc -l <out)" "0 $("$BIN/opreport" \
	--session-dir="$SESSION" -n -l 2>/dev/null | wc -l)"
like "interrupted: that is said" "$(cat err)" "warning: debuginfod: interrupted; "

# ---- Debian's server ------------------------------------------------------------

if command -v debuginfod >/dev/null; then
	at_exit
	port=$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	debuginfod -v -p "$port" -d :memory: -F served >log 2>&1 &
	server=$!
	await line log 'fts traversed'
	fresh
	is "of Debian's server" "$(report --debuginfod="http://127.0.0.1:$port")" \
		"$named"
	is "without a word" "$(cat err)" ""
else
	skip "of Debian's server" "no debuginfod"
fi
done_testing
