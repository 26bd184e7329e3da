# SPDX-License-Identifier: GPL-2.0-or-later
#
# awk -v programs=NAMES -f fill.awk profile_spec.c TABLE FILE: writes FILE, a
# completion for a shell, with what the build knows in the places of
#
#	@PROGRAMS@	the programs
#	@TAGS@		tags of profile specifications, each with its ':'
#	@TABLE@		PROGRAM OPTION ARGUMENT VALUES of options.awk
#	@SPECS@		the same as words for _arguments of zsh, in branches of case

FNR == 1 { nr_files++ }

nr_files == 1 {
	if (split($0, part, "\"") == 3 && part[1] ~ /\[PP_SPEC_[A-Z_]*\] *= { $/)
		tags = tags (tags == "" ? "" : " ") part[2] ":"
	next
}

# An action of zsh for an argument; the shell functions are in the file.
function action(option, argument, values)
{
	if (option ~ /^--events?=$/ || argument ~ /^EVENT/)
		return "_sequence _oprofile_events"
	if (option == "-e" && argument == "LIST")
		return "_sequence _oprofile_events"
	if (argument == "NAMES")
		return "_sequence _oprofile_symbols"
	if (argument ~ /^DIRS?$/)
		return "_files -/"
	if (argument == "FILE" || argument ~ /^PATH/)
		return "_files"
	if (argument == "GROUP")
		return "_groups"
	if (argument ~ /^PID/)
		return "_sequence _pids"
	if (argument == "TYPE")
		return "_oprofile_cpus"
	gsub(/\|/, " ", values)
	if (values == "-")
		return " "
	return (argument ~ /^(LIST|KEYS|WORDS)$/ ? "_sequence " : "") \
		"compadd - " values
}

function quoted(text)
{
	gsub(/'/, "'\\''", text)
	return "'" text "'"
}

nr_files == 2 {
	split($0, field, "\t")
	table = table field[1] "\t" field[2] "\t" field[3] "\t" field[4] "\n"
	if (field[1] != program)
		specs = specs (program == "" ? "" : "\t\t;;\n") "\t" field[1] ")\n"
	program = field[1]
	about = field[5]
	gsub(/\[|\]|:|\\/, "\\\\&", about)
	spec = field[2] (field[2] ~ /=$/ || field[3] == "-" ? "" : "+")
	spec = spec "[" about "]"
	if (field[3] != "-") {
		name = field[3]
		gsub(/\[|\]|:|\\/, "\\\\&", name)
		spec = spec ":" name ":" action(field[2], field[3], field[4])
	}
	specs = specs "\t\tspecs+=(" quoted(spec) ")\n"
	next
}

# Texts may hold what sub() takes for its own.
function fill(place, text,    at)
{
	at = index($0, place)
	if (at)
		$0 = substr($0, 1, at - 1) text substr($0, at + length(place))
}

{
	fill("@PROGRAMS@", programs)
	fill("@TAGS@", tags)
	fill("@TABLE@", table)
	fill("@SPECS@", specs "\t\t;;")
	print
}
