// SPDX-License-Identifier: GPL-2.0
/*
 * The parameters by which a trial reaches its start state, as in User-Mode Linux
 * (lab/memory_kern.c). There memory is in two parts, since every build of fslab has to leave the
 * same pages free. A PC's fslab is a part of its lab, so that its memory is the same in any case:
 * here N pages are held back, and nothing else.
 */
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/idr.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/swap.h>
#include <linux/vmstat.h>

#include "module.h"

#define HELD_MAX 1024

static unsigned long wanted_kib;
static bool is_open;

static int __init read_wanted(char *line, int *add)
{
	return kstrtoul(line, 10, &wanted_kib);
}

__uml_setup("lab_memory=", read_wanted, "");

static int open_memory(const char *text, const struct kernel_param *parameter)
{
	unsigned long held;

	if (!text || kstrtoul(text, 10, &held) || held > HELD_MAX)
		return -EINVAL;
	if (is_open)
		return -EALREADY;
	is_open = true;
	while (held-- && alloc_pages(GFP_KERNEL, 0))
		;
	return 0;
}

static int show_size(char *page, const struct kernel_param *parameter)
{
	return sysfs_emit(page, "%lu\n", wanted_kib);
}

static int show_state(char *page, const struct kernel_param *parameter)
{
	return sysfs_emit(page, "free %lu, cached %lu, random %016llx\n",
			  global_zone_page_state(NR_FREE_PAGES),
			  global_node_page_state(NR_FILE_PAGES), get_random_u64());
}

static const struct kernel_param_ops open_operations = {
	.set = open_memory,
	.get = show_size,
};
static const struct kernel_param_ops state_operations = { .get = show_state };

module_param_cb(measured_memory, &open_operations, NULL, 0600);
module_param_cb(memory_state, &state_operations, NULL, 0400);
