// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fingerprints: a program and what strip(1) and others make of it have one,
 * programs with other code do not, and headers may claim anything.
 */

#include "tests/unit/op_fixture.h"

#include <elf.h>

#include "libop/image/op_fingerprint.h"
#include "libpp/symbols/elf_digest.h"

/* Run @command in the folder of the test. */
static void run(const char *command)
{
	if (system(command))
		fail_msg("%s", command);
}

static uint64_t fingerprint_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct op_elf elf;
	uint64_t found;

	assert_true(fd >= 0);
	assert_int_equal(op_elf_init(&elf, fd), 0);
	assert_int_equal(op_fingerprint(&elf, &found), 0);
	close(fd);
	return found;
}

static void digest(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(in >= 0 && out >= 0);
	assert_int_equal(pp_elf_digest(in, out), 0);
	close(in);
	close(out);
}

/* ---- programs of a compiler ---------------------------------------------- */

/* Two functions of one size, and many in @file in front of them. */
static void write_program(const char *file, const char *first,
			  const char *second)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "#include <stdlib.h>\n"
		 "static int table[1000] = { 1 };\n"
		 "int %s(int x) { return x + rand() + table[x & 1]; }\n"
		 "int %s(int x) { return x - rand() - table[x & 1]; }\n"
		 "int main(int argc, char **argv)\n"
		 "{\n"
		 "	(void)argv;\n"
		 "	return one(argc) * two(argc);\n"
		 "}\n",
		 first, second);
	write_text(file, text);
}

#define BUILD "${CC:-cc} -g -O1 -fno-toplevel-reorder "
#define SAME_ID " -Wl,--build-id=0x00112233445566778899aabbccddeeff00112233 "

FOLDER_TEST(test_twins)
{
	static const char *const kinds[] = {
		"",
		"-no-pie",
		"-static",
		"-static-pie",
		"-shared -fPIC",
		"-Wl,-z,noseparate-code",
		"-fuse-ld=lld",
		"-gz",
		"-fno-asynchronous-unwind-tables",
		"-Wl,--hash-style=sysv",
	};
	static const char *const makers[] = {
		"cp p q",
		"strip -o q p",
		"strip --strip-debug -o q p",
		"objcopy --only-keep-debug p p.debug && "
		"strip -o q p && objcopy --add-gnu-debuglink=p.debug q",
		"objcopy --compress-debug-sections p q",
		"objcopy --strip-section-headers p q 2>/dev/null || cp p q",
		"command -v llvm-strip >/dev/null || exec cp p q; "
		"llvm-strip -o q p || cp p q",
		"command -v eu-strip >/dev/null || exec cp p q; "
		"eu-strip -o q p",
	};
	unsigned int nr = 0;
	char command[512];

	write_program("p.c", "one", "two");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		uint64_t found;

		snprintf(command, sizeof(command),
			 BUILD SAME_ID "%s -o p p.c 2>/dev/null", kinds[i]);
		/* Not all machines have each linker and library. */
		if (system(command))
			continue;
		nr++;
		found = fingerprint_of("p");
		if (!found)
			fail_msg("%s: no fingerprint", kinds[i]);
		for (size_t k = 0; k < sizeof(makers) / sizeof(*makers); k++) {
			run(makers[k]);
			if (fingerprint_of("q") != found)
				fail_msg("%s: %s", kinds[i], makers[k]);
		}
		digest("p", "d");
		assert_true(fingerprint_of("d") == found);
		digest("d", "e");
		assert_true(fingerprint_of("e") == found);
	}
	assert_true(nr >= 5);
}

/* One build-id and the same functions, in another order. */
FOLDER_TEST(test_other_code)
{
	uint64_t first, second;

	write_program("p.c", "one", "two");
	write_program("q.c", "two", "one");
	run(BUILD SAME_ID "-o p p.c && " BUILD SAME_ID "-o q q.c");
	first = fingerprint_of("p");
	second = fingerprint_of("q");
	assert_true(first && second && first != second);
}

/* The sizes of functions of which none is in a page that is read. */
FOLDER_TEST(test_large_code)
{
	static const char *const orders[] = { "4000 8000 4500",
					      "4500 8000 4000",
					      "4000 8000 4500" };
	uint64_t found[3];
	char command[512];

	for (int i = 0; i < 3; i++) {
		snprintf(
			command, sizeof(command),
			"n=0; { echo 'int main(void) { return 0; }'; for size in "
			"300000 %s 300000; do n=$((n + 1)); "
			"echo \"void f$n(void) { __asm__(\\\".skip $size\\\"); }\"; "
			"done; } >p.c",
			orders[i]);
		run(command);
		run(BUILD SAME_ID "-o p p.c");
		found[i] = fingerprint_of("p");
	}
	assert_true(found[0] && found[0] != found[1] && found[0] == found[2]);
}

/* A debug file has no code, and a file that is not linked has no place. */
FOLDER_TEST(test_files_without_code)
{
	write_program("p.c", "one", "two");
	run(BUILD "-o p p.c && objcopy --only-keep-debug p d");
	assert_true(fingerprint_of("d") == 0);
	run("command -v eu-strip >/dev/null || exec cp d e; "
	    "eu-strip -f e -o q p");
	assert_true(fingerprint_of("e") == 0);
	run(BUILD "-c -o p p.c");
	assert_true(fingerprint_of("p") == 0);
	digest("p", "d");
	assert_true(fingerprint_of("d") == 0);
}

/* ---- made-up files ------------------------------------------------------- */

#define SEGMENTS_AT 64
#define CODE_AT 4096
#define CODE_LEN (40 * 4096)
#define FILE_LEN (CODE_AT + CODE_LEN)

struct made {
	uint8_t bytes[FILE_LEN];
	Elf64_Phdr *segments;
	Elf64_Ehdr *header;
};

/* A program of 40 pages, of any machine. */
static struct made *make_file(void)
{
	struct made *made = calloc(1, sizeof(*made));

	assert_non_null(made);
	made->header = (Elf64_Ehdr *)made->bytes;
	made->segments = (Elf64_Phdr *)(made->bytes + SEGMENTS_AT);
	*made->header = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
			     __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
				     ? ELFDATA2LSB
				     : ELFDATA2MSB },
		.e_machine = EM_S390,
		.e_phoff = SEGMENTS_AT,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
	};
	made->segments[0] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = CODE_AT,
		.p_vaddr = 0x400000,
		.p_filesz = CODE_LEN,
		.p_memsz = CODE_LEN,
	};
	for (size_t i = 0; i < CODE_LEN; i++)
		made->bytes[CODE_AT + i] = (uint8_t)(i * 7 + i / 4096);
	return made;
}

static uint64_t fingerprint_of_made(const struct made *made)
{
	struct op_elf elf;
	uint64_t found;

	assert_int_equal(op_elf_init_memory(&elf, made->bytes, FILE_LEN), 0);
	assert_int_equal(op_fingerprint(&elf, &found), 0);
	return found;
}

/* It is in files, so it never changes. */
TEST(test_the_number)
{
	struct made *made = make_file();

	assert_int_equal(fingerprint_of_made(made),
			 UINT64_C(0x1ca8434dcb5ede17));
	free(made);
}

static void add_segment(struct made *made, uint32_t type, uint64_t offset,
			uint64_t size)
{
	made->segments[made->header->e_phnum++] = (Elf64_Phdr){
		.p_type = type, .p_offset = offset, .p_filesz = size
	};
}

/* What attribution depends on makes another fingerprint. */
TEST(test_what_counts)
{
	struct made *made = make_file();
	uint64_t found = fingerprint_of_made(made);

	made->bytes[CODE_AT] ^= 1;
	assert_true(fingerprint_of_made(made) != found);
	made->bytes[CODE_AT] ^= 1;
	made->bytes[FILE_LEN - 1] ^= 1;
	assert_true(fingerprint_of_made(made) != found);
	made->bytes[FILE_LEN - 1] ^= 1;
	made->segments[0].p_vaddr += 4096;
	assert_true(fingerprint_of_made(made) != found);
	made->segments[0].p_vaddr -= 4096;
	made->header->e_machine++;
	assert_true(fingerprint_of_made(made) != found);
	made->header->e_machine--;
	/* Nothing else does. */
	made->header->e_shoff = UINT64_MAX;
	made->header->e_entry = 5;
	made->segments[0].p_memsz = UINT64_MAX;
	add_segment(made, PT_NOTE, UINT64_MAX, UINT64_MAX);
	assert_true(fingerprint_of_made(made) == found);
	add_segment(made, PT_GNU_EH_FRAME, CODE_AT, 8);
	assert_true(fingerprint_of_made(made) != found);
	free(made);
}

/* Of 40 pages 16 are read, the first and the last among them. */
TEST(test_pages)
{
	struct made *made = make_file();
	uint64_t found = fingerprint_of_made(made);
	unsigned int nr = 0;

	for (size_t page = 0; page < 40; page++) {
		made->bytes[CODE_AT + page * 4096 + 100] ^= 1;
		nr += fingerprint_of_made(made) != found;
		made->bytes[CODE_AT + page * 4096 + 100] ^= 1;
	}
	assert_int_equal(nr, 16);
	/* All of a shorter segment, up to its last byte. */
	made->segments[0].p_filesz = 10 * 4096 + 3;
	found = fingerprint_of_made(made);
	for (size_t at = 0; at < 10 * 4096 + 3; at += 511) {
		made->bytes[CODE_AT + at] ^= 1;
		assert_true(fingerprint_of_made(made) != found);
		made->bytes[CODE_AT + at] ^= 1;
	}
	made->bytes[CODE_AT + 10 * 4096 + 2] ^= 1;
	assert_true(fingerprint_of_made(made) != found);
	made->bytes[CODE_AT + 10 * 4096 + 2] ^= 1;
	made->bytes[CODE_AT + 10 * 4096 + 3] ^= 1;
	assert_true(fingerprint_of_made(made) == found);
	free(made);
}

static void put_dynamic(struct made *made, size_t i, int64_t tag,
			uint64_t value)
{
	Elf64_Dyn entry = { .d_tag = tag, .d_un.d_val = value };

	memcpy(made->bytes + 1024 + i * sizeof(entry), &entry, sizeof(entry));
}

TEST(test_dynamic_symbols)
{
	struct made *made = make_file();
	uint64_t without = fingerprint_of_made(made), found;

	/* In a page of the segment that is not read as code. */
	put_dynamic(made, 0, DT_STRTAB, 0x400000 + 4096 + 96);
	put_dynamic(made, 1, DT_SYMTAB, 0x400000 + 4096 + 48);
	put_dynamic(made, 2, DT_NULL, 0);
	add_segment(made, PT_DYNAMIC, 1024, 48);
	found = fingerprint_of_made(made);
	assert_true(found != without);
	made->bytes[CODE_AT + 4096 + 95] ^= 1;
	assert_true(fingerprint_of_made(made) != found);
	made->bytes[CODE_AT + 4096 + 95] ^= 1;
	made->bytes[CODE_AT + 4096 + 96] ^= 1; /* a name */
	assert_true(fingerprint_of_made(made) == found);
	/* Tables elsewhere, in the wrong order, and behind the end. */
	put_dynamic(made, 0, DT_STRTAB, 0x300000);
	assert_true(fingerprint_of_made(made) == without);
	put_dynamic(made, 0, DT_STRTAB, UINT64_MAX);
	assert_true(fingerprint_of_made(made) == without);
	put_dynamic(made, 0, DT_NULL, 0);
	assert_true(fingerprint_of_made(made) == without);
	made->segments[1].p_offset = FILE_LEN - 8;
	assert_true(fingerprint_of_made(made) == 0);
	free(made);
}

/* Segments that are not there have no fingerprint, whatever they claim. */
TEST(test_headers_that_lie)
{
	static const uint64_t lies[][2] = {
		{ FILE_LEN, 1 },
		{ CODE_AT, UINT64_MAX },
		{ UINT64_MAX, 1 },
		{ CODE_AT, 0 },
		{ UINT64_MAX, UINT64_MAX },
		{ FILE_LEN - 1, 2 },
		{ CODE_AT, UINT64_C(1) << 52 },
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct made *made = make_file();

		made->segments[0].p_offset = lies[i][0];
		made->segments[0].p_filesz = lies[i][1];
		assert_true(fingerprint_of_made(made) == 0);
		free(made);
		made = make_file();
		add_segment(made, PT_GNU_EH_FRAME, lies[i][0], lies[i][1]);
		assert_true((fingerprint_of_made(made) == 0) ==
			    (lies[i][1] > 0));
		made->header->e_phoff = lies[i][0];
		assert_true(fingerprint_of_made(made) == 0);
		free(made);
	}
}

/* A file of 1 TiB that is a hole, with as many segments as there can be: no
 * more is read than is promised. */
FOLDER_TEST(test_huge_file)
{
	const uint64_t len = UINT64_C(1) << 40;
	int fd = open("huge", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct made *made = make_file();
	Elf64_Phdr *segments = calloc(65534, sizeof(*segments));
	uint64_t found;

	assert_true(fd >= 0 && segments);
	for (size_t i = 0; i < 65534; i++) {
		segments[i] = made->segments[0];
		segments[i].p_offset = 65536 * sizeof(*segments);
		segments[i].p_filesz = len / 2;
	}
	segments[7].p_type = PT_GNU_EH_FRAME;
	made->header->e_phnum = 65534;
	assert_int_equal(ftruncate(fd, (off_t)len), 0);
	assert_int_equal(pwrite(fd, made->header, 64, 0), 64);
	assert_int_equal(pwrite(fd, segments, 65534 * sizeof(*segments),
				SEGMENTS_AT),
			 65534 * sizeof(*segments));
	found = fingerprint_of("huge");
	assert_true(found != 0);
	/* The size of a segment whose contents are not read counts. */
	segments[60000].p_filesz--;
	assert_int_equal(pwrite(fd, segments, 65534 * sizeof(*segments),
				SEGMENTS_AT),
			 65534 * sizeof(*segments));
	assert_true(fingerprint_of("huge") != found);
	close(fd);
	free(segments);
	free(made);
}

/* What cannot be read is not what has no fingerprint. */
TEST(test_faults)
{
	struct made *made = make_file();
	uint64_t found = 1;
	struct op_elf elf;

	assert_int_equal(op_elf_init_memory(&elf, made->bytes, FILE_LEN), 0);
	elf.bytes = NULL; /* from a file that is not open */
	elf.fd = -1;
	assert_int_equal(op_fingerprint(&elf, &found), -EBADF);
	assert_int_equal(found, 0);
	free(made);
}

/* Any byte of the headers may be any other. */
TEST(test_damage)
{
	struct made *made = make_file();

	add_segment(made, PT_GNU_EH_FRAME, CODE_AT, 100);
	add_segment(made, PT_DYNAMIC, 1024, 48);
	put_dynamic(made, 0, DT_SYMTAB, 0x400000);
	put_dynamic(made, 1, DT_STRTAB, 0x401000);
	for (size_t i = EI_NIDENT; i < 1024 + 48; i++) {
		if (i == SEGMENTS_AT + 3 * sizeof(Elf64_Phdr))
			i = 1024;
		for (unsigned int bit = 0; bit < 8; bit++) {
			uint8_t was = made->bytes[i];

			made->bytes[i] ^= (uint8_t)(1 << bit);
			fingerprint_of_made(made);
			made->bytes[i] = was;
		}
	}
	assert_true(fingerprint_of_made(made) != 0);
	free(made);
}
