// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text in anonymous memory, between the other segments of its file. The file is
 * this program, which is mapped a second time in parts.
 */

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>

#include "daemon/source/untrusted/opd_copied_text.h"
#include "daemon/source/untrusted/opd_untrusted.h"
#include "daemon/source/perf/opd_perf_image.h"
#include "tests/unit/opd_fixture.h"

struct rig {
	unsigned int nr_fds;
	struct opd_untrusted untrusted;
	struct opd_perf_images images;
	uint8_t *base; /* address 0 of the file's headers */
	size_t len; /* that is mapped or reserved, from base on */
	/* of the code: addresses of pages, and the offset of the first */
	uint8_t *code, *code_end;
	uint64_t offset;
};

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static uint8_t *page_of(const uint8_t *at)
{
	return (uint8_t *)((uintptr_t)at / page_size() * page_size());
}

static uint8_t *page_behind(const uint8_t *at)
{
	return page_of(at + page_size() - 1);
}

/* Map segment @p, its code as a copy in anonymous memory. */
static void map_part(struct rig *rig, const ElfW(Phdr) * p, int fd)
{
	uint8_t *at = rig->base + p->p_vaddr;
	uint8_t *start = page_of(at), *end = page_behind(at + p->p_filesz);
	off_t offset = (off_t)p->p_offset - (at - start);
	bool is_code = p->p_flags & PF_X;
	int flags = MAP_PRIVATE | MAP_FIXED | (is_code ? MAP_ANONYMOUS : 0);

	assert_ptr_equal(mmap(start, (size_t)(end - start),
			      PROT_READ | PROT_WRITE, flags, is_code ? -1 : fd,
			      is_code ? 0 : offset),
			 start);
	if (!is_code)
		return;
	assert_true(pread(fd, start, (size_t)(end - start), offset) >=
		    (ssize_t)p->p_filesz);
	rig->code = start;
	rig->code_end = end;
	rig->offset = (uint64_t)offset;
}

static int map_program(struct dl_phdr_info *info, size_t size, void *data)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct rig *rig = data;

	(void)size;
	assert_true(fd >= 0);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_vaddr + p->p_memsz > rig->len)
			rig->len = p->p_vaddr + p->p_memsz;
	}
	rig->base = mmap(NULL, rig->len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	assert_ptr_not_equal(rig->base, MAP_FAILED);
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			map_part(rig, &info->dlpi_phdr[i], fd);
	close(fd);
	return 1; /* libraries follow */
}

static int set_up(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	rig->nr_fds = count_fds();
	dl_iterate_phdr(map_program, rig);
	assert_non_null(rig->code);
	opd_untrusted_init(&rig->untrusted);
	rig->untrusted.patience = 60000;
	opd_perf_images_init(&rig->images, NULL);
	rig->images.files.untrusted = &rig->untrusted;
	*state = rig;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *rig = *state;

	opd_perf_images_release(&rig->images);
	opd_untrusted_release(&rig->untrusted);
	munmap(rig->base, rig->len);
	assert_int_equal(count_fds(), rig->nr_fds);
	free(rig);
	return 0;
}

#define TEXT_TEST(name) TEST_WITH(name, set_up, tear_down)

static bool find_text(struct rig *rig, const uint8_t *at,
		      struct unwinder_map *map)
{
	return opd_copied_text_find(&rig->untrusted, &rig->images, "/proc",
				    (uint32_t)getpid(), (uint64_t)at, map);
}

TEXT_TEST(test_text)
{
	struct rig *rig = *state;
	struct unwinder_map map;
	char exe[OP_PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	assert_true(len > 0);
	exe[len] = '\0';
	assert_true(find_text(rig, rig->code + 100, &map));
	assert_true(map.start <= (uint64_t)rig->code &&
		    map.end >= (uint64_t)rig->code_end);
	assert_int_equal((uint64_t)rig->code - map.start + map.offset,
			 rig->offset);
	assert_null(map.anon);
	assert_string_equal(opd_perf_image_path(&rig->images, map.cookie), exe);
}

/* As for huge pages: the ends are the file's still. */
TEXT_TEST(test_part_of_text)
{
	struct rig *rig = *state;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const size_t page = page_size();
	struct unwinder_map map;

	assert_true(rig->code_end - rig->code > 3 * (ptrdiff_t)page);
	assert_ptr_equal(mmap(rig->code, page, PROT_READ | PROT_EXEC,
			      MAP_PRIVATE | MAP_FIXED, fd, (off_t)rig->offset),
			 rig->code);
	close(fd);
	assert_true(find_text(rig, rig->code + page, &map));
	assert_int_equal((uint64_t)rig->code + page - map.start + map.offset,
			 rig->offset + page);
}

TEXT_TEST(test_other_bytes)
{
	struct rig *rig = *state;
	struct unwinder_map map;

	for (uint8_t *at = rig->code; at < rig->code_end; at += page_size())
		*at ^= 1;
	assert_false(find_text(rig, rig->code, &map));
}

/* Memory that is no copy, between mappings of a file: a heap, or code that is
 * made. */
TEXT_TEST(test_between_files)
{
	struct rig *rig = *state;
	size_t len = (size_t)(rig->code_end - rig->code);
	struct unwinder_map map;

	memset(rig->code, 0, len);
	assert_false(find_text(rig, rig->code, &map));
	assert_false(find_text(rig, rig->base, &map)); /* a file */
	assert_false(find_text(rig, NULL, &map)); /* nothing */
}

/* The segments around it are not where they would be. */
TEXT_TEST(test_at_another_address)
{
	struct rig *rig = *state;
	size_t len = (size_t)(rig->code_end - rig->code);
	const size_t page = page_size();
	struct unwinder_map map;

	memmove(rig->code, rig->code + page, len - page);
	assert_ptr_not_equal(mmap(rig->code_end - page, page, PROT_NONE,
				  MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1,
				  0),
			     MAP_FAILED);
	assert_false(find_text(rig, rig->code, &map));
}

TEXT_TEST(test_no_process)
{
	struct rig *rig = *state;
	struct unwinder_map map;

	assert_false(opd_copied_text_find(&rig->untrusted, &rig->images,
					  "/proc", 0, (uint64_t)rig->code,
					  &map));
	assert_false(opd_copied_text_find(&rig->untrusted, &rig->images,
					  "/nonesuch", (uint32_t)getpid(),
					  (uint64_t)rig->code, &map));
}
