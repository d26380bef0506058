// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of sectors. The bits of all sectors of a large disk are much address space, but memory is
 * taken only where one of them was ever set.
 */
#include "sectors.h"

#define WORD_BITS 64u

bool sd_sectors_make(struct sectors *set, u64 sectors)
{
	u64 bits = sectors;

	memset(set, 0, sizeof(*set));
	do {
		struct sectors_level *level = &set->levels[set->level_count++];

		level->bits = bits;
		bits = (bits + WORD_BITS - 1) / WORD_BITS;
		level->words = sd_alloc(bits * sizeof(*level->words));
		if (!level->words)
			return false;
	} while (bits > 1 && set->level_count < SECTORS_LEVELS);
	return true;
}

void sd_sectors_destroy(struct sectors *set)
{
	for (u32 i = 0; i < set->level_count; i++)
		if (set->levels[i].words)
			sd_release(set->levels[i].words);
}

static u32 ones(u64 word)
{
	u32 count = 0;

	for (; word; word &= word - 1)
		count++;
	return count;
}

/* The bits of a word from sector to end, which has no bits of later words. */
static u64 mask_of(u64 sector, u64 end)
{
	u64 from = ~(u64)0 << (sector % WORD_BITS);

	return end % WORD_BITS ? from & ~(~(u64)0 << (end % WORD_BITS)) : from;
}

/* Where the word of a sector ends, end at most. */
static u64 word_end(u64 sector, u64 end)
{
	u64 limit = sector - sector % WORD_BITS + WORD_BITS;

	return limit < end ? limit : end;
}

/* The word of this index got its first bit, or lost its last one. */
static void update_above(struct sectors *set, u64 index, bool filled)
{
	for (u32 i = 1; i < set->level_count; i++) {
		u64 *word = &set->levels[i].words[index / WORD_BITS];
		u64 before = *word;

		if (filled)
			*word |= (u64)1 << (index % WORD_BITS);
		else
			*word &= ~((u64)1 << (index % WORD_BITS));
		if (filled ? before != 0 : *word != 0)
			return;
		index /= WORD_BITS;
	}
}

void sd_sectors_add(struct sectors *set, u64 sector, u64 end)
{
	while (sector < end) {
		u64 limit = word_end(sector, end), index = sector / WORD_BITS;
		u64 *word = &set->levels[0].words[index];
		u64 before = *word;

		*word |= mask_of(sector, limit);
		set->count += ones(*word & ~before);
		if (!before)
			update_above(set, index, true);
		sector = limit;
	}
}

void sd_sectors_remove(struct sectors *set, u64 sector, u64 end)
{
	for (sector = sd_sectors_next(set, sector); sector < end;
	     sector = sd_sectors_next(set, sector)) {
		u64 limit = word_end(sector, end), index = sector / WORD_BITS;
		u64 *word = &set->levels[0].words[index];
		u64 before = *word;

		*word &= ~mask_of(sector, limit);
		set->count -= ones(before & ~*word);
		if (!*word)
			update_above(set, index, false);
	}
}

u64 sd_sectors_next(const struct sectors *set, u64 sector)
{
	u64 at = sector;

	for (u32 i = 0; i < set->level_count; i++) {
		const struct sectors_level *level = &set->levels[i];
		u64 word;

		if (at >= level->bits)
			return SD_NEVER;
		word = level->words[at / WORD_BITS] >> (at % WORD_BITS);
		if (!word) {
			at = at / WORD_BITS + 1;
			continue;
		}
		at += (u64)__builtin_ctzll(word);
		while (i--)
			at = at * WORD_BITS + (u64)__builtin_ctzll(set->levels[i].words[at]);
		return at;
	}
	return SD_NEVER;
}

u64 sd_sectors_until(const struct sectors *set, u64 sector, u64 limit)
{
	while (sector < limit) {
		u64 gap = ~set->levels[0].words[sector / WORD_BITS] >> (sector % WORD_BITS);

		if (gap) {
			sector += (u64)__builtin_ctzll(gap);
			break;
		}
		sector = word_end(sector, limit);
	}
	return sector < limit ? sector : limit;
}
