// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/opd_record.h"

#include <errno.h>
#include <string.h>

#include "libop/base/op_log.h"

int opd_record_open(struct opd_record *record, const char *path,
		    struct op_log *log, struct op_diag *diag)
{
	record->log = log;
	record->file = fopen(path, "we");
	if (!record->file)
		return op_diag_set(diag, -errno,
				   "%s: %s; give --record a file to write",
				   path, strerror(errno));
	return 0;
}

static void end_recording(struct opd_record *record)
{
	op_log(record->log, "recording ends: %s", strerror(errno));
	fclose(record->file);
	record->file = NULL;
}

void opd_record_write(struct opd_record *record, const void *bytes, size_t len)
{
	if (record->file && fwrite(bytes, 1, len, record->file) != len)
		end_recording(record);
}

void opd_record_flush(struct opd_record *record)
{
	if (record->file && fflush(record->file))
		end_recording(record);
}

void opd_record_close(struct opd_record *record)
{
	if (record->file && fclose(record->file))
		op_log(record->log, "the recording is not complete: %s",
		       strerror(errno));
	record->file = NULL;
}
