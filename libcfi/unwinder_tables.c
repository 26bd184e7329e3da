// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A cache of unwind tables, by image.
 *
 * An image is known by its cookie. Each has the table of its own file, as
 * whoever makes a file chooses its build-id; where tables of one build-id are
 * equal one of them is enough, as with copies of a library in containers. An
 * image without a table is remembered as well, so that a file that cannot be
 * read is tried once; where memory was missing, again after many stacks.
 *
 * Where only functions are asked for the table tells of these alone. When a
 * stack is to be unwound there later, a second one is made, which takes its
 * place.
 *
 * Tables are in a list by their last use. When all of them take more than the
 * limit, the table that was not used for longest goes, and with it the images
 * that refer to it. The table that was used last always stays, because a walk
 * works with it.
 *
 * The vDSO has no file. The one of this process is the same as those of all
 * others; its table does not count towards the limit.
 */

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "libcfi/unwinder_tables.h"
#include "libop/base/op_array.h"

/* A table, in the list of all tables in the order of their last use. */
struct unwinder_table {
	struct unwinder_table *newer;
	struct unwinder_table *older;
	struct op_build_id id; /* of no length: not to be shared */
	enum cfi_extent extent;
	struct cfi_table *cfi;
};

/* How often a table that there was no memory for is asked for before it is
 * tried again: by the stacks of some seconds. */
#define LACKED_BEFORE_RETRY 16384

struct unwinder_image {
	uint64_t cookie;
	struct unwinder_table *table; /* NULL: has none */
	bool is_vdso;
	bool is_loaded; /* else the two above are not known */
	bool lacks_memory; /* for a table */
	uint32_t nr_lacked; /* so often since it was tried last */
};

/* ---- the list of tables -----------------------------------------------------
 */

static void unlink_table(struct unwinder_tables *t,
			 struct unwinder_table *table)
{
	*(table->newer ? &table->newer->older : &t->newest) = table->older;
	*(table->older ? &table->older->newer : &t->oldest) = table->newer;
}

static void link_newest(struct unwinder_tables *t, struct unwinder_table *table)
{
	table->newer = NULL;
	table->older = t->newest;
	*(t->newest ? &t->newest->newer : &t->oldest) = table;
	t->newest = table;
}

static void use_table(struct unwinder_tables *t, struct unwinder_table *table)
{
	if (table == t->newest)
		return;
	unlink_table(t, table);
	link_newest(t, table);
}

/* Free @table, which is no longer in the list. */
static void free_table(struct unwinder_tables *t, struct unwinder_table *table)
{
	t->stats.bytes -= cfi_table_bytes(table->cfi);
	t->stats.nr_tables--;
	cfi_table_free(table->cfi);
	free(table);
}

/* Images whose table is @table are as if they had never been seen. */
static void drop_images(struct unwinder_tables *t,
			const struct unwinder_table *table)
{
	for (size_t i = 0; i < t->nr_images; i++)
		if (t->images[i].table == table)
			t->images[i].is_loaded = false;
}

/* The newest one stays, however large it is: a walk goes on in it. */
void unwinder_tables_trim(struct unwinder_tables *t)
{
	while (t->stats.bytes > t->limit && t->oldest != t->newest) {
		struct unwinder_table *table = t->oldest;

		t->oldest = table->newer;
		t->oldest->older = NULL;
		drop_images(t, table);
		free_table(t, table);
		t->stats.nr_dropped++;
	}
}

/* ---- making them ------------------------------------------------------------
 */

static bool tells(const struct unwinder_table *table, enum cfi_extent extent)
{
	return table->extent >= extent;
}

static bool is_of_build(const struct unwinder_table *table,
			const struct op_build_id *id)
{
	return id->len && op_build_id_same(&table->id, id);
}

/* How much a table of build @id is to tell, to be like one that is there. */
static enum cfi_extent extent_of_build(const struct unwinder_tables *t,
				       const struct op_build_id *id,
				       enum cfi_extent extent)
{
	const struct unwinder_table *table;

	for (table = t->newest; table; table = table->older)
		if (tells(table, extent) && is_of_build(table, id))
			extent = table->extent;
	return extent;
}

static struct unwinder_table *find_equal(const struct unwinder_tables *t,
					 const struct op_build_id *id,
					 const struct cfi_table *cfi)
{
	struct unwinder_table *table;

	for (table = t->newest; table; table = table->older)
		if (is_of_build(table, id) && cfi_table_equal(table->cfi, cfi))
			return table;
	return NULL;
}

static int read_cfi(struct unwinder_tables *t, int fd, enum cfi_extent extent,
		    struct cfi_table **out)
{
	return t->ops->read_table ? t->ops->read_table(t->ctx, fd, extent, out)
				  : cfi_table_read(out, fd, extent, NULL);
}

/* Returns 0 with *@out set, or -errno. */
static int read_unwind_table(struct unwinder_tables *t, int fd,
			     enum cfi_extent extent,
			     struct unwinder_table **out)
{
	struct op_build_id id = { .len = 0 };
	struct unwinder_table *table;
	struct cfi_table *cfi;
	int err;

	if (t->ops->read_id ? t->ops->read_id(t->ctx, fd, &id)
			    : op_build_id_of_elf(&id, fd))
		id.len = 0;
	extent = extent_of_build(t, &id, extent);
	err = read_cfi(t, fd, extent, &cfi);
	if (err)
		return err;
	*out = table = find_equal(t, &id, cfi) ?: calloc(1, sizeof(*table));
	if (!table || table->cfi) {
		cfi_table_free(cfi);
		return table ? 0 : -ENOMEM;
	}
	table->cfi = cfi;
	table->id = id;
	table->extent = extent;
	link_newest(t, table);
	t->stats.bytes += cfi_table_bytes(table->cfi);
	t->stats.nr_tables++;
	t->stats.nr_made++;
	return 0;
}

/* The end of an ELF file is that of its section headers, or of a segment. */
static size_t vdso_len(const Elf64_Ehdr *h)
{
	const Elf64_Phdr *p =
		(const void *)((const char *)h + (size_t)h->e_phoff);
	size_t len = h->e_shoff + (size_t)h->e_shnum * h->e_shentsize;

	for (unsigned int i = 0; i < h->e_phnum; i++)
		if (p[i].p_offset + p[i].p_filesz > len)
			len = p[i].p_offset + p[i].p_filesz;
	return len;
}

static const struct cfi_table *find_vdso(struct unwinder_tables *t)
{
	const uintptr_t at = getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *own;

	memcpy(&own, &at, sizeof(own));
	if (!t->vdso_tried && own &&
	    cfi_table_new(&t->vdso, own, vdso_len(own), NULL))
		t->vdso = NULL;
	t->vdso_tried = true;
	return t->vdso;
}

static void load_image(struct unwinder_tables *t, struct unwinder_image *image,
		       enum cfi_extent extent)
{
	int fd = t->ops->open_image(t->ctx, image->cookie), err = fd;

	image->is_loaded = true;
	image->is_vdso = fd == UNWINDER_VDSO;
	image->table = NULL;
	if (fd >= 0) {
		err = read_unwind_table(t, fd, extent, &image->table);
		close(fd);
	}
	/* A table that is too large for what it is handed over in is -EFBIG. */
	image->lacks_memory = err == -ENOMEM || err == -EFBIG;
	image->nr_lacked = 0;
	if (!image->table && !image->is_vdso)
		t->stats.nr_failed++;
}

static struct unwinder_image *find_cached_image(struct unwinder_tables *t,
						uint64_t cookie)
{
	uint64_t hash = op_hash_mix(t->index.seed, cookie);
	uint32_t number;

	if (t->last && t->images[t->last - 1].cookie == cookie)
		return &t->images[t->last - 1];
	op_hash_each(&t->index, hash, number)
		if (t->images[number - 1].cookie == cookie) {
			t->last = number;
			return &t->images[number - 1];
		}
	if (op_hash_reserve(&t->index, t->nr_images + 1) ||
	    op_array_reserve(&t->images, t->nr_images, 1))
		return NULL;
	t->images[t->nr_images++] = (struct unwinder_image){ .cookie = cookie };
	/* The first call of op_hash_reserve() sets the seed. */
	hash = op_hash_mix(t->index.seed, cookie);
	op_hash_add(&t->index, hash, (uint32_t)t->nr_images);
	return &t->images[t->nr_images - 1];
}

const struct cfi_table *unwinder_tables_find(struct unwinder_tables *t,
					     const struct unwinder_map *map,
					     enum cfi_extent extent)
{
	struct unwinder_image *image;

	t->lacks_memory = false;
	if (map->cookie == OP_NO_COOKIE)
		return map->anon && !strcmp(map->anon, "[vdso]") ? find_vdso(t)
								 : NULL;
	image = find_cached_image(t, map->cookie);
	if (!image) {
		t->lacks_memory = true;
		return NULL;
	}
	if (!image->is_loaded ||
	    (image->table ? !tells(image->table, extent)
			  : image->lacks_memory &&
				    ++image->nr_lacked == LACKED_BEFORE_RETRY))
		load_image(t, image, extent);
	if (image->is_vdso)
		return find_vdso(t);
	if (!image->table) {
		t->lacks_memory = image->lacks_memory;
		return NULL;
	}
	use_table(t, image->table);
	unwinder_tables_trim(t);
	return image->table->cfi;
}

/* ---- life ------------------------------------------------------------------
 */

void unwinder_tables_init(struct unwinder_tables *t,
			  const struct unwinder_ops *ops, void *ctx)
{
	*t = (struct unwinder_tables){
		.ops = ops,
		.ctx = ctx,
		.limit = UNWINDER_BYTES,
	};
}

void unwinder_tables_forget(struct unwinder_tables *t)
{
	free(t->images);
	t->images = NULL;
	t->nr_images = t->last = 0;
	op_hash_release(&t->index);
	while (t->newest) {
		struct unwinder_table *table = t->newest;

		t->newest = table->older;
		free_table(t, table);
	}
	t->oldest = NULL;
	cfi_table_free(t->vdso);
	t->vdso = NULL;
	t->vdso_tried = false;
}
