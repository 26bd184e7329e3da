#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# operf -g names the functions of Python programs: their shares are those of the
# program's own clock, in stacks and in the table of symbols, the stacks are whole, and
# the program behaves as it does without operf. PYTHON is another python3 to do this with.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

needs_perf own
RATE=2000
PYTHON=${PYTHON:-/usr/bin/python3}
[ -x "$PYTHON" ] || skip_all "no $PYTHON; install python3"
agent=$O/lib/oprofile/python
[ -e "$agent/python_oprofile.so" ] || skip_all "no agent for Python on this machine"
unset PYTHONPATH NODE_OPTIONS JAVA_TOOL_OPTIONS PYTHONDONTWRITEBYTECODE
cd "$TMP" || exit 1

# stacks_of NAME: puts those of the session in $TMP/folded.
stacks_of() {
	report --format=folded || diag "$(cat "$TMP/report.err")"
	cp "$TMP/report" "$TMP/folded"
}

# stacks_with REGEX: of the stacks in $TMP/folded that match, with ";" at both ends.
stacks_with() {
	awk -v re="$1" '{ n = $NF; sub(/ [0-9]+$/, "") }
		";" $0 ";" ~ re { sum += n } END { print sum + 0 }' "$TMP/folded"
}

# within A B POINTS: A is at most so far from B.
within() {
	awk -v a="$1" -v b="$2" -v most="$3" \
		'BEGIN { d = a - b; exit !(d <= most && -d <= most) }'
}

# ---- names and shares ----------------------------------------------------------

# Each part takes some CPU time by a clock of its thread. The last line it prints has
# their shares in percent.
cat >account.py <<'END'
import sys
import threading
import time

spent = {"plain": 0, "recursion": 0, "generator": 0, "exception": 0, "thread": 0}


def leaf(n):
    x = 1
    for i in range(n):
        x = (x * 31 + i) & 0xFFFFFF
    return x


def counted(name):
    def decorate(function):
        def wrapper():
            begin = time.thread_time()
            function()
            spent[name] += time.thread_time() - begin
        return wrapper
    return decorate


@counted("plain")
def plain():
    for _ in range(100):
        leaf(1000)


def deeper(n):
    return leaf(1000) + deeper(n - 1) if n else 0


@counted("recursion")
def recursion():
    deeper(60)


def values():
    for _ in range(60):
        yield leaf(1000)


@counted("generator")
def generator():
    sum(values())


class Failing:
    def fail(self, n):
        leaf(2000)
        if not n:
            raise ValueError
        try:
            self.fail(n - 1)
        finally:
            leaf(500)


@counted("exception")
def exception():
    try:
        Failing().fail(20)
    except ValueError:
        pass


@counted("thread")
def in_thread():
    for _ in range(40):
        leaf(1000)


def rounds(end):
    while time.process_time() < end:
        plain()
        recursion()
        generator()
        exception()
        thread = threading.Thread(target=in_thread)
        thread.start()
        thread.join()


rounds(time.process_time() + float(sys.argv[1]))
whole = sum(spent.values())
print(*("%s %.2f" % (name, 100 * s / whole) for name, s in spent.items()))
END

profiled "a program" -g "$PYTHON" account.py 2.5
like "a line says what operf did" "$(cat "$TMP/operf.err")" \
	"^operf: Python names its functions, by PYTHONPATH"
stacks_of
all=$(stacks_with .)
named=$(stacks_with ';account[.]')
ok "$named of $all samples are in functions of the program" \
	[ $((named * 100)) -ge $((all * 95)) -a "$all" -gt 1000 ]
whole=$(sed -n 's/^stacks[.]whole = //p' "$CURRENT/ledger")
ok "$whole of $all stacks are whole" [ $((whole * 100)) -ge $((all * 97)) ]
parts='plain|recursion|generator|exception|in_thread'
counted=$(stacks_with ";account[.]($parts);")
for part in plain recursion generator exception thread; do
	own=$(tr ' ' '\n' <"$TMP/truth" | sed -n "/^$part\$/{n;p;}")
	share=$(awk -v n="$(stacks_with ";account[.](in_)?$part;")" -v all="$counted" \
		'BEGIN { printf "%.2f", 100 * n / all }')
	ok "$part: $share % of the samples, $own % by its own clock" \
		within "$share" "$own" 3
done
deepest=$(awk '{ n = gsub(/;account[.]deeper/, ""); if (n > most) most = n }
	END { print most + 0 }' "$TMP/folded")
ok "up to $deepest calls of the function that calls itself are in a stack" \
	[ "$deepest" -ge 55 -a "$deepest" -le 61 ]
case $("$PYTHON" --version) in
*\ 3.9.* | *\ 3.10.*) fail=account.fail sum=account.values ;;
*) fail=account.Failing.fail sum=account.values ;;
esac
ok "a generator" [ "$(stacks_with ";$sum;([^;]*;)*account[.]leaf;")" -gt 0 ]
ok "a method" [ "$(stacks_with ";$fail;([^;]*;)*account[.]leaf;")" -gt 0 ]
ok "no file is left in the session" [ ! -e "$SESSION/run/dumps" ]
report -l --debug-info --long-filenames
like "a function has a file and a line" "$(cat "$TMP/report")" \
	"/account[.]py:8 .* account[.]leaf\$"

# Functions that do all of their work themselves have it as samples of their own, not in
# C functions of the interpreter.
cat >own.py <<'END'
import sys
import time

spent = {"adding": 0, "joining": 0, "looking_up": 0, "recursing": 0}


def adding(n):
    x = 1
    for i in range(n):
        x = (x * 31 + i) & 0xFFFFFF
    return x


def joining(n):
    for i in range(n):
        words = ["a", "b", "c", "d"]
        "-".join(words).split("-")


def looking_up(n):
    table = {}
    for i in range(n):
        table[i & 255, i & 7] = i
    return len(table)


def recursing(n):
    x = 1
    for i in range(200):
        x = (x * 31 + i) & 0xFFFFFF
    return x + recursing(n - 1) if n else x


end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    for function, n in (adding, 60000), (joining, 6000), (looking_up, 15000), (recursing, 50):
        begin = time.thread_time()
        function(n)
        spent[function.__name__] += time.thread_time() - begin
whole = sum(spent.values())
print(*("%s %.2f" % (name, 100 * s / whole) for name, s in spent.items()))
END

# samples_of REGEX: of the rows in $TMP/rows whose symbol matches.
samples_of() {
	awk -v re="^($1)\$" '/^[0-9]/ && $NF ~ re { sum += $1 }
		END { print sum + 0 }' "$TMP/rows"
}

profiled "functions that call no others" -g "$PYTHON" own.py 3
report -l
cp "$TMP/report" "$TMP/rows"
like "a line says where the frames of the interpreter are" "$(cat "$TMP/rows")" \
	"^Python: the interpreter's own frames are counted for what called them; --native"
whole=$(samples_of '.*')
counted=$(samples_of 'own[.](adding|joining|looking_up|recursing)')
ok "$counted of $whole samples are the functions' own" \
	[ $((counted * 100)) -ge $((whole * 85)) ]
for part in adding joining looking_up recursing; do
	own=$(tr ' ' '\n' <"$TMP/truth" | sed -n "/^$part\$/{n;p;}")
	share=$(awk -v n="$(samples_of "own[.]$part")" -v all="$counted" \
		'BEGIN { printf "%.2f", 100 * n / all }')
	ok "$part: $share % of the functions' own samples, $own % by its own clock" \
		within "$share" "$own" 3
done
report -l --native
cp "$TMP/report" "$TMP/rows"
native=$(samples_of 'own[.](adding|joining|looking_up|recursing)')
ok "all frames: $native samples are the functions' own" \
	[ $((native * 100)) -le $((whole * 5)) ]
is "all frames: the samples are as many" "$(samples_of '.*')" "$whole"
is "all frames: the line is not there" "$(grep '^Python:' "$TMP/rows")" ""
report --format=folded
is "the stacks have as many" \
	"$(awk '{ sum += $NF } END { print sum + 0 }' "$TMP/report")" "$whole"
ok "a function calls itself in a stack with no frames between" \
	grep -q ';own[.]recursing;own[.]recursing;own[.]recursing' "$TMP/report"

# Samples in other libraries stay with them, below the function that called these.
cat >packing.py <<'END'
import time
import zlib


def bytes_of(n):
    return bytes((i * i) & 255 for i in range(n))


def packing(end):
    while time.process_time() < end:
        zlib.compress(bytes_of(30000), 9)


packing(1.5)
END

# total_of NAME: of the row of that symbol.
total_of() {
	awk -v name="$1" '/^[0-9]/ && $NF == name { print $3 }' "$TMP/rows"
}

# samples_in REGEX: of the rows of the images that match.
samples_in() {
	awk -v re="^($1)\$" '$1 ~ /^[0-9]+$/ && $4 ~ re { sum += $1 }
		END { print sum + 0 }' "$TMP/rows"
}

profiled "a library of C" -g "$PYTHON" packing.py
report -l
cp "$TMP/report" "$TMP/rows"
packed=$(samples_in 'libz.*')
total=$(total_of packing.packing)
work=$(samples_of 'packing[.](bytes_of[.]<locals>[.])?<genexpr>')
report -l --native
cp "$TMP/report" "$TMP/rows"
ok "$packed samples are in the library, $work in a generator" \
	[ "$packed" -gt 50 -a "$work" -gt 50 -a -n "$total" ]
# The library calls the interpreter for memory, which counts as its own.
native=$(samples_in 'libz.*')
ok "with all frames $native samples are in the library" \
	[ "$native" -le "$packed" -a $((native * 100)) -ge $((packed * 90)) ]
is "the total of the function, with all frames" \
	"$(total_of packing.packing)" "$total"
stacks_of
all=$(stacks_with ';deflate;')
below=$(stacks_with ';packing[.]packing;([^;]*;)*deflate;')
ok "$below of $all samples of the library's function are below the program's" \
	[ "$all" -gt 50 -a "$below" -eq "$all" ]

# A program that has the interpreter in it, by its library, is no different.
cat >embeds.c <<'END'
#include <dlfcn.h>

int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	void (*start)(void);
	int (*run)(const char *);

	if (argc < 3 || !library)
		return 1;
	start = (void (*)(void))dlsym(library, "Py_Initialize");
	run = (int (*)(const char *))dlsym(library, "PyRun_SimpleString");
	start();
	return run(argv[2]);
}
END
library=$("$PYTHON" -c 'import sysconfig as s
print(s.get_config_var("LIBDIR") + "/" + s.get_config_var("INSTSONAME"))')
if [ ! -e "$library" ] || ! ${CC:-cc} -o embeds embeds.c -ldl 2>"$TMP/cc.err"; then
	skip "a program that embeds Python" "no $library, or no compiler"
else
	profiled "a program that embeds Python" -g ./embeds "$library" \
		"import sys; sys.path.insert(0, '.'); sys.argv = ['own', '0.8']; import own"
	report -l
	cp "$TMP/report" "$TMP/rows"
	whole=$(samples_of '.*')
	counted=$(samples_of 'own[.](adding|joining|looking_up|recursing)')
	ok "a program that embeds Python: $counted of $whole samples are the functions' own" \
		[ $((counted * 100)) -ge $((whole * 75)) ]
fi

# A child of fork runs functions that its parent has run, and new ones.
cat >family.py <<'END'
import os
import time


def old(end):
    while time.process_time() < end:
        pass


def new():
    old(0.3)


def child():
    def newer():
        new()
        old(0.6)
    newer()
    os._exit(0)


old(0)
if not os.fork():
    child()
os.wait()
END
profiled "a child of fork" -g "$PYTHON" family.py
stacks_of
all=$(stacks_with ';family[.]child;')
both=$(stacks_with ';family[.]old;')
halves=$(stacks_with ';family[.]new;([^;]*;)*family[.]old;')
ok "$both of $all samples of a child are in a function of its parent" \
	[ "$all" -gt 300 -a $((both * 100)) -ge $((all * 95)) ]
ok "$halves of them are called by a new one" within $((halves * 100 / all)) 50 12

# ---- the program is as it is without -------------------------------------------

# What differs must be nothing: names of modules and folders of sys.path, how deep a
# program recurses, by default and when it asks for more, exceptions in generators,
# files that take the place of ours.
cat >same.py <<'END'
import os
import sys
import threading


def depth():
    most = 0

    def deeper():
        nonlocal most
        most += 1
        deeper()

    try:
        deeper()
    except RecursionError:
        pass
    return most


def recurse(n):
    return 1 + recurse(n - 1) if n else 0


def catches():
    try:
        yield
    except ValueError as error:
        yield repr(error)


def take_our_descriptors():
    os.closerange(3, 100)
    fds = [os.open("own%d" % i, os.O_RDWR | os.O_CREAT) for i in range(10)]
    exec("def never_called_before(): pass\nnever_called_before()", {})
    return [os.fstat(fd).st_size for fd in fds]


def fork():
    child = os.fork()
    if not child:
        exec("def child(): pass\nchild()", {})
        os._exit(7)
    return os.waitpid(child, 0)[1]


print(sys.path, "sitecustomize" in sys.modules, depth(), fork())
if sys.version_info >= (3, 11):
    sys.setrecursionlimit(150000)
    print(recurse(100000), depth())
    thread = threading.Thread(target=lambda: print(recurse(100000)))
    thread.start()
    thread.join()
generator = catches()
next(generator)
print(generator.throw(ValueError("x")), take_our_descriptors())
with open("/proc/self/maps") as maps:
    print("code that is writable:", sum("wx" in line.split()[1] for line in maps))
for i in range(3000):
    eval("%d" % i)
threading.Thread(target=lambda: [i for i in iter(int, 1)], daemon=True).start()
sys.exit(5)
END
plain=0
"$PYTHON" same.py >"$TMP/plain" 2>&1 || plain=$?
status=0
operf -g "$PYTHON" same.py >"$TMP/profiled" || status=$?
is "the exit status, with a thread that runs on" "$status" "$plain"
is "what the program prints" "$(cat "$TMP/profiled")" "$(cat "$TMP/plain")"

mkdir -p site
echo 'print("the sitecustomize of the user")' >site/sitecustomize.py
cat >lists.py <<'END'
import os
import sys
print(sys.path, os.environ["PYTHONPATH"].rpartition(":")[2])
END
PYTHONPATH=$TMP/site "$PYTHON" lists.py >"$TMP/plain"
PYTHONPATH=$TMP/site operf -g "$PYTHON" lists.py >"$TMP/profiled"
is "a sitecustomize of the user, and PYTHONPATH" "$(cat "$TMP/profiled")" \
	"$(cat "$TMP/plain")"
echo 'raise SystemError("on purpose")' >site/sitecustomize.py
PYTHONPATH=$TMP/site operf -g "$PYTHON" -c 'print("goes on")' >"$TMP/profiled"
is "after one that fails the program goes on" "$(cat "$TMP/profiled")" "goes on"
like "which is told" "$(cat "$TMP/operf.err")" "^SystemError: on purpose"
for option in -I -E -S; do
	operf -g "$PYTHON" $option -c 'print("ran")' >"$TMP/profiled"
	is "python3 $option" "$(cat "$TMP/profiled")" ran
	like "python3 $option: a line says that there are no names" \
		"$(cat "$TMP/operf.err")" \
		"^operf: Python with $option ignores PYTHONPATH, so its functions have no names"
done
operf -g "$PYTHON" -W ignore -bX dev -c 'print("ran")' -S 2>/dev/null >/dev/null
like "an option of the program is none of Python" "$(cat "$TMP/operf.err")" \
	"^operf: Python names its functions"
cp /bin/true python3.8
operf -g ./python3.8
like "a version that is too old" "$(cat "$TMP/operf.err")" \
	"^operf: /.*/python3[.]8 names no functions; Python 3.9 and later do"
echo '#!/usr/bin/env python3' >script
chmod +x script
operf -g ./script
like "a script" "$(cat "$TMP/operf.err")" "^operf: Python names its functions"
operf -g --no-runtimes "$PYTHON" account.py 0.3 >/dev/null
report -l
like "the report says how Python functions get names" "$(cat "$TMP/report.err")" \
	"^opreport: to name the functions of Python in .*: start it by operf -g COMMAND"

# Where memory may not become code, as PR_SET_MDWE (65) has it, a file is mapped.
cat >mdwe.py <<'END'
import ctypes
import os
import sys
if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0):
    print("this kernel has no PR_SET_MDWE")
else:
    os.execv(sys.executable, [sys.executable, "account.py", "1.5"])
END
profiled "memory that may not become code" -g "$PYTHON" mdwe.py
if grep -q PR_SET_MDWE "$TMP/truth"; then
	skip "memory that may not become code" "$(cat "$TMP/truth")"
else
	stacks_of
	all=$(stacks_with .)
	named=$(stacks_with ';account[.]')
	ok "memory that may not become code: $named of $all samples are named" \
		[ $((named * 100)) -ge $((all * 90)) ]
fi

# ---- the environment -----------------------------------------------------------

operf -g --no-runtimes env >"$TMP/profiled"
env >"$TMP/plain"
is "--no-runtimes: the environment" "$(grep -v '^_=' "$TMP/profiled")" \
	"$(grep -v '^_=' "$TMP/plain")"
NODE_OPTIONS=--stack-trace-limit=7 operf -g env >"$TMP/profiled"
is "the environment of any command: Python" \
	"$(sed -n 's/^PYTHONPATH=//p' "$TMP/profiled")" "$(realpath "$agent")"
is "the environment of any command: node" \
	"$(sed -n 's/^NODE_OPTIONS=//p' "$TMP/profiled")" \
	"--perf-basic-prof-only-functions --interpreted-frames-native-stack --stack-trace-limit=7"
NODE_OPTIONS=--perf-prof operf -g env >"$TMP/profiled"
is "what names functions already" \
	"$(sed -n 's/^NODE_OPTIONS=//p' "$TMP/profiled")" --perf-prof
OPROFILE_DUMPS=/nowhere operf -g env >"$TMP/profiled"
is "the folder of dumps is that of this operf" \
	"$(sed -n 's/^OPROFILE_DUMPS=//p' "$TMP/profiled")" "$SESSION/run/dumps"
operf env >"$TMP/profiled"
is "without -g Python is left alone" \
	"$(sed -n 's/^PYTHONPATH=//p' "$TMP/profiled")" ""
operf "$PYTHON" -c 'pass'
like "without -g a line says how Python functions are seen" \
	"$(cat "$TMP/operf.err")" "^operf: functions of Python are seen in stacks: add -g"

# An agent that others may change is not loaded, be it the file or a folder above.
mkdir -p copy/bin copy/lib/oprofile
cp "$BIN/operf" "$BIN/oprofiled" copy/bin
cp -r "$agent" copy/lib/oprofile
BIN=$TMP/copy/bin
operf -g env >"$TMP/profiled"
is "the agent of a copy" "$(sed -n 's/^PYTHONPATH=//p' "$TMP/profiled")" \
	"$(realpath copy)/lib/oprofile/python"
for path in lib/oprofile/python/sitecustomize.py \
	lib/oprofile/python/python_oprofile.so lib/oprofile lib; do
	chmod g+w "copy/$path"
	operf -g env >"$TMP/profiled"
	is "others may change $path" \
		"$(sed -n 's/^PYTHONPATH=//p' "$TMP/profiled")" ""
	chmod g-w "copy/$path"
done
chmod o+w copy/lib
operf -g "$PYTHON" -c 'pass'
like "a line says why Python has no names then" "$(cat "$TMP/operf.err")" \
	"^operf: .*/copy/lib/oprofile/python is not used, so Python names no functions: others"
chmod o-w copy/lib
if [ "$(id -u)" -eq 0 ]; then
	chown "$test_user" copy/lib/oprofile/python
	operf -g env >"$TMP/profiled"
	is "root loads nothing of another user" \
		"$(sed -n 's/^PYTHONPATH=//p' "$TMP/profiled")" ""
fi

done_testing
