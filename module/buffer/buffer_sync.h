/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_BUFFER_SYNC_H
#define MODULE_BUFFER_SYNC_H

/*
 * Moves the samples of all CPU buffers to the event buffer, as stream
 * records: every HZ/4, when a CPU buffer is half full, on demand, and before
 * the notice of a loaded module.
 */

/* Start and end the periodic sync. Process context. */
int buffer_sync_setup(void);
void buffer_sync_shutdown(void);

/* Move all that is there. May sleep. */
void buffer_sync(void);

/* Ask for a sync in a moment. Any context but NMI. */
void buffer_sync_soon(void);

#endif /* MODULE_BUFFER_SYNC_H */
