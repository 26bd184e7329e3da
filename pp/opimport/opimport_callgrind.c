// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The format is described in valgrind's manual ("Callgrind Format
 * Specification", cl-format). What that leaves open is as valgrind's own
 * program writes and KCachegrind reads:
 *
 * - fn= goes back to the file of the last fl=, where fi= and fe= had left it.
 *   Unless told, the image of a callee is the caller's, and its file is the one
 *   of the costs at that place, so that of an fi= before it.
 * - A number of a name may be used by all keys of its kind: ob= and cob=, the
 *   files, the functions.
 * - A position that begins with +, - or * rests on that of the last line of
 *   costs, also on one behind calls= or jump=; the target in calls= and jump=
 *   moves nothing.
 *
 * A line behind calls= is the place of the call with the costs below it. The
 * number of calls is no cost, so it is left out, like jumps and addresses.
 */

#include "pp/opimport/opimport_callgrind.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/image/op_code_lines.h"
#include "module/uapi/oprofile.h"
#include "pp/opimport/opimport_callgrind_text.h"
#include "pp/opimport/opimport_graph.h"

#define DAMAGED "; the file is damaged: write it again"
#define MAX_COST (UINT64_C(1) << 56)
#define NO_STRING UINT32_MAX

enum name_kind { NAME_OBJECT, NAME_FILE, NAME_FUNCTION, NR_NAME_KINDS };

struct callgrind_event {
	char name[48];
	uint64_t sum; /* of costs since the last totals: */
};

struct callgrind_reader {
	struct opimport_profile *profile;
	const char *path;
	struct op_diag *diag;
	unsigned long line;
	struct opimport_graph graph;
	struct callgrind_names names[NR_NAME_KINDS];
	/* of the command, and who wrote the file; NULL: unknown */
	const char *command, *creator;
	uint32_t tgid; /* 0: unknown */
	bool has_instr, has_line; /* positions */
	struct callgrind_event events[OP_MAX_COUNTERS];
	unsigned int nr_events;
	unsigned int columns[OP_MAX_COUNTERS]; /* their events */
	unsigned int nr_columns;
	uint64_t address, at; /* position of the last line of costs */
	/* Strings: of the function, and the file of the next costs. */
	uint32_t object, function_file, file;
	uint32_t function; /* UINT32_MAX: none yet */
	/* Strings of the next call; NO_STRING: as the caller's. */
	uint32_t callee_object, callee_file, callee_name;
	bool is_call; /* the next costs are those of a call */
	bool is_ended; /* by totals: */
	bool is_short; /* some costs are not there */
	uint64_t nr_negative, negative; /* costs that are; and their sum */
};

__attribute__((format(printf, 2, 3))) static int
fail_callgrind(const struct callgrind_reader *r, const char *fmt, ...)
{
	char why[OP_DIAG_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	return op_diag_set(r->diag, -EBADMSG, "%s:%lu: %s", r->path, r->line,
			   why);
}

/* ---- names ------------------------------------------------------------------
 */

/* "KEY=NAME" */
static int parse_name_line(struct callgrind_reader *r, const char *key,
			   char *text)
{
	static const struct {
		char key[5];
		enum name_kind kind;
	} keys[] = {
		{ "ob", NAME_OBJECT },	  { "fl", NAME_FILE },
		{ "fi", NAME_FILE },	  { "fe", NAME_FILE },
		{ "fn", NAME_FUNCTION },  { "cob", NAME_OBJECT },
		{ "cfi", NAME_FILE },	  { "cfl", NAME_FILE },
		{ "cfn", NAME_FUNCTION }, { "jfi", NAME_FILE },
		{ "jfn", NAME_FUNCTION }, { "frfn", NAME_FUNCTION },
	};
	uint32_t string;
	size_t i = 0;
	int err;

	while (i < sizeof(keys) / sizeof(*keys) && strcmp(keys[i].key, key))
		i++;
	if (i == sizeof(keys) / sizeof(*keys))
		return fail_callgrind(
			r, "%.20s= is no key of callgrind" DAMAGED, key);
	err = callgrind_name(&r->names[keys[i].kind], &r->graph,
			     callgrind_skip(text), &string);
	if (err == -ENOENT)
		return fail_callgrind(
			r, "a number is used before its name is given" DAMAGED);
	if (err)
		return err;
	if (!strcmp(key, "fn")) {
		r->file = r->function_file;
		return opimport_graph_function(&r->graph, r->object,
					       r->function_file, string,
					       &r->function);
	}
	if (!strcmp(key, "ob"))
		r->object = string;
	else if (!strcmp(key, "fl"))
		r->file = r->function_file = string;
	else if (!strcmp(key, "fi") || !strcmp(key, "fe"))
		r->file = string;
	else if (!strcmp(key, "cob"))
		r->callee_object = string;
	else if (!strcmp(key, "cfi") || !strcmp(key, "cfl"))
		r->callee_file = string;
	else if (!strcmp(key, "cfn"))
		r->callee_name = string;
	return 0;
}

/* ---- costs ------------------------------------------------------------------
 */

/* The number in column @column at *@text, without its sign. */
static int parse_cost(struct callgrind_reader *r, char **text,
		      unsigned int column, uint64_t *count, bool *is_negative)
{
	*is_negative = **text == '-';
	*text += *is_negative;
	if (!callgrind_number(text, count))
		return fail_callgrind(r, "no number where costs are" DAMAGED);
	if (column >= r->nr_columns)
		return fail_callgrind(r,
				      "more costs than the %u events" DAMAGED,
				      r->nr_columns);
	if (*count > MAX_COST)
		return fail_callgrind(r, "a cost of %" PRIu64 DAMAGED, *count);
	*text = callgrind_skip(*text);
	return 0;
}

static int parse_cost_line(struct callgrind_reader *r, char *text)
{
	struct graph_cost cost = { .callee = GRAPH_NO_CALLEE };
	bool is_negative;
	int err = 0;

	if ((r->has_instr && !callgrind_position(&text, &r->address)) ||
	    (text = callgrind_skip(text),
	     r->has_line && !callgrind_position(&text, &r->at)))
		err = fail_callgrind(
			r, "a line of costs begins with no position" DAMAGED);
	if (!err && (r->function == UINT32_MAX || !r->nr_columns))
		err = fail_callgrind(
			r, "costs of no function or of no event" DAMAGED);
	if (!err)
		err = opimport_graph_place(
			&r->graph, r->function, r->file,
			r->has_line && r->at <= OP_CODE_LINE_MAX
				? (uint32_t)r->at
				: 0,
			&cost.place);
	if (!err && r->is_call) {
		r->is_call = false;
		err = opimport_graph_function(
			&r->graph,
			r->callee_object == NO_STRING ? r->object
						      : r->callee_object,
			r->callee_file == NO_STRING ? r->file : r->callee_file,
			r->callee_name, &cost.callee);
	}
	text = callgrind_skip(text);
	for (unsigned int c = 0; !err && *text; c++) {
		err = parse_cost(r, &text, c, &cost.count, &is_negative);
		if (err)
			break;
		/* Memory that Xdebug counts as freed is a negative cost; there
		 * are no negative samples. */
		if (is_negative && cost.callee == GRAPH_NO_CALLEE) {
			r->nr_negative++;
			r->negative = UINT64_MAX - r->negative < cost.count
					      ? UINT64_MAX
					      : r->negative + cost.count;
		}
		if (is_negative)
			cost.count = 0;
		cost.event = r->columns[c];
		if (cost.callee == GRAPH_NO_CALLEE)
			r->events[cost.event].sum += cost.count;
		err = opimport_graph_cost(&r->graph, &cost);
	}
	r->is_ended = false;
	return err;
}

/* ---- the head ---------------------------------------------------------------
 */

/* The number of the event that is called @name, which is a new one if need be.
 */
static int callgrind_event(struct callgrind_reader *r, const char *name,
			   unsigned int *number)
{
	struct callgrind_event *event = &r->events[r->nr_events];
	unsigned int i = 0;
	char clean[sizeof(event->name)];

	snprintf(clean, sizeof(clean), "%s", name);
	for (char *c = clean; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("-_", *c))
			*c = '_';
	while (i < r->nr_events && strcmp(r->events[i].name, clean) != 0)
		i++;
	*number = i;
	if (i < r->nr_events)
		return 0;
	if (r->nr_events == OP_MAX_COUNTERS)
		return fail_callgrind(
			r, "more than %d events; write fewer of them",
			OP_MAX_COUNTERS);
	memcpy(event->name, clean, sizeof(clean));
	r->nr_events++;
	opimport_profile_event(r->profile, clean, 1);
	return 0;
}

static int parse_events_line(struct callgrind_reader *r, char *text)
{
	char *name;
	int err = 0;

	r->nr_columns = 0;
	while (!err && (name = strsep(&text, " \t"))) {
		unsigned int number = 0;

		if (!*name)
			continue;
		err = callgrind_event(r, name, &number);
		for (unsigned int c = 0; !err && c < r->nr_columns; c++)
			if (r->columns[c] == number)
				err = fail_callgrind(
					r,
					"two events are called %.40s" DAMAGED,
					name);
		if (!err)
			r->columns[r->nr_columns++] = number;
	}
	return err;
}

static int parse_positions_line(struct callgrind_reader *r, char *text)
{
	char *name;

	r->has_instr = r->has_line = false;
	while ((name = strsep(&text, " \t"))) {
		if (!strcmp(name, "instr") || !strcmp(name, "addr"))
			r->has_instr = true;
		else if (!strcmp(name, "line"))
			r->has_line = true;
		else if (*name)
			return fail_callgrind(
				r,
				"positions of the unknown kind %.20s; "
				"give instr, line, or both",
				name);
	}
	return 0;
}

/* Compare the costs of a part of the file with the totals that the part gives,
 * from @text, and begin the next part. */
static int check_callgrind_totals(struct callgrind_reader *r, char *text)
{
	for (unsigned int c = 0; c < r->nr_columns; c++) {
		struct callgrind_event *event = &r->events[r->columns[c]];
		bool is_negative = false;
		uint64_t total = 0;
		int err = *text ? parse_cost(r, &text, c, &total, &is_negative)
				: 0;

		if (err)
			return err;
		r->is_short |= !is_negative && event->sum < total;
		event->sum = 0;
	}
	r->is_ended = true;
	return 0;
}

/* "KEY: VALUE", whatever keys there are. */
static int parse_callgrind_head(struct callgrind_reader *r, const char *key,
				char *value)
{
	uint64_t number;

	value = callgrind_skip(value);
	if (!strcmp(key, "events"))
		return parse_events_line(r, value);
	if (!strcmp(key, "positions"))
		return parse_positions_line(r, value);
	if (!strcmp(key, "totals"))
		return check_callgrind_totals(r, value);
	if (!strcmp(key, "cmd") && !r->command)
		r->command = value;
	if (!strcmp(key, "creator"))
		r->creator = value;
	if (!strcmp(key, "pid") && callgrind_number(&value, &number) &&
	    number <= INT32_MAX)
		r->tgid = (uint32_t)number;
	if (!strcmp(key, "version") &&
	    (!callgrind_number(&value, &number) || number > 1))
		return fail_callgrind(
			r, "is of a version of the format that is not known");
	return 0;
}

/* ---- lines ------------------------------------------------------------------
 */

static int parse_key_line(struct callgrind_reader *r, char *line)
{
	size_t len = strcspn(line, "=:");
	char *value = line + len + 1;
	char sign = line[len];
	uint64_t number;

	if (!sign || strspn(line, "abcdefghijklmnopqrstuvwxyz") != len)
		return fail_callgrind(r, "is no line of callgrind" DAMAGED);
	if (r->is_call)
		return fail_callgrind(
			r, "no costs in the line after calls=" DAMAGED);
	line[len] = '\0';
	if (sign == ':')
		return parse_callgrind_head(r, line, value);
	if (!strcmp(line, "calls")) {
		/* "calls=NUMBER POSITION": the costs of the call are in the
		 * next line. */
		value = callgrind_skip(value);
		if (!callgrind_number(&value, &number) ||
		    r->callee_name == NO_STRING)
			return fail_callgrind(
				r,
				"calls= without a number or a function" DAMAGED);
		r->is_call = true;
		return 0;
	}
	if (!strcmp(line, "jump") || !strcmp(line, "jcnd"))
		return 0;
	return parse_name_line(r, line, value);
}

static int parse_callgrind_line(struct callgrind_reader *r, char *line)
{
	size_t len = strlen(line);
	bool was_call = r->is_call;
	int err;

	while (len && strchr(" \t\r", line[len - 1]))
		line[--len] = '\0';
	line = callgrind_skip(line);
	if (!*line || *line == '#')
		return 0;
	if (!isdigit((unsigned char)*line) && !strchr("+-*", *line))
		return parse_key_line(r, line);
	err = parse_cost_line(r, line);
	if (was_call)
		r->callee_object = r->callee_file = r->callee_name = NO_STRING;
	return err;
}

/* ---- all of it --------------------------------------------------------------
 */

/* Programs of which it is known that they end a file by its totals. */
static bool ends_with_totals(const struct callgrind_reader *r)
{
	return r->creator && (!strncmp(r->creator, "callgrind", 9) ||
			      !strncmp(r->creator, "oprofile", 8));
}

static int check_callgrind_end(struct callgrind_reader *r)
{
	if (r->is_call)
		return fail_callgrind(r, "ends after calls=" DAMAGED);
	if (!r->graph.nr_costs)
		return op_diag_set(r->diag, -EBADMSG,
				   "%s: has no costs; " OPIMPORT_CURE, r->path);
	if (!r->is_ended && ends_with_totals(r))
		return fail_callgrind(
			r,
			"ends without totals, so it is cut short: write it again");
	if (r->nr_negative) {
		fprintf(stderr,
			"opimport: warning: %s: negative costs, which samples cannot have: %" PRIu64
			" of -%" PRIu64
			" in all are left out, and lost in the account\n",
			r->path, r->nr_negative, r->negative);
		opimport_profile_lose(r->profile, r->negative, "lost_negative");
	}
	if (r->is_short)
		fprintf(stderr,
			"opimport: warning: %s: its functions have less than its totals; the rest was left out when it was written\n",
			r->path);
	return 0;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Whether some function has an object. */
static bool knows_objects(const struct callgrind_reader *r)
{
	for (size_t i = 0; i < r->graph.nr_functions; i++)
		if (*r->graph.strings.list[r->graph.functions[i].object])
			return true;
	return false;
}

/*
 * Tell where the profile is from: of the object that the command names; where
 * no objects are told, of the command or else of the file itself; else nobody
 * says which program ran.
 */
static int add_callgrind_samples(struct callgrind_reader *r)
{
	size_t len = r->command ? strcspn(r->command, " \t") : 0;
	char program[256];

	snprintf(program, sizeof(program), "%.*s", (int)(len < 256 ? len : 0),
		 r->command ?: "");
	for (size_t i = 0; *program && i < r->graph.nr_functions; i++) {
		const char *object =
			r->graph.strings.list[r->graph.functions[i].object];

		if (!strcmp(last_part(object), last_part(program)))
			return opimport_graph_tell(&r->graph, r->profile,
						   r->tgid, object);
	}
	if (knows_objects(r))
		return opimport_graph_tell(&r->graph, r->profile, r->tgid,
					   NULL);
	return opimport_graph_tell(&r->graph, r->profile, r->tgid,
				   last_part(*program ? program : r->path));
}

int opimport_callgrind(struct opimport_profile *profile, const char *path,
		       char *text, size_t len, struct op_diag *diag)
{
	struct callgrind_reader r = {
		.profile = profile,
		.path = path,
		.diag = diag,
		.has_line = true,
		.function = UINT32_MAX,
		.callee_object = NO_STRING,
		.callee_file = NO_STRING,
		.callee_name = NO_STRING,
	};
	char *rest = text;
	int err;

	(void)len;
	opimport_graph_init(&r.graph);
	err = opimport_graph_string(&r.graph, "", &r.object);
	r.file = r.function_file = r.object;
	while (!err && rest) {
		r.line++;
		err = parse_callgrind_line(&r, strsep(&rest, "\n"));
	}
	if (!err)
		err = check_callgrind_end(&r) ?: add_callgrind_samples(&r);
	for (size_t i = 0; i < NR_NAME_KINDS; i++)
		callgrind_names_release(&r.names[i]);
	opimport_graph_release(&r.graph);
	return err;
}
