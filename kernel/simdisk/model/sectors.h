/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A set of sectors: a bit for each, and above them levels with a bit for each word that is not 0,
 * so that the next one is found in a few steps, however far away it is.
 */
#ifndef SIMDISK_SECTORS_H
#define SIMDISK_SECTORS_H

#include "model.h"

/* 64 to this power is more sectors than any disk has. */
#define SECTORS_LEVELS 8u

struct sectors_level {
	u64 *words;
	u64 bits;
};

struct sectors {
	struct sectors_level levels[SECTORS_LEVELS];
	u32 level_count;
	/* How many are in it. */
	u64 count;
};

bool sd_sectors_make(struct sectors *set, u64 sectors);
void sd_sectors_destroy(struct sectors *set);
void sd_sectors_add(struct sectors *set, u64 sector, u64 end);
void sd_sectors_remove(struct sectors *set, u64 sector, u64 end);
/* The first one at this sector or after it; SD_NEVER where there is none. */
u64 sd_sectors_next(const struct sectors *set, u64 sector);
/* Up to where the sectors from this one on are all in it, limit at most. */
u64 sd_sectors_until(const struct sectors *set, u64 sector, u64 limit);

#endif
