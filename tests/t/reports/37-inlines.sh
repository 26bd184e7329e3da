#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Inlined functions: which there are is what addr2line says, with each version
# of DWARF; their shares are those of a program that is known.
# timeout: 600
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"
cd "$TMP" || exit 1

command -v g++ >/dev/null || skip_all "install the Debian package g++"
command -v addr2line >/dev/null || skip_all "install the Debian package binutils"
SESSION=$TMP/known

report() {
	"$BIN/opreport" --session-dir="$SESSION" "$@" >"$TMP/report" 2>"$TMP/err"
}

# ---- names, against addr2line -----------------------------------------------------

# offsets PROGRAM: of the addresses of main, each once, as keys.
offsets() {
	python3 - "$1" <<'END'
import subprocess, sys
text = subprocess.run(["readelf", "-lW", sys.argv[1]], capture_output=True,
                      text=True).stdout
load = next(l.split() for l in text.splitlines()
            if l.split()[:1] == ["LOAD"] and "E" in l.split()[6:8][0] + l)
loads = [l.split() for l in text.splitlines() if l.split()[:1] == ["LOAD"]]
code = next(l for l in loads if "E" in "".join(l[6:-1]))
bias = int(code[2], 16) - int(code[1], 16)
nm = subprocess.run(["nm", "-S", sys.argv[1]], capture_output=True,
                    text=True).stdout.split("\n")
start, size = next((int(l.split()[0], 16), int(l.split()[1], 16)) for l in nm
                   if l.endswith(" T main"))
for at in range(start, start + size, 3):
    print(hex(at), at - bias)
END
}
# Strings of more than 2 MiB, which have memory of another kind.
awk 'BEGIN {
	name = sprintf("%800s", ""); gsub(" ", "n", name)
	print "struct long_names {"
	for (i = 0; i < 3000; i++) printf "int %s%d;\n", name, i
	print "} long_names;"
}' >long_names.h
for how in "-gdwarf-5" "-gdwarf-4" "-gdwarf-5 -gz" "-gdwarf-4 -flto" \
	"-gdwarf-3 -gstrict-dwarf" "-gdwarf-5 -DLONG_NAMES"; do
	# shellcheck disable=SC2086 # several options
	g++ -O2 $how -I. -Wl,--build-id -o many "$TOP/tests/t/many.cc" 2>cc.err ||
		{ skip "$how" "g++ cannot do that"; continue; }
	offsets many >code
	P="{root}$TMP/many"
	rm -rf "$SESSION"
	awk '{ print $2, 1 }' code |
		"$TESTBIN/mkodb" "$SESSION/samples/current/$P/{dep}/$P/TIMER.0.0.all.all.all" \
			timer-hz=1000 "mtime=$TMP/many"
	report -d -D none --json || diag "$(cat err)"
	python3 -c 'import json, sys
for s in json.load(open(sys.argv[1]))["symbols"]:
    for a in s["addresses"]:
        print(a["address"], s["raw_symbol"].split()[0])' report | sort >got
	cut -d " " -f 1 code | addr2line -a -f -i -e many |
		awk '/^0x/ { sub(/^0x0+/, "0x"); at = $0; getline
			print at, $1 }' | sort >wanted
	# Of an inlined function that linkers do not know, as it is static, addr2line
	# says another one.
	join wanted got | awk '$2 == $3 || $3 !~ /^_Z/ {
		print $1, $3 }' >same
	ok "$how: $(cut -d ' ' -f 2 got | sort -u | wc -l) functions in main" \
		diff same got
	ok "$how: static ones are among them" grep -q ' clamp$' got
	ok "$how: these are several" [ "$(cut -d ' ' -f 2 wanted | sort -u |
		wc -l)" -gt 5 ]
done
report -l --no-inlines
is "--no-inlines: the symbol of the table" \
	"$(awk 'NF && !/^(CPU|Prof|samples)/ { print $NF }' report)" main
like "of inlined functions, no address" "$(report -l -w && cat report)" \
	'^inlined .* clamp$'
unlike "XML has symbols" "$(report --xml && cat report)" 'clamp'

# ---- split DWARF -------------------------------------------------------------------

# functions_of FILE: the function that is at each of the addresses in code, which
# are the same with debug information of all kinds.
functions_of() {
	P="{root}$TMP/many"
	rm -rf "$SESSION"
	awk '{ print $2, 1 }' code |
		"$TESTBIN/mkodb" "$SESSION/samples/current/$P/{dep}/$P/TIMER.0.0.all.all.all" \
			timer-hz=1000 "mtime=$TMP/many"
	report -d -D none --json || diag "$(cat err)"
	python3 -c 'import json, sys
for s in json.load(open(sys.argv[1]))["symbols"]:
    for a in s["addresses"]:
        print(a["address"], s["raw_symbol"].split()[0], a.get("line"))' \
		report | sort >"$1"
}

missing="opreport: warning: $TMP/many: files of its split DWARF (.dwo, .dwp) are not there: inlined functions, and what AutoFDO needs, are missing; put them where it was built, or beside it"
# build HOW ARG...: the program by the compiler and the options of HOW.
build() {
	how=$1
	shift
	# shellcheck disable=SC2086 # several options
	$how -I. -Wl,--build-id -o many "$@" "$TOP/tests/t/many.cc" || exit 1
}
mkdir elsewhere
for how in "g++ -gdwarf-5" "g++ -gdwarf-4" "clang++ -gdwarf-5"; do
	command -v "${how%% *}" >/dev/null || { skip "$how, split" "not here"; continue; }
	build "$how" -O2
	offsets many >code
	functions_of wanted
	build "$how" -O2 -gsplit-dwarf
	functions_of got
	ok "$how, split: $(cut -d ' ' -f 2 got | sort -u | wc -l) functions in main" \
		diff wanted got
	is "$how, split: nothing is missing" "$(cat err)" ""
	ls ./*.dwo >name
	mv ./*.dwo elsewhere
	functions_of without
	ok "$how, split, without its file: no inlined functions" \
		[ "$(cut -d ' ' -f 2 without | sort -u)" = main ]
	is "$how, split: a warning" "$(cat err)" "$missing"
	for dwp in dwp llvm-dwp-14; do
		$dwp -o many.dwp elsewhere/*.dwo 2>dwp.err || continue
		functions_of got
		case $dwp-$how in
		dwp-*-5) # the ranges are not in the package
			ok "$how, split, a package of $dwp is not whole" diff without got
			is "$how, split, a package of $dwp: a warning" "$(cat err)" "$missing"
			;;
		*) ok "$how, split, a package of $dwp" diff wanted got ;;
		esac
		rm many.dwp
	done
	mv many first
	# The file of another build has another number.
	build "$how" -O1 -gsplit-dwarf
	[ -e "$(cat name)" ] || mv ./*.dwo "$(cat name)"
	mv first many
	functions_of got
	ok "$how, split: the file of another build is none" diff without got
	rm -f ./*.dwo
done
report -l --no-inlines
is "split: no warning where no function is asked for" "$(cat err)" ""
report --format=autofdo
is "split: AutoFDO" "$(cat err)" "$missing"

# ---- names that linkers do not have ------------------------------------------------

cat >hidden.cc <<'END'
volatile unsigned long s;
template <class F> __attribute__((noinline)) void call(F f, int n) { f(n); }
namespace {
struct A { void run(int n) { for (int i = 0; i < n; i++) s += i; } };
struct B { void run(int n) { for (int i = 0; i < n; i++) s ^= i; } };
}
static inline void work(int n) { for (int i = 0; i < n; i++) s += i * i; }
__attribute__((noinline)) void inlined(int n) { work(n); }
__attribute__((noinline)) void called(int n) { void (*volatile p)(int) = work; p(n); }
int main(int argc, char **)
{
	A a;
	B b;
	call([&](int n) { a.run(n); }, argc);
	call([&](int n) { b.run(n); }, argc);
	call([](int n) { for (int i = 0; i < n; i++) s -= i; }, argc);
	call([](int n) { for (int i = 0; i < n; i++) s |= i; }, argc);
	inlined(argc);
	called(argc);
}
END
# names COMPILER OPTION...: the functions of all code of its program.
names() {
	"$@" -O2 -Wl,--build-id -o hidden hidden.cc || return
	nm -S hidden | python3 -c '
import subprocess, sys
text = subprocess.run(["readelf", "-lW", "hidden"], capture_output=True, text=True).stdout
code = next(l.split() for l in text.splitlines()
            if l.split()[:1] == ["LOAD"] and "E" in "".join(l.split()[6:-1]))
bias = int(code[2], 16) - int(code[1], 16)
for line in sys.stdin:
    f = line.split()
    if len(f) == 4 and f[2] in "tTW" and (f[3][:2] == "_Z" or f[3] == "main"):
        for at in range(int(f[0], 16), int(f[0], 16) + int(f[1], 16)):
            print(at - bias, 1)' >keys
	P="{root}$TMP/hidden"
	rm -rf "$SESSION"
	"$TESTBIN/mkodb" "$SESSION/samples/current/$P/{dep}/$P/TIMER.0.0.all.all.all" \
		timer-hz=1000 "mtime=$TMP/hidden" <keys
	report -l -n
	is "$how: nothing to warn of" "$(cat err)" ""
	awk '{ sub(/^[^a-zA-Z(]*hidden +/, ""); sub(/^[0-9. ]+/, ""); print }' report |
		sort -u >names
}
# The program is as $how makes it; functions of a name are one row.
for how in "g++ -gdwarf-5" "g++ -gdwarf-4" "clang++ -gdwarf-5"; do
	command -v "${how%% *}" >/dev/null || { skip "$how" "not here"; continue; }
	# shellcheck disable=SC2086 # a command and its option
	names $how
	ok "$how: a method in an anonymous namespace" \
		grep -q '^(anonymous namespace)::A::run\((int)\)\?$' names
	ok "$how: another one" grep -q '^(anonymous namespace)::B::run\((int)\)\?$' names
	is "$how: a static function is one row" "$(grep '\bwork\b' names)" "work(int)"
	report --format=autofdo
	is "$how: AutoFDO has all of their samples" "$(awk -F: '/^[^ ]/ { n += $(NF - 1) }
		END { print n }' report)" "$(wc -l <keys)"
	is "$how: no name is bare" "$(grep -xE 'run|operator\(\)|work' names)" ""
	# The other two have no code but what was inlined into them.
	is "$how: lambdas are told apart" "$(grep -c '^main::.*::operator()' names)" 2
done

# A binary that lies costs its names and no more.
cp many bad && python3 - bad <<'END'
import subprocess, sys
for line in subprocess.run(["readelf", "-SW", sys.argv[1]], capture_output=True,
                           text=True).stdout.splitlines():
    f = line.replace("[ ", "[").split()
    if len(f) > 5 and f[1] == ".debug_info":
        at, size = int(f[4], 16), int(f[5], 16)
data = bytearray(open(sys.argv[1], "rb").read())
for i in range(at + 30, at + size, 7):
    data[i] ^= 0x55
open(sys.argv[1], "wb").write(data)
END
P="{root}$TMP/bad"
awk '{ print $2, 1 }' code |
	"$TESTBIN/mkodb" "$SESSION/samples/current/$P/{dep}/$P/TIMER.0.0.all.all.all" \
		timer-hz=1000 "mtime=$TMP/bad"
ok "damaged entries" report -l bad

# ---- shares, of a program that is known ----------------------------------------------

if ! "$TESTBIN/canperf" own 2>/dev/null; then
	skip "shares" "no perf events for this user"
	done_testing
fi
SESSION=$TMP/session RATE=3000
g++ -O2 -g -o inlined "$TOP/tests/t/inlined.cc" || exit 1
profiled "a known program" -g ./inlined 20000
# share NAME COLUMN: in percent, of the program's own samples, or of the total of
# work, which may be interrupted by the kernel; columns are those of JSON.
share() {
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
all = sum(s[sys.argv[3]][0] for s in d["symbols"]
    if s["image"].endswith("/inlined")
    and (sys.argv[3] == "samples" or s["symbol"].startswith("shares::work")))
print(100 * sum(s[sys.argv[3]][0] for s in d["symbols"]
    if s["symbol"].startswith("shares::" + sys.argv[2])) / all)' \
		report "$1" "$2"
}
near() {
	got=$(share "$2" "$3")
	ok "$1: $2 has $4 %, here $got %" awk -v a="$got" -v b="$4" \
		'BEGIN { exit !(a - b < 3 && b - a < 3) }'
}
report -l --json
near "own samples" mix samples 50
near "own samples" scramble samples 33.3
near "own samples" burner samples 16.7
near "own samples" hash samples 0
near "totals" hash total 83.3
near "totals" filter total 16.7
near "totals" mix total 50
report -l --json --no-inlines
near "without inlines" work samples 100
# stacks REGEX: in percent of those in work, of the folded ones.
stacks() {
	awk -v re="$1" '/shares::work/ { n = $NF; all += n; if ($0 ~ re) sum += n }
		END { print 100 * sum / all }' report
}
report --format=folded
for what in "work.*;shares::hash[^;]*;shares::mix 50" \
	"work.*;shares::hash[^;]*;shares::scramble 33.3" \
	"work.*;shares::filter[^;]*;shares::burner 16.7"; do
	got=$(stacks "${what% *}")
	ok "call trees: ${what% *} has ${what##* } %, here $got %" \
		awk -v a="$got" -v b="${what##* }" \
		'BEGIN { exit !(a - b < 3 && b - a < 3) }'
done
report --format=folded --tree=callers
like "and their callers" "$(cat report)" \
	'^shares::mix[^;]*;shares::hash[^;]*;shares::work[^;]*;main;'
report --tree -n -t 5
like "as text" "$(cat report)" '^ +[0-9]+ .* shares::mix[(]'
report --format=folded --no-inlines
unlike "but not without inlines" "$(cat report)" 'shares::mix'
report -c -t 1 -n
like "the call graph has them" \
	"$(sed -n '/^[0-9].*shares::mix/,/^---/p' report; grep -B 1 '^[0-9].*shares::mix' report)" \
	'^  [0-9]+ +100\.000  (inlined +)*shares::hash\(unsigned long\)$'
done_testing
