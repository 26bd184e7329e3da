// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The symbols of one image, from wherever they are to be had: the binary, the
 * copy of it that the daemon or perf kept, a debug file, the snapshot of
 * /proc/kallsyms. A file is used only if it is the build that was profiled (by
 * build-id and fingerprint, else by time of modification), and in an archive
 * only if its hash is right: wrong names are worse than none. Why an image has
 * no symbols is said once, with the way out.
 *
 * Keys of symbols are made to count as those of samples do: offsets in a file;
 * for the kernel, bytes behind _stext; for a module, bytes behind where it was
 * loaded.
 */

#include "libpp/images/image_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/image/op_build_id.h"
#include "libop/files/op_config.h"
#include "libop/files/op_file.h"
#include "libop/files/op_open.h"
#include "libop/image/op_perf_map.h"
#include "libop/base/op_plural.h"
#include "libop/base/op_search.h"
#include "libop/session/op_ledger.h"
#include "libpp/symbols/perf_map.h"

#define MAX_CODE (1u << 24) /* bytes; no function is that large */

/* ---- tables -------------------------------------------------------------- */

/*
 * The kernel as operf of OProfile 1.4 recorded it without --vmlinux. Nothing
 * tells its build.
 */
static bool is_unnamed_kernel(const struct pp_image *image)
{
	return image->kind == OP_IMAGE_KERNEL &&
	       image->recorded.space == OP_SPACE_ROOT &&
	       !strcmp(image->recorded.name, "/proc/kallsyms");
}

/* Keys of the kernel count from a symbol, wherever the file has its sections.
 */
static bool rebase_kernel(struct pp_image_symbols *symbols,
			  const struct pp_image *image,
			  struct pp_raw_symbol *raw, size_t nr)
{
	/* operf of 1.4 took the first of /proc/kallsyms. */
	const char *from = is_unnamed_kernel(image) ? "_text" : "_stext";
	const struct pp_raw_symbol *start = NULL;

	for (size_t i = 0; i < nr && !start; i++)
		if (!strcmp(raw[i].name, from))
			start = &raw[i];
	if (!start)
		return false;
	symbols->base = start->vma;
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

	symbols->table = calloc(nr + 1, sizeof(*symbols->table));
	for (size_t i = 0; raw && i < nr; i++) {
		const struct op_ksym *sym = &symbols->ksyms.syms[i];

		raw[i] = (struct pp_raw_symbol){
			.name = sym->name,
			.key = sym->offset,
			.vma = sym->offset,
			.limit = UINT64_MAX,
			.flags = PP_SYM_FUNCTION,
		};
	}
	if (raw && symbols->table)
		symbols->nr = pp_symtab_build(symbols->table, raw, nr);
	free(raw);
	return raw && symbols->table ? 0 : -ENOMEM;
}

/* ---- sources ------------------------------------------------------------- */

/* Say that a file of an archive is not used, where @err is of that. */
static void warn_of_refusal(struct pp_messages *messages, const char *path,
			    int err)
{
	if (pp_archive_refusal(err))
		pp_message(messages, PP_WARNING, "%s: %s; not used", path,
			   pp_archive_refusal(err));
}

/* Code that was made at run time has names where a perf map told of it after
 * its samples. */
static int open_perf_map(struct pp_image_symbols *symbols,
			 const struct pp_image *image,
			 const struct op_session *session,
			 const struct pp_locator *locator,
			 struct pp_messages *messages)
{
	const struct op_image_name *name = &image->recorded;
	struct pp_raw_symbol *raw = NULL;
	size_t nr = 0;
	char path[8192];
	int err;

	symbols->base = image->anon_start;
	err = op_perf_map_path(path, sizeof(path), session->images, name->tgid)
		      ?: pp_archive_check(locator->archive, path);
	warn_of_refusal(messages, path, err);
	if (!err)
		err = pp_perf_map_read(path, name->start, name->end,
				       locator->arena, &raw, &nr);
	if (err || !nr) {
		free(raw);
		return err == -ENOMEM ? err : 0;
	}
	symbols->path = op_arena_strdup(locator->arena, path);
	symbols->table = calloc(nr + 1, sizeof(*symbols->table));
	if (symbols->table)
		symbols->nr = pp_symtab_build(symbols->table, raw, nr);
	free(raw);
	return symbols->table && symbols->path ? 0 : -ENOMEM;
}

/* The way to symbols of @image, of which @session has no snapshot. */
static const char *cure_of_no_snapshot(const struct op_session *session,
				       const struct pp_image *image)
{
	struct op_ledger ledger = { .source = "" };
	struct op_diag unused;
	char path[OP_PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/ledger",
			     session->current) >= sizeof(path) ||
	    op_ledger_read(&ledger, path, &unused))
		ledger.source[0] = '\0';
	if (strcmp(ledger.source, OP_LEDGER_PERF_DATA) != 0)
		return "the session has no copy of them; give the folder of its file with --image-path, or profile as root so that /proc/kallsyms can be read";
	return image->kind == OP_IMAGE_KERNEL
		       ? "the session has no copy of them; give the folder of its file with --image-path, or unpack what \"perf archive\" made beside perf.data in ~/.debug and import again"
		       : "the session has no copy of them; give the folder of its file with --image-path";
}

static int open_snapshot(struct pp_image_symbols *symbols,
			 const struct pp_image *image,
			 const struct op_session *session,
			 const struct pp_locator *locator,
			 const struct op_ksyms_wanted *wanted,
			 struct pp_messages *messages)
{
	struct op_diag why = { 0 };
	char path[8192];
	int err;

	err = op_ksyms_path(path, sizeof(path), session->symbols,
			    image->recorded.name, &image->build_id);
	if (!err)
		err = pp_archive_check(locator->archive, path);
	if (pp_archive_refusal(err))
		op_diag_set(&why, err, "%s: %s; not used", path,
			    pp_archive_refusal(err));
	if (!err)
		err = op_ksyms_read_wanted(&symbols->ksyms, path, wanted, &why);
	if (err == -ENOMEM)
		return err;
	if (!err)
		symbols->path = op_arena_strdup(locator->arena, path);
	if (!err)
		return symbols->path ? take_ksyms(symbols) : -ENOMEM;
	pp_message_of_error(messages, err, "%s: no symbols: %s", image->base,
			    *why.text ? why.text
				      : cure_of_no_snapshot(session, image));
	return 0;
}

static bool has_build_id_of(const struct op_bfd *bfd,
			    const struct pp_image *image)
{
	size_t len;
	const uint8_t *id = op_bfd_build_id(bfd, &len);

	return id && len == image->build_id.len &&
	       !memcmp(id, image->build_id.bytes, len);
}

/* Whether it is known that the code is another, whatever the build-id is. */
static bool has_other_code(const struct op_bfd *bfd,
			   const struct pp_image *image)
{
	uint64_t was = op_build_id_fingerprint(&image->build_id);
	uint64_t is = op_bfd_fingerprint(bfd);

	return was && is && was != is;
}

/* A file that had a build-id when it was sampled is none without one; of the
 * kernel somebody may have made a copy that lacks it. */
static bool is_changed(const struct op_bfd *bfd, const struct pp_image *image)
{
	size_t len;
	const uint8_t *id = op_bfd_build_id(bfd, &len);

	if (!id && image->build_id.len && image->kind == OP_IMAGE_FILE)
		return true;
	if (id && image->build_id.len)
		return !has_build_id_of(bfd, image) ||
		       has_other_code(bfd, image);
	return image->mtime && image->mtime != op_bfd_mtime(bfd);
}

static void warn_of_no_symbols(struct pp_messages *messages,
			       const struct pp_image *image,
			       bool has_same_build_id, int err)
{
	const char *why = strerror(-err);

	if (err == -ENOENT)
		why = "not found; give its folder with --image-path or --root";
	else if (err == -ENOTUNIQ)
		why = "several files in --image-path have its name";
	else if (err == -ESTALE && has_same_build_id)
		why = "the file has the same build-id but other code; profile again, or give the folder of the old one with --root";
	else if (err == -ESTALE)
		why = "the file has changed since it was profiled; profile again, or give the folder of the old one with --root";
	else if (err == -ENOEXEC)
		why = "it is not in a usable binary format";
	else if (err == -EACCES)
		why = "permission denied; run as a user who may read it";
	pp_message_of_error(messages, err, "%s: no symbols: %s", image->name,
			    why);
}

/* Keys of a module count from where its code was loaded. */
static void rebase_module(struct pp_image_symbols *symbols,
			  struct pp_raw_symbol *raw, size_t *nr)
{
	size_t kept = 0;

	symbols->text = op_bfd_first_code(symbols->bfd);
	for (size_t i = 0; i < *nr; i++) {
		if (raw[i].vma < symbols->text)
			continue;
		raw[i].vma -= symbols->text;
		raw[i].limit = raw[i].limit - raw[i].key + raw[i].vma;
		raw[i].key = raw[i].vma;
		raw[kept++] = raw[i];
	}
	*nr = kept;
}

static int take_symbols_of_binary(struct pp_image_symbols *symbols,
				  const struct pp_image *image,
				  struct pp_messages *messages)
{
	struct pp_raw_symbol *raw = NULL;
	enum op_bfd_origin origin;
	size_t nr = 0;
	int err = op_bfd_symbols(symbols->bfd, symbols->wants & PP_WANT_UNNAMED,
				 &raw, &nr, &origin);

	if (err)
		return err;
	symbols->is_stripped =
		origin == OP_BFD_NONE || origin == OP_BFD_DYNAMIC;
	if (symbols->is_stripped)
		pp_message(
			messages, PP_WARNING,
			"%s: %s; install its debug symbols", image->name,
			origin == OP_BFD_NONE
				? "no symbols: it is stripped"
				: "stripped: only exported functions have names");
	if (image->kind == OP_IMAGE_KERNEL &&
	    !rebase_kernel(symbols, image, raw, nr)) {
		pp_message(messages, PP_WARNING,
			   "%s: no symbols: not a kernel, as it has no _stext",
			   image->name);
		nr = 0;
	}
	if (image->kind == OP_IMAGE_MODULE)
		rebase_module(symbols, raw, &nr);
	symbols->offsets = image->kind == OP_IMAGE_FILE;
	symbols->table = calloc(nr + 1, sizeof(*symbols->table));
	if (symbols->table)
		symbols->nr = pp_symtab_build(symbols->table, raw, nr);
	free(raw);
	return symbols->table ? 0 : -ENOMEM;
}

/*
 * A debug file that is not what was archived is not used. libbfd takes no
 * notice of one whose checksum is wrong, so it is looked for by its name, too.
 */
static void check_debug(struct pp_image_symbols *symbols, const char *binary,
			const struct pp_locator *locator,
			struct pp_messages *messages)
{
	const char *path = op_bfd_debug_path(symbols->bfd);
	const char *slash = strrchr(binary, '/');
	char *name = path ? NULL : op_bfd_debug_name(symbols->bfd, NULL);
	int err;

	if (name && slash)
		path = op_arena_printf(locator->arena, "%.*s/.debug/%s",
				       (int)(slash - binary), binary, name);
	free(name);
	err = path ? pp_archive_check(locator->archive, path) : 0;
	if (!pp_archive_refusal(err))
		return;
	warn_of_refusal(messages, path, err);
	op_bfd_drop_debug(symbols->bfd);
}

/* Returns -ESTALE, with nothing open any more, if what was opened at @path is
 * another build. */
static int keep_image_build(struct pp_image_symbols *symbols,
			    const struct pp_image *image, const char *path,
			    const struct pp_locator *locator)
{
	if (is_changed(symbols->bfd, image)) {
		symbols->is_other_code |= has_build_id_of(symbols->bfd, image);
		op_bfd_close(symbols->bfd);
		symbols->bfd = NULL;
		return -ESTALE;
	}
	symbols->path = op_arena_strdup(locator->arena, path);
	return symbols->path ? 0 : -ENOMEM;
}

/* Returns -ESTALE, with nothing open, for another build; what
 * pp_archive_refusal() knows is said. */
static int open_image_build(struct pp_image_symbols *symbols,
			    const struct pp_image *image, const char *path,
			    const struct pp_locator *locator,
			    struct pp_messages *messages)
{
	int err = pp_archive_check(locator->archive, path);

	warn_of_refusal(messages, path, err);
	if (!err)
		err = op_bfd_open(&symbols->bfd, path, &locator->debug)
			      ?: keep_image_build(symbols, image, path,
						  locator);
	if (!err && locator->archive)
		check_debug(symbols, path, locator, messages);
	return err;
}

/* Open the file that the session keeps at @path, of @len bytes; where the
 * fingerprint is not known, a file with any fingerprint. */
static int open_kept_file(struct pp_image_symbols *symbols,
			  const struct pp_image *image, char *path, size_t len,
			  const struct pp_locator *locator,
			  struct pp_messages *messages)
{
	int err = open_image_build(symbols, image, path, locator, messages);

	if (err != -ENOENT || op_build_id_fingerprint(&image->build_id))
		return err;
	return op_session_any_fingerprint(path, len)
		       ?: open_image_build(symbols, image, path, locator,
					   messages);
}

/* The binary kept by @build_id, with or without the fingerprint. */
static int open_kept_build(struct pp_image_symbols *symbols,
			   const struct pp_image *image,
			   const struct op_session *session,
			   const struct op_build_id *build_id,
			   const struct pp_locator *locator,
			   struct pp_messages *messages)
{
	char path[8192];
	int err = op_session_image(session, image->path, build_id, image->mtime,
				   path, sizeof(path))
			  ?: open_kept_file(symbols, image, path, sizeof(path),
					    locator, messages);

	if (!err || pp_is_fault(err))
		return err;
	return op_session_digest(session, build_id, path, sizeof(path))
		       ?: open_kept_file(symbols, image, path, sizeof(path),
					 locator, messages);
}

/* The session's own copy of a file that was deleted or replaced while it was
 * profiled, or else what the store has of it. Earlier releases kept both
 * without the fingerprint. */
static int open_kept_binary(struct pp_image_symbols *symbols,
			    const struct pp_image *image,
			    const struct op_session *session,
			    const struct pp_locator *locator,
			    struct pp_messages *messages)
{
	struct op_build_id id = image->build_id;
	int err = open_kept_build(symbols, image, session, &id, locator,
				  messages);

	if (!err || pp_is_fault(err) || !op_build_id_fingerprint(&id))
		return err;
	op_build_id_set_fingerprint(&id, 0);
	return open_kept_build(symbols, image, session, &id, locator, messages);
}

/* The copy that perf has kept of the build on this machine, or brought to it,
 * unless somebody else could have written it. */
static int open_perf_copy(struct pp_image_symbols *symbols,
			  const struct pp_image *image,
			  struct pp_locator *locator)
{
	const char *path;
	struct stat st;
	int err = pp_locate_perf_copy(locator, &image->build_id, &path);
	int fd = err ? err : op_open_regular(path);

	if (fd < 0)
		return err ?: -errno;
	if (fstat(fd, &st) || !op_is_own_file(&st)) {
		close(fd);
		return -EPERM;
	}
	err = op_bfd_take(&symbols->bfd, path, fd, &locator->debug)
		      ?: keep_image_build(symbols, image, path, locator);
	symbols->is_perf_copy = !err;
	return err;
}

/* The file itself or, where that was deleted or replaced, what is kept. */
static int open_binary(struct pp_image_symbols *symbols,
		       const struct pp_image *image,
		       const struct op_session *session,
		       struct pp_locator *locator, struct pp_messages *messages)
{
	const char *path;
	int err = pp_locate(locator, image->path, &path)
			  ?: open_image_build(symbols, image, path, locator,
					      messages);

	if (err && err != -ENOMEM) {
		int of_kept = open_kept_binary(symbols, image, session, locator,
					       messages);

		if (of_kept && !pp_is_fault(of_kept))
			of_kept = open_perf_copy(symbols, image, locator);
		err = of_kept && !pp_is_fault(of_kept) ? err : of_kept;
	}
	if (err == -ENOMEM)
		return err;
	if (err) {
		if (!pp_archive_refusal(err))
			warn_of_no_symbols(messages, image,
					   symbols->is_other_code, err);
		return 0;
	}
	pp_message(messages, PP_REMARK_BFD, "%s: symbols from %s", image->name,
		   symbols->path);
	return take_symbols_of_binary(symbols, image, messages);
}

struct kernel_attempt {
	struct pp_image_symbols *symbols;
	const struct pp_image *image;
	const struct pp_locator *locator;
	struct pp_messages *messages;
	const char *refused; /* the first file of another build that the user
				gave */
};

static int try_kernel_file(void *data, const char *path)
{
	struct kernel_attempt *a = data;
	int err = open_image_build(a->symbols, a->image, path, a->locator,
				   a->messages);

	if (err == -ESTALE && !a->refused &&
	    pp_locate_was_asked(a->locator, path)) {
		a->refused = op_arena_strdup(a->locator->arena, path);
		return a->refused ? err : -ENOMEM;
	}
	return err;
}

/* The kernel's binary, or a module's file if the image path has it. */
static int open_kernel_file(struct pp_image_symbols *symbols,
			    const struct pp_image *image,
			    struct pp_locator *locator,
			    struct pp_messages *messages)
{
	struct kernel_attempt attempt = { symbols, image, locator, messages,
					  NULL };
	int err;

	if (image->kind == OP_IMAGE_KERNEL)
		err = pp_locate_kernel(locator, &image->build_id,
				       try_kernel_file, &attempt);
	else
		err = pp_locate_module(locator, image->recorded.name,
				       !image->build_id.len, try_kernel_file,
				       &attempt);
	if (!err) {
		pp_message(messages, PP_REMARK_BFD, "%s: symbols from %s",
			   image->name, symbols->path);
		return take_symbols_of_binary(symbols, image, messages);
	}
	if (attempt.refused)
		pp_message(
			messages, PP_WARNING,
			"%s: not used: its build-id differs from that of the profiled %s; give the file of that build",
			attempt.refused,
			image->recorded.name + (*image->recorded.name == '/'));
	return err;
}

static int open_unnamed_kernel(struct pp_image_symbols *symbols,
			       const struct pp_image *image,
			       struct pp_locator *locator,
			       struct pp_messages *messages)
{
	int err = locator->image_path
			  ? open_kernel_file(symbols, image, locator, messages)
			  : -ENOENT;

	if (!err || err == -ENOMEM)
		return err;
	pp_message(
		messages, PP_WARNING,
		"%s: no symbols: the session does not name the kernel that was profiled; name the folder of its vmlinux with --image-path",
		image->name);
	return 0;
}

/* The kernel's binary and a module's file tell lines; the snapshot names only,
 * but it is there for every kernel that was profiled. */
static int open_symbol_source(struct pp_image_symbols *symbols,
			      const struct pp_image *image,
			      const struct op_session *session,
			      struct pp_locator *locator,
			      const struct op_ksyms_wanted *wanted,
			      struct pp_messages *messages)
{
	bool search = symbols->wants & PP_WANT_LINES || locator->image_path;
	int err = -ENOENT;

	if (image->recorded.space == OP_SPACE_ANON)
		return open_perf_map(symbols, image, session, locator,
				     messages);
	if (image->kind == OP_IMAGE_PSEUDO) {
		symbols->base = image->anon_start;
		return 0;
	}
	if (is_unnamed_kernel(image))
		return open_unnamed_kernel(symbols, image, locator, messages);
	if (image->recorded.space == OP_SPACE_ROOT)
		return open_binary(symbols, image, session, locator, messages);
	if (image->kind == OP_IMAGE_FILE)
		return 0;
	if (search &&
	    (image->kind == OP_IMAGE_KERNEL || image->kind == OP_IMAGE_MODULE))
		err = open_kernel_file(symbols, image, locator, messages);
	if (!err || err == -ENOMEM)
		return err;
	return open_snapshot(symbols, image, session, locator, wanted,
			     messages);
}

/* A kernel without symbols, in imported sessions, is none. */
static bool is_kernel_code(const struct pp_image *image)
{
	return image->kind == OP_IMAGE_PSEUDO &&
	       image->recorded.space == OP_SPACE_KERN && *image->name == '/' &&
	       strcmp(image->name, "/no-vmlinux");
}

/* ---- what the store has of inlined functions ----------------------------- */

/* Answers stand beside the digest of the binary, where that is stored. */
static int read_kept_inlines(struct pp_image_symbols *symbols,
			     const struct pp_image *image,
			     const struct op_session *session,
			     const struct pp_locator *locator)
{
	char path[8192];
	size_t room = sizeof(path) - sizeof(PP_INLINES_SUFFIX);
	int err;

	if (!(symbols->wants & PP_WANT_INLINES) || !symbols->bfd ||
	    !symbols->offsets || locator->archive ||
	    op_session_digest(session, &image->build_id, path, room))
		return 0;
	strcat(path, PP_INLINES_SUFFIX);
	err = pp_inline_answers_read(&symbols->kept, path,
				     image->build_id.bytes,
				     image->build_id.len);
	return err == -ENOMEM ? err : 0;
}

int pp_image_symbols_open_wanted(struct pp_image_symbols *symbols,
				 const struct pp_image *image,
				 const struct op_session *session,
				 struct pp_locator *locator, unsigned int wants,
				 const struct op_ksyms_wanted *wanted,
				 struct pp_messages *messages)
{
	size_t nr_damaged = 0;
	const char *failure;
	int err;

	memset(symbols, 0, sizeof(*symbols));
	symbols->wants = wants;
	symbols->messages = messages;
	err = open_symbol_source(symbols, image, session, locator, wanted,
				 messages);
	/* A function that the kernel made is an image, shown with a slash. */
	if (!symbols->nr)
		symbols->whole = image->name + is_kernel_code(image);
	if (!err)
		err = read_kept_inlines(symbols, image, session, locator);
	if (wants & PP_WANT_LINES && symbols->bfd)
		nr_damaged = op_bfd_lines_damaged(symbols->bfd);
	failure = pp_debuginfod_failure(locator->debug.server);
	if (failure)
		pp_message(messages, PP_WARNING, "%s", failure);
	if (nr_damaged)
		pp_message(
			messages, PP_WARNING,
			"%s: its line tables are damaged in %zu place%s; the lines of some code are not known",
			image->name, nr_damaged, op_plural(nr_damaged));
	return err;
}

int pp_image_symbols_open(struct pp_image_symbols *symbols,
			  const struct pp_image *image,
			  const struct op_session *session,
			  struct pp_locator *locator, unsigned int wants,
			  struct pp_messages *messages)
{
	return pp_image_symbols_open_wanted(symbols, image, session, locator,
					    wants, NULL, messages);
}

int pp_image_symbols_take(struct pp_image_symbols *symbols,
			  const struct pp_image *image, const char *path,
			  int fd, const struct op_debug_places *places,
			  unsigned int wants, struct pp_messages *messages)
{
	int err;

	*symbols = (struct pp_image_symbols){ .wants = wants,
					      .messages = messages,
					      .path = path };
	err = op_bfd_take(&symbols->bfd, path, fd, places);
	if (!err && is_changed(symbols->bfd, image))
		err = -ESTALE;
	return err ?: take_symbols_of_binary(symbols, image, messages);
}

void pp_warn_of_fault(struct pp_messages *messages, const struct op_bfd *bfd,
		      const char *missing)
{
	const char *path;
	int err = op_bfd_fault(bfd, &path);

	if (err)
		pp_message_of_error(messages, err,
				    "%s: cannot be read: %s; %s may be missing",
				    path, strerror(-err), missing);
}

void pp_image_symbols_release(struct pp_image_symbols *symbols)
{
	pp_warn_of_fault(symbols->messages, symbols->bfd,
			 "names and lines from it");
	if (symbols->bfd && op_bfd_lacks_split(symbols->bfd))
		pp_message(
			symbols->messages, PP_WARNING,
			"%s: files of its split DWARF (.dwo, .dwp) are not there: inlined functions, and what AutoFDO needs, are missing; put them where it was built, or beside it",
			symbols->path);
	pp_inline_answers_release(&symbols->kept);
	pp_inline_answers_release(&symbols->added);
	free(symbols->table);
	op_strings_release(&symbols->files);
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

/* The address by which op_bfd knows @key. */
static uint64_t bfd_vma(const struct pp_image_symbols *symbols, uint64_t key)
{
	return symbols->offsets ? op_bfd_vma(symbols->bfd, key)
				: symbols->base + symbols->text + key;
}

static void set_place(struct pp_image_symbols *symbols, struct op_arena *arena,
		      const char *file, unsigned int line,
		      struct pp_place *place)
{
	if (!symbols->files.arena)
		op_strings_init(&symbols->files, arena);
	if (file != symbols->last_file)
		symbols->last_copy = op_strings_add(&symbols->files, file);
	symbols->last_file = symbols->last_copy ? file : NULL;
	place->file = symbols->last_copy;
	place->line = line;
}

void pp_image_symbols_place(struct pp_image_symbols *symbols, uint64_t key,
			    struct op_arena *arena, struct pp_place *place)
{
	const char *file;
	unsigned int line;

	if (symbols->bfd &&
	    op_bfd_line(symbols->bfd, bfd_vma(symbols, key), &file, &line))
		set_place(symbols, arena, file, line, place);
}

void pp_image_symbols_declared(struct pp_image_symbols *symbols, uint64_t key,
			       struct op_arena *arena, struct pp_place *place)
{
	const char *file;
	unsigned int line;

	if (symbols->wants & PP_WANT_DECLARATIONS && symbols->bfd &&
	    symbols->offsets &&
	    op_bfd_declared(symbols->bfd, bfd_vma(symbols, key), &file, &line))
		set_place(symbols, arena, file, line, place);
	else
		pp_image_symbols_place(symbols, key, arena, place);
}

void pp_image_symbols_inlined_at(struct pp_image_symbols *symbols, uint64_t key,
				 struct op_arena *arena, struct pp_place *place)
{
	struct op_bfd_inlined found[OP_BFD_MAX_INLINED];

	if (pp_image_symbols_inlined(symbols, key, found) && found[0].call_file)
		set_place(symbols, arena, found[0].call_file,
			  found[0].call_line, place);
}

void pp_image_symbols_chain(struct pp_image_symbols *symbols, uint64_t key,
			    struct op_arena *arena, struct pp_place *places,
			    size_t nr)
{
	struct op_bfd_inlined found[OP_BFD_MAX_INLINED];
	size_t nr_inlined = pp_image_symbols_inlined(symbols, key, found);

	if (nr)
		pp_image_symbols_place(symbols, key, arena, &places[0]);
	for (size_t i = 1; i < nr && i <= nr_inlined; i++)
		if (found[i - 1].call_file)
			set_place(symbols, arena, found[i - 1].call_file,
				  found[i - 1].call_line, &places[i]);
}

/* Names of functions are the image's. */
static const char *keep_name(struct pp_image_symbols *symbols,
			     struct op_arena *arena, const char *name)
{
	if (!symbols->files.arena)
		op_strings_init(&symbols->files, arena);
	return op_strings_add(&symbols->files, name);
}

int pp_image_symbols_frames(struct pp_image_symbols *symbols, uint64_t key,
			    const char *name, struct op_arena *arena,
			    const struct pp_code_frame **out, size_t *nr)
{
	struct op_bfd_inlined found[OP_BFD_MAX_INLINED + 1];
	size_t depth = pp_image_symbols_inlined(symbols, key, found);
	bool knows = symbols->bfd && symbols->offsets;
	struct op_bfd_inlined *outer = &found[depth];
	struct pp_code_frame *frames =
		op_arena_alloc(arena, depth + 1, sizeof(*frames));
	struct pp_place place = { 0 };

	if (!frames)
		return -ENOMEM;
	if (!knows ||
	    !op_bfd_function(symbols->bfd, bfd_vma(symbols, key), outer))
		*outer = (struct op_bfd_inlined){ .name = name };
	pp_image_symbols_place(symbols, key, arena, &place);
	for (size_t i = 0; i <= depth; i++) {
		const struct op_bfd_inlined *f = &found[depth - i];

		frames[i] = (struct pp_code_frame){
			.name = keep_name(symbols, arena, f->name),
			.declared = f->line,
			.line = i < depth ? f[-1].call_line : place.line,
			.discriminator =
				i < depth ? f[-1].call_discriminator
				: knows	  ? op_bfd_discriminator(symbols->bfd,
								 bfd_vma(symbols,
									 key))
					  : 0,
		};
		if (!frames[i].name)
			return -ENOMEM;
	}
	*out = frames;
	*nr = depth + 1;
	return 0;
}

const uint8_t *pp_image_symbols_code(struct pp_image_symbols *symbols,
				     const struct pp_symbol *symbol,
				     struct op_arena *arena)
{
	uint64_t len = symbol->end - symbol->key;
	uint8_t *code;

	if (!symbols->bfd || len > MAX_CODE)
		return NULL;
	code = op_arena_alloc(arena, len, 1);
	if (!code || !op_bfd_code(symbols->bfd, bfd_vma(symbols, symbol->key),
				  len, code))
		return NULL;
	return code;
}

static bool may_know_inlines(const struct pp_image_symbols *symbols)
{
	return symbols->wants & PP_WANT_INLINES && symbols->bfd &&
	       symbols->offsets;
}

/* Half an answer would be wrong for ever. An answer from a binary without debug
 * information may be another one when that is installed; where it is in other
 * files, each report says what is missing. */
static void keep_inline_answer(struct pp_image_symbols *symbols, uint64_t key,
			       const struct op_bfd_inlined *frames, size_t nr)
{
	if (symbols->wants & PP_KEEP_INLINES &&
	    (!op_bfd_has_inlines(symbols->bfd) ||
	     op_bfd_lacks_split(symbols->bfd) ||
	     pp_inline_answers_add(&symbols->added, key, frames, nr)))
		symbols->wants &= ~PP_KEEP_INLINES;
}

static const struct pp_symbol *
symbol_that_begins_at(const struct pp_image_symbols *symbols, uint64_t vma)
{
	size_t at = OP_BISECT(i, symbols->nr,
			      op_bfd_vma(symbols->bfd, symbols->table[i].key) <
				      vma);

	return at < symbols->nr && op_bfd_vma(symbols->bfd,
					      symbols->table[at].key) == vma
		       ? &symbols->table[at]
		       : NULL;
}

/*
 * A function that was inlined here and is compiled by itself elsewhere is one
 * function, and has the name of its symbol: mangled ones alone say more than
 * debug information does, and those of clones are of a part of it.
 */
static void name_by_symbols(const struct pp_image_symbols *symbols,
			    struct op_bfd_inlined *frames, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct pp_symbol *symbol =
			frames[i].code
				? symbol_that_begins_at(symbols, frames[i].code)
				: NULL;

		if (symbol && !strncmp(symbol->name, "_Z", 2) &&
		    !strchr(symbol->name, '.'))
			frames[i].name = symbol->name;
	}
}

size_t pp_image_symbols_inlined(struct pp_image_symbols *symbols, uint64_t key,
				struct op_bfd_inlined out[OP_BFD_MAX_INLINED])
{
	size_t nr;

	if (!may_know_inlines(symbols))
		return 0;
	if (pp_inline_answers_find(&symbols->kept, key, out, &nr))
		return nr;
	nr = op_bfd_inlined(symbols->bfd, bfd_vma(symbols, key), out,
			    OP_BFD_MAX_INLINED);
	name_by_symbols(symbols, out, nr);
	keep_inline_answer(symbols, key, out, nr);
	return nr;
}

bool pp_image_symbols_function(struct pp_image_symbols *symbols,
			       const struct pp_symbol *symbol,
			       struct op_bfd_inlined *out)
{
	struct op_bfd_inlined found[OP_BFD_MAX_INLINED];
	uint64_t key = PP_INLINE_FUNCTION | symbol->key;
	size_t nr;

	if (!may_know_inlines(symbols))
		return false;
	if (!pp_inline_answers_find(&symbols->kept, key, found, &nr)) {
		nr = op_bfd_function(symbols->bfd,
				     bfd_vma(symbols, symbol->key), &found[0]);
		keep_inline_answer(symbols, key, found, nr);
	}
	if (nr)
		*out = found[0];
	return nr;
}
