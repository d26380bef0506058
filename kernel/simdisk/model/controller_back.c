// SPDX-License-Identifier: GPL-2.0
/*
 * The cache of a RAID controller, and how it is written back: in the order of the addresses, from
 * where the last piece ended, around the whole disk; what lies side by side goes as one piece, up
 * to the end of a row. It is written where it gets full, where writes wait for room, and else at
 * the end of each interval. Sectors that are on their way to the disks still take their room.
 */
#include "controller.h"

static const struct controller_write *write_at(const struct sd_unit *unit, u64 sector, u64 end)
{
	const struct controller_cache *cache = &unit->cache;

	for (u32 i = 0; cache->write_count && i < cache->writes_max; i++) {
		const struct controller_write *write = &cache->writes[i];

		if (write->sectors && write->sector < end &&
		    sector < write->sector + write->sectors)
			return write;
	}
	return NULL;
}

bool sd_controller_holds(const struct sd_unit *unit, u64 sector, u64 end)
{
	for (;;) {
		const struct controller_write *write;

		sector = sd_sectors_until(&unit->cache.dirty, sector, end);
		if (sector == end)
			return true;
		write = write_at(unit, sector, sector + 1);
		if (!write)
			return false;
		sector = write->sector + write->sectors;
		if (sector >= end)
			return true;
	}
}

bool sd_controller_fits(const struct sd_unit *unit, u64 sectors)
{
	const struct controller_cache *cache = &unit->cache;

	return cache->dirty.count + cache->coming_sectors + cache->going_sectors + sectors <=
	       cache->sectors_max;
}

void sd_controller_add(struct sd_unit *unit, u64 sector, u64 end, u64 now_ns)
{
	struct controller_cache *cache = &unit->cache;

	cache->coming_sectors -= end - sector;
	sd_sectors_add(&cache->dirty, sector, end);
	if (cache->dirty.count * 4 >= cache->sectors_max * 3)
		cache->draining = true;
	if (cache->interval_end_ns == SD_NEVER)
		cache->interval_end_ns = now_ns + cache->interval_ns;
}

void sd_controller_interval(struct sd_unit *unit, u64 now_ns)
{
	struct controller_cache *cache = &unit->cache;

	cache->due_sectors = cache->dirty.count;
	cache->interval_end_ns = cache->due_sectors ? now_ns + cache->interval_ns : SD_NEVER;
}

/* Finds the next piece; false where there is none, or where its sectors are still being written. */
static bool next_piece(const struct sd_unit *unit, u64 *sector, u64 *end)
{
	const struct controller_cache *cache = &unit->cache;
	u64 limit;

	*sector = sd_sectors_next(&cache->dirty, cache->position);
	if (*sector == SD_NEVER)
		*sector = sd_sectors_next(&cache->dirty, 0);
	if (*sector == SD_NEVER)
		return false;
	limit = *sector - *sector % cache->row_sectors + cache->row_sectors;
	if (limit > unit->type->capacity_sectors(unit->disks))
		limit = unit->type->capacity_sectors(unit->disks);
	*end = sd_sectors_until(&cache->dirty, *sector, limit);
	return !write_at(unit, *sector, *end);
}

static void give(struct sd_unit *unit, u64 sector, u64 end, u64 now_ns)
{
	struct controller_cache *cache = &unit->cache;
	struct sd_request request = { .sector = sector, .op = SD_WRITE };
	u32 index = 0;

	while (cache->writes[index].sectors)
		index++;
	request.tag = unit->slots.depth + index;
	request.sectors = (u32)(end - sector);
	cache->writes[index].sector = sector;
	cache->writes[index].sectors = request.sectors;
	cache->writes[index].begin_ns = now_ns;
	cache->write_count++;
	cache->position = end;
	cache->going_sectors += request.sectors;
	cache->due_sectors -= cache->due_sectors < request.sectors ? cache->due_sectors :
			      request.sectors;
	sd_sectors_remove(&cache->dirty, sector, end);
	unit->type->submit(unit->disks, now_ns, &request);
}

static bool presses(struct sd_unit *unit)
{
	struct controller_cache *cache = &unit->cache;

	if (cache->dirty.count * 4 <= cache->sectors_max)
		cache->draining = false;
	return cache->draining || cache->due_sectors || unit->room.count;
}

void sd_controller_write_back(struct sd_unit *unit, u64 now_ns)
{
	u64 sector, end;

	while (presses(unit) && unit->cache.write_count < unit->cache.writes_max &&
	       !unit->outside.count && unit->type->has_room(unit->disks) &&
	       next_piece(unit, &sector, &end))
		give(unit, sector, end, now_ns);
}

void sd_controller_wrote(struct sd_unit *unit, u32 index, const struct sd_done *part)
{
	struct controller_write *write = &unit->cache.writes[index];
	struct sd_done *done = sd_answers_add(&unit->answers);

	memset(done, 0, sizeof(*done));
	done->tag = SD_BACKGROUND;
	done->op = SD_MEDIA_WRITE;
	done->sector = write->sector;
	done->sectors = write->sectors;
	done->member = SD_SEVERAL;
	done->submit_ns = write->begin_ns;
	done->start_ns = part->start_ns;
	done->done_ns = part->done_ns;
	memcpy(done->part_ns, part->part_ns, sizeof(done->part_ns));
	unit->cache.going_sectors -= write->sectors;
	unit->cache.write_count--;
	write->sectors = 0;
	sd_controller_cache_gave(unit, part->done_ns);
}
