/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of the disk and of the trial: see clock_kern.c.
 */
#ifndef FSLAB_CLOCK_H
#define FSLAB_CLOCK_H

#include <linux/hrtimer.h>
#include <linux/types.h>

u64 simdisk_clock_ns(void);
/* Holds and releases may be nested, by an interrupt. */
void simdisk_hold_clock(void);
void simdisk_release_clock(void);
/* While the clock is held; the timer starts when it is released. */
void simdisk_start_timer(struct hrtimer *timer, u64 at_ns);

#endif
