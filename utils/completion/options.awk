# SPDX-License-Identifier: GPL-2.0-or-later
#
# awk -v program=NAME: makes a table of the options in the output of --help. A
# line for each, its fields separated by tabs:
#
#	PROGRAM OPTION ARGUMENT VALUES DESCRIPTION
#
# OPTION ends with "=" where its argument follows that. ARGUMENT is what help
# calls it, "-" if there is none. VALUES are words that help lists, "|" between
# them, or "-".

# The longest list of three words or more in a text: "a, b (default) or c".
function listed(text,    best, list)
{
	gsub(/,? or | and |, */, ",", text)
	while (match(text, /[a-z][a-z-]*( \(default\))?(,[a-z][a-z-]*( \(default\))?)+/)) {
		list = substr(text, RSTART, RLENGTH)
		if (split(list, unused, ",") > 2 && length(list) > length(best))
			best = list
		text = substr(text, RSTART + RLENGTH)
	}
	gsub(/ \(default\)/, "", best)
	gsub(",", "|", best)
	return best
}

function put(option, argument, values)
{
	printf "%s\t%s\t%s\t%s\t%s\n", program, option, argument, values, about
}

function end_option(    n, names, i, name, argument, values, optional)
{
	if (options == "")
		return
	# The help of an option that may be given several times.
	if (match(options, /--[a-z-]+ [A-Z]/))
		options = substr(options, 1, RSTART + RLENGTH - 3) "=" \
			substr(options, RSTART + RLENGTH - 1)
	argument = options
	if (argument !~ /=/)
		argument = "-"
	sub(/^[^=]*=/, "", argument)
	optional = options ~ /\[=/ && sub(/\]$/, "", argument)
	values = "-"
	if (argument ~ /^[a-z|-]+$/ && argument != "-")
		values = argument
	else if (argument != "-" && listed(about) != "")
		values = listed(about)
	sub(/\[?=.*/, "", options)
	n = split(options, names, /, */)
	for (i = 1; i <= n; i++) {
		name = names[i]
		if (argument == "-")
			put(name, "-", "-")
		else if (name ~ /^--/)
			put(name "=", argument, values)
		else if (!optional)
			put(name, argument, values)
		if (optional)
			put(name, "-", "-")
	}
	options = about = ""
}

# Further lines of a description may begin with an option, too.
/^(  |      )-/ {
	end_option()
	sub(/^ +/, "")
	at = match($0, /   *[^ ]/)
	options = at ? substr($0, 1, at - 1) : $0
	about = at ? substr($0, at) : ""
	sub(/^ +/, "", about)
	next
}
/^          +[^ ]/ && options != "" {
	sub(/^ +/, "")
	about = about " " $0
	next
}
{ end_option() }
END { end_option() }
