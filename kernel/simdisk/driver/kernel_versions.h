/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the block layer and the timers of Linux 6.1 and of later versions differ.
 */
#ifndef SIMDISK_KERNEL_VERSIONS_H
#define SIMDISK_KERNEL_VERSIONS_H

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/hrtimer.h>
#include <linux/version.h>

#include "host.h"
#include "settings.h"

/* Merging was asked for until 6.13, and is the rule since. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define SIMDISK_QUEUE_FLAGS BLK_MQ_F_SHOULD_MERGE
#else
#define SIMDISK_QUEUE_FLAGS 0
#endif

/* The timer's own interrupt, not a later softirq, ends a request: nothing may come in between. */
static inline void simdisk_setup_timer(struct hrtimer *timer,
				       enum hrtimer_restart (*function)(struct hrtimer *))
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	timer->function = function;
#else
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
#endif
}

/* A disk without a queue of requests. */
static inline struct gendisk *lab_alloc_disk(void)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 9, 0)
	return blk_alloc_disk(NUMA_NO_NODE);
#else
	return blk_alloc_disk(NULL, NUMA_NO_NODE);
#endif
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)

/* Properties were set one by one, by functions. */
static inline struct gendisk *simdisk_alloc_disk(struct blk_mq_tag_set *tags,
						 const struct simdisk_settings *settings)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 9, 0)
	struct gendisk *disk = blk_mq_alloc_disk(tags, NULL);
#else
	struct gendisk *disk = blk_mq_alloc_disk(tags, NULL, NULL);
#endif
	struct request_queue *queue;

	if (IS_ERR(disk))
		return disk;
	queue = disk->queue;
	blk_queue_max_hw_sectors(queue, settings->max_request_bytes >> SECTOR_SHIFT);
	blk_queue_max_segments(queue, SIMDISK_PIECES);
	blk_queue_max_segment_size(queue, UINT_MAX);
	blk_queue_physical_block_size(queue, settings->physical_block_bytes);
	blk_queue_write_cache(queue, settings->write_cache, settings->fua);
	if (settings->discard_bytes) {
		queue->limits.discard_granularity = settings->discard_bytes;
		blk_queue_max_discard_sectors(queue, UINT_MAX >> SECTOR_SHIFT);
	}
	if (settings->rotational)
		blk_queue_flag_clear(QUEUE_FLAG_NONROT, queue);
	else
		blk_queue_flag_set(QUEUE_FLAG_NONROT, queue);
	/* Which requests are merged in time may not hang on what else the kernel does. */
	blk_queue_flag_clear(QUEUE_FLAG_ADD_RANDOM, queue);
	return disk;
}

#else

static inline struct gendisk *simdisk_alloc_disk(struct blk_mq_tag_set *tags,
						 const struct simdisk_settings *settings)
{
	struct queue_limits limits = {
		.max_hw_sectors = settings->max_request_bytes >> SECTOR_SHIFT,
		.max_segments = SIMDISK_PIECES,
		.max_segment_size = UINT_MAX,
		.logical_block_size = SECTOR_SIZE,
		.physical_block_size = settings->physical_block_bytes,
	};

	if (settings->write_cache)
		limits.features |= BLK_FEAT_WRITE_CACHE;
	if (settings->write_cache && settings->fua)
		limits.features |= BLK_FEAT_FUA;
	if (settings->rotational)
		limits.features |= BLK_FEAT_ROTATIONAL;
	if (settings->discard_bytes) {
		limits.discard_granularity = settings->discard_bytes;
		limits.max_hw_discard_sectors = UINT_MAX >> SECTOR_SHIFT;
	}
	return blk_mq_alloc_disk(tags, &limits, NULL);
}

#endif
#endif
