// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as a classic sample file, as the description of an ABI, and as a
 * name: they are refused with one line, or what is read can be walked and
 * written.
 *
 * The first byte of an input says what it is: 'f' a file, 'F' a file that is
 * read with the ABI whose text comes before the first zero byte, 'a' an abi
 * file, 'n' a name.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libop/classic/op_classic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const uint8_t *data, size_t size,
		 const struct op_classic_abi *abi)
{
	struct op_diag diag = { "" };
	struct op_classic classic;
	uint64_t key, count, seen = 0;
	int err = op_classic_parse(&classic, data, size, abi, "f", &diag);

	if (!err == !!*diag.text)
		abort();
	if (err)
		return;
	for (uint64_t at = 0; op_classic_next(&classic, &at, &key, &count);)
		seen += count != 0;
	if (seen > classic.nr_nodes || classic.nr_nodes > size)
		abort();
	op_classic_cpu_name(classic.header.version, classic.header.cpu_type);
}

/* Returns whether @abi was filled. */
static bool read_abi(const uint8_t *data, size_t size,
		     struct op_classic_abi *abi)
{
	struct op_diag diag = { "" };
	char *text = malloc(size + 1);
	int err;

	if (!text)
		return false;
	memcpy(text, data, size);
	text[size] = '\0';
	err = op_classic_abi_parse(abi, text, size, "abi", &diag);
	if (!err == !!*diag.text)
		abort();
	free(text);
	return !err;
}

static void walk_told(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, 0, size);
	struct op_classic_abi abi;

	if (end && read_abi(data, end - data, &abi))
		walk(end + 1, data + size - end - 1, &abi);
}

static void name(const uint8_t *data, size_t size)
{
	char text[OP_MANGLE_MAX], buf[OP_MANGLE_MAX], ours[OP_MANGLE_MAX];
	struct op_diag diag = { "" };
	struct op_mangle m, again;

	if (size >= sizeof(text))
		return;
	memcpy(text, data, size);
	text[size] = '\0';
	if (op_classic_name_parse(text, &m, buf, sizeof(buf), &diag))
		return;
	/* A name of ours is one that can be read. */
	if (op_mangle_build(&m, ours, sizeof(ours)) > 0 &&
	    op_mangle_parse(ours, &again, text, sizeof(text), &diag))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct op_classic_abi abi;

	if (!size)
		return 0;
	switch (*data) {
	case 'f':
		walk(data + 1, size - 1, NULL);
		break;
	case 'F':
		walk_told(data + 1, size - 1);
		break;
	case 'a':
		read_abi(data + 1, size - 1, &abi);
		break;
	default:
		name(data + 1, size - 1);
		break;
	}
	return 0;
}
