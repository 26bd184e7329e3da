// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * JIT code of the original profiler: finds the .jo file of a process, reads
 * which sections of code it has at which addresses, and keeps a copy of it in
 * the new session. A file that is no sound ELF file is not kept; the samples
 * in its code stay samples in anonymous memory.
 */

#include "pp/opimport/opimport_jit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/files/op_copy.h"
#include "libop/image/op_elf.h"
#include "libop/session/op_session_readers.h"

struct opimport_jit_code {
	uint64_t start; /* address */
	uint64_t size; /* bytes */
	uint64_t offset; /* in the file */
};

static bool is_jit_section(const struct op_elf *elf,
			   const struct op_elf_section *section)
{
	return section->type == SHT_PROGBITS &&
	       section->flags & SHF_EXECINSTR &&
	       op_elf_has(elf, section->offset, section->size);
}

static int read_jit_sections(struct opimport_jit *jit, int fd)
{
	struct op_elf_section section;
	uint64_t nr = 0, names;
	struct op_elf elf;
	int err = op_elf_init(&elf, fd);

	if (!err)
		err = op_elf_count_sections(&elf, &nr, &names);
	if (err)
		return err;
	jit->code = calloc(nr + 1, sizeof(*jit->code));
	if (!jit->code)
		return -ENOMEM;
	for (uint64_t i = 0; i < nr && !err; i++) {
		err = op_elf_section(&elf, i, &section);
		if (!err && is_jit_section(&elf, &section))
			jit->code[jit->nr_code++] = (struct opimport_jit_code){
				section.address, section.size, section.offset
			};
	}
	return err;
}

static int open_jit_file(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!fstat(fd, st))
		return fd;
	close(fd);
	return -EIO;
}

/* DIR/TGID.jo of DIR/TGID.START.END/EVENT; and that may be named by a link. */
static int find_jit_file(struct opimport_jit *jit, const char *from,
			 int64_t tgid)
{
	const char *slash = strrchr(from, '/');
	char path[PATH_MAX];
	int done;

	slash = slash ? memrchr(from, '/', (size_t)(slash - from)) : NULL;
	if (!slash)
		return -ENOENT;
	done = snprintf(path, sizeof(path), "%.*s/%" PRId64 ".jo",
			(int)(slash - from), from, tgid);
	if (done < 0 || (size_t)done >= sizeof(path))
		return -ENAMETOOLONG;
	return realpath(path, jit->path) ? 0 : -errno;
}

int opimport_jit_open(struct opimport_jit *jit, const char *from,
		      const struct op_image_name *anon)
{
	struct stat st = { 0 };
	int fd, err;

	memset(jit, 0, sizeof(*jit));
	jit->start = anon->start;
	err = find_jit_file(jit, from, anon->tgid);
	if (err)
		return err;
	fd = open_jit_file(jit->path, &st);
	if (fd < 0)
		return fd;
	jit->mtime = (uint64_t)st.st_mtime;
	err = read_jit_sections(jit, fd);
	close(fd);
	if (err)
		opimport_jit_close(jit);
	return err;
}

void opimport_jit_close(struct opimport_jit *jit)
{
	free(jit->code);
	jit->code = NULL;
	jit->nr_code = 0;
}

bool opimport_jit_find(const struct opimport_jit *jit, uint64_t key,
		       uint64_t *offset)
{
	uint64_t address = jit->start + key;

	for (size_t i = 0; i < jit->nr_code; i++) {
		const struct opimport_jit_code *code = &jit->code[i];

		if (address - code->start >= code->size)
			continue;
		*offset = code->offset + (address - code->start);
		return true;
	}
	return false;
}

static int copy_jit_file(int fd, const struct stat *st, const char *path,
			 const struct op_session *session)
{
	const struct op_build_id none = { .len = 0 };
	struct opimport_jit jit = { .start = 0 };
	char to[PATH_MAX];
	int err = read_jit_sections(&jit, fd);

	opimport_jit_close(&jit);
	if (!err)
		err = op_session_image(session, path, &none,
				       (uint64_t)st->st_mtime, to, sizeof(to));
	if (err || !access(to, F_OK))
		return err;
	return op_session_make_folder(session->images)
		       ?: op_copy_file(fd, st, to);
}

int opimport_jit_keep(const char *path, const struct op_session *session)
{
	struct stat st = { 0 };
	int fd = open_jit_file(path, &st), err;

	if (fd < 0)
		return fd;
	err = copy_jit_file(fd, &st, path, session);
	close(fd);
	return err;
}
