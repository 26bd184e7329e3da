/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PP_SESSION_H
#define TESTS_UNIT_PP_SESSION_H

/* Sessions in words, in the working folder: sample files and call trees. */

#include "pp_fixture.h"

#include "libdb/ctree.h"
#include "libdb/odb.h"
#include "libop/files/op_folder.h"
#include "libop/session/op_ledger.h"
#include "libop/session/op_mangle.h"
#include "libop/session/op_sample_file.h"
#include "libop/session/op_tree_image.h"

#define SNAPSHOT                                                               \
	"oprofile symbols 1 vmlinux 01\n"                                      \
	"0 T _stext\n"                                                         \
	"100 T do_work\n"                                                      \
	"200 t wait\n"                                                         \
	"300 t wait\n"                                                         \
	"400 W _weak\n"

/* What files begin with, but for the kind of their image. */
static struct op_sample_header made_header = {
	.magic = OP_SAMPLE_MAGIC,
	.version = OP_SAMPLE_VERSION,
	.count = 100,
	.build_id_len = 1,
	.build_id = { 1 },
	.cpu_type = "none/such",
};

/* Images are "k" for the kernel, "m" for a module, "o" for the profiler, "a"
 * for memory of process 7, a path, and anything else for /bin/ANYTHING; the
 * last is the callee of a call. */
static inline const char *image_of(const char *word)
{
	static char names[3][64];
	static unsigned int next;
	char *name = names[next++ % 3];

	if (!strcmp(word, "k"))
		return "{kern}/vmlinux";
	if (!strcmp(word, "m"))
		return "{kern}/mod";
	if (!strcmp(word, "o"))
		return "{kern}/OProfile itself";
	if (!strcmp(word, "a"))
		return "{anon:anon}/7.0x1000.0x2000";
	snprintf(name, sizeof(names[0]), "{root}%s%s",
		 *word == '/' ? "" : "/bin/", word);
	return name;
}

static inline enum op_image_kind kind_of(const char *word)
{
	return !strcmp(word, "k")   ? OP_IMAGE_KERNEL
	       : !strcmp(word, "m") ? OP_IMAGE_MODULE
	       : !strcmp(word, "a") ? OP_IMAGE_ANON
				    : OP_IMAGE_FILE;
}

/* "SESSION APP IMAGE[>CALLEE] EVENT[/MASK][.TGID.TID[.CPU]] KEY=COUNT..."; of a
 * call KEY>KEY=COUNT. */
static inline void write_samples(const char *line)
{
	char copy[256], path[512];
	const char *words[24] = { NULL }, *image, *app;
	struct op_sample_header header = made_header;
	char *callee, *ids, *mask;
	struct odb *odb;
	int len;

	split_words(line, copy, words, NR(words));
	callee = strchr(words[2], '>');
	if (callee)
		*callee++ = '\0';
	ids = strchr(words[3], '.');
	if (ids)
		*ids++ = '\0';
	mask = strchr(words[3], '/');
	if (mask)
		*mask++ = '\0';
	header.kind = kind_of(words[2]);
	if (callee) {
		header.cg_build_id_len = header.build_id_len;
		memcpy(header.cg_build_id, header.build_id,
		       sizeof(header.cg_build_id));
	}
	if (header.kind == OP_IMAGE_ANON)
		header.anon_start = 0x1000;
	app = image_of(words[1]);
	image = image_of(words[2]);
	len = snprintf(path, sizeof(path), "samples/%s/%s/{dep}/%s/", words[0],
		       app, image);
	if (callee)
		len += snprintf(path + len, sizeof(path) - (size_t)len,
				"{cg}/%s/", image_of(callee));
	snprintf(path + len, sizeof(path) - (size_t)len, "%s.100.%s.%s%s",
		 words[3], mask ? mask : "0", ids ? ids : "all.all",
		 ids && strchr(ids, '.') != strrchr(ids, '.') ? "" : ".all");
	assert_int_equal(op_make_parents(path, 0755), 0);
	assert_int_equal(odb_open(&odb, path, ODB_RDWR), 0);
	memcpy(odb_user(odb), &header, sizeof(header));
	for (size_t i = 4; words[i]; i++) {
		char *end;
		uint64_t key = strtoull(words[i], &end, 16), count;

		if (*end == '>')
			key = key << 32 | strtoull(end + 1, &end, 16);
		assert_int_equal(*end, '=');
		for (count = strtoull(end + 1, NULL, 10); count;) {
			uint64_t part = count > INT64_MAX ? INT64_MAX : count;

			assert_int_equal(odb_add(odb, key, part), 0);
			count -= part;
		}
	}
	odb_close(odb);
}

/* Samples of the next files are counted so often apart from their counts. */
static inline void derive_header(uint64_t samples)
{
	made_header.derived = 1;
	made_header.samples = samples;
}

/* The account @path of @stored samples, which was written @at that time, 0:
 * now. */
static inline void write_ledger_at(const char *path, uint64_t stored, time_t at)
{
	const struct timespec times[2] = { { .tv_sec = at }, { .tv_sec = at } };
	struct op_ledger ledger = { .source = "file",
				    .taken = stored,
				    .stored = stored };
	struct op_diag diag = { "" };

	assert_int_equal(op_make_parents(path, 0755), 0);
	if (op_ledger_write(&ledger, path, NULL, &diag))
		fail_msg("%s", diag.text);
	if (at)
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* ---- call trees ---------------------------------------------------------- */

/* The image of a frame: as image_of(), or the name of a gap. */
static inline uint32_t tree_image(struct ctree *tree, const char *word)
{
	struct op_tree_image image = { .kind = kind_of(word) };
	uint8_t bytes[OP_TREE_IMAGE_MAX];
	char path[64];
	uint32_t number;
	int len;

	image.build_id.len = made_header.build_id_len;
	memcpy(image.build_id.bytes, made_header.build_id,
	       sizeof(image.build_id.bytes));
	if (*word == '[') {
		image.name.space = OP_SPACE_KERN;
		snprintf(path, sizeof(path), "%s",
			 !strcmp(word, "[broken]") ? "[broken stack]" : word);
		image.kind = OP_IMAGE_PSEUDO;
	} else if (image.kind == OP_IMAGE_ANON) {
		image.name.space = OP_SPACE_ANON;
		strcpy(path, "anon");
		image.name.tgid = 7;
		image.name.start = image.anon_start = 0x1000;
		image.name.end = 0x2000;
	} else {
		image.name.space = image.kind == OP_IMAGE_FILE ? OP_SPACE_ROOT
							       : OP_SPACE_KERN;
		snprintf(path, sizeof(path), "%s",
			 strchr(image_of(word), '}') +
				 (image.kind == OP_IMAGE_FILE ? 1 : 2));
	}
	image.name.name = path;
	len = op_tree_image_encode(&image, bytes, sizeof(bytes));
	assert_true(len > 0);
	assert_int_equal(ctree_image(tree, bytes, (size_t)len, &number), 0);
	return number;
}

/* "COUNT:IMAGE+OFFSET>IMAGE+OFFSET...", the outermost frame first. */
static inline void add_stack(struct ctree *tree, char *word)
{
	uint32_t node = CTREE_ROOT;
	char *at, *save, *frame;
	uint64_t count = strtoull(word, &at, 10);

	assert_int_equal(*at, ':');
	for (frame = strtok_r(at + 1, ">", &save); frame;
	     frame = strtok_r(NULL, ">", &save)) {
		char *plus = strchr(frame, '+');
		uint64_t offset = 0;

		if (plus) {
			*plus = '\0';
			offset = strtoull(plus + 1, NULL, 16);
		}
		assert_int_equal(ctree_child(tree, node,
					     tree_image(tree, frame), offset,
					     &node),
				 0);
	}
	assert_int_equal(ctree_add(tree, node, count), 0);
}

/* "SESSION APP EVENT[.TGID.TID] STACK...": a call tree of stacks. */
static inline void write_tree(const char *line)
{
	char copy[512], path[512], *ids;
	const char *words[24] = { NULL };
	struct op_sample_header header = made_header;
	struct ctree *tree;

	split_words(line, copy, words, NR(words));
	ids = strchr(words[2], '.');
	if (ids)
		*ids++ = '\0';
	snprintf(path, sizeof(path), "samples/%s/%s/{tree}/%s.100.0.%s.all",
		 words[0], image_of(words[1]), words[2], ids ? ids : "all.all");
	assert_int_equal(op_make_parents(path, 0755), 0);
	assert_int_equal(ctree_open(&tree, path, ODB_RDWR), 0);
	memcpy(ctree_user(tree), &header, sizeof(header));
	for (size_t i = 3; words[i]; i++)
		add_stack(tree, (char *)words[i]);
	ctree_close(tree);
}

/* The folders and files of a session whose kernel is SNAPSHOT; lines that
 * start with "tree " are of call trees. */
static inline void write_session(const char *const *lines, size_t most)
{
	assert_int_equal(system("rm -rf samples symbols"), 0);
	mkdir("symbols", 0755);
	write_text("symbols/vmlinux-01", SNAPSHOT);
	for (size_t k = 0; k < most && lines[k]; k++)
		if (!strncmp(lines[k], "tree ", 5))
			write_tree(lines[k] + 5);
		else
			write_samples(lines[k]);
}

#endif /* TESTS_UNIT_PP_SESSION_H */
