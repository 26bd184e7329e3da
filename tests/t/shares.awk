# SPDX-License-Identifier: GPL-2.0-or-later
#
# awk -f shares.awk NAMES OURS THEIRS: whether two profiles of one work differ
# by more than chance. Exits with 1 if they do.
#
# OURS and THEIRS have lines "COUNT IMAGE SYMBOL", NAMES has those of the
# images' own symbol tables, "IMAGE ADDRESS SIZE NAME", sorted by image and
# address; all with tabs between. SIZE is "-" where it is not known.
#
# Each of the 20 symbols with the most samples on either side is compared by
# its share, with a test for two proportions whose limit (Bonferroni) is passed
# by chance in one of 10,000 comparisons of all. What is left is compared as
# one more, image by image. Two profilers may name the same code differently:
#
# - names that overlap in the symbol table are one symbol;
# - what the symbol table does not have (code without a name, procedure
#   linkage tables) is one symbol "(other)" of its image.
#
# Nothing is left out: all symbols are listed that were taken together.
#
# Two clocks on one CPU meet where the kernel turns interrupts on again, above
# all at the end of a context switch, which starts both anew: one finds the
# other's work there. For that, symbols of the kernel may differ by half a
# percentage point more.

BEGIN {
	FS = "\t"
	TOP = 20
	NR_SHOWN = 8
	ALARM = 0.0001
	KERNEL_MARGIN = 0.005
}

# ---- names ---------------------------------------------------------------------

# The name that stands for all that is the same as @id; @id has no loops.
function find(id) {
	while (id in parent)
		id = parent[id]
	return id
}

function unite(a, b) {
	a = find(a)
	b = find(b)
	if (a != b)
		parent[b] = a
}

# Versions are no part of a name: cfree@GLIBC_2.2.5.
function plain(name) {
	if (name !~ /@plt$/)
		sub(/@.*/, "", name)
	return name
}

FNR == 1 {
	file++
}

file == 1 {
	id = $1 SUBSEP plain($4)
	known[id] = 1
	if ($1 == image && ($2 == address || ($3 != "-" && $2 + 0 < end)))
		unite(last, id)
	if ($1 != image || $3 == "-" || $2 + $3 > end)
		end = $2 + $3
	image = $1
	address = $2
	last = id
	next
}

# ---- counts --------------------------------------------------------------------

function symbol_of(image, name) {
	name = plain(name)
	if (!((image SUBSEP name) in known))
		return image SUBSEP "(other)"
	return find(image SUBSEP name)
}

{
	side = file - 1
	id = symbol_of($2, $3)
	count[side, id] += $1
	total[side] += $1
	symbols[id] = 1
	if (!((id, $3) in is_part)) {
		is_part[id, $3] = 1
		nr_parts[id]++
		if (nr_parts[id] <= NR_SHOWN)
			parts[id] = parts[id] (nr_parts[id] > 1 ? ", " : "") $3
	}
	if (id ~ /\(other\)$/)
		other[side] += $1
}

# ---- comparing -----------------------------------------------------------------

# Mark the TOP symbols of @side.
function mark_top(side,    n, id, best) {
	for (n = 0; n < TOP; n++) {
		best = ""
		for (id in symbols)
			if (!((side, id) in marked) && count[side, id] > 0 &&
			    (best == "" ||
			     count[side, id] > count[side, best]))
				best = id
		if (best == "")
			return
		marked[side, best] = 1
		compared[best] = 1
	}
}

# All that is not compared by itself, as one symbol of its image.
function gather_rest(    id, part, rest) {
	for (id in symbols) {
		if (id in compared)
			continue
		split(id, part, SUBSEP)
		rest = part[1] SUBSEP "(all else)"
		count[1, rest] += count[1, id]
		count[2, rest] += count[2, id]
		compared[rest] = 1
	}
}

# The z that a normal variable passes with probability @p, for small @p
# (Abramowitz and Stegun, 26.2.23).
function quantile(p,    t, over, under) {
	t = sqrt(-2 * log(p))
	over = 2.515517 + 0.802853 * t + 0.010328 * t * t
	under = 1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t * t * t
	return t - over / under
}

# The difference of the shares in standard errors; @margin of it is allowed.
function score(a, b, margin,    p, error, by) {
	p = (a + b) / (total[1] + total[2])
	error = sqrt(p * (1 - p) * (1 / total[1] + 1 / total[2]))
	by = a / total[1] - b / total[2]
	if (by * by <= margin * margin || !error)
		return 0
	return (by > 0 ? by - margin : by + margin) / error
}

function show(id,    part, a, b, z, differs) {
	split(id, part, SUBSEP)
	a = count[1, id] + 0
	b = count[2, id] + 0
	z = score(a, b, part[1] == "vmlinux" ? KERNEL_MARGIN : 0)
	differs = z * z > limit * limit
	printf("%7d %6.2f%% %7d %6.2f%% %6.2f %s %s %s\n", a,
	       100 * a / total[1], b, 100 * b / total[2], z,
	       differs ? "!" : " ", part[1], part[2]) | sort
	nr_different += differs
}

# What was taken together as @id.
function show_parts(id,    part, more) {
	split(id, part, SUBSEP)
	more = nr_parts[id] - NR_SHOWN
	printf "one symbol, %s %s: %s%s\n", part[1], part[2], parts[id],
	       (more > 0 ? " and " more " more" : "")
}

END {
	if (file != 3 || !total[1] || !total[2]) {
		print "a profile is empty"
		exit 1
	}
	for (side = 1; side <= 2; side++)
		mark_top(side)
	gather_rest()
	for (id in compared)
		nr++
	limit = quantile(ALARM / nr / 2)
	printf "%d and %d samples, %d symbols, limit of z: %.2f\n",
	       total[1], total[2], nr, limit
	print "   ours           theirs               z"
	sort = "sort -k 1,1nr"
	for (id in compared)
		show(id)
	close(sort)
	for (id in parts)
		if (nr_parts[id] > 1)
			show_parts(id)
	printf "%.1f and %.1f %% without a comparable name\n",
	       100 * other[1] / total[1], 100 * other[2] / total[2]
	exit nr_different > 0
}
