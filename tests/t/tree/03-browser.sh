#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The driver of the browser: what it does with commands that fail, and what it
# says when the browser ends early, so that the tests with pages tell why they
# fail.
# sanitized: no
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../browser.sh"

start() {
	rm -f "$TMP/to" "$TMP/from"
	browser_start
}

start || skip_all "chromium: not found; utils/install-deps check"
is "commands that fail print why, and the next ones run" "$(drive <<'END'
print nothing.here
print Promise.reject(new Error("no"))
click no-such-tag
open no-such-scheme
print 6 * 7
END
)" "\
drive.py: print: nothing.here: ReferenceError: nothing is not defined
drive.py: print: Promise.reject(new Error(\"no\")): Error: no
drive.py: click: (b => [b.left, b.top, b.width, b.height])(document.querySelector(\
\"no-such-tag\").getBoundingClientRect()): TypeError: Cannot read properties of \
null (reading 'getBoundingClientRect')
drive.py: open: Page.navigate: Cannot navigate to invalid URL
42"
browser_end
is "which the exit status tells" $? 1

start
out=$(drive <<'END'
print "before"
open chrome://crash
print "after"
END
)
is "a page that crashes fails" $? 1
like "is told, with what comes before" "$(echo "$out" | tr '\n' '~')" \
	"^before~drive.py: the page's process ended early: crashed, code [0-9]+~memory left: [0-9]+ MB; /dev/shm: [0-9]+ of [0-9]+ MB left~"
like "with what the browser said" "$out" 'Intentionally crashing'
is "later commands print that nobody does them" "$(echo 'print 1' | drive)" \
	"the driver of the browser has ended"
browser_end
is "the exit status tells of the crash" $? 1

start
drive </dev/null
kill -KILL "$(cat "/proc/$driver/task/$driver/children")"
out=$(echo 'print "after"' | drive)
is "a browser that is killed fails" $? 1
like "is told with the signal" "$out" \
	'^drive.py: the browser was ended by signal 9 \(Killed\)$'
browser_end
is "the exit status tells of the kill" $? 1
done_testing
