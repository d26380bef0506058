// SPDX-License-Identifier: GPL-2.0
/*
 * The extents of a write cache. Their order is an array of small indices, so that putting one in
 * the midst of many moves few bytes; a search tree would save nothing at these counts.
 */
#include "hdd_dirty.h"

bool sd_hdd_dirty_make(struct hdd_dirty *dirty, const struct hdd_geometry *geometry, u32 count_max)
{
	dirty->geometry = geometry;
	dirty->count_max = count_max;
	dirty->order = sd_alloc(count_max * sizeof(*dirty->order));
	dirty->extents = sd_alloc(count_max * sizeof(*dirty->extents));
	for (u32 i = 0; dirty->order && i < count_max; i++)
		dirty->order[i] = (u16)i;
	return dirty->order && dirty->extents;
}

void sd_hdd_dirty_destroy(struct hdd_dirty *dirty)
{
	if (dirty->order)
		sd_release(dirty->order);
	if (dirty->extents)
		sd_release(dirty->extents);
}

u32 sd_hdd_dirty_after(const struct hdd_dirty *dirty, u64 sector)
{
	u32 low = 0, high = dirty->count;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (sd_hdd_extent_end(sd_hdd_dirty_at(dirty, middle)) > sector)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

u64 sd_hdd_dirty_until(const struct hdd_dirty *dirty, u64 sector)
{
	for (u32 i = sd_hdd_dirty_after(dirty, sector); i < dirty->count; i++) {
		const struct hdd_extent *extent = sd_hdd_dirty_at(dirty, i);

		if (extent->sector > sector)
			break;
		sector = sd_hdd_extent_end(extent);
	}
	return sector;
}

/* Makes one unused extent the one at a position. */
static struct hdd_extent *put_in(struct hdd_dirty *dirty, u32 position)
{
	u16 index = dirty->order[dirty->count];

	memmove(&dirty->order[position + 1], &dirty->order[position],
		(dirty->count - position) * sizeof(*dirty->order));
	dirty->order[position] = index;
	dirty->count++;
	return &dirty->extents[index];
}

/* Takes the extents of these positions out; up to 64 at a time are kept in between. */
static void take_out(struct hdd_dirty *dirty, u32 position, u32 count)
{
	u16 unused[64];

	while (count) {
		u32 now = count < 64 ? count : 64;

		memcpy(unused, &dirty->order[position], now * sizeof(*unused));
		memmove(&dirty->order[position], &dirty->order[position + now],
			(dirty->count - position - now) * sizeof(*unused));
		dirty->count -= now;
		memcpy(&dirty->order[dirty->count], unused, now * sizeof(*unused));
		count -= now;
	}
}

/* What the totals are to know of an extent, before it changes or after. */
static void count_out(struct hdd_dirty *dirty, const struct hdd_extent *extent)
{
	dirty->sectors -= extent->sectors;
	if (extent->old)
		dirty->old_sectors -= extent->sectors;
}

static void set(struct hdd_dirty *dirty, struct hdd_extent *extent, u64 sector, u64 end, bool old)
{
	extent->sector = sector;
	extent->sectors = (u32)(end - sector);
	extent->old = old;
	sd_hdd_locate(dirty->geometry, sector, &extent->place);
	dirty->sectors += extent->sectors;
	if (old)
		dirty->old_sectors += extent->sectors;
}

void sd_hdd_dirty_add(struct hdd_dirty *dirty, u64 sector, u64 end)
{
	u32 first = sd_hdd_dirty_after(dirty, sector), last = first;
	struct hdd_extent *extent;
	bool old = false;

	for (; last < dirty->count; last++) {
		extent = sd_hdd_dirty_at(dirty, last);
		if (extent->sector >= end)
			break;
		old |= extent->old;
	}
	/* Those that only touch join as well, where they are of one age. */
	if (first && sd_hdd_extent_end(sd_hdd_dirty_at(dirty, first - 1)) == sector &&
	    sd_hdd_dirty_at(dirty, first - 1)->old == old)
		first--;
	if (last < dirty->count && sd_hdd_dirty_at(dirty, last)->sector == end &&
	    sd_hdd_dirty_at(dirty, last)->old == old)
		last++;
	for (u32 i = first; i < last; i++) {
		extent = sd_hdd_dirty_at(dirty, i);
		if (extent->sector < sector)
			sector = extent->sector;
		if (sd_hdd_extent_end(extent) > end)
			end = sd_hdd_extent_end(extent);
		count_out(dirty, extent);
	}
	if (first == last) {
		extent = put_in(dirty, first);
	} else {
		extent = sd_hdd_dirty_at(dirty, first);
		take_out(dirty, first + 1, last - first - 1);
	}
	set(dirty, extent, sector, end, old);
}

void sd_hdd_dirty_remove(struct hdd_dirty *dirty, u64 sector, u64 end)
{
	u32 first = sd_hdd_dirty_after(dirty, sector), last = first;

	while (last < dirty->count && sd_hdd_dirty_at(dirty, last)->sector < end) {
		struct hdd_extent *extent = sd_hdd_dirty_at(dirty, last);
		u64 from = extent->sector, to = sd_hdd_extent_end(extent);
		bool old = extent->old;

		if (from < sector && to > end) {
			if (dirty->count == dirty->count_max)
				return;
			count_out(dirty, extent);
			set(dirty, extent, from, sector, old);
			set(dirty, put_in(dirty, last + 1), end, to, old);
			return;
		}
		count_out(dirty, extent);
		if (from < sector) {
			set(dirty, extent, from, sector, old);
			first = ++last;
		} else if (to > end) {
			set(dirty, extent, end, to, old);
			break;
		} else {
			last++;
		}
	}
	take_out(dirty, first, last - first);
}

void sd_hdd_dirty_age(struct hdd_dirty *dirty)
{
	for (u32 i = 0; i < dirty->count; i++)
		sd_hdd_dirty_at(dirty, i)->old = true;
	dirty->old_sectors = dirty->sectors;
}
