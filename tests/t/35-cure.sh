#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Where names are missing, one line says what to do about the program with the
# most samples: which package has its debug symbols, or that they can be
# fetched.
. "$(dirname "$0")/lib.sh"

cd "$TMP" || exit 1
SESSION=$TMP/session CURRENT=$TMP/session/samples/current
E=CPU_CLK_UNHALTED.100000.0.all.all.all
mkdir -p bin usr/bin tools
echo 'int main(void) { return 0; }' >main.c
# program NAME SAMPLES STRIP: one with so many samples.
program() {
	${CC:-cc} -Wl,--build-id -DNAME="$1" -o "bin/$1" main.c || exit 1
	printf '%s %s\n' "$(nm "bin/$1" | awk '$3 == "main" { print "0x" $1 }')" \
		"$2" | "$TESTBIN/mkodb" \
		"$CURRENT/{root}$TMP/bin/$1/{dep}/{root}$TMP/bin/$1/$E" event=118 \
		count=100000 build-id="$(readelf -n "bin/$1" |
			sed -n 's/.*Build ID: //p')"
	$3 "bin/$1"
}
program named 90 true
program few 20 strip
program most 70 strip

# packages LINE...: a dpkg-query that prints these.
packages() {
	{
		printf '#!/bin/sh\necho "$@" >>%s/asked\n' "$TMP"
		[ $# -eq 0 ] || printf "echo '%s'\n" "$@"
	} >tools/dpkg-query
	chmod +x tools/dpkg-query
	: >asked
}
# hint [ARG...]: what is said besides warnings.
hint() {
	PATH=$TMP/tools:$PATH "$BIN/opreport" --session-dir="$SESSION" -l "$@" \
		2>&1 >/dev/null | grep -v warning: | sed 's/^opreport: //'
}
fetch="fetch its debug file with --debuginfod=URL"
grep -q '^#define HAVE_DEBUGINFOD' "$O/config.h" ||
	skip_all "built without libdebuginfod-dev"
most=$TMP/bin/most

packages "most:amd64: $most"
is "the package" "$(hint)" \
	"to name the functions of $most: install the package most-dbgsym, or $fetch"
is "dpkg was asked once, for both paths" "$(cat asked)" \
	"--search $most /usr$most"
packages "diversion by x from: $most" "most, other:amd64: $most"
is "not that of a diversion" "$(hint)" \
	"to name the functions of $most: install the package most-dbgsym, or $fetch"
packages "other: $most.other"
packages "Most: $most"
is "no name of a package" "$(hint)" "to name the functions of $most: $fetch"
packages "other: /usr$most.other"
is "nor that of a file with a longer name" "$(hint)" \
	"to name the functions of $most: $fetch"
packages "usr: /usr$most"
like "a package that has it there" "$(hint)" "install the package usr-dbgsym"
packages
is "dpkg does not know it" "$(hint)" "to name the functions of $most: $fetch"
rm tools/dpkg-query
env PATH="$TMP/tools" "$BIN/opreport" --session-dir="$SESSION" -l >out 2>err
is "no dpkg" "$(grep -v warning: err)" \
	"opreport: to name the functions of $most: $fetch"
packages "most: $most"
is "a server was asked" "$(hint --debuginfod=http://127.0.0.1:1)" \
	"to name the functions of $most: install the package most-dbgsym"
is "not in other formats" "$(hint --format=csv)$(hint --format=json)" ""
is "of another root" "$(hint --root=/)" "to name the functions of $most: $fetch"
like "opannotate says it, too" "$(PATH=$TMP/tools:$PATH "$BIN/opannotate" \
	--session-dir="$SESSION" --assembly 2>&1 >/dev/null)" \
	"^opannotate: to name the functions of $most: install"
"$BIN/oparchive" --session-dir="$SESSION" -o archive 2>/dev/null
is "nothing about an archive" "$(hint archive:archive)" ""
is "nothing where all have names" "$(hint "image:$TMP/bin/named")" ""
done_testing
