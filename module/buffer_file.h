/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_BUFFER_FILE_H
#define MODULE_BUFFER_FILE_H

struct file_operations;

/*
 * The file of the event buffer: open sets the profiler up for one reader at a
 * time (-EBUSY for another), release ends what that reader started, read gives
 * whole records, poll and ioctl do as uapi/oprofile.h says.
 */
extern const struct file_operations buffer_file_operations;

#endif /* MODULE_BUFFER_FILE_H */
