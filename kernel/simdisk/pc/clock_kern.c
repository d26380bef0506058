// SPDX-License-Identifier: GPL-2.0
/*
 * The clock of the disk and of the trial: the processor's counter without the time that the
 * processor worked for the simulation.
 *
 * On a real machine the disk computes its own service time, and moves data by itself. Here the
 * processor does both, and its counter goes on meanwhile. That time is held: between
 * simdisk_hold_clock() and simdisk_release_clock() this clock stands still.
 *
 * /dev/fslab-clock: a page that a program maps, struct page_clock. Its time is
 *
 *     start_ns + ((counter - start_ticks) * tick_ns >> 32) - held_ns
 */
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>

#include <asm/msr.h>
#include <asm/tsc.h>

#include "clock.h"
#include "../driver/page.h"

struct page_clock {
	u64 held_ns;
	u64 start_ns;
	u64 start_ticks;
	/* Nanoseconds a tick, times 2^32. */
	u64 tick_ns;
};

static struct page_clock *page;
/* When the clock was held, and how many times it is. */
static u64 hold_ns;
static unsigned int holds;
/* The timer that waits for the release. */
static struct hrtimer *waiting;
static u64 waiting_ns;

static u64 counted_ns(void)
{
	return page->start_ns +
	       mul_u64_u64_shr(rdtsc() - page->start_ticks, page->tick_ns, 32);
}

u64 simdisk_clock_ns(void)
{
	return (holds ? hold_ns : counted_ns()) - page->held_ns;
}

void simdisk_hold_clock(void)
{
	if (holds++ == 0)
		hold_ns = counted_ns();
}

static void start(struct hrtimer *timer)
{
	u64 now_ns = simdisk_clock_ns();
	u64 wait_ns = waiting_ns > now_ns ? waiting_ns - now_ns : 0;

	hrtimer_start(timer, ns_to_ktime(wait_ns), HRTIMER_MODE_REL_HARD);
}

void simdisk_release_clock(void)
{
	struct hrtimer *timer = waiting;

	if (--holds)
		return;
	WRITE_ONCE(page->held_ns, page->held_ns + counted_ns() - hold_ns);
	waiting = NULL;
	if (timer)
		start(timer);
}

void simdisk_start_timer(struct hrtimer *timer, u64 at_ns)
{
	waiting = timer;
	waiting_ns = at_ns;
}

static int __init fslab_clock_init(void)
{
	page = (struct page_clock *)get_zeroed_page(GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	page->tick_ns = div_u64(1000000ull << 32, tsc_khz);
	page->start_ns = ktime_get_ns();
	page->start_ticks = rdtsc();
	return simdisk_offer_page("fslab-clock", page);
}
device_initcall(fslab_clock_init);
