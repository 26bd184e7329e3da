// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target for the texts that libop parses. The first byte chooses:
 * a sample file's name, a "key = value" file, a snapshot of symbols, what is
 * packed in one, a kallsyms text, a file of names of tasks, or the path of a
 * cgroup. What a parser takes must also survive
 * being written and read again.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "libop/kernel/op_cgroup.h"
#include "libop/files/op_config.h"
#include "libop/kernel/op_ksyms.h"
#include "libop/session/op_mangle.h"
#include "libop/session/op_tasks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(bool claim)
{
	if (!claim)
		abort();
}

/* ---- names ------------------------------------------------------------------
 */

static bool leads_out(const char *name)
{
	return name[0] == '/' || !strncmp(name, "../", 3) ||
	       strstr(name, "/../") || strstr(name, "/./");
}

/* Any two strings as images must come back from the name built of them. */
static void fuzz_build(char *text, size_t len)
{
	static char name[OP_MANGLE_MAX], strings[OP_MANGLE_MAX];
	struct op_mangle m = { .event = "E", .cpu = OP_MANGLE_ALL }, back;

	m.app.space = len % 2 ? OP_SPACE_ROOT : OP_SPACE_ANON;
	m.app.name = text;
	m.dep.space = OP_SPACE_KERN;
	m.dep.name = text + len / 2;
	m.cgroup = len % 3 ? text + len / 3 : NULL;
	if (op_mangle_build(&m, name, sizeof(name)) < 0)
		return;
	check(!leads_out(name));
	check(!op_mangle_parse(name, &back, strings, sizeof(strings), NULL));
	check(!strcmp(back.app.name, m.app.name));
	check(!strcmp(back.dep.name, m.dep.name));
	check(!back.cgroup == !m.cgroup);
	check(!m.cgroup || !strcmp(back.cgroup, m.cgroup));
}

static void fuzz_mangle(char *text, size_t len)
{
	static char strings[OP_MANGLE_MAX], again[OP_MANGLE_MAX];
	struct op_diag diag = { "" };
	struct op_mangle m;

	if (op_mangle_parse(text, &m, strings, sizeof(strings), &diag)) {
		check(diag.text[0] && !strchr(diag.text, '\n'));
		fuzz_build(text, len);
		return;
	}
	check(!leads_out(text));
	check(op_mangle_build(&m, again, sizeof(again)) == (int)strlen(text));
	check(!strcmp(text, again));
}

/* ---- files ------------------------------------------------------------------
 */

/* A file in memory that holds the input; its path goes to @path. */
static int put_file(char *path, size_t path_len, const char *text, size_t len)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	check(fd >= 0);
	check(write(fd, text, len) == (ssize_t)len);
	snprintf(path, path_len, "/proc/self/fd/%d", fd);
	return fd;
}

static void fuzz_config(const char *path)
{
	struct op_config *config, *copy = op_config_new();
	const char *key, *value;
	struct op_diag diag = { "" };
	uint64_t number;

	check(copy);
	if (op_config_read(&config, path, &diag)) {
		check(diag.text[0]);
		op_config_free(copy);
		return;
	}
	for (unsigned int i = 0; !op_config_at(config, i, &key, &value); i++) {
		op_config_get_u64(config, key, &number, NULL);
		check(!op_config_add(copy, key, value));
		check(!strcmp(op_config_find(copy, key), value));
	}
	op_config_free(config);
	op_config_free(copy);
}

static void check_order(const struct op_ksyms *ksyms, bool strict)
{
	for (size_t i = 1; i < ksyms->nr; i++) {
		uint64_t last = ksyms->syms[i - 1].offset;

		check(ksyms->syms[i].offset >= last + strict);
		check(*ksyms->syms[i].name);
	}
}

static void fuzz_ksyms(const char *path)
{
	struct op_diag diag = { "" };
	struct op_ksyms ksyms;

	if (op_ksyms_read(&ksyms, path, &diag))
		check(diag.text[0] && !ksyms.syms);
	else
		check_order(&ksyms, false);
	op_ksyms_release(&ksyms);
}

/* Of as many symbols as the second byte of the input says. */
static void fuzz_packed_ksyms(const char *text, size_t len)
{
	uLongf packed_len = compressBound(len);
	size_t head, nr = len ? (unsigned char)*text++ : 0;
	char path[64], *file = calloc(packed_len + 64, 1);
	int fd;

	len -= len > 0;
	check(file);
	head = (size_t)sprintf(file, "oprofile symbols 2 m - %zu %zu\n", nr,
			       len);
	check(compress((Bytef *)file + head, &packed_len, (const Bytef *)text,
		       len) == Z_OK);
	fd = put_file(path, sizeof(path), file, head + packed_len);
	fuzz_ksyms(path);
	close(fd);
	free(file);
}

static void fuzz_kallsyms(const char *path, bool module)
{
	struct op_diag diag = { "" };
	struct op_kallsyms all;
	struct op_ksyms ksyms;

	check(!op_kallsyms_read(&all, path, &diag));
	if (op_ksyms_scan(&ksyms, &all, module ? "m" : NULL, 0x10, UINT64_MAX,
			  &diag))
		check(diag.text[0] && !ksyms.syms);
	else
		check_order(&ksyms, true);
	op_ksyms_release(&ksyms);
	op_kallsyms_release(&all);
}

static void fuzz_tasks(const char *path)
{
	struct op_diag diag = { "" };
	struct op_tasks tasks = { 0 };

	if (op_tasks_read(&tasks, path, &diag))
		check(diag.text[0]);
	for (size_t i = 0; i < tasks.nr; i++) {
		const struct op_task *task = &tasks.list[i];

		check(op_tasks_find(&tasks, task->tgid, task->tid) == task);
		check(*task->name || task->mounts);
	}
	for (size_t i = 0; i < tasks.nr_links; i++)
		check(op_tasks_file_of(&tasks, tasks.links[i].link));
	op_tasks_release(&tasks);
}

/* A name fits, ends, and holds nothing that a terminal obeys. */
static void fuzz_cgroup(const char *path)
{
	char name[OP_CGROUP_NAME_MAX];

	op_cgroup_name(path, name, sizeof(name));
	check(strlen(name) < sizeof(name));
	for (const char *c = name; *c; c++)
		check((unsigned char)*c >= ' ');
}

static void fuzz_file(unsigned int kind, const char *text, size_t len)
{
	char path[64];
	int fd = put_file(path, sizeof(path), text, len);

	if (kind == 1)
		fuzz_config(path);
	else if (kind == 2)
		fuzz_ksyms(path);
	else if (kind == 6)
		fuzz_tasks(path);
	else
		fuzz_kallsyms(path, kind == 4);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text;

	if (!len)
		return 0;
	text = calloc(1, len); /* of just this size: ASan sees its end */
	check(text);
	memcpy(text, data + 1, len - 1);
	text[len - 1] = '\0';
	if (data[0] % 8 == 0)
		fuzz_mangle(text, strlen(text));
	else if (data[0] % 8 == 5)
		fuzz_packed_ksyms(text, len - 1);
	else if (data[0] % 8 == 7)
		fuzz_cgroup(text);
	else
		fuzz_file(data[0] % 8, text, len - 1);
	free(text);
	return 0;
}
