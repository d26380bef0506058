/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a hard disk's write cache holds: extents of sectors, in the order of their addresses, that
 * do not overlap. Extents that touch are one, unless a flush waits for one of them and not the
 * other: so a flush never waits for what came after it, however close it lies.
 */
#ifndef SIMDISK_HDD_DIRTY_H
#define SIMDISK_HDD_DIRTY_H

#include "hdd_geometry.h"

/* A cache has a table of what it holds, and the table is full at some time as well. */
#define HDD_EXTENTS_MAX 16384u

struct hdd_extent {
	u64 sector;
	u32 sectors;
	/* A flush that began waits for it. */
	bool old;
	/* Of its first sector. */
	struct hdd_place place;
};

struct hdd_dirty {
	const struct hdd_geometry *geometry;
	/* The indices of the extents in use in the order of the addresses, then the unused ones. */
	u16 *order;
	struct hdd_extent *extents;
	u32 count;
	u32 count_max;
	u64 sectors;
	/* Of these, what a flush waits for. */
	u64 old_sectors;
};

bool sd_hdd_dirty_make(struct hdd_dirty *dirty, const struct hdd_geometry *geometry, u32 count_max);
void sd_hdd_dirty_destroy(struct hdd_dirty *dirty);
/* The position in the order of the first extent that ends after a sector. */
u32 sd_hdd_dirty_after(const struct hdd_dirty *dirty, u64 sector);
/* Up to where the sectors from this one on are all held. */
u64 sd_hdd_dirty_until(const struct hdd_dirty *dirty, u64 sector);
/* Adds what was written; needs one unused extent. What overlaps with an old extent becomes old. */
void sd_hdd_dirty_add(struct hdd_dirty *dirty, u64 sector, u64 end);
/* Takes out what lies there. Where a hole needs an extent more than there are, nothing is done. */
void sd_hdd_dirty_remove(struct hdd_dirty *dirty, u64 sector, u64 end);
/* Makes all that is held old. */
void sd_hdd_dirty_age(struct hdd_dirty *dirty);

static inline struct hdd_extent *sd_hdd_dirty_at(const struct hdd_dirty *dirty, u32 position)
{
	return &dirty->extents[dirty->order[position]];
}

static inline u64 sd_hdd_extent_end(const struct hdd_extent *extent)
{
	return extent->sector + extent->sectors;
}

#endif
