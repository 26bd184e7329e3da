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

# drive <commands for drive.py: what they print
drive() {
	{
		cat
		echo 'print "end of the commands"'
	} >&8
	while IFS= read -r line && [ "$line" != 'end of the commands' ]; do
		printf '%s\n' "$line"
	done <&9
}

# browser_end: its exit status.
browser_end() {
	exec 8>&-
	wait "$driver"
}
