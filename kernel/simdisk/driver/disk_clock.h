/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock that the model follows, and the timer that ends its requests.
 *
 * In User-Mode Linux it is the kernel's: in virtual time the processor takes none. On a PC whose
 * processor takes time, the clock stands still while the driver works for the simulation, from
 * simdisk_hold_clock() to simdisk_release_clock(); see pc/clock_kern.c.
 */
#ifndef SIMDISK_DISK_CLOCK_H
#define SIMDISK_DISK_CLOCK_H

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/types.h>

#ifdef CONFIG_UML

#define simdisk_clock_ns() ((u64)ktime_get_ns())
/* The time for which the timer was started: it may be ahead of the clock. */
#define simdisk_expired_ns(timer) ktime_to_ns(hrtimer_get_expires(timer))
#define simdisk_start_timer(timer, at_ns) \
	hrtimer_start(timer, ns_to_ktime(at_ns), HRTIMER_MODE_ABS_HARD)
#define simdisk_hold_clock() do { } while (0)
#define simdisk_release_clock() do { } while (0)

#else

u64 simdisk_clock_ns(void);
/* Holds and releases may be nested, by an interrupt. */
void simdisk_hold_clock(void);
void simdisk_release_clock(void);

/* It is never ahead of the clock. */
static inline u64 simdisk_expired_ns(struct hrtimer *timer)
{
	return 0;
}

/* While the clock is held; the timer starts when it is released. */
void simdisk_start_timer(struct hrtimer *timer, u64 at_ns);

#endif
#endif
