// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Images of what a process has loaded: of this one's C library, and of headers
 * that are damaged.
 */

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>

#include "daemon/source/untrusted/opd_untrusted.h"
#include "daemon/source/untrusted/opd_memory_image.h"
#include "tests/unit/opd_fixture.h"

/* Read the image of what is loaded at @head; its tail, which the caller frees.
 * Returns the error. */
static int read_image(uint64_t head, struct opd_untrusted_call *call,
		      uint8_t **tail)
{
	int mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	const void *room = NULL;
	int err;

	assert_true(mem >= 0);
	*call = (struct opd_untrusted_call){ .what = OPD_UNTRUSTED_IMAGE,
					     .image = { .head = head } };
	err = opd_untrusted_do(NULL, mem, call, &room);
	assert_true(call->nr <= OPD_UNTRUSTED_ROOM);
	*tail = malloc(call->nr + 1);
	assert_non_null(*tail);
	memcpy(*tail, room, call->nr);
	opd_untrusted_done(NULL, room);
	close(mem);
	return err;
}

/* A table of the image in its tail. */
static const void *table_of(const struct opd_untrusted_call *call,
			    const uint8_t *tail, uint64_t offset, uint64_t len)
{
	assert_true(offset >= call->image.tail_at);
	offset -= call->image.tail_at;
	assert_true(offset <= call->nr && len <= call->nr - offset);
	return tail + offset;
}

/* The address of function @name by the image's symbols. */
static uint64_t address_in_image(const struct opd_untrusted_call *call,
				 const uint8_t *tail, const char *name)
{
	const Elf64_Shdr *sections, *symtab = NULL, *strtab;
	const Elf64_Sym *symbols;
	const char *names;
	Elf64_Ehdr header;

	memcpy(&header, call->image.header, sizeof(header));
	sections = table_of(call, tail, header.e_shoff,
			    header.e_shnum * sizeof(*sections));
	for (int i = 0; i < header.e_shnum; i++)
		if (sections[i].sh_type == SHT_DYNSYM)
			symtab = &sections[i];
	assert_non_null(symtab);
	strtab = &sections[symtab->sh_link];
	symbols = table_of(call, tail, symtab->sh_offset, symtab->sh_size);
	names = table_of(call, tail, strtab->sh_offset, strtab->sh_size);
	assert_int_equal(names[strtab->sh_size - 1], 0);
	for (size_t i = 1; i < symtab->sh_size / sizeof(*symbols); i++) {
		const Elf64_Shdr *in = &sections[symbols[i].st_shndx];

		assert_true(symbols[i].st_shndx < header.e_shnum &&
			    symbols[i].st_name < strtab->sh_size);
		assert_true(symbols[i].st_value >= in->sh_addr &&
			    symbols[i].st_value - in->sh_addr < in->sh_size);
		if (!strcmp(names + symbols[i].st_name, name))
			return symbols[i].st_value;
	}
	return 0;
}

TEST(test_library)
{
	struct opd_untrusted_call call;
	uint64_t at;
	uint8_t *tail;
	Dl_info info;

	assert_int_not_equal(dladdr(dlsym(RTLD_DEFAULT, "getppid"), &info), 0);
	assert_int_equal(read_image((uint64_t)info.dli_fbase, &call, &tail), 0);
	at = address_in_image(&call, tail, "getppid");
	assert_ptr_equal((char *)info.dli_fbase + at, info.dli_saddr);
	assert_int_equal(call.image.parts[0].addr, info.dli_fbase);
	assert_int_equal(call.image.parts[0].offset, 0);
	assert_true(call.image.parts[0].len > 0);
	free(tail);
}

/* Where the C library's first pages are, with anything in them. */
TEST(test_damaged_headers)
{
	struct opd_untrusted_call call;
	uint32_t random = 1;
	uint8_t *copy, *tail;
	Dl_info info;

	assert_int_not_equal(dladdr(dlsym(RTLD_DEFAULT, "getppid"), &info), 0);
	copy = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(copy, MAP_FAILED);
	for (int i = 0; i < 400; i++) {
		memcpy(copy, info.dli_fbase, 4096);
		for (int k = 0; k < 4; k++) {
			random = random * 1664525 + 1013904223;
			copy[random >> 8 & 1023] = (uint8_t)(random >> 24);
		}
		(void)read_image((uint64_t)copy, &call, &tail);
		free(tail);
	}
	memset(copy, 0, 4096);
	assert_int_equal(read_image((uint64_t)copy, &call, &tail), -ENOEXEC);
	free(tail);
	assert_int_equal(read_image(UINT64_MAX - 8, &call, &tail), -ENOEXEC);
	free(tail);
	munmap(copy, 4096);
}

/* Root opens what is mapped; what a process has in its memory is no file of
 * root's. */
TEST(test_root)
{
	Dl_info info;
	int fd;

	assert_int_not_equal(dladdr(dlsym(RTLD_DEFAULT, "getppid"), &info), 0);
	fd = opd_memory_image_open(NULL, "/proc", (uint32_t)getpid(),
				   (uint64_t)info.dli_saddr);
	if (geteuid() == 0) {
		assert_int_equal(fd, -EPERM);
		return;
	}
	assert_true(fd >= 0);
	close(fd);
	assert_true(opd_memory_image_open(NULL, "/proc", (uint32_t)getpid(),
					  16) < 0);
}
