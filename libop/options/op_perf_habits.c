// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A table of words, as data. It is asked when a program is about to refuse a
 * word, so no row can take an option away from a program. Some mean something
 * else with us: these are looked up when what follows them makes no sense for
 * ours.
 */

#include "libop/options/op_perf_habits.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*
 * The programs that do not know a word, the spellings of that word, and the
 * advice. In an advice "@" is the value of the option; where no value was
 * given, what stands behind "@" up to the next blank: "--rate=@HZ".
 */
struct habit {
	const char *programs, *words, *advice;
};

/* clang-format off */
static const struct habit habits[] = {
	/* perf record */
	{ "operf", "-F --freq", "use --rate=@HZ" },
	{ "operf", "--call-graph", "use -g; stacks are whole without frame pointers, and no stack memory is kept" },
	{ "operf", "-o --output", "samples go to a folder; use --session-dir=@DIR" },
	{ "operf", "--all-cpus", "use --system-wide" },
	{ "operf", "-C --cpu", "use --separate=cpu, then opreport cpu:@LIST" },
	{ "operf", "-G", "use --cgroup=@PATH" },
	{ "operf", "--tid --per-thread", "use --pid=PID --separate=thread, then opreport tid:@TID" },
	{ "operf", "-c", "separates CPUs; a count goes with the event: --events=NAME:@COUNT" },
	{ "operf", "-t", "separates threads; for one use --pid=PID -t, then opreport tid:@TID" },
	{ "operf", "--count", "give the count with the event: --events=NAME:@COUNT" },
	{ "operf", "--event", "use --events=@NAME:COUNT" },
	{ "operf", "-b --branch-any -j --branch-filter", "branches are not recorded; use -g for callers" },
	{ "operf", "-m --mmap-pages", "leave it out; buffers have the size that the samples need, and losses are counted" },
	{ "operf", "-z --compression-level", "leave it out; samples are added up and packed, see --pack-at" },
	{ "operf", "--switch-output", "use --history=SIZE, which keeps samples by time" },
	{ "operf", "--user-regs --user-callchains --all-user", "use -e NAME:COUNT:UNITMASK:0:1 for user code alone" },
	/* perf's commands; those that are programs, such as top, are run */
	{ "operf ocount", "record", "OProfile has a program for each task; write operf and the command" },
	{ "operf ocount", "report", "OProfile has a program for each task; run opreport" },
	{ "operf ocount", "annotate", "OProfile has a program for each task; run opannotate --source" },
	{ "operf ocount", "list", "OProfile has a program for each task; run ophelp" },
	/* perf report and perf annotate */
	{ "opreport opannotate", "--stdio", "leave it out; text is the default" },
	{ "opreport opannotate", "--tui --gtk", "use optop in a terminal, or opreport --html=FILE" },
	{ "opreport opannotate", "--input", "use --session-dir=DIR; for a file of perf: opimport -o DIR @FILE" },
	{ "opreport", "--no-children", "leave it out; -l sorts by a symbol's own samples, with those of all that it called beside them" },
	{ "opreport", "--children", "use -l --sort=total" },
	{ "opreport", "-G --inverted", "use --tree=callers" },
	{ "opreport", "--call-graph", "use --tree, or --tree=callers" },
	{ "opreport", "--percent-limit", "use --threshold=@PERCENT" },
	{ "opreport", "-S --symbol-filter", "use --include-symbols=@NAMES" },
	{ "opreport", "--dsos --dso", "name images: opreport image:@PATH" },
	{ "opreport", "--comms --comm", "name programs: opreport image:@PATH" },
	{ "opreport", "--pid", "name processes: opreport tgid:@PID" },
	{ "opreport", "--tid", "name threads: opreport tid:@TID" },
	{ "opreport", "-C --cpu", "name CPUs: opreport cpu:@LIST" },
	{ "opreport", "--show-nr-samples --show-total-period --header", "leave it out; counts and the head are always shown" },
	{ "opreport", "-F --fields", "use --sort=KEYS for the order; --csv and --json have all columns" },
	{ "opreport", "caller callee graph fractal flat folded none", "-g is for source lines; callers and callees are in opreport --tree and --callgraph" },
	{ "opreport", "--sort=dso", "use --sort=image" },
	{ "opreport", "--sort=sym", "use --sort=symbol" },
	{ "opreport", "--sort=comm", "use --sort=app-name" },
	{ "opreport", "--sort=overhead --sort=overhead_children", "use --sort=sample or --sort=total" },
	{ "opreport", "--sort=srcline --sort=srcfile", "use --lines, which adds up by source lines" },
	{ "opreport", "--sort=pid --sort=tid --sort=cpu --sort=cgroup", "separated samples are columns; see --merge" },
	{ "opannotate", "-l --print-line", "use --source" },
	{ "opannotate", "-M --disassembler-style", "use --assembly --objdump-params='-M @intel'" },
	{ "opannotate", "--symbol -S", "use --include-symbols=@NAMES" },
	/* perf stat */
	{ "ocount", "-a --all-cpus", "use --system-wide" },
	{ "ocount", "-I --interval-print", "use --time-interval=@MS" },
	{ "ocount", "-x --field-separator", "use --brief-format, which separates by commas" },
	{ "ocount", "-o --output", "use --output-file=@FILE" },
	{ "ocount", "--repeat", "runs are not repeated; call ocount in a loop" },
	{ "ocount", "-A --no-aggr", "use --separate-cpu" },
	{ "ocount", "--pid", "use --process-list=@PIDS" },
	{ "ocount", "--tid", "use --thread-list=@TIDS" },
	{ "ocount", "-d --detailed", "name the events: --events=NAME,NAME; ophelp lists them" },
};
/* clang-format on */

static bool lists_word(const char *list, const char *word)
{
	size_t len = strlen(word);
	const char *at = list;

	while ((at = strstr(at, word))) {
		if ((at == list || at[-1] == ' ') &&
		    (at[len] == ' ' || !at[len]))
			return true;
		at += len;
	}
	return false;
}

/* @advice with @value in it. */
static void write_advice(char *to, size_t len, const char *advice,
			 const char *value)
{
	const char *at = strchr(advice, '@');
	size_t name_len;

	if (!at) {
		snprintf(to, len, "%s", advice);
		return;
	}
	name_len = strcspn(at + 1, " ;'");
	snprintf(to, len, "%.*s%.*s%s", (int)(at - advice), advice,
		 value ? (int)strlen(value) : (int)name_len,
		 value ? value : at + 1, at + 1 + name_len);
}

int op_perf_habit(struct op_diag *diag, const char *program, const char *word,
		  const char *value)
{
	char advice[512];

	for (size_t i = 0; *word && i < sizeof(habits) / sizeof(*habits); i++) {
		if (!lists_word(habits[i].programs, program) ||
		    !lists_word(habits[i].words, word))
			continue;
		write_advice(advice, sizeof(advice), habits[i].advice, value);
		return op_diag_set(diag, -EINVAL, "%s: %s", word, advice);
	}
	return 0;
}
