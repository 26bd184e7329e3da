# SPDX-License-Identifier: GPL-2.0-or-later
#
# awk -v cpus=N -v frames=N -v rounds=N -f cpus.awk: the text of a stream as the
# module hands it over, CPU by CPU four times a second at 1,000 samples a second:
# ROUNDS seconds of that. Each CPU runs five of its own tasks in turn, of 40
# programs with 500 hot places each.

BEGIN {
	print "stream 1 8\ncpu 0"
	for (i = 1; i <= 40; i++)
		print "cookie " i " 0 0 0 0 - \"/usr/bin/program" i "\""
	for (round = 0; round < rounds * 4; round++)
		for (cpu = 0; cpu < cpus; cpu++)
			visit()
}

function visit(	i, task, at) {
	print "cpu " cpu
	for (i = 0; i < 250; i++) {
		if (i % 50 == 0) {
			task = cpu * 5 + i / 50
			cookie = task % 40 + 1
			print "ctx " task + 100 " " cookie "\ntgid " task + 100
			print "user\nimage " cookie
		}
		at = (i * 7 + round * 13) % 500 * 16
		if (frames)
			trace(at)
		else
			print "sample " at " 0"
	}
}

function trace(at,	f) {
	print "trace\nsample " at " 0"
	for (f = 1; f < frames; f++)
		print "sample " 16 * (f * 500 + at % 7) " 0"
	print "trace-end 0\nuser\nimage " cookie
}
