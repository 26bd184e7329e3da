# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the kernel complains of in the text of dmesg, with the 80 lines behind each
# complaint: registers, the stack, and what the report lists after them. Reports of
# KASAN and KCSAN stand between lines of "="; a data race counts if one of our
# modules is in it. Nothing counts that was said before there were programs.
#
# Linux 6.12 for real time says now and then, without any module, that a CPU which
# is taken away has a task more than its migration thread, and then lists that one
# alone. It counts where another task is listed.

function end_report(counts) {
	if (counts)
		said = said report
	report = ""
}
function end_frame() {
	end_report(report !~ /BUG: KCSAN/ ||
		report ~ /\[(oprofile|op_test_provider)\]/)
}
/Run .* as init process/ { said = report = ""; framed = is_dying = behind = 0 }
/==============================/ { end_frame(); framed = !framed; next }
framed { report = report $0 "\n"; next }
/WARNING: .* sched_cpu_dying/ { is_dying = 1; is_listed = is_busy = 0 }
is_dying && is_listed && !/\tpid: / { end_report(is_busy); is_dying = 0 }
is_dying {
	report = report $0 "\n"
	is_listed = is_listed || /enqueued tasks/
	is_busy = is_busy || (/\tpid: / && !/name: migration\//)
	next
}
/WARNING|BUG|Oops|RIP:|suspicious|Call [Tt]race|hung task|ODEBUG|DEBUG_LOCKS/ {
	behind = 81
}
behind > 0 { said = said $0 "\n"; behind-- }
END {
	end_frame()
	printf "%s", said
}
