// SPDX-License-Identifier: GPL-2.0-or-later
/* The daemon's command line: what it says, and what is refused. */

#include <inttypes.h>

#include "tests/unit/opd_fixture.h"
#include "tests/unit/rows.h"

static void show_text(FILE *out, const char *name, const char *text)
{
	if (text)
		fprintf(out, "%s=%s\n", name, text);
}

/* Without any, the timer is the one event. */
static void show_events(FILE *out, const struct opd_events *events)
{
	struct opd_events timer;

	opd_events_timer(&timer);
	if (!events->nr)
		fputs("no event\n", out);
	for (unsigned int i = 0; i < events->nr; i++) {
		const struct opd_event *e = &events->counter[i];

		/* Both were filled with zeros first. */
		/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
		if (e->set && memcmp(e, &timer.counter[i], sizeof(*e)))
			fprintf(out, "event %u %s %lu %lu %lu%s%s %lu\n", i,
				e->name, (unsigned long)e->value,
				(unsigned long)e->count, (unsigned long)e->um,
				e->kernel ? " kernel" : "",
				e->user ? " user" : "",
				(unsigned long)e->config);
	}
	if (events->weights)
		fputs("with weights\n", out);
}

/* What is not as without any option: the timer, for one. */
static void show_options(FILE *out, const struct opd_options *o)
{
	show_text(out, "session-dir", o->session_dir);
	show_text(out, "vmlinux", o->vmlinux);
	if (strcmp(o->source, "oprofilefs") != 0)
		show_text(out, "source", o->source);
	show_text(out, "source-reason", o->source_reason);
	show_text(out, "record", o->record);
	if (o->has_readers)
		fprintf(out, "readers=%u\n", (unsigned int)o->readers);
	if (o->max_disk)
		fprintf(out, "max-disk=%u\n", o->max_disk);
	if (o->history.bytes)
		fprintf(out, "history=%" PRIu64 "\n", o->history.bytes);
	if (o->pack_at != 8)
		fprintf(out, "pack-at=%u\n", o->pack_at);
	if (o->ready_fd != -1)
		fprintf(out, "ready-fd=%d\n", o->ready_fd);
	for (unsigned int i = 0; i < o->nr_images; i++)
		show_text(out, "image", o->images[i]);
	for (char **at = o->ext_features; at && *at; at++)
		show_text(out, "ext-feature", *at);
	if (o->separate_lib || o->separate_kernel || o->separate_thread ||
	    o->separate_cpu)
		fprintf(out, "separate%s%s%s%s\n",
			o->separate_lib ? " lib" : "",
			o->separate_kernel ? " kernel" : "",
			o->separate_thread ? " thread" : "",
			o->separate_cpu ? " cpu" : "");
	if (o->foreground)
		fputs("foreground\n", out);
	if (o->version)
		fputs("version\n", out);
	if (o->verbose)
		fprintf(out, "verbose=0x%x\n", o->verbose);
	if (o->ignored)
		fprintf(out, "ignored=0x%x\n", o->ignored);
}

/* The script is the command line. */
static void run_options(const struct row *row, FILE *out)
{
	const char *argv[16] = { "oprofiled" };
	struct opd *opd = calloc(1, sizeof(*opd));
	struct op_diag diag = { "" };
	char *text = strdup(row->script), *rest;
	int argc = 1, err;

	assert_non_null(opd);
	assert_non_null(text);
	for (char *at = strtok_r(text, " ", &rest); at;
	     at = strtok_r(NULL, " ", &rest))
		argv[argc++] = at;
	err = opd_options_parse(&opd->options, argc, argv, &diag)
		      ?: opd_extended_init(&opd->extended,
					   opd->options.ext_features,
					   opd->options.source,
					   &opd->options.events, &diag);
	assert_true(err <= 0);
	if (err) {
		fprintf(out, "%s\n", diag.text);
	} else {
		show_options(out, &opd->options);
		show_events(out, &opd->options.events);
	}
	opd_extended_release(&opd->extended);
	opd_options_release(&opd->options);
	free(text);
	free(opd);
}

static const struct row rows[] = {
	{ "nothing", NULL, "", NULL },
	{ "what_has_a_value", NULL,
	  "--session-dir=/a --source=perf:pid=5 --source-reason=why"
	  " --record=/r --ready-fd=7 --pack-at=9",
	  EXPECTED_ROW },
	{ "replays_stay_in_the_foreground", NULL, "--source=file:/x",
	  EXPECTED_ROW },
	{ "flags", NULL, "--foreground --no-vmlinux", "foreground\n" },
	{ "a_range_of_the_kernel", NULL, "-r ffffffff81000000,ffffffff82000000",
	  "ignored=0x1\n" },
	{ "a_hypervisor", NULL, "--xen-image=/x --xen-range=1,2",
	  "ignored=0x6\n" },
	{ "a_version_needs_nothing_else", NULL, "-v --source=nowhere",
	  EXPECTED_ROW },
	{ "a_source_that_is_not", NULL, "--source=nowhere:/x",
	  "--source=nowhere:/x: no such source; the sources are oprofilefs, oprofilefs:DIR, perf, perf:exec=PID, perf:pid=PID, perfdata:PATH and file:PATH\n" },
	{ "libraries", NULL, "--separate-lib=1", "separate lib\n" },
	{ "the_kernel_and_libraries", NULL, "--separate-kernel=1",
	  "separate lib kernel\n" },
	{ "threads", NULL, "--separate-thread=1", "separate thread\n" },
	{ "cpus", NULL, "--separate-cpu=1 --separate-lib=0", "separate cpu\n" },
	{ "separate_lib_2", NULL, "--separate-lib=2",
	  "--separate-lib=2: must be 0 or 1\n" },
	{ "separate_cpu_minus", NULL, "--separate-cpu=-1",
	  "--separate-cpu=-1: must be 0 or 1\n" },
	{ "a_group_by_number", NULL, "--readable-by=77", "readers=77\n" },
	{ "a_group_by_name", NULL, "--readable-by=root", "readers=0\n" },
	{ "no_group", NULL, "--readable-by=-1",
	  "--readable-by=-1: no such group; getent group lists them\n" },
	{ "no_group_as_chown_has_it", NULL, "--readable-by=4294967295",
	  "--readable-by=4294967295: no such group; getent group lists them\n" },
	{ "never_pack", NULL, "--pack-at=0", "pack-at=0\n" },
	{ "pack_late", NULL, "--pack-at=1048576", "pack-at=1048576\n" },
	{ "pack_too_late", NULL, "--pack-at=1048577",
	  "--pack-at=1048577: must be a number of MiB from 0 to 1048576\n" },
	{ "pack_below_nothing", NULL, "--pack-at=-1",
	  "--pack-at=-1: must be a number of MiB from 0 to 1048576\n" },
	{ "little_disk", NULL, "--max-disk=1", "max-disk=1\n" },
	{ "any_disk", NULL, "--max-disk=0", NULL },
	{ "history", NULL, "--history=8M,day:3d", "history=8388608\n" },
	{ "no_history", NULL, "--history=none", NULL },
	{ "history_of_weeks", NULL, "--history=8M,week:3d",
	  "--history=8M,week:3d: give a size, at least 8M, and how long to keep which spans, such as --history=500M,minute:2h,hour:7d,day:90d (fine spans first, each kept longer than those before), or none\n" },
	{ "disk_below_nothing", NULL, "--max-disk=-1",
	  "--max-disk=-1: must be a number of MiB from 0 to 1048576\n" },
	{ "no_number", NULL, "--pack-at=x",
	  "--pack-at=x: invalid numeric value; see oprofiled --help\n" },
	{ "all_words", NULL, "--verbose", "verbose=0x3f\n" },
	{ "some_words", NULL, "--verbose=samples,module", "verbose=0xc\n" },
	{ "other_words", NULL, "--verbose=sfile,arcs", "verbose=0x3\n" },
	{ "the_last_words", NULL, "--verbose=misc,ext", "verbose=0x30\n" },
	{ "verbose_again", NULL, "-V --verbose=misc", "verbose=0x10\n" },
	{ "no_such_word", NULL, "--verbose=misc,much",
	  "--verbose=much: unknown word; use sfile, arcs, samples, module, misc, ext or all\n" },
	/* A path is kept with its links and without. */
	{ "images", NULL, "--image=ext4,,/proc/1/../1/none,/usr/../etc",
	  EXPECTED_ROW },
	{ "an_image_twice_the_same", NULL, "--image=/etc", "image=/etc\n" },
	{ "a_folder_is_no_module", NULL, "--image=etc", "image=etc\n" },
	{ "a_kernel_of_elsewhere", NULL,
	  "--source=file:/x --vmlinux=/none/vmlinux", EXPECTED_ROW },
	{ "a_kernel_without_a_path", NULL,
	  "--source=file:/x --vmlinux=none-vmlinux",
	  "--vmlinux=none-vmlinux: No such file or directory; give the uncompressed kernel image, or leave the option out\n" },
	{ "a_kernel_with_links", NULL,
	  "--source=file:/x --vmlinux=/usr/../dev/null", EXPECTED_ROW },
	{ "a_kernel_that_is_not", NULL, "--vmlinux=/none/vmlinux",
	  "--vmlinux=/none/vmlinux: No such file or directory; give the path of an uncompressed kernel, or leave the option out\n" },
	{ "both_kinds_of_kernel", NULL, "--vmlinux=/x --no-vmlinux",
	  "--vmlinux and --no-vmlinux: give only one of them\n" },
	{ "an_unknown_option", NULL, "--separate-all=1",
	  "--separate-all=1: unknown option; did you mean --separate-lib? oprofiled --help lists all\n" },
	{ "an_argument", NULL, "--foreground start",
	  "start: unexpected argument; see --help\n" },
	{ "events", NULL, "--events=A:118:0:100000:1:1:0,B:119:3:5000:0:0:1:77",
	  EXPECTED_ROW },
	{ "an_event_of_too_few_parts", NULL, "--events=A:118:0",
	  "event 'A:118:0': the form is name:value:counter:count:um:kernel:user[:config]\n" },
	/* ---- features ---- */
	{ "weights", NULL, "--ext-feature=weight", EXPECTED_ROW },
	{ "weights_have_no_arguments", NULL, "--ext-feature=weight:5",
	  "weight: '5': it takes no arguments\n" },
	{ "ibs_leaves_out_the_timer", NULL,
	  "--ext-feature=ibs:op:IBS_OP_ALL:64:1", EXPECTED_ROW },
	{ "ibs_leaves_out_no_event", NULL,
	  "--ext-feature=ibs:op:IBS_OP_ALL:64:1"
	  " --events=A:118:0:100000:1:1:0",
	  EXPECTED_ROW },
	{ "perf_events_has_no_samples_for_features", NULL,
	  "--source=perf --ext-feature=ibs:op:IBS_OP_ALL:64:1",
	  "--ext-feature: the source perf cannot take samples for features; use the module, --source=oprofilefs\n" },
	{ "two_features", NULL,
	  "--ext-feature=weight --ext-feature=ibs:fetch:IBS_FETCH_ALL:16:0",
	  EXPECTED_ROW },
	{ "both_kinds_of_ibs", NULL,
	  "-x ibs:op:IBS_OP_ALL,:4294967280:7|fetch:IBS_FETCH_ALL:16:0",
	  EXPECTED_ROW },
	{ "an_unknown_feature", NULL, "--ext-feature=ibz",
	  "--ext-feature=ibz: no such feature; the features are ibs:fetch:EVENT,...:COUNT:UM|op:EVENT,...:COUNT:UM, weight\n" },
	{ "half_a_name", NULL, "--ext-feature=ib:op:IBS_OP_ALL:64:1",
	  "--ext-feature=ib:op:IBS_OP_ALL:64:1: no such feature; the features are ibs:fetch:EVENT,...:COUNT:UM|op:EVENT,...:COUNT:UM, weight\n" },
	{ "a_feature_twice", NULL, "-x weight -x weight",
	  "--ext-feature=weight: given twice; give all of it in one\n" },
	{ "an_unknown_event", NULL, "-x ibs:op:IBS_OP_ALL,IBS_OP_NO:64:1",
	  "ibs: IBS_OP_NO: IBS has no event of this name; ophelp lists them\n" },
	{ "half_an_event", NULL, "-x ibs:op:IBS_OP_AL:64:1",
	  "ibs: IBS_OP_AL: IBS has no event of this name; ophelp lists them\n" },
	{ "an_event_of_the_other_kind", NULL, "-x ibs:op:IBS_FETCH_ALL:64:1",
	  "ibs: IBS_FETCH_ALL: an event of fetch, not of op; give it there\n" },
	{ "an_op_among_fetches", NULL, "-x ibs:fetch:IBS_OP_ALL:64:0",
	  "ibs: IBS_OP_ALL: an event of op, not of fetch; give it there\n" },
	{ "an_event_twice", NULL, "-x ibs:op:IBS_OP_ALL,IBS_OP_ALL:64:1",
	  "IBS_OP_ALL: given twice\n" },
	{ "no_event", NULL, "-x ibs:op::64:1",
	  "ibs: op: no event; give one or more\n" },
	{ "an_odd_count", NULL, "-x ibs:op:IBS_OP_ALL:50001:1",
	  "ibs: op: count 50001 is not a multiple of 16; give one, such as 50000\n" },
	{ "a_count_of_0", NULL, "-x ibs:op:IBS_OP_ALL:0:1",
	  "ibs: op: count 0 is not a multiple of 16; give one, such as 50000\n" },
	{ "a_count_too_large", NULL, "-x ibs:op:IBS_OP_ALL:4294967296:1",
	  "ibs: op: count 4294967296 is not a multiple of 16; give one, such as 50000\n" },
	{ "no_count", NULL, "-x ibs:op:IBS_OP_ALL:many:1",
	  "ibs: op: count many is not a multiple of 16; give one, such as 50000\n" },
	{ "a_unit_mask_of_fetches", NULL, "-x ibs:fetch:IBS_FETCH_ALL:64:1",
	  "ibs: fetch: unit mask 1 is not possible; give only 0\n" },
	{ "a_unit_mask_too_many", NULL, "-x ibs:op:IBS_OP_ALL:64:8",
	  "ibs: op: unit mask 8 is not possible; give bits of 0x7\n" },
	{ "no_unit_mask", NULL, "-x ibs:op:IBS_OP_ALL:64:",
	  "ibs: op: unit mask  is not possible; give bits of 0x7\n" },
	{ "a_kind_twice", NULL, "-x ibs:op:IBS_OP_ALL:64:1|op:IBS_OP_LOAD:64:1",
	  "ibs: op: given twice\n" },
	{ "no_kind", NULL, "-x ibs",
	  "ibs: '': the form is fetch:EVENT,...:COUNT:UM|op:EVENT,...:COUNT:UM\n" },
	{ "no_kind_again", NULL, "-x ibs:op:IBS_OP_ALL:64:1|",
	  "ibs: '': the form is fetch:EVENT,...:COUNT:UM|op:EVENT,...:COUNT:UM\n" },
	{ "nothing_of_a_kind", NULL, "-x ibs:op",
	  "ibs: op: the form is fetch:EVENT,...:COUNT:UM|op:EVENT,...:COUNT:UM\n" },
	{ "too_few_parts", NULL, "-x ibs:op:IBS_OP_ALL:64",
	  "ibs: op: the form is fetch:EVENT,...:COUNT:UM|op:EVENT,...:COUNT:UM\n" },
	{ "too_many_parts", NULL, "-x ibs:op:IBS_OP_ALL:64:1:1",
	  "ibs: op: the form is fetch:EVENT,...:COUNT:UM|op:EVENT,...:COUNT:UM\n" },
};

TEST_ROWS(test_row, rows)
{
	check_row(*state, run_options);
}
