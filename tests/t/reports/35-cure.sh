#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Where names are missing, one line says what to do about the program with the
# most samples: which package has its debug symbols, or that they can be
# fetched.
. "$(dirname "$0")/../lib.sh"

cd "$TMP" || exit 1
SESSION=$TMP/session CURRENT=$TMP/session/samples/current
E=CPU_CLK_UNHALTED.100000.0.all.all.all
mkdir bin
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

# package NAME FILE...: dpkg knows this package alone, which has these files.
package() {
	rm -rf dpkg/info
	mkdir -p dpkg/info
	list=dpkg/info/$1.list
	shift
	printf '%s\n' /. /usr "$@" >"$list"
}
# hint [ARG...]: what is said besides warnings.
hint() {
	DPKG_ADMINDIR=dpkg "$BIN/opreport" --session-dir="$SESSION" -l "$@" \
		2>&1 >/dev/null | grep -v warning: | sed 's/^opreport: //'
}
fetch="fetch its debug file with --debuginfod=URL"
grep -q '^#define HAVE_DEBUGINFOD' "$O/config.h" ||
	skip_all "built without libdebuginfod-dev"
most=$TMP/bin/most

package most:amd64 "$most"
is "the package" "$(hint)" \
	"to name the functions of $most: install the package most-dbgsym, or $fetch"
package Most "$most"
is "no name of a package" "$(hint)" "to name the functions of $most: $fetch"
package other "$most.other" "/usr$most.other"
is "nor that of a file with a longer name" "$(hint)" \
	"to name the functions of $most: $fetch"
package usr "/usr$most"
like "a package that has it there" "$(hint)" "install the package usr-dbgsym"
rm -r dpkg
is "no dpkg" "$(hint)" "to name the functions of $most: $fetch"
package most "$most"
is "a server was asked" "$(hint --debuginfod=http://127.0.0.1:1)" \
	"to name the functions of $most: install the package most-dbgsym"
is "not in other formats" "$(hint --format=csv)$(hint --format=json)" ""
is "of another root" "$(hint --root=/)" "to name the functions of $most: $fetch"
like "opannotate says it, too" "$(DPKG_ADMINDIR=dpkg "$BIN/opannotate" \
	--session-dir="$SESSION" --assembly 2>&1 >/dev/null)" \
	"^opannotate: to name the functions of $most: install"
"$BIN/oparchive" --session-dir="$SESSION" -o archive 2>/dev/null
is "nothing about an archive" "$(hint archive:archive)" ""
is "nothing where all have names" "$(hint "image:$TMP/bin/named")" ""
done_testing
