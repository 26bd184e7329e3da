/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_UNTRUSTED_OPD_FOREIGN_READ_H
#define DAEMON_SOURCE_UNTRUSTED_OPD_FOREIGN_READ_H

/*
 * The side of opd_foreign.h that reads: each fills @call and @room of
 * OPD_FOREIGN_ROOM bytes from the file @fd. Nothing in a file is believed.
 */

struct opd_foreign_call;

void opd_foreign_read_map(int fd, struct opd_foreign_call *call, void *room);
void opd_foreign_read_map_name(int fd, struct opd_foreign_call *call,
			       void *room);
void opd_foreign_read_dump(int fd, struct opd_foreign_call *call);
void opd_foreign_read_records(int fd, struct opd_foreign_call *call,
			      void *room);
void opd_foreign_read_function(int fd, struct opd_foreign_call *call,
			       void *room);
void opd_foreign_read_frames(int fd, struct opd_foreign_call *call, void *room);
void opd_foreign_read_build_id(int fd, struct opd_foreign_call *call,
			       void *room);
void opd_foreign_read_table(int fd, struct opd_foreign_call *call, void *room);
void opd_foreign_read_return(int fd, struct opd_foreign_call *call);
void opd_foreign_read_text(int fd, struct opd_foreign_call *call);
void opd_foreign_read_digest(int fd, struct opd_foreign_call *call);
void opd_foreign_read_image(int fd, struct opd_foreign_call *call, void *room);

struct cfi_table;

/* Put @table, which is freed, into @room. */
void opd_foreign_put_table(struct opd_foreign_call *call,
			   struct cfi_table *table, void *room);

#endif /* DAEMON_SOURCE_UNTRUSTED_OPD_FOREIGN_READ_H */
