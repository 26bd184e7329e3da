// SPDX-License-Identifier: GPL-2.0-or-later
/* Profile specifications: what words say, which files they choose, what is
 * said of words that choose none. */

#include "tests/unit/pp_fixture.h"

#include "libop/base/op_near_names.h"
#include "libpp/select/profile_spec.h"
#include "libpp/select/sample_list.h"

/* ---- commas -------------------------------------------------------------- */

TEST(commas_split_text)
{
	static const struct {
		const char *text, *parts;
	} rows[] = {
		{ "", "<>" },
		{ "a", "<a>" },
		{ "a,bc", "<a><bc>" },
		{ ",", "<><>" },
		{ "a,", "<a><>" },
		{ ",,b", "<><><b>" },
		{ "a\\,b,c", "<a,b><c>" },
		{ "a\\\\,b", "<a\\><b>" },
		{ "a\\b", "<a\\b>" },
		{ "\\", "<\\>" },
		{ "1,2,3,4,5", "<1><2><3><4><5>" },
	};
	struct op_arena arena;

	op_arena_init(&arena);
	for (size_t i = 0; i < NR(rows); i++) {
		const char **parts;
		int nr = pp_split_commas(&arena, rows[i].text, &parts);
		struct text t;
		FILE *out = text_begin(&t);

		for (int k = 0; k < nr; k++)
			fprintf(out, "<%s>", parts[k]);
		text_must_be(&t, rows[i].text, rows[i].parts);
	}
	op_arena_release(&arena);
}

/* ---- words --------------------------------------------------------------- */

/* @mark and @path, with '$' for the working folder @folder in front of it. */
static void write_path(FILE *out, const char *mark, const char *path,
		       const char *folder)
{
	size_t len = strlen(folder);
	bool is_below = !strncmp(path, folder, len);

	fprintf(out, "%s%s%s", mark, is_below ? "$" : "",
		path + (is_below ? len : 0));
}

/* "tag: text ...", with what else differs from the text: =PATTERN, #NUMBER,
 * ~ where a base name will do, <-LINK, [KEY] of a label and @BEGIN-END of a
 * time. $ is the working folder. */
static void write_list(FILE *out, enum pp_spec_tag tag,
		       const struct pp_spec_list *list, const char *folder)
{
	if (!list->nr)
		return;
	fprintf(out, "%s:", pp_spec_tag_name(tag));
	for (size_t i = 0; i < list->nr; i++) {
		const struct pp_spec_item *item = &list->items[i];

		fprintf(out, " %s", item->text);
		if (strcmp(item->pattern, item->text))
			write_path(out, "=", item->pattern, folder);
		if (item->link)
			write_path(out, "<-", item->link, folder);
		if (item->key)
			fprintf(out, "[%s]", item->key);
		if (item->range.to)
			fprintf(out, "@%lld-%lld",
				(long long)(item->range.from / PP_TIME_NS),
				(long long)(item->range.to / PP_TIME_NS));
		if (item->number)
			fprintf(out, "#%llu", (unsigned long long)item->number);
		if (item->base)
			fputs("~", out);
	}
	fputs("; ", out);
}

static void write_spec(FILE *out, const struct pp_spec *spec,
		       const char *folder)
{
	for (int tag = 0; tag < PP_NR_SPEC_TAGS; tag++)
		write_list(out, tag, &spec->lists[tag], folder);
}

/* Each row's words as one line, what they say or why they are refused. */
struct said {
	const char *words, *outcome;
};

FOLDER_TEST(words_say)
{
	static const struct said rows[] = {
		{ "", "" },
		{ "name", "path: name~; " },
		{ "file", "path: file=$/file; " },
		{ "./file", "path: ./file=$/file; " },
		{ "link", "path: link=$/file<-$/link; " },
		{ "./link", "path: ./link=$/file<-$/link; " },
		{ "folder/../link", "path: folder/../link=$/file<-$/link; " },
		{ "folder/inner",
		  "path: folder/inner=$/file<-$/folder/inner; " },
		{ "way/inner", "path: way/inner=$/file<-$/folder/inner; " },
		{ "way/own", "path: way/own=$/folder/own; " },
		{ "way", "path: way=$/folder<-$/way; " },
		{ "/proc", "path: /proc; " },
		{ "./none", "path: ./none=$/none; " },
		{ "sub/none", "path: sub/none=$/sub/none; " },
		{ "./*", "path: ./*=$/*; " },
		{ "*/none", "path: */none; " },
		{ "/none/x", "path: /none/x; " },
		{ "a b", "path: a~ b~; " },
		{ "a a", "path: a~ a~; " },
		{ "imag:x", "path: imag:x~; " },
		{ "images:x", "path: images:x~; " },
		{ ":x", "path: :x~; " },
		{ "path:x", "path: path:x~; " },
		{ "image:a,b", "image: a~ b~; " },
		{ "image:./file", "image: ./file; " },
		{ "lib-image:/l*", "lib-image: /l*; " },
		{ "image-exclude:*", "image-exclude: *~; " },
		{ "event:A\\,B,C", "event: A,B C; " },
		{ "count:100000", "count: 100000#100000; " },
		{ "unit-mask:0x10", "unit-mask: 0x10#16; " },
		{ "tgid:1,2,18446744073709551615",
		  "tgid: 1#1 2#2 18446744073709551615#18446744073709551615; " },
		{ "tid:7", "tid: 7#7; " },
		{ "cpu:0", "cpu: 0; " },
		{ "session:x session-exclude:y",
		  "session: x; session-exclude: y; " },
		{ "archive:.", "archive: .=$; " },
		{ "build-id:0aBc,1", "build-id: 0aBc 1; " },
		{ "cgroup:docker:*,/a/b", "cgroup: docker:*~ /a/b; " },
		{ "host:a*,b/c", "host: a*~ b/c; " },
		{ "label:team=x*,rack.1=a=b",
		  "label: team=x*=x*[team] rack.1=a=b=a=b[rack.1]; " },
		{ "label:team",
		  "label:team: 'team' is no label; give KEY=VALUE" },
		{ "label:team=",
		  "label:team=: 'team=' is no label; give KEY=VALUE" },
		{ "label:=x", "label:=x: '=x' is no label; give KEY=VALUE" },
		{ "label:a=b,Team=x",
		  "label:a=b,Team=x: 'Team=x' is no label; give KEY=VALUE" },
		{ "label:all", "" },
		{ "time:@100-@250,@7-@8",
		  "time: @100-@250@100-250 @7-@8@7-8; " },
		{ "time:@100-@90",
		  "time:@100-@90: this ends before it begins; give the earlier time first" },
		{ "cpu:all", "" },
		{ "cpu:1,all", "" },
		{ "cpu:alls", EXPECTED_ROW },
		{ "cpu:1 cpu:2", "cpu: 2#2; " },
		{ "cpu:1 cpu:all", "" },
		{ "cpu:1 tgid:2 cpu:1", "cpu:1: given twice; leave one out" },
		{ "tid:1,x", EXPECTED_ROW },
		{ "tid:-1", EXPECTED_ROW },
		{ "event:", "event:: an item is empty; give TAG:ITEM,ITEM" },
		{ "event:A,,B",
		  "event:A,,B: an item is empty; give TAG:ITEM,ITEM" },
		{ "archive:/none", EXPECTED_ROW },
	};
	const char *words[8];
	char copy[128];

	write_text("file", "");
	assert_int_equal(symlink("file", "link"), 0);
	assert_int_equal(mkdir("folder", 0755), 0);
	write_text("folder/own", "");
	assert_int_equal(symlink("../file", "folder/inner"), 0);
	assert_int_equal(symlink("folder", "way"), 0);
	for (size_t i = 0; i < NR(rows); i++) {
		struct op_diag diag = { "" };
		struct pp_spec spec;
		struct text t;
		FILE *out = text_begin(&t);
		int err;

		split_words(rows[i].words, copy, words, NR(words));
		err = pp_spec_init(&spec, words, &diag);
		if (err)
			fputs(diag.text, out);
		else
			write_spec(out, &spec, *state);
		assert_int_equal(err, diag.text[0] ? -EINVAL : 0);
		text_must_be(&t, rows[i].words, rows[i].outcome);
		pp_spec_release(&spec);
	}
}

TEST(an_empty_word_is_refused)
{
	const char *const words[] = { "", NULL };
	struct op_diag diag = { "" };
	struct pp_spec spec;

	assert_int_equal(pp_spec_init(&spec, words, &diag), -EINVAL);
	assert_string_equal(
		diag.text,
		"an empty word does not name an image; leave it out");
	pp_spec_release(&spec);
	assert_int_equal(pp_spec_init(&spec, NULL, &diag), 0);
	pp_spec_release(&spec);
}

/* ---- braces -------------------------------------------------------------- */

#define COMPARE "; compare with \"{ OLD... } { NEW... }\""

TEST(braces_part_two_profiles)
{
	static const struct said rows[] = {
		{ "", "new " },
		{ "cpu:1", "new cpu: 1#1; " },
		{ "{ cpu:1 } { cpu:2 }", "new cpu: 2#2; old cpu: 1#1; " },
		{ "{ cpu:1 } {}", "new old cpu: 1#1; " },
		{ "{ cpu:1 } { }", "new old cpu: 1#1; " },
		{ "tid:3 { cpu:1 } { cpu:2 } event:E", EXPECTED_ROW },
		{ "{ cpu:1 event:E } { cpu:2 }",
		  "new cpu: 2#2; old event: E; cpu: 1#1; " },
		{ "{ cpu:1 }", "a brace is missing" COMPARE },
		{ "{ cpu:1", "a brace is missing" COMPARE },
		{ "{ cpu:1 } {", "a brace is missing" COMPARE },
		{ "{}", "a brace is missing" COMPARE },
		{ "{ }  { cpu:2 }", "the first braces are empty" COMPARE },
		{ "{} {}", "the first braces are empty" COMPARE },
		{ "tid:3 {} { cpu:2 }", "the first braces are empty" COMPARE },
		{ "}", "a '}' is out of place" COMPARE },
		{ "{ a } }", "a '}' is out of place" COMPARE },
		{ "{ a } { b } }", "a '}' is out of place" COMPARE },
		{ "{ {", "a '{' is out of place" COMPARE },
		{ "{ a } { {", "a '{' is out of place" COMPARE },
		{ "{ a } {} {", "a '{' is out of place" COMPARE },
		{ "{ a } {} {}", "a '{' is out of place" COMPARE },
		{ "{ a } b {}",
		  "words between '}' and '{' belong to neither side" COMPARE },
		{ "{ cpu:x } {}", EXPECTED_ROW },
		{ "{ cpu:1 } { cpu:x }", EXPECTED_ROW },
	};
	const char *words[12];
	char copy[128];

	for (size_t i = 0; i < NR(rows); i++) {
		struct op_diag diag = { "" };
		struct pp_spec_pair pair;
		struct text t;
		FILE *out = text_begin(&t);
		int err;

		split_words(rows[i].words, copy, words, NR(words));
		err = pp_spec_pair_init(&pair, words, &diag);
		assert_int_equal(err, diag.text[0] ? -EINVAL : 0);
		fputs(err ? diag.text : "new ", out);
		if (!err)
			write_spec(out, &pair.spec, "$");
		if (!err && pair.is_diff) {
			fputs("old ", out);
			write_spec(out, &pair.old, "$");
		}
		text_must_be(&t, rows[i].words, rows[i].outcome);
		pp_spec_pair_release(&pair);
	}
}

/* ---- files --------------------------------------------------------------- */

#define ALL OP_MANGLE_ALL

/* A file of CYCLES and one of MISSES, in /bin/prog; one of its library, of one
 * thread on one CPU; and one of a file whose name looks like a pattern. */
static const struct pp_sample_file files[] = {
	{ .app = "/bin/prog",
	  .image_name = "/bin/prog",
	  .name = { .dep.build = "0abc",
		    .event = "CYCLES",
		    .count = 1000,
		    .unit_mask = 0,
		    .tgid = ALL,
		    .tid = ALL,
		    .cpu = ALL } },
	{ .app = "/bin/prog",
	  .image_name = "/bin/prog",
	  .name = { .event = "MISSES",
		    .count = 500,
		    .unit_mask = 3,
		    .tgid = ALL,
		    .tid = ALL,
		    .cpu = ALL } },
	{ .app = "/bin/prog",
	  .image_name = "/lib/libc.so",
	  .name = { .dep.build = "0abd",
		    .cg.build = "77",
		    .event = "CYCLES",
		    .count = 1000,
		    .unit_mask = 0,
		    .tgid = 10,
		    .tid = 11,
		    .cpu = 2,
		    .cgroup = "/system.slice/docker-0123456789abcdef0123456789"
			      "abcdef.scope" } },
	{ .app = "/opt/a[b]",
	  .image_name = "/opt/a[b]",
	  .name = { .event = "CYCLES",
		    .count = 1000,
		    .unit_mask = 0,
		    .tgid = 20,
		    .tid = 20,
		    .cpu = 0,
		    .cgroup = "" } },
};

/* Whether a word is about the file of a module, by the kernel's name for it. */
TEST(modules_go_by_their_names)
{
	static const struct {
		const char *word, *file;
		bool matches;
	} rows[] = {
		{ "snd_pcm", "/lib/modules/snd-pcm.ko", true },
		{ "snd_pcm", "/lib/modules/snd-pcm.ko.xz", true },
		{ "snd_*", "/lib/modules/snd-pcm.ko.xz", true },
		{ "image:snd_pcm", "/lib/modules/snd,pcm.ko.zst", true },
		{ "lib-image:ext4", "/lib/modules/ext4.ko", true },
		{ "ext4.ko", "/lib/modules/ext4.ko", true },
		{ "snd-pcm", "/lib/modules/snd-pcm.ko", false },
		{ "ext", "/lib/modules/ext4.ko", false },
		{ "ext4", "/lib/modules/ext4", true },
		{ "ext4", "/lib/modules/ext4.so", false },
		{ "/ext4", "/lib/modules/ext4.ko", false },
		{ "*.ko", "/lib/modules/.ko", true },
		{ "snd_pcm", "snd_pcm", true },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		const char *const words[] = { rows[i].word, NULL };
		const struct pp_spec_subject subject = {
			.app = rows[i].file,
			.image = rows[i].file,
			.name = &files[0].name,
		};
		struct pp_spec spec;

		assert_int_equal(pp_spec_init(&spec, words, NULL), 0);
		if (pp_spec_matches(&spec, &subject) != rows[i].matches)
			fail_msg("%s %s", rows[i].word, rows[i].file);
		pp_spec_release(&spec);
	}
}

/* A program that is run by a link is known by it; so is one that is the file
 * itself. $ is the working folder. */
FOLDER_TEST(links_are_followed_or_not)
{
	static const struct {
		const char *word, *app, *image;
		bool matches;
	} rows[] = {
		{ "link", "/file", "/file", true },
		{ "link", "/link", "/file", true },
		{ "link", "/link", "/lib", true },
		{ "link", "/lib", "/file", true },
		{ "link", "/lib", "/link", false },
		{ "link", "/other", "/other", false },
		{ "file", "/link", "/file", true },
		{ "file", "/link", "/lib", false },
	};
	const char *folder = *state;

	write_text("file", "");
	assert_int_equal(symlink("file", "link"), 0);
	for (size_t i = 0; i < NR(rows); i++) {
		const char *const words[] = { rows[i].word, NULL };
		char app[256], image[256];
		const struct pp_spec_subject subject = {
			.app = app,
			.image = image,
			.name = &files[0].name,
		};
		struct pp_spec spec;

		snprintf(app, sizeof(app), "%s%s", folder, rows[i].app);
		snprintf(image, sizeof(image), "%s%s", folder, rows[i].image);
		assert_int_equal(pp_spec_init(&spec, words, NULL), 0);
		if (pp_spec_matches(&spec, &subject) != rows[i].matches)
			fail_msg("%s %s %s", rows[i].word, app, image);
		pp_spec_release(&spec);
	}
}

/* Which sessions words ask for by their labels. */
TEST(labels_choose_sessions)
{
	static const struct {
		const char *words, *labels;
		bool matches;
	} rows[] = {
		{ "", "", true },
		{ "", "host=a", true },
		{ "host:a", "host=a", true },
		{ "host:a", "host=ab", false },
		{ "host:a", "", false },
		{ "host:a", "team=a", false },
		{ "host:a*", "host=ab", true },
		{ "host:[x]", "host=[x]", true },
		{ "host:b,a", "host=a", true },
		{ "host:b,a", "host=b", true },
		{ "label:host=a", "host=a", true },
		{ "label:team=x", "host=a team=x", true },
		{ "label:team=x", "host=x team=y", false },
		{ "label:team=x", "host=x", false },
		{ "label:team=?", "team=y", true },
		{ "label:team=?", "team=xy", false },
		/* Values of one key are alternatives, keys must all agree. */
		{ "label:team=x,team=y", "team=y", true },
		{ "label:team=x,team=y", "team=x", true },
		{ "label:team=x,team=y", "team=z", false },
		{ "label:team=x,rack=1", "team=x rack=1", true },
		{ "label:team=x,rack=1", "team=x rack=2", false },
		{ "label:team=x,rack=1", "team=y rack=1", false },
		{ "label:team=x,rack=1", "team=1 rack=x", false },
		{ "label:team=x,rack=1", "rack=1", false },
		{ "host:a label:team=x", "host=a team=x", true },
		{ "host:a label:team=x", "host=b team=x", false },
		{ "host:a label:team=x", "host=a team=y", false },
		{ "host:a label:team=x", "team=x", false },
	};
	const char *words[8];
	char copy[128];

	for (size_t i = 0; i < NR(rows); i++) {
		struct op_labels labels = { 0 };
		struct pp_spec spec;

		split_words(rows[i].labels, copy, words, NR(words));
		for (size_t k = 0; words[k]; k++)
			assert_int_equal(
				op_labels_parse(&labels, words[k], NULL), 0);
		split_words(rows[i].words, copy, words, NR(words));
		assert_int_equal(pp_spec_init(&spec, words, NULL), 0);
		if (pp_spec_matches_labels(&spec, &labels) != rows[i].matches)
			fail_msg("%s: %s", rows[i].words, rows[i].labels);
		pp_spec_release(&spec);
		op_labels_release(&labels);
	}
}

/* Which of the files above words choose, by number, and what is said then; or
 * why they choose none. */
FOLDER_TEST(words_choose_files)
{
	static const struct said rows[] = {
		{ "", "0 1 2 3 " },
		/* A name, in whichever of the two images it is. */
		{ "prog", "0 1 2 " },
		{ "libc.so", "2 " },
		{ "pro*", "0 1 2 " },
		{ "/bin/prog", "0 1 2 " },
		{ "/bin/p", EXPECTED_ROW },
		{ "/lib/*", "2 " },
		{ "*.so", "2 " },
		{ "/opt/a[b]", "3 " },
		{ "prog a[b]", "0 1 2 3 " },
		/* Applications and their images. */
		{ "image:/bin/prog", "0 1 2 " },
		{ "image:*.so", EXPECTED_ROW },
		{ "lib-image:/bin/prog", "0 1 " },
		{ "image:/bin/prog lib-image:/lib/*", "2 " },
		{ "image:/opt/* lib-image:/lib/*", EXPECTED_ROW },
		{ "image:/opt/* libc.so", "2 3 " },
		{ "image-exclude:/lib/*", "0 1 3 " },
		{ "image-exclude:/bin/*", "3 " },
		{ "image-exclude:/none prog", "0 1 2 " },
		{ "prog image-exclude:*.so", "0 1 " },
		/* Events. */
		{ "event:MISSES", "1 " },
		{ "event:misses", "1 " },
		{ "event:M*", EXPECTED_ROW },
		{ "event:CYCLES,MISSES", "0 1 2 3 " },
		/* The beginning of a build-id, also of a library's callees. */
		{ "build-id:0abc", "0 " },
		{ "build-id:0ab", "0 2 " },
		{ "build-id:7", "2 " },
		{ "build-id:77,0abc", "0 2 " },
		{ "build-id:0abcd", EXPECTED_ROW },
		{ "count:500", "1 " },
		{ "count:501",
		  "count:501: no sample files match; counts here: 500, 1000" },
		{ "unit-mask:3", "1 " },
		{ "unit-mask:4", EXPECTED_ROW },
		/* Cgroups: the path, its last part, what people call it. */
		{ "cgroup:/system.slice/*", "2 " },
		{ "cgroup:docker-*.scope", "2 " },
		{ "cgroup:docker:0123456789ab", "2 " },
		{ "cgroup:docker:*", "2 " },
		{ "cgroup:unknown", "3 " },
		{ "cgroup:docker:*,unknown", "2 3 " },
		{ "cgroup:all", "0 1 2 3 " },
		{ "cgroup:*", "2 3 " },
		{ "cgroup:slice", EXPECTED_ROW },
		/* Threads and CPUs: a file of all is none of a number. */
		{ "tgid:10", "2 " },
		{ "tgid:11",
		  "tgid:11: no sample files match; tgids here: 10, 20, all" },
		{ "tid:11", "2 " },
		{ "tid:10,20", EXPECTED_ROW },
		{ "tid:12",
		  "tid:12: no sample files match; tids here: 11, 20, all" },
		{ "cpu:0", "3 " },
		{ "cpu:18446744073709551615", EXPECTED_ROW },
		{ "cpu:2 event:MISSES", EXPECTED_ROW },
		/* What is in vain beside what is not. */
		{ "prog none", EXPECTED_ROW },
		{ "event:CYCLES,X cpu:0", EXPECTED_ROW },
		{ "imge:/bin/prog", EXPECTED_ROW },
		{ "event=MISSES", EXPECTED_ROW },
		{ "even=MISSES",
		  "even=MISSES: no sample files match; images here: /bin/prog, /lib/libc.so, /opt/a[b]" },
		{ "events=MISSES",
		  "events=MISSES: no sample files match; images here: /lib/libc.so, /bin/prog, /opt/a[b]" },
		{ "event",
		  "event: no sample files match; images here: /bin/prog, /opt/a[b], /lib/libc.so; a function is chosen by opreport and opannotate with --include-symbols=event" },
		{ "old",
		  "old: no sample files match; images here: /opt/a[b], /bin/prog, /lib/libc.so; it is a session: write session:old" },
		{ "./old",
		  "./old: no sample files match; images here: /opt/a[b], /bin/prog, /lib/libc.so" },
		{ "other",
		  "other: no sample files match; images here: /bin/prog, /opt/a[b], /lib/libc.so; it is a session folder: write --session-dir=other" },
		{ "./other",
		  "./other: no sample files match; images here: /bin/prog, /opt/a[b], /lib/libc.so; it is a session folder: write --session-dir=./other" },
		{ "samples",
		  "samples: no sample files match; images here: /bin/prog, /opt/a[b], /lib/libc.so; a function is chosen by opreport and opannotate with --include-symbols=samples" },
		{ "Image:x", EXPECTED_ROW },
	};
	struct pp_session session = { .path = "samples/current" };
	const char *words[8];
	char copy[128];

	assert_int_equal(system("mkdir -p samples/old other/samples"), 0);
	for (size_t i = 0; i < NR(rows); i++) {
		struct pp_sample_file *own = calloc(NR(files), sizeof(*own));
		struct op_arena arena;
		struct pp_messages messages = { .arena = &arena };
		struct pp_sample_list list = { .arena = &arena,
					       .files = own,
					       .nr = NR(files),
					       .sessions = { .list = &session,
							     .nr = 1 } };
		struct op_diag diag = { "" };
		struct pp_spec spec;
		struct text t;
		FILE *out = text_begin(&t);
		int err;

		op_arena_init(&arena);
		memcpy(own, files, sizeof(files));
		for (size_t k = 0; k < NR(files); k++)
			own[k].class_nr = (unsigned int)k;
		split_words(rows[i].words, copy, words, NR(words));
		assert_int_equal(pp_spec_init(&spec, words, NULL), 0);
		err = pp_sample_list_choose(&list, &spec, &messages, &diag);
		assert_int_equal(err, diag.text[0] ? -ENOENT : 0);
		fputs(diag.text, out);
		for (size_t k = 0; !err && k < list.nr; k++)
			fprintf(out, "%u ", list.files[k].class_nr);
		write_messages(out, &messages);
		text_must_be(&t, rows[i].words, rows[i].outcome);
		if (!err) {
			assert_ptr_equal(list.found, own);
			assert_int_equal(list.nr_found, NR(files));
		}
		pp_spec_release(&spec);
		op_arena_release(&arena);
		free(own);
	}
}

/* ---- names that may have been meant -------------------------------------- */

TEST(edits_are_counted)
{
	static const struct {
		const char *a, *b;
		unsigned int exact, any_case;
	} rows[] = {
		{ "", "", 0, 0 },
		{ "", "abc", 3, 3 },
		{ "abc", "", 3, 3 },
		{ "abc", "abc", 0, 0 },
		{ "abc", "ABC", 3, 0 },
		{ "aBc", "Abd", 3, 1 },
		{ "kitten", "sitting", 3, 3 },
		{ "flaw", "lawn", 2, 2 },
		{ "ab", "ba", 2, 2 },
		{ "abc", "xabcy", 2, 2 },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		const char *a = rows[i].a, *b = rows[i].b;

		assert_int_equal(op_edit_distance(a, b, false), rows[i].exact);
		assert_int_equal(op_edit_distance(b, a, false), rows[i].exact);
		assert_int_equal(op_edit_distance(a, b, true),
				 rows[i].any_case);
	}
}

TEST(near_names_come_first)
{
	static const char long_name[] =
		"0123456789012345678901234567890123456789012345678901234567890"
		"1234567890123456789012345678901234567890123456789012345678901"
		"23456789";
	static const struct {
		const char *wanted, *names;
		size_t max;
		const char *text;
	} rows[] = {
		{ "x", "", 3, "none" },
		{ "x", "a", 3, "a" },
		{ "abc", "xyz abd abc", 3, "abc, abd, xyz" },
		{ "abc", "b a a b a", 3, "a, b" },
		{ "abc", "d c b a", 2, "a, b and 2 more" },
		{ "abc", "d c b a", 4, "a, b, c, d" },
		{ "abc", "d c b a", 3, "a, b, c and 1 more" },
		/* One that holds the wanted name is nearest. */
		{ "abc", "abd xxxabcxxx", 2, "xxxabcxxx, abd" },
		/* Wildcards and folders do not count. */
		{ "*abc?", "abx abc", 2, "abc, abx" },
		{ "[abc]", "abx abc", 2, "abc, abx" },
		{ "/usr/bin/abc", "/usr/bin/xyz /opt/abd", 2,
		  "/opt/abd, /usr/bin/xyz" },
		{ "abc/", "abd/ xyz", 2, "abd/, xyz" },
		{ "", "b a", 2, "a, b" },
		/* Inserted, dropped, replaced, each one edit. */
		{ "abcd", "abcxd xbcd ab abd", 4, "abcxd, abd, xbcd, ab" },
		{ "kitten", "sitting kitchen", 2, "kitchen, sitting" },
	};
	struct op_arena arena;

	op_arena_init(&arena);
	for (size_t i = 0; i < NR(rows); i++) {
		const char *names[8];
		char copy[64];
		size_t nr = 0;

		split_words(rows[i].names, copy, names, NR(names));
		while (names[nr])
			nr++;
		assert_string_equal(op_near_names(&arena, rows[i].wanted, names,
						  nr, rows[i].max),
				    rows[i].text);
	}
	/* Only the beginning of a long name is compared. */
	assert_string_equal(
		op_near_names(&arena, long_name,
			      (const char *[]){ "x", long_name }, 2, 1),
		op_arena_printf(&arena, "%s and 1 more", long_name));
	op_arena_release(&arena);
}
