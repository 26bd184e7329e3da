#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Manual pages are sound mdoc or man.

. "$(dirname "$0")/lib"
need mandoc mandoc

for page in doc/man/*.[1-8]; do
	[ -e "$page" ] || continue
	# Pages of the tree's own are not in the system's data base.
	ok "mandoc $page" mandoc -T lint -W warning "$page"
done
done_testing
