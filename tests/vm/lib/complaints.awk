# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the kernel complains of in the text of dmesg, with the 80 lines behind each
# complaint: registers, the stack, and what the report lists after them. Reports of
# KASAN and KCSAN stand between lines of "="; a data race counts if one of our
# modules is in it.

function tell() {
	if (report !~ /BUG: KCSAN/ || report ~ /\[(oprofile|op_test_provider)\]/)
		printf "%s", report
	report = ""
}
/==============================/ { tell(); framed = !framed; next }
framed { report = report $0 "\n"; next }
/WARNING|BUG|Oops|RIP:|suspicious|Call [Tt]race|hung task|ODEBUG|DEBUG_LOCKS/ {
	behind = 81
}
behind > 0 { print; behind-- }
END { tell() }
