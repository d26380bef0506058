// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/simclock: a page whose first eight bytes are CLOCK_MONOTONIC in nanoseconds.
 *
 * In a guest every reading of the clock is a system call, which takes the host longer than what
 * most operations take, and moves virtual time besides. While a program runs, virtual time stands
 * still, so a page that is written when it moves is always right.
 */
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>

#include <timetravel.h>

#include "clock.h"
#include "page.h"

static u64 *page;
/* Both count from the start of the guest, but not from the same moment of it. */
static u64 ahead_ns;
static u64 last_ns;

void simdisk_set_clock(unsigned long long ns)
{
	last_ns = ns;
	if (page)
		WRITE_ONCE(*page, ns - ahead_ns);
}

/* What the page shows. */
unsigned long long simdisk_clock_ns(void)
{
	return last_ns - ahead_ns;
}

static int __init simclock_init(void)
{
	unsigned long irqs;

	if (time_travel_mode != TT_MODE_INFCPU)
		return 0;
	page = (u64 *)get_zeroed_page(GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	/* With interrupts off, reading the clock does not move it. */
	local_irq_save(irqs);
	ahead_ns = last_ns - ktime_get_ns();
	local_irq_restore(irqs);
	simdisk_set_clock(last_ns);
	return simdisk_offer_page("simclock", page);
}
device_initcall(simclock_init);
