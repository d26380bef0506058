// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting by yielding, in virtual time.
 *
 * Where the processor takes no time, a task that yields until something has happened elsewhere
 * would yield for ever: the clock stands still while anybody runs. So a task that yields in vain
 * sleeps a little, and the clock goes on to whatever comes first.
 */
#include <linux/hrtimer.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>

#include <timetravel.h>

#include "yield.h"

/* The error of a wait that ends while its task sleeps. */
#define NAP_NS 50000
/* Tasks that yield to each other do so a few times at most before one of them gets on. */
#define YIELDS_MAX 64
/* Who is alone yields to nobody; but once is no waiting. */
#define YIELDS_MAX_ALONE 2

/* Called by sched_yield(2), by the kernel's own yield(), and by sync(2), which others wait with. */
void simdisk_yield(void)
{
	static ktime_t last;
	static unsigned int yields;
	ktime_t now, nap = NAP_NS;
	unsigned long irqs;

	if (time_travel_mode != TT_MODE_INFCPU)
		return;
	/* With interrupts off, reading the clock does not move it. */
	local_irq_save(irqs);
	now = ktime_get();
	local_irq_restore(irqs);
	if (now != last) {
		last = now;
		yields = 0;
	}
	if (++yields < (single_task_running() ? YIELDS_MAX_ALONE : YIELDS_MAX))
		return;
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&nap, HRTIMER_MODE_REL);
}
