#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The two commands that README begins with, in either order, in a Debian with gcc, make
# and git and nothing else: they install what they need, and the tests find it. It
# takes $O/debian-root, as make check-debian does, and fetches more than a gigabyte of
# packages, which it keeps in $O/debian-packages.
# tier: all
# sanitized: no
# timeout: 9000

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../debian.sh"

# in_tree SCRIPT: lines for sh, in the tree there.
in_tree() {
	inside sh -c "cd /src/oprofile && $1"
}

# first_block: the commands that README begins with, in a line.
first_block() {
	# shellcheck disable=SC2016 # the fence of a block
	sed -n '/^```sh$/,/^```$/{/^```$/q; /^```/!p}' "$TOP/README.md"
}

# What has no work to do there, needs what Debian does not have, or the numbers that
# processes have outside: this machine has a pid namespace of its own.
MAY_SKIP='nothing of this kind has changed|the kernel filters no samples|samples_are_dropped|no kernel with debug information|no sessions of OProfile|npm package|zsh'

# follow COMMAND...: in this order, on a machine of their own.
follow() {
	[ ! -d "$DEBIAN/src" ] || debian_fresh
	ok "apt's lists" inside apt-get -q update
	ok "a bare machine" install_inside gcc make git
	mkdir -p "$DEBIAN/src"
	ok "a clone" git clone -q "$TOP" "$DEBIAN/src/oprofile"
	for command in "$@"; do
		before=$(date +%s)
		ok "$command" in_tree "$command >../log 2>&1 || { tail -n 100 ../log; false; }"
		diag "$command: $(($(date +%s) - before)) seconds"
		cp "$DEBIAN/src/log" "$TMP/${command#make }"
	done
	like "make demo shows what is hot" "$(cat "$TMP/demo")" ' demo_work +escape_time'
	like "make check counts" "$(tail -n 1 "$TMP/check")" \
		'^[1-9][0-9]* passed, 0 failed, '
	is "no test was skipped that has something to do there" \
		"$(grep SKIP "$TMP/check" | grep -Ev "$MAY_SKIP")" ''
	is "nothing is missing then" "$(in_tree 'utils/install-deps --check' 2>&1)" ''
	is "no initrd was made for a machine that does not boot" \
		"$(cd "$DEBIAN/boot" && ls -d initrd* 2>/dev/null)" ''
}

is "README begins with two commands" "$(first_block | tr '\n' ' ')" 'make demo make check '
follow 'make demo' 'make check'
follow 'make check' 'make demo'
done_testing
