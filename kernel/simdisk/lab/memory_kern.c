// SPDX-License-Identifier: GPL-2.0
/*
 * Two parts of memory, so that nothing of how a trial was prepared reaches the file system that is
 * measured: neither the size of fslab's program nor the pages that its loader has touched.
 *
 * lab_memory=KIB on the command line keeps that much memory from the kernel's allocator while it
 * boots; what mem= gives beyond it is the set-up memory. Programs that are to stay lock their pages
 * in it. Then N is written to /sys/module/fslab/parameters/measured_memory: what is left of the
 * set-up memory is taken away, free objects in slabs too, and the measured memory becomes free,
 * whole and in order. What is freed of the set-up memory later is never used again: how many pages
 * and objects that are depends on how fslab was built. So from there on each allocation is the
 * same, whatever was there before. N pages of the measured memory are held back: a change of where
 * everything lies that should not matter.
 *
 * /sys/module/fslab/parameters/memory_state distinguishes two states of the measured memory.
 */
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/idr.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/mmzone.h>
#include <linux/moduleparam.h>
#include <linux/pid_namespace.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/version.h>

#include <init.h>

#include "../../../../../mm/slab.h"

/* What is kept from the allocator is kept in its largest blocks, 4 MiB each. */
#define BLOCK_ORDER 10
#define BLOCK_PAGES (1ul << BLOCK_ORDER)
/* A block: more would be another amount of memory. */
#define HELD_MAX BLOCK_PAGES
/* Guests of up to 256 GiB. */
#define BLOCKS_MAX (1ul << 16)

/* Neither waits, nor wakes whoever would make room; takes the last reserves. */
#define LAST_PAGES (__GFP_NOWARN | __GFP_MEMALLOC)

static unsigned long wanted_kib;
static LIST_HEAD(closed);
static unsigned long closed_blocks;
static bool is_open;
/* By the number of a block: whether it belongs to the measured memory. */
static DECLARE_BITMAP(is_measured, BLOCKS_MAX);

static int __init read_wanted(char *line, int *add)
{
	*add = 0;
	if (kstrtoul(line, 10, &wanted_kib))
		pr_err("lab: '%s' is no number of KiB\n", line);
	return 0;
}

__uml_setup("lab_memory=", read_wanted,
"lab_memory=KIB\n"
"    Memory that becomes free when /sys/module/fslab/parameters/measured_memory is written.\n\n"
);

static int __init close_memory(void)
{
	unsigned long blocks = wanted_kib >> (BLOCK_ORDER + PAGE_SHIFT - 10);

	while (closed_blocks < blocks) {
		/* As movable pages, of which the blocks stay. */
		struct page *page = alloc_pages(GFP_HIGHUSER_MOVABLE | __GFP_NOWARN, BLOCK_ORDER);

		if (!page || page_to_pfn(page) >> BLOCK_ORDER >= BLOCKS_MAX)
			panic("lab: there are no %lu KiB of memory beside the set-up", wanted_kib);
		list_add_tail(&page->lru, &closed);
		set_bit(page_to_pfn(page) >> BLOCK_ORDER, is_measured);
		closed_blocks++;
	}
	return 0;
}
early_initcall(close_memory);

/* Lets everything end that was put off, so that it is not freed later. */
static void settle(void)
{
	flush_delayed_fput();
	lru_add_drain_all();
	rcu_barrier();
}

static void take_every_page(void)
{
	for (int order = BLOCK_ORDER; order >= 0; order--)
		while (alloc_pages(LAST_PAGES, order))
			;
}

/* With no page left, a cache gives what free objects it has. */
static void take_every_object(void)
{
	struct kmem_cache *cache;

	list_for_each_entry(cache, &slab_caches, list)
		while (kmem_cache_alloc(cache, LAST_PAGES))
			;
}

/* The allocator adapts the length of a processor's lists of pages to what was freed and taken. */
static void reset_page_lists(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	struct zone *zone;

	for_each_populated_zone(zone) {
		struct per_cpu_pages *lists = this_cpu_ptr(zone->per_cpu_pageset);

		lists->high = lists->high_min;
		lists->alloc_factor = 0;
		lists->free_count = 0;
		lists->flags = 0;
		clear_bit(ZONE_BELOW_HIGH, &zone->flags);
	}
#endif
}

/*
 * Whether a page, or an object in it, is not to be used again once it is free: called by the page
 * allocator and by SLUB for all that they free, which have no header in common.
 */
bool lab_keeps_page(const struct page *page);

bool lab_keeps_page(const struct page *page)
{
	return unlikely(is_open) && !test_bit(page_to_pfn(page) >> BLOCK_ORDER, is_measured);
}

static void open_blocks(void)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, &closed, lru) {
		list_del(&page->lru);
		__free_pages(page, BLOCK_ORDER);
	}
}

static int open_memory(const char *text, const struct kernel_param *parameter)
{
	unsigned long held;

	if (!text || kstrtoul(text, 10, &held) || held > HELD_MAX)
		return -EINVAL;
	if (!closed_blocks)
		return -ENODEV;
	if (is_open)
		return -EALREADY;
	settle();
	/* Nothing sleeps from here on, so that no one else allocates. */
	mutex_lock(&slab_mutex);
	drain_all_pages(NULL);
	take_every_page();
	take_every_object();
	reset_page_lists();
	is_open = true;
	open_blocks();
	while (held-- && alloc_pages(GFP_KERNEL, 0))
		;
	mutex_unlock(&slab_mutex);
	return 0;
}

/* In KiB; 0 where all memory was free from the beginning. */
static int show_size(char *page, const struct kernel_param *parameter)
{
	return sysfs_emit(page, "%lu\n", closed_blocks << (BLOCK_ORDER + PAGE_SHIFT - 10));
}

/* FNV-1a over numbers. */
struct state {
	u64 hash;
	unsigned long pages;
};

static void add(struct state *state, u64 number)
{
	state->hash = (state->hash ^ number) * 0x100000001b3ull;
}

static void add_page(struct state *state, const struct page *page, int order)
{
	unsigned long pfn = page_to_pfn(page);

	if (!test_bit(pfn >> BLOCK_ORDER, is_measured))
		return;
	add(state, pfn);
	state->pages += 1ul << order;
}

static void add_free(struct state *state, struct zone *zone)
{
	struct page *page;
	unsigned long irqs;

	spin_lock_irqsave(&zone->lock, irqs);
	for (int order = 0; order <= BLOCK_ORDER; order++)
		for (int type = 0; type < MIGRATE_TYPES; type++) {
			add(state, order * MIGRATE_TYPES + type);
			list_for_each_entry(page, &zone->free_area[order].free_list[type], lru)
				add_page(state, page, order);
		}
	spin_unlock_irqrestore(&zone->lock, irqs);
}

static void add_cached(struct state *state)
{
	struct lruvec *lists = &NODE_DATA(0)->__lruvec;
	struct folio *folio;
	enum lru_list list;

	spin_lock_irq(&lists->lru_lock);
	/* The list of the unevictable ones is none. */
	for_each_evictable_lru(list) {
		add(state, list);
		list_for_each_entry(folio, &lists->lists[list], lru)
			add_page(state, &folio->page, folio_order(folio));
	}
	spin_unlock_irq(&lists->lru_lock);
}

static int show_state(char *page, const struct kernel_param *parameter)
{
	struct state free = { 0 }, cached = { 0 };
	struct zone *zone;

	lru_add_drain();
	drain_all_pages(NULL);
	for_each_populated_zone(zone)
		add_free(&free, zone);
	add_cached(&cached);
	return sysfs_emit(page, "free %lu %016llx, cached %lu %016llx, pid %u, random %016llx\n",
			  free.pages, free.hash, cached.pages, cached.hash,
			  idr_get_cursor(&init_pid_ns.idr), get_random_u64());
}

static const struct kernel_param_ops open_operations = {
	.set = open_memory,
	.get = show_size,
};
static const struct kernel_param_ops state_operations = { .get = show_state };

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "fslab."
module_param_cb(measured_memory, &open_operations, NULL, 0600);
module_param_cb(memory_state, &state_operations, NULL, 0400);
