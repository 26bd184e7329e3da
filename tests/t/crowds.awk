# SPDX-License-Identifier: GPL-2.0-or-later
#
# awk -v what=WHAT -v nr=NR -f crowds.awk: the text of a stream with NR of
#
#	images		programs, one sample each at two places
#	builds		builds of one program
#	processes	of one program, with threads, and each in its cgroup
#	mappings	ranges of anonymous memory in one process
#	paths		programs with paths that somebody made to do harm
#	waiting		programs, while samples of another wait for its name
#
# There are two samples for each.

function repeated(text, times,	all) {
	while (times--)
		all = all text
	return all
}

# A path that is hostile in one of several ways, and not like any other.
function hostile(i) {
	if (i % 6 == 0) # as long as a path may be
		return repeated("/" repeated("x", 99), 40) "/" i
	if (i % 6 == 1) # newlines, escapes of a terminal, quotes
		return "/tmp/a\\x0ab\\x1b[31m\\x22\\x07" i
	if (i % 6 == 2) # a way out of the folder
		return "/../../../../etc/passwd/../" i "/.."
	if (i % 6 == 3) # components as long as they may be
		return "/" repeated("y", 255) "/" i repeated("z", 255 - length(i))
	if (i % 6 == 4) # what names of sample files are made of
		return "/{root}/{dep}/{anon:x}/{cg}/%2e%+/TIMER.0.0.all.all.all/" i
	return "/" repeated("d/", 1000) i # folder in folder
}

function program(cookie, build, path) {
	print "cookie " cookie " 0 0 0 0 " build " \"" path "\""
}

function context(tgid, cookie) {
	print "ctx " tgid " " cookie "\ntgid " tgid "\nimage " cookie "\nuser"
}

BEGIN {
	print "stream 1 8\ncpu 0"
	program(1000000000, "-", "/usr/bin/one")
	if (what == "waiting") {
		print "ctx 2 2000000000\ntgid 2\nimage 2000000000\nuser"
		for (i = 0; i < 8192; i++)
			print "sample 16 0"
	}
	for (i = 1; i <= nr; i++) {
		if (what ~ /images|waiting/)
			program(i, "-", "/opt/bin/prog" i)
		else if (what == "builds")
			program(i, sprintf("%040x", i), "/opt/bin/prog")
		else if (what == "paths")
			program(i, "-", hostile(i))
		context(what == "mappings" ? 7 : i, \
			what ~ /^(proc|map)/ ? 1000000000 : i)
		if (what == "mappings")
			printf "anon 0x%x 0x%x \"heap\"\n", i * 8192, \
				i * 8192 + 4096
		print "sample 16 0\nsample 32 0"
	}
}
