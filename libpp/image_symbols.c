// SPDX-License-Identifier: GPL-2.0-or-later

#include "libpp/image_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables -------------------------------------------------------------- */

static int build_table(struct pp_image_symbols *symbols,
		       struct pp_raw_symbol *raw, size_t nr)
{
	symbols->table = calloc(nr + 1, sizeof(*symbols->table));
	if (!symbols->table)
		return -ENOMEM;
	symbols->nr = pp_symtab_build(symbols->table, raw, nr);
	return 0;
}

/* Keys of the kernel count from _stext, wherever the file has its sections. */
static bool rebase(struct pp_image_symbols *symbols, struct pp_raw_symbol *raw,
		   size_t nr)
{
	const struct pp_raw_symbol *stext = NULL;

	for (size_t i = 0; i < nr && !stext; i++)
		if (!strcmp(raw[i].name, "_stext"))
			stext = &raw[i];
	if (!stext)
		return false;
	symbols->base = stext->vma;
	for (size_t i = 0; i < nr; i++) {
		raw[i].limit =
			raw[i].limit - raw[i].key + raw[i].vma - symbols->base;
		raw[i].key = raw[i].vma - symbols->base;
	}
	return true;
}

static int take_ksyms(struct pp_image_symbols *symbols)
{
	size_t nr = symbols->ksyms.nr;
	struct pp_raw_symbol *raw = calloc(nr + 1, sizeof(*raw));
	int err;

	if (!raw)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct op_ksym *sym = &symbols->ksyms.syms[i];

		raw[i] = (struct pp_raw_symbol){
			.name = sym->name,
			.key = sym->offset,
			.vma = sym->offset,
			.limit = UINT64_MAX,
			.flags = PP_SYM_FUNCTION,
		};
	}
	err = build_table(symbols, raw, nr);
	free(raw);
	return err;
}

/* ---- sources ------------------------------------------------------------- */

static int open_snapshot(struct pp_image_symbols *symbols,
			 const struct pp_image *image,
			 const struct op_session *session,
			 struct pp_messages *messages)
{
	struct op_diag why = { 0 };
	char path[8192];
	int err;

	err = op_ksyms_path(path, sizeof(path), session->symbols,
			    image->recorded.name, image->build_id,
			    image->build_id_len);
	if (!err)
		err = op_ksyms_read(&symbols->ksyms, path, &why);
	if (err == -ENOMEM)
		return err;
	if (!err)
		return take_ksyms(symbols);
	pp_message(
		messages, PP_WARNING, "%s: no symbols: %s", image->base,
		*why.text
			? why.text
			: "the session has no copy of them; profile as root so that /proc/kallsyms can be read");
	return 0;
}

static bool is_changed(const struct op_bfd *bfd, const struct pp_image *image)
{
	size_t len;
	const uint8_t *id = op_bfd_build_id(bfd, &len);

	if (id && image->build_id_len)
		return len != image->build_id_len ||
		       memcmp(id, image->build_id, len);
	return image->mtime && image->mtime != op_bfd_mtime(bfd);
}

static void complain(struct pp_messages *messages, const struct pp_image *image,
		     int err)
{
	const char *why = strerror(-err);

	if (err == -ENOENT)
		why = "it could not be found; say where with --image-path or --root";
	else if (err == -ENOTUNIQ)
		why = "several files in --image-path have its name";
	else if (err == -ESTALE)
		why = "the file has changed since it was profiled";
	else if (err == -ENOEXEC)
		why = "it is not in a usable binary format";
	pp_message(messages, PP_WARNING, "%s: no symbols: %s", image->name,
		   why);
}

static int take_bfd(struct pp_image_symbols *symbols,
		    const struct pp_image *image, struct pp_messages *messages)
{
	struct pp_raw_symbol *raw = NULL;
	enum op_bfd_origin origin;
	size_t nr = 0;
	int err;

	err = op_bfd_symbols(symbols->bfd, &raw, &nr, &origin);
	if (!err && (origin == OP_BFD_NONE || origin == OP_BFD_DYNAMIC))
		pp_message(
			messages, PP_WARNING,
			"%s: %s; install its debug symbols", image->name,
			origin == OP_BFD_NONE
				? "no symbols: it is stripped"
				: "it is stripped: only what it exports has a name");
	if (!err && image->kind == OP_IMAGE_KERNEL &&
	    !rebase(symbols, raw, nr)) {
		pp_message(
			messages, PP_WARNING,
			"%s: no symbols: it has no _stext, so it is no kernel",
			image->name);
		nr = 0;
	}
	if (!err)
		err = build_table(symbols, raw, nr);
	free(raw);
	return err;
}

/* Returns -ESTALE, with nothing open, for another build. */
static int open_build(struct pp_image_symbols *symbols,
		      const struct pp_image *image, const char *path,
		      const struct pp_locator *locator)
{
	int err = op_bfd_open(&symbols->bfd, path, locator->debug_dirs);

	if (err || !is_changed(symbols->bfd, image))
		return err;
	op_bfd_close(symbols->bfd);
	symbols->bfd = NULL;
	return -ESTALE;
}

/* The session's own copy: of a file that was deleted or replaced. */
static int open_copy(struct pp_image_symbols *symbols,
		     const struct pp_image *image,
		     const struct op_session *session,
		     struct pp_locator *locator, const char **path)
{
	char copy[8192];
	int err;

	err = op_session_image(session, image->name, image->build_id,
			       image->build_id_len, image->mtime, copy,
			       sizeof(copy));
	if (!err)
		err = open_build(symbols, image, copy, locator);
	if (err)
		return err;
	*path = pp_arena_strdup(locator->arena, copy);
	return *path ? 0 : -ENOMEM;
}

static int open_binary(struct pp_image_symbols *symbols,
		       const struct pp_image *image,
		       const struct op_session *session,
		       struct pp_locator *locator, struct pp_messages *messages)
{
	const char *path;
	int err, copy;

	err = pp_locate(locator, image->name, &path);
	if (!err)
		err = open_build(symbols, image, path, locator);
	if (err && err != -ENOMEM) {
		copy = open_copy(symbols, image, session, locator, &path);
		err = copy && copy != -ENOMEM ? err : copy;
	}
	if (err == -ENOMEM)
		return err;
	if (err) {
		complain(messages, image, err);
		return 0;
	}
	pp_message(messages, PP_REMARK_BFD, "%s: symbols from %s", image->name,
		   path);
	return take_bfd(symbols, image, messages);
}

int pp_image_symbols_open(struct pp_image_symbols *symbols,
			  const struct pp_image *image,
			  const struct op_session *session,
			  struct pp_locator *locator,
			  struct pp_messages *messages)
{
	memset(symbols, 0, sizeof(*symbols));
	if (image->recorded.space == OP_SPACE_ANON ||
	    image->kind == OP_IMAGE_PSEUDO) {
		symbols->whole = image->base;
		symbols->base = image->anon_start;
		return 0;
	}
	if (image->recorded.space == OP_SPACE_ROOT)
		return open_binary(symbols, image, session, locator, messages);
	if (image->kind == OP_IMAGE_FILE) {
		symbols->whole = image->base;
		return 0;
	}
	return open_snapshot(symbols, image, session, messages);
}

void pp_image_symbols_release(struct pp_image_symbols *symbols)
{
	free(symbols->table);
	op_bfd_close(symbols->bfd);
	op_ksyms_release(&symbols->ksyms);
}

uint64_t pp_image_symbols_vma(const struct pp_image_symbols *symbols,
			      const struct pp_image *image, uint64_t key)
{
	if (image->kind == OP_IMAGE_FILE && symbols->bfd)
		return op_bfd_vma(symbols->bfd, key);
	return symbols->base + key;
}
