/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_UNTRUSTED_OPD_UNTRUSTED_READ_H
#define DAEMON_SOURCE_UNTRUSTED_OPD_UNTRUSTED_READ_H

/*
 * The side of opd_untrusted.h that reads: each fills @call and @room of
 * OPD_UNTRUSTED_ROOM bytes from the file @fd. Nothing in a file is believed.
 */

struct opd_untrusted_call;

void opd_untrusted_read_map(int fd, struct opd_untrusted_call *call,
			    void *room);
void opd_untrusted_read_map_name(int fd, struct opd_untrusted_call *call,
				 void *room);
void opd_untrusted_read_dump(int fd, struct opd_untrusted_call *call);
void opd_untrusted_read_records(int fd, struct opd_untrusted_call *call,
				void *room);
void opd_untrusted_read_function(int fd, struct opd_untrusted_call *call,
				 void *room);
void opd_untrusted_read_frames(int fd, struct opd_untrusted_call *call,
			       void *room);
void opd_untrusted_read_build_id(int fd, struct opd_untrusted_call *call,
				 void *room);
void opd_untrusted_read_table(int fd, struct opd_untrusted_call *call,
			      void *room);
void opd_untrusted_read_return(int fd, struct opd_untrusted_call *call);
void opd_untrusted_read_text(int fd, struct opd_untrusted_call *call);
void opd_untrusted_read_digest(int fd, struct opd_untrusted_call *call);
void opd_untrusted_read_image(int fd, struct opd_untrusted_call *call,
			      void *room);

struct cfi_table;

/* Put @table, which is freed, into @room. */
void opd_untrusted_put_table(struct opd_untrusted_call *call,
			     struct cfi_table *table, void *room);

#endif /* DAEMON_SOURCE_UNTRUSTED_OPD_UNTRUSTED_READ_H */
