#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opreport --format=speedscope: what is in the file, and what the viewer shows of
# it, in a browser. The viewer is npm's package, kept in $O/speedscope-VERSION;
# pictures of it are left in $O/pictures.
# timeout: 300
# shellcheck disable=SC1083 # the braces of comparisons
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../viewers.sh"
. "$(dirname "$0")/../browser.sh"

VERSION=1.25.0
VIEWER=$O/speedscope-$VERSION
PICTURES=$O/pictures
mkdir -p "$PICTURES"
viewers_sessions

# scope FILE ARG...: a file there.
scope() {
	file=$1
	shift
	report --format=speedscope -o "$TMP/$file" "$@"
}

# ---- the file --------------------------------------------------------------------

# stacks FILE [PROFILE]: what of the format's schema matters here must hold; then
# "SELF TOTAL NAME" of each frame, without applications, as symbols() has them.
stacks() {
	python3 - "$TMP/$1" "${2:-0}" <<'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    d = json.load(file)
assert d["$schema"] == "https://www.speedscope.app/file-format-schema.json"
frames = d["shared"]["frames"]
assert all(isinstance(f["name"], str) and isinstance(f.get("file", ""), str)
           for f in frames)
for p in d["profiles"]:
    assert p["type"] == "sampled" and p["unit"] == "none" and p["startValue"] == 0
    assert len(p["samples"]) == len(p["weights"]) and isinstance(p["name"], str)
    assert sum(p["weights"]) == p["endValue"] and min(p["weights"]) > 0
    assert all(0 < f < len(frames) for s in p["samples"] for f in s)
p = d["profiles"][int(sys.argv[2])]
sums = {}
for stack, weight in zip(p["samples"], p["weights"]):
    names = [frames[f]["name"] for f in stack[1:]]
    for name in set(names):
        own, total = sums.get(name, (0, 0))
        sums[name] = (own + weight * (names[-1] == name), total + weight)
print("\n".join(sorted("%d %d %s" % (*sums[n], n) for n in sums)))
END
}
# profiles FILE: what each is called, and its sum.
profiles() {
	python3 - "$TMP/$1" <<'END'
import json, sys
for p in json.load(open(sys.argv[1], encoding="utf-8"))["profiles"]:
    print(p["name"], p["endValue"])
END
}

ok "a file" scope current.json
is "samples and totals are those of the table" \
	"$(stacks current.json | grep -v truncated)" "$(symbols)"
is "stacks that are not whole" "$(stacks current.json | grep truncated)" \
	"0 10 [truncated]"
is "what it is called" "$(profiles current.json)" "TIMER:0 of prog 1000"
scope again.json
is "the same again" "$(cksum <"$TMP/again.json")" "$(cksum <"$TMP/current.json")"
like "losses are told" "$(cat "$TMP/err")" '^opreport: warning: 12 of 1012 .* lost'
for name in flat mixed inlines; do
	ok "of $name" scope $name.json session:$name
	is "$name: samples and totals are those of the table" \
		"$(stacks $name.json | grep -v truncated)" \
		"$(symbols session:$name)"
done
is "samples without stacks are in the sum" "$(profiles mixed.json)" \
	"TIMER:0 of prog, other 550"
ok "two events" scope two.json session:two
is "are two profiles" "$(profiles two.json)" "\
CPU:100000 of prog 200
MISS:5000 of prog 1000"
is "samples and totals of the second" "$(stacks two.json 1 | grep -v truncated)" \
	"$(symbols session:two event:MISS)"
ok "threads" scope threads.json session:threads
is "are roots" "$(grep -o '"prog[^"]*"' "$TMP/threads.json" | sort -u | tr -d '\n')" \
	'"prog""prog-7/7""prog-7/8""prog-9/9"'
ok "without the application's libraries" scope own.json -x
is "samples in the application" "$(profiles own.json)" "TIMER:0 of prog 925"
is "what is small is cut off" "$(scope cut.json -t 5 && stacks cut.json |
	grep below)" "85 85 (below the threshold)"
scope none.json session:current -i nothing
is "nothing to show" "$?: $(grep -v warning "$TMP/err")" \
	"1: opreport: no samples are chosen; choose others"
report --format=speedscope { session:current } { session:mixed } >"$TMP/out"
is "a comparison is refused" "$?: $(cat "$TMP/out" "$TMP/err")" \
	"1: opreport: --format=speedscope does not show comparisons; write each profile by itself, or use another format"

# ---- the viewer ------------------------------------------------------------------

# fetch_viewer: npm's package, unpacked; or why there is none.
fetch_viewer() {
	[ ! -e "$VIEWER/package/dist/release/index.html" ] || return 0
	command -v npm >/dev/null || { echo "no npm here" && return 1; }
	(cd "$TMP" && timeout 60 npm pack --silent --fetch-retries=0 \
		"speedscope@$VERSION" >npm.out 2>npm.err) ||
		{ echo "npm's registry cannot be reached" && return 1; }
	mkdir -p "$VIEWER" &&
		tar -C "$VIEWER" -xzf "$TMP/speedscope-$VERSION.tgz"
}
if ! why=$(fetch_viewer); then
	skip "in the viewer" "npm package speedscope: $why"
	done_testing
fi
if ! browser_start; then
	skip "in the viewer" "chromium: not found; utils/install-deps check"
	done_testing
fi

PAGE=file://$VIEWER/package/dist/release/index.html
# until_true EXPRESSION: JavaScript that waits for it and has its value.
until_true() {
	echo "new Promise(done => { const look = () => { const is = $1; is ? done(is) : requestAnimationFrame(look); }; look(); })"
}
ROWS='[...document.querySelectorAll("tr")].map(r => [...r.children].map(c => c.textContent)).filter(r => /%\)$/.test(r[0]))'
TABLE="$ROWS.map(([total, self, name]) => parseInt(self) + ' ' + parseInt(total) + ' ' + name).sort().join(String.fromCharCode(10))"
# viewed FILE TITLE <commands, after which it shows the table: title and rows,
# but for applications and stacks that are not whole.
viewed() {
	# What its page reads for files of this machine.
	printf 'speedscope.loadFileFromBase64("%s", "%s")' "$1" \
		"$(base64 -w0 "$TMP/$1")" >"$TMP/$1.js"
	{
		echo "size 1200 700"
		echo "open $PAGE#localProfilePath=$TMP/$1.js"
		echo "print $(until_true 'document.title !== "speedscope" && ""+document.title')"
		cat
		echo "key 3"
		echo "print $(until_true "$ROWS.length > 0 && $TABLE")"
	} | drive | grep -vE ' (prog|other|\[truncated\])$'
}

for name in current mixed inlines; do
	is "the viewer's table of $name is ours" \
		"$(viewed $name.json <<END
key 2
shot $PICTURES/speedscope-$name.png
END
)" "$(profiles $name.json | sed 's/.* of \(.*\) [0-9]*$/\1/') - speedscope
$(symbols session:$name)"
	ok "a picture" test -s "$PICTURES/speedscope-$name.png"
done
is "that of the second event" "$(viewed two.json <<END
key n
print $(until_true 'document.body.textContent.includes("MISS:5000 of prog")')
END
)" "prog - speedscope
True
$(symbols session:two event:MISS)"
browser_end
is "the browser has ended well" $? 0
done_testing
