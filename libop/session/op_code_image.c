// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A function gets the next free offset of the image when it has its first
 * sample, and keeps it: sample files count by these offsets. Between two
 * functions are some free bytes, so that the address behind a call, which may
 * be the end of its function, is in no other function.
 *
 * The image is kept in memory and its file replaced as a whole, because the
 * tables of an ELF file come behind the code, which grows. Where the bytes of
 * no function are known (a perf map has none) the file is marked as the digest
 * of a binary: its code has a place in the file, but no contents.
 */

#include "libop/session/op_code_image.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "libop/base/op_array.h"
#include "libop/image/op_elf.h"
#include "libop/files/op_file.h"
#include "libop/kernel/op_ksyms.h"
#include "libop/session/op_session_readers.h"

#define FIRST_KEY 0x1000u
#define ALIGN 16u
#define BUILD_ID_LEN 16
#define TRIES 1000 /* numbers for the name of an image */

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_NONE
#endif

/* ---- life -------------------------------------------------------------------
 */

/* Whether @folder has a file of an image called @base, of whatever build-id. */
static bool is_jit_name_taken(const char *folder, const char *base)
{
	size_t len = strlen(base);
	DIR *dir = opendir(folder);
	struct dirent *entry;
	bool taken = false;

	while (dir && !taken && (entry = readdir(dir)))
		taken = !strncmp(entry->d_name, base, len) &&
			entry->d_name[len] == '-';
	if (dir)
		closedir(dir);
	return taken;
}

bool op_code_image_is_of_process(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !fnmatch("[0-9]*.jo", slash ? slash + 1 : path, 0);
}

static int choose_jit_name(char *name, size_t len, const char *folder,
			   uint32_t tgid)
{
	snprintf(name, len, "/%" PRIu32 ".jo", tgid);
	for (int i = 2; is_jit_name_taken(folder, name + 1); i++) {
		if (i == TRIES)
			return -EEXIST;
		snprintf(name, len, "/%" PRIu32 ".%d.jo", tgid, i);
	}
	return 0;
}

int op_code_image_init(struct op_code_image *image, const char *folder,
		       const char *name)
{
	memset(image, 0, sizeof(*image));
	image->machine = OWN_MACHINE;
	image->end = FIRST_KEY;
	image->build_id.len = BUILD_ID_LEN;
	if (getrandom(image->build_id.bytes, BUILD_ID_LEN, 0) != BUILD_ID_LEN)
		return -EIO;
	image->name = strdup(name);
	if (!image->name)
		return -ENOMEM;
	return op_ksyms_path(image->path, sizeof(image->path), folder,
			     strrchr(image->name, '/') + 1, &image->build_id);
}

int op_code_image_init_jit(struct op_code_image *image, const char *folder,
			   uint32_t tgid)
{
	char name[32];
	int err = op_session_make_folder(folder)
			  ?: choose_jit_name(name, sizeof(name), folder, tgid);

	if (!err)
		return op_code_image_init(image, folder, name);
	memset(image, 0, sizeof(*image));
	return err;
}

void op_code_image_release(struct op_code_image *image)
{
	free(image->name);
	free(image->kept);
	free(image->names);
	free(image->code);
	op_hash_release(&image->by_name);
	op_code_lines_release(&image->lines);
	memset(image, 0, sizeof(*image));
}

/* ---- keeping ----------------------------------------------------------------
 */

/* A function without bytes says no more than its name. */
static uint32_t find_kept_name(const struct op_code_image *image,
			       const struct op_code_function *function)
{
	uint64_t hash = op_hash_text(image->by_name.seed,
				     op_code_function_name(function));
	uint32_t number;

	op_hash_each(&image->by_name, hash, number) {
		const struct op_code_kept *kept = &image->kept[number - 1];

		if (kept->size >= function->size &&
		    !strcmp(image->names + kept->name,
			    op_code_function_name(function)))
			break;
	}
	return number;
}

static int add_code_bytes(struct op_code_image *image,
			  const struct op_code_function *function)
{
	size_t at = image->end - FIRST_KEY, end = at + function->size;

	if (end > OP_CODE_BYTES_MAX)
		return -ENOSPC;
	if (op_array_reserve(&image->code, image->code_len,
			     end - image->code_len))
		return -ENOMEM;
	memset(image->code + image->code_len, 0, at - image->code_len);
	memcpy(image->code + at, function->bytes, function->size);
	image->code_len = end;
	return 0;
}

static int add_kept_function(struct op_code_image *image,
			     const struct op_code_function *function)
{
	size_t len = strlen(op_code_function_name(function)) + 1;
	int err = 0;

	if (image->nr == OP_CODE_KEPT_MAX)
		return -ENOSPC;
	if (op_array_reserve(&image->kept, image->nr, 1) ||
	    op_array_reserve(&image->names, image->names_len, len) ||
	    op_hash_reserve(&image->by_name, image->nr + 1))
		return -ENOMEM;
	if (function->bytes)
		err = add_code_bytes(image, function);
	if (err)
		return err;
	memcpy(image->names + image->names_len, op_code_function_name(function),
	       len);
	image->kept[image->nr++] = (struct op_code_kept){
		.key = image->end,
		.size = function->size,
		.name = (uint32_t)image->names_len,
	};
	image->names_len += len;
	/* Without memory for its lines a function has none. */
	if (image->lines.program_len < OP_CODE_LINES_MAX)
		op_code_lines_add(&image->lines, image->end, function->size,
				  function->lines, function->nr_lines);
	image->end += ((uint64_t)function->size / ALIGN + 1) * ALIGN;
	image->is_changed = true;
	return 0;
}

int op_code_image_keep(struct op_code_image *image,
		       const struct op_code_function *function,
		       uint32_t *number)
{
	uint64_t hash;
	int err;

	*number = function->bytes || function->is_own
			  ? 0
			  : find_kept_name(image, function);
	if (*number)
		return 0;
	err = add_kept_function(image, function);
	if (err)
		return err;
	*number = (uint32_t)image->nr;
	hash = op_hash_text(image->by_name.seed,
			    op_code_function_name(function));
	if (!function->bytes)
		op_hash_add(&image->by_name, hash, *number);
	return 0;
}

/* ---- the file ---------------------------------------------------------------
 */

/* The sections behind the code, in the order in which they are in the file. */
enum {
	NO_SECTION,
	TEXT,
	SYMTAB,
	STRTAB,
	NOTE,
	LINES,
	NAMES,
	DIGEST, /* the last: not in all files */
	NR_SECTIONS
};

static const char *const section_names[NR_SECTIONS] = {
	[NO_SECTION] = "",
	[TEXT] = ".text",
	[SYMTAB] = ".symtab",
	[STRTAB] = ".strtab",
	[NOTE] = ".note.gnu.build-id",
	[LINES] = ".debug_line",
	[NAMES] = ".shstrtab",
	[DIGEST] = OP_ELF_DIGEST,
};

/* A file that is being written. */
struct elf_out {
	const struct op_code_image *image;
	FILE *file;
	unsigned int nr; /* sections */
	Elf64_Shdr sections[NR_SECTIONS];
};

static void put_padding(struct elf_out *out, long to)
{
	for (long at = ftell(out->file); at >= 0 && at < to; at++)
		putc_unlocked(0, out->file);
}

/* The next section begins here. */
static void begin_section(struct elf_out *out, int which, uint32_t type)
{
	long at = ftell(out->file);

	at = (at + 7) / 8 * 8;
	put_padding(out, at);
	out->sections[which].sh_type = type;
	out->sections[which].sh_offset = (Elf64_Off)at;
	out->sections[which].sh_addralign = 8;
}

static void end_section(struct elf_out *out, int which)
{
	out->sections[which].sh_size =
		(Elf64_Xword)ftell(out->file) - out->sections[which].sh_offset;
}

/* Keys are offsets in the file and addresses at once. */
static void put_text(struct elf_out *out)
{
	const struct op_code_image *image = out->image;

	out->sections[TEXT] = (Elf64_Shdr){
		.sh_type = image->code_len ? SHT_PROGBITS : SHT_NOBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = FIRST_KEY,
		.sh_offset = FIRST_KEY,
		.sh_size = image->end - FIRST_KEY,
		.sh_addralign = ALIGN,
	};
	put_padding(out, FIRST_KEY);
	if (!image->code_len)
		return;
	fwrite(image->code, 1, image->code_len, out->file);
	put_padding(out, (long)image->end);
}

static void put_symbols(struct elf_out *out)
{
	const struct op_code_image *image = out->image;
	Elf64_Sym sym = { 0 };

	begin_section(out, SYMTAB, SHT_SYMTAB);
	fwrite(&sym, sizeof(sym), 1, out->file);
	for (size_t i = 0; i < image->nr; i++) {
		const struct op_code_kept *kept = &image->kept[i];

		sym.st_name = kept->name + 1;
		sym.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
		sym.st_shndx = TEXT;
		sym.st_value = kept->key;
		sym.st_size = kept->size;
		fwrite(&sym, sizeof(sym), 1, out->file);
	}
	end_section(out, SYMTAB);
	out->sections[SYMTAB].sh_link = STRTAB;
	out->sections[SYMTAB].sh_info = 1; /* the first that is not local */
	out->sections[SYMTAB].sh_entsize = sizeof(sym);
	begin_section(out, STRTAB, SHT_STRTAB);
	putc_unlocked(0, out->file);
	fwrite(image->names, 1, image->names_len, out->file);
	end_section(out, STRTAB);
}

static void put_build_id(struct elf_out *out)
{
	const struct op_build_id *id = &out->image->build_id;
	const Elf64_Nhdr note = { 4, id->len, NT_GNU_BUILD_ID };

	begin_section(out, NOTE, SHT_NOTE);
	fwrite(&note, sizeof(note), 1, out->file);
	fwrite("GNU", 1, 4, out->file);
	fwrite(id->bytes, 1, id->len, out->file);
	end_section(out, NOTE);
}

static void put_lines(struct elf_out *out)
{
	begin_section(out, LINES, SHT_PROGBITS);
	op_code_lines_write(&out->image->lines, out->file);
	end_section(out, LINES);
}

static void put_section_names(struct elf_out *out)
{
	uint32_t at = 0;

	if (out->nr > DIGEST) {
		begin_section(out, DIGEST, SHT_PROGBITS);
		end_section(out, DIGEST);
	}
	begin_section(out, NAMES, SHT_STRTAB);
	for (unsigned int i = 0; i < out->nr; i++) {
		uint32_t len = (uint32_t)strlen(section_names[i]) + 1;

		out->sections[i].sh_name = at;
		fwrite(section_names[i], 1, len, out->file);
		at += len;
	}
	end_section(out, NAMES);
}

/* The header comes first in the file, but says where the last part is. */
static void put_headers(struct elf_out *out)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
				     ? ELFDATA2LSB
				     : ELFDATA2MSB,
			     EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = out->image->machine,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (Elf64_Half)out->nr,
		.e_shstrndx = NAMES,
	};
	const Elf64_Shdr *notes = &out->sections[NOTE];
	const Elf64_Phdr segment = {
		.p_type = PT_NOTE,
		.p_flags = PF_R,
		.p_offset = notes->sh_offset,
		.p_filesz = notes->sh_size,
		.p_memsz = notes->sh_size,
		.p_align = 4,
	};
	long at = (ftell(out->file) + 7) / 8 * 8;

	put_padding(out, at);
	header.e_shoff = (Elf64_Off)at;
	fwrite(out->sections, sizeof(Elf64_Shdr), out->nr, out->file);
	rewind(out->file);
	fwrite(&header, sizeof(header), 1, out->file);
	fwrite(&segment, sizeof(segment), 1, out->file);
}

int op_code_image_save(struct op_code_image *image, struct op_diag *diag)
{
	struct elf_out out = {
		.image = image,
		.nr = image->code_len ? DIGEST : NR_SECTIONS,
	};
	struct op_replace replace;
	int err;

	if (!image->is_changed)
		return 0;
	err = op_replace_open(&replace, image->path, 0644, diag);
	if (err)
		return err;
	out.file = replace.file;
	put_text(&out);
	put_symbols(&out);
	put_build_id(&out);
	put_lines(&out);
	put_section_names(&out);
	put_headers(&out);
	err = op_replace_commit(&replace, diag);
	image->is_changed = err;
	return err;
}
