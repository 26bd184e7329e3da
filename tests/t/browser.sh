# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Pages in a headless browser, sourced after lib.sh by the scripts that look at
# them: all pages of a script are opened in one browser, which ends with its
# input.

# browser_start: fails where there is no browser.
browser_start() {
	browser=$(command -v "${CHROMIUM:-chromium}" ||
		command -v google-chrome) || return
	mkfifo "$TMP/to" "$TMP/from"
	CHROMIUM=$browser "$TOP/tests/browser/drive.py" <"$TMP/to" \
		>"$TMP/from" 2>&1 &
	driver=$!
	exec 8>"$TMP/to" 9<"$TMP/from"
}

# drive <commands for drive.py: what they print. Fails, and prints so, if the
# driver ended before it had done them all.
drive() {
	# Not by this shell, which a broken pipe would end without a word.
	(
		cat
		echo 'print "end of the commands"'
	) >&8
	while IFS= read -r line; do
		[ "$line" = 'end of the commands' ] && return
		printf '%s\n' "$line"
	done <&9
	echo "the driver of the browser has ended"
	return 1
}

# browser_end: its exit status.
browser_end() {
	exec 8>&-
	wait "$driver"
}
