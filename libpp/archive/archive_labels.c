// SPDX-License-Identifier: GPL-2.0-or-later
/* The labels of this machine: its name, its kernel, and a hash of its
 * machine-id. */

#include "libpp/archive/archive_labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "libop/image/op_build_id.h"
#include "libop/files/op_file.h"
#include "libpp/symbols/sha256.h"

#define MACHINE_ID_FILE "/etc/machine-id"
#define MACHINE_ID_BYTES 8 /* that are shown */

/* Set a label, unless @value cannot be one, as an empty name: then it is not
 * known. */
static int label_if_known(struct op_labels *labels, const char *key,
			  const char *value)
{
	int err = op_labels_set(labels, key, value);

	return err == -EINVAL ? 0 : err;
}

/* machine-id(5) asks for a hash where others may see it. */
static int label_machine_id(struct op_labels *labels,
			    struct pp_messages *messages)
{
	static const char salt[] = "oprofile archive";
	char hex[OP_BUILD_TEXT_MAX], *id = NULL;
	uint8_t hash[PP_SHA256_LEN];
	struct sha256_ctx sha;
	size_t len;
	int err = op_file_read(MACHINE_ID_FILE, 4096, &id, &len, NULL);

	if (pp_is_fault(err))
		pp_message_of_error(
			messages, err,
			MACHINE_ID_FILE
			": cannot be read: %s; the archive is without this label",
			strerror(-err));
	if (err)
		return 0;
	len = strcspn(id, "\n");
	sha256_init(&sha);
	sha256_update(&sha, len, (const uint8_t *)id);
	sha256_update(&sha, sizeof(salt), (const uint8_t *)salt);
	sha256_digest(&sha, sizeof(hash), hash);
	free(id);
	op_build_id_text(hash, MACHINE_ID_BYTES, hex);
	return len ? label_if_known(labels, OP_LABEL_MACHINE, hex) : 0;
}

int pp_labels_of_machine(struct op_labels *labels, struct pp_messages *messages)
{
	struct utsname name;
	int err = 0;

	if (!uname(&name))
		err = label_if_known(labels, OP_LABEL_HOST, name.nodename)
			      ?: label_if_known(labels, OP_LABEL_KERNEL,
						name.release);
	return err ?: label_machine_id(labels, messages);
}
