/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included before the driver of the simulated disk, which then follows the clock of clock_kern.c:
 * the clock stands still while the lock of the model is held, and a timer is started when it goes
 * on.
 */
#ifndef FSLAB_DISK_H
#define FSLAB_DISK_H

#include <linux/blk-mq.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/spinlock.h>

#include "clock.h"
#include "module.h"

#define ktime_get_ns() simdisk_clock_ns()

/* The clock is never behind the time for which a timer was started. */
#define hrtimer_get_expires(timer) 0
#define hrtimer_start(timer, at, mode) simdisk_start_timer(timer, ktime_to_ns(at))

#undef spin_lock_irqsave
#define spin_lock_irqsave(lock, flags) \
	do { \
		local_irq_save(flags); \
		spin_lock(lock); \
		simdisk_hold_clock(); \
	} while (0)
#define spin_unlock_irqrestore(lock, flags) \
	do { \
		simdisk_release_clock(); \
		spin_unlock(lock); \
		local_irq_restore(flags); \
	} while (0)

#endif
