#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The pages of doc/howto/: what they tell to add is added to a copy of the tree,
# which is built; then their commands print what the pages say. The module, which
# takes longest, is built in the second tier alone.
# sanitized: no
# timeout: 600
. "$(dirname "$0")/../lib.sh"

howto=$TOP/tests/t/howto.py
pages="add-code add-cpu-type add-feature add-format add-source"
kernel_page=support-kernel

command -v python3 >/dev/null || skip_all "no python3"
[ -e "$O/sources" ] || skip_all "$O is not built; run make"

# The copy has the sources, and the objects and programs that are made of them:
# make compiles what the pages change, and what includes that.
TREE=$TMP/tree
mkdir -p "$TREE/build/tests"
for part in Makefile configure.ac config.mk.in config.h.in doc events libop libdb \
	libcfi libpp daemon module pp utils tests; do
	cp -a "$TOP/$part" "$TREE"
done
for part in config.mk config.h config.status configure flags sources event-files \
	bin events libop libdb libcfi libpp daemon pp utils tests/helper \
	tests/pfm2events tests/mkstream; do
	[ ! -e "$O/$part" ] || cp -a "$O/$part" "$TREE/build/${part%/*}"
done

for page in $pages $kernel_page; do
	ok "$page: its changes fit the tree" \
		"$howto" apply "$TOP/doc/howto/$page.md" "$TREE"
done
for page in $pages $kernel_page; do
	is "$page: what it names is there" \
		"$("$howto" missing "$TOP/doc/howto/$page.md" "$TREE")" ""
done
is "every page is followed" \
	"$(for page in "$TOP"/doc/howto/*.md; do basename "$page" .md; done)" \
	"$(for page in $pages $kernel_page; do echo "$page"; done | sort)"

# As a person's make does it, whatever this test was started by.
unset MAKEFLAGS MAKELEVEL MAKEOVERRIDES MFLAGS
ok "the tree is built with the changes" env -u O nice make -C "$TREE" KDIRS= \
	build/events/made build/bin/ophelp build/bin/opreport \
	build/bin/oprofiled build/bin/opstream build/tests/mkstream
unlike "the compiler warns of nothing" "$(cat "$test_log")" 'warning:'
[ "$test_failed" -eq 0 ] || done_testing

PATH=$TREE/build/bin:$TREE/build/tests:$PATH
for page in $pages; do
	"$howto" commands "$TOP/doc/howto/$page.md" >"$TMP/commands"
	mkdir "$TMP/$page"
	is "$page: its commands print what it says" \
		"$(cd "$TMP/$page" && sh -eu "$TMP/commands" 2>&1)" \
		"$("$howto" output "$TOP/doc/howto/$page.md")"
done

# ---- the module -------------------------------------------------------------

"$howto" commands "$TOP/doc/howto/$kernel_page.md" >"$TMP/commands"
like "$kernel_page: it tells how to build" "$(cat "$TMP/commands")" '^make module '
[ "${TIER:-check}" = all ] || done_testing
module_there() {
	(cd "$TREE" && unset O && headers=$1 nice sh -eu "$TMP/commands")
}
for headers in /lib/modules/*/build; do
	if [ -e "$headers/Module.symvers" ]; then
		ok "$kernel_page: the module is built for $headers" \
			module_there "$headers"
	else
		skip "$kernel_page: the module is built for $headers" "no headers"
	fi
done
done_testing
