/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the scheduler calls for a task that yields; see yield_kern.c.
 */
#ifndef SIMDISK_YIELD_H
#define SIMDISK_YIELD_H

void simdisk_yield(void);

#endif
