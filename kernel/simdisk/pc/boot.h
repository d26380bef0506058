/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FSLAB_BOOT_H
#define FSLAB_BOOT_H

/* Where the host takes a snapshot of the machine; it goes on at once where none is taken. */
void fslab_pause(void);

#endif
