/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The virtual clock as a page of memory: see clock_kern.c.
 */
#ifndef SIMDISK_CLOCK_H
#define SIMDISK_CLOCK_H

/* Called whenever virtual time has moved, with nanoseconds since the guest was started. */
void simdisk_set_clock(unsigned long long ns);

/* CLOCK_MONOTONIC in virtual time, without moving it. */
unsigned long long simdisk_clock_ns(void);

#endif
