#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opreport --format=firefox: the structure is that of the processed profile format,
# version 56, as the Firefox Profiler describes it (src/types/profile.ts there);
# own and inclusive samples of all functions are opreport's; threads and
# categories are kept.
# timeout: 300
# shellcheck disable=SC1083 # the braces of comparisons
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../viewers.sh"

command -v python3 >/dev/null || skip_all "install the Debian package python3"
report() {
	"$BIN/opreport" --session-dir="$SESSION" "$@" >"$TMP/report" 2>"$TMP/err"
}
profile() {
	report --format=firefox -o "$TMP/profile.json" "$@"
}

# sound: whether the structure is one that the Firefox Profiler takes.
cat >"$TMP/sound.py" <<'END'
import json, sys
p = json.load(open(sys.argv[1], encoding="utf-8"))
TABLES = {
    "samples": {"stack": "stackTable", "weight": int, "timeDeltas": float},
    "stackTable": {"frame": "frameTable", "prefix": "stackTable"},
    "frameTable": {"address": int, "inlineDepth": int, "category": "category",
                   "subcategory": int, "func": "funcTable",
                   "nativeSymbol": "nativeSymbols", "innerWindowID": None,
                   "line": None, "column": None},
    "funcTable": {"name": "string", "isJS": bool, "relevantForJS": bool,
                  "resource": "resourceTable", "fileName": None,
                  "lineNumber": None, "columnNumber": None},
    "resourceTable": {"lib": "lib", "name": "string", "host": None, "type": int},
    "nativeSymbols": {"libIndex": "lib", "address": int, "name": "string",
                      "functionSize": None},
    "markers": {"data": None, "name": "string", "startTime": None,
                "endTime": None, "phase": int, "category": "category"},
}
META = {"interval": (int, float), "startTime": int, "processType": int,
        "product": str, "stackwalk": int, "version": int, "markerSchema": list,
        "preprocessedProfileVersion": int, "categories": list, "symbolicated": bool}
LIB = {"arch", "name", "path", "debugName", "debugPath", "breakpadId", "codeId"}
THREAD = {"processType": str, "processName": str, "name": str, "pid": str,
          "tid": int, "isMainThread": bool, "processStartupTime": int,
          "processShutdownTime": type(None), "registerTime": int,
          "unregisterTime": type(None), "pausedRanges": list}
NULLABLE = {("stackTable", "prefix"), ("frameTable", "nativeSymbol")}
assert set(p) == {"meta", "libs", "threads", "shared"}, set(p)
for key, kind in META.items():
    assert isinstance(p["meta"][key], kind), key
assert p["meta"]["preprocessedProfileVersion"] == 56
assert any(c["color"] == "grey" for c in p["meta"]["categories"])
for c in p["meta"]["categories"]:
    assert c["subcategories"][0] == "Other"
for lib in p["libs"]:
    assert set(lib) == LIB, lib
strings = p["shared"]["stringArray"]
assert len(set(strings)) == len(strings) and all(isinstance(s, str) for s in strings)
whole = {"string": len(strings), "lib": len(p["libs"]),
         "category": len(p["meta"]["categories"])}
ids = set()
for t in p["threads"]:
    assert set(t) == set(THREAD) | set(TABLES), set(t) ^ set(THREAD) ^ set(TABLES)
    for key, kind in THREAD.items():
        assert isinstance(t[key], kind), key
    ids.add((t["pid"], t["tid"], t["name"]))
    for table, columns in TABLES.items():
        got = t[table]
        extra = {"weightType"} if table == "samples" else set()
        assert set(got) == set(columns) | {"length"} | extra, table
        for column, kind in columns.items():
            assert len(got[column]) == got["length"], (table, column)
            for i, value in enumerate(got[column]):
                if isinstance(kind, str) and value is not None:
                    end = t[kind]["length"] if kind in t else whole[kind]
                    low = -1 if column == "resource" else 0
                    assert type(value) is int and low <= value < end, (table, column)
                elif kind is None or isinstance(kind, str):
                    assert value is None and (kind is None or (table, column) in NULLABLE)
                elif kind is float:
                    assert type(value) in (int, float), (table, column)
                else:
                    assert type(value) is kind, (table, column)
    assert t["samples"]["weightType"] == "samples"
    assert all(w > 0 for w in t["samples"]["weight"])
    for i, prefix in enumerate(t["stackTable"]["prefix"]):
        assert prefix is None or prefix < i, "a caller is behind what it called"
    for c, s in zip(t["frameTable"]["category"], t["frameTable"]["subcategory"]):
        assert s < len(p["meta"]["categories"][c]["subcategories"])
    for type_ in t["resourceTable"]["type"]:
        assert type_ == 1
assert len(ids) == len(p["threads"]), "two threads are one"
END
sound() {
	python3 "$TMP/sound.py" "$TMP/profile.json" 2>"$TMP/py.err" || {
		diag "$(tail -n 1 "$TMP/py.err")"
		return 1
	}
}
# of EXPRESSION: of the profile as p; threads() has its threads with their samples
# as (stack, weight), a stack being a list of (function, category), outermost first.
of() {
	python3 - "$TMP/profile.json" "$1" <<'END'
import collections, json, sys
p = json.load(open(sys.argv[1], encoding="utf-8"))
strings = p["shared"]["stringArray"]
def threads():
    for t in p["threads"]:
        f, s = t["frameTable"], t["stackTable"]
        def path(i):
            out = []
            while i is not None:
                at = s["frame"][i]
                c = p["meta"]["categories"][f["category"][at]]
                out.append((strings[t["funcTable"]["name"][f["func"][at]]],
                            c["name"] + "/" + c["subcategories"][f["subcategory"][at]]))
                i = s["prefix"][i]
            return out[::-1]
        yield t, [(path(i), w) for i, w in zip(t["samples"]["stack"], t["samples"]["weight"])]
def functions(event=""):
    own, all_ = collections.Counter(), collections.Counter()
    for t, samples in threads():
        if event in t["name"]:
            for stack, w in samples:
                own[stack[-1][0]] += w
                all_.update({name: w for name in {n for n, _ in stack}})
    return " ".join(f"{n}={own[n]}/{all_[n]}" for n in sorted(all_))
print(eval(sys.argv[2]))
END
}
# wanted: the same of functions with names, from the table of symbols.
wanted() {
	report -l --csv
	python3 -c 'import csv, sys
print("\n".join(sorted(r["symbol"] + "=" + r["samples"] + "/" + r["total"]
    for r in csv.DictReader(open(sys.argv[1]))
    if r["row"] == "symbol" and r["symbol"].isidentifier())))' "$TMP/report"
}

# ---- known stacks ----------------------------------------------------------------

cat >"$TMP/prog.c" <<'END'
int leaf(int x) { return x + 1; }
int busy(int x) { return leaf(x) + 1; }
int main(int argc, char **argv) { return busy(argc) + (argv != 0); }
END
${CC:-cc} -O0 -Wl,--build-id -o "$TMP/prog" "$TMP/prog.c" || exit 1
at() {
	nm "$TMP/prog" | awk -v f="$1" '$3 == f { print "0x" $1 }' |
		while read -r start; do echo $((start + 3)); done
}
main=$(at main) busy=$(at busy) leaf=$(at leaf)
kernel_symbols
# stored SESSION EVENT FACTOR: busy calls itself.
stored() {
	folder=$SESSION/samples/$1 event=$2 n=$3
	"$TESTBIN/mktree" "$folder/$P/{tree}/$event" timer-hz=500 <<-END
	image p root:$TMP/prog mtime=$TMP/prog
	image z root:/lib/libz.so.1
	image k kern:vmlinux kernel build-id=$KERNEL_ID
	image jit anon=43.7f0000001000.7f0000003000:anon
	stack $((700 * n)) p+$main p+$busy p+$leaf
	stack $((100 * n)) p+$main p+$busy p+$busy p+$leaf
	stack $((40 * n)) p+$main p+$busy k+0x1004 k+0x2008
	stack $((30 * n)) p+$main p+$busy z+0x10
	stack $((15 * n)) p+$main jit+0x10
	END
	echo "$leaf $((800 * n))" | "$TESTBIN/mkodb" "$folder/$P/{dep}/$P/$event" \
		timer-hz=500 "mtime=$TMP/prog"
	echo "0x2008 $((40 * n))" |
		"$TESTBIN/mkodb" "$folder/$P/{dep}/{kern}/vmlinux/$event" \
			timer-hz=500 kind=kernel build-id=$KERNEL_ID
	echo "0x10 $((30 * n))" |
		"$TESTBIN/mkodb" "$folder/$P/{dep}/$Z/$event" timer-hz=500
	echo "0x10 $((15 * n))" | "$TESTBIN/mkodb" \
		"$folder/$P/{dep}/{anon:anon}/43.0x7f0000001000.0x7f0000003000/$event" \
		timer-hz=500
}
stored current TIMER.0.0.all.all.all 1
ok "a profile" profile
ok "its structure" sound
is "all samples" "$(of 'sum(w for _, s in threads() for _, w in s)')" 885
is "functions, own and inclusive" "$(of 'functions()' | sed 's/\[libz.so.1\]/libz/;s/\[anon\]/anon/')" \
	"anon=15/15 libz=30/30 busy=0/870 do_syscall_64=0/40 leaf=800/800 main=0/885 schedule=40/40"
is "are opreport's" "$(of 'functions()' | tr ' ' '\n' | grep '^[a-z]')" \
	"$(wanted)"
is "categories" "$(of '" ".join(sorted({c for _, s in threads() for st, _ in s for _, c in st}))')" \
	"Kernel/Other User/Application User/Library User/Made at run time"
is "an interval of 2 ms" "$(of 'p["meta"]["interval"]')" 2
is "the time line has as much time as there was" \
	"$(of 'sum(p["threads"][0]["samples"]["timeDeltas"])')" 1770
is "libraries" "$(of '" ".join(l["name"] for l in p["libs"][1:])')" \
	"anon (tgid:43 range:0x7f0000001000-0x7f0000003000) libz.so.1 vmlinux"

# ---- threads, events, applications --------------------------------------------------

for tid in 7 8; do
	stored threads CYCLES.1000.0.7.$tid.all $tid
	stored threads INSNS.2000.0.7.$tid.all 1
done
ok "threads and two events" profile session:threads
ok "are sound" sound
is "each is a thread" "$(of '"; ".join(sorted(t["pid"] + "/" + str(t["tid"]) + " " + t["name"] + " " + str(t["isMainThread"]) + " " + str(sum(w for _, w in s)) for t, s in threads()))')" \
	"7/7 prog-7/7 (CYCLES:1000) True 6195; 7/7 prog-7/7 (INSNS:2000) True 885; 7/8 prog-7/8 (CYCLES:1000) False 7080; 7/8 prog-7/8 (INSNS:2000) False 885"
ok "merged" profile session:threads --merge=tgid event:CYCLES
is "they are one" "$(of '[(t["name"], sum(w for _, w in s)) for t, s in threads()]')" \
	"[('prog', 13275)]"
ok "without applications" profile --merge=lib
sound && is "there is one thread" \
	"$(of '[(t["name"], sum(w for _, w in s)) for t, s in threads()]')" "[('all', 885)]"
ok "some symbols" profile -i leaf
is "are the last ones of stacks" "$(of 'sum(w for _, s in threads() for _, w in s)')" 800
ok "frequent frames" profile -t 10
sound && is "have all samples" "$(of 'sum(w for _, s in threads() for _, w in s)')" 885

# ---- what is refused -----------------------------------------------------------------

exits "no comparisons" 1 report --format=firefox { cpu:1 } {}
is "in one line" "$(cat "$TMP/err")" \
	"opreport: --format=firefox does not show comparisons; write each profile by itself, or use another format"
for option in --tree=callers --details --no-header; do
	exits "$option" 2 report --format=firefox $option
done
rm -r "$SESSION/samples/current/$P/{tree}"
ok "without stacks" profile
ok "is sound" sound
is "has all samples" "$(of 'sum(w for _, s in threads() for _, w in s)')" 885
done_testing
