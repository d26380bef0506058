// SPDX-License-Identifier: GPL-2.0
/*
 * The arm of a hard disk: what it does next, and how long that takes.
 *
 * Of the requests in the queue the one goes first whose sector can be under the head soonest. Of
 * the write cache it is the same among those next to the arm in one direction, so that the whole
 * disk is swept, and nothing is left behind for long. Where both press, they take turns.
 */
#include "hdd.h"

/* So many extents of the write cache are compared. */
#define CANDIDATES 32u

static u64 rotation_ns(const struct hdd_geometry *geometry, u32 angle_ns, u64 now_ns)
{
	u32 now = (u32)(now_ns % geometry->revolution_ns);

	return angle_ns >= now ? angle_ns - now : angle_ns + geometry->revolution_ns - now;
}

/* One pass over sectors, added to what was done before. */
static void pass(const struct sd_unit *unit, u64 sector, u64 end, u64 settle_ns, u64 data_ns,
		 struct hdd_access *access)
{
	const struct hdd_geometry *geometry = &unit->geometry;
	struct hdd_place first;
	u64 stream_ns = sd_hdd_locate(geometry, sector, &first);
	u64 move_ns = sd_hdd_move_ns(geometry, &access->place, &first);
	u64 there_ns, ready_ns, transfer_ns;

	if (move_ns)
		move_ns += settle_ns;
	there_ns = access->end_ns + move_ns;
	ready_ns = there_ns > data_ns ? there_ns : data_ns;
	transfer_ns = sd_hdd_locate_end(geometry, end, &access->place) - stream_ns;
	access->data_ns = ready_ns + rotation_ns(geometry, first.angle_ns, ready_ns);
	access->end_ns = access->data_ns + transfer_ns;
	access->seek_ns += move_ns;
	access->rotation_ns += access->data_ns - there_ns;
	access->transfer_ns += transfer_ns;
}

void sd_hdd_access(const struct sd_unit *unit, u64 now_ns, u64 sector, u64 end, bool write,
		   u64 data_ns, struct hdd_access *access)
{
	u64 block = unit->geometry.block_sectors;
	u64 first = sector - sector % block, last = end + (block - end % block) % block;
	/* A write that goes on where the last one ended never left its course. */
	bool goes_on = unit->arm.wrote && sector == unit->arm.next_sector;
	u64 settle_ns = write && !goes_on ? unit->write_settle_ns : 0;

	memset(access, 0, sizeof(*access));
	access->begin_ns = now_ns;
	access->end_ns = now_ns;
	access->place = unit->arm.place;
	/* A part of a block can only be written with the rest of the block, which is read first. */
	if (write && (first != sector || last != end))
		pass(unit, first != sector ? first : last - block, last != end ? last :
		     first + block, 0, 0, access);
	pass(unit, first, last, settle_ns, data_ns, access);
}

/* How long it takes until the first sector is under the head. */
static u64 reach_ns(const struct sd_unit *unit, u64 now_ns, const struct hdd_place *place,
		    bool write, bool goes_on, u64 data_ns)
{
	u64 move_ns = sd_hdd_move_ns(&unit->geometry, &unit->arm.place, place);
	u64 ready_ns;

	if (write && move_ns && !goes_on)
		move_ns += unit->write_settle_ns;
	ready_ns = now_ns + move_ns;
	if (ready_ns < data_ns)
		ready_ns = data_ns;
	return ready_ns + rotation_ns(&unit->geometry, place->angle_ns, ready_ns) - now_ns;
}

/* The position in the queue of the request to serve next; the oldest one where it waited long. */
static u32 choose_request(const struct sd_unit *unit, u64 now_ns)
{
	const struct hdd_request *oldest = &unit->requests[unit->queue.slots[0]];
	u64 best_ns = SD_NEVER;
	u32 best = 0;

	if (unit->queue.count == 1 || now_ns - oldest->done.submit_ns > unit->age_limit_ns)
		return 0;
	for (u32 i = 0; i < unit->queue.count; i++) {
		const struct hdd_request *request = &unit->requests[unit->queue.slots[i]];
		bool write = request->done.op == SD_WRITE;
		u64 ns = reach_ns(unit, now_ns, &request->place, write, unit->arm.wrote &&
				  request->media_sector == unit->arm.next_sector,
				  write ? request->data_ns : 0);

		if (ns < best_ns) {
			best_ns = ns;
			best = i;
		}
	}
	return best;
}

static struct hdd_extent *choose_extent(const struct sd_unit *unit, u64 now_ns)
{
	const struct hdd_dirty *dirty = &unit->cache.dirty;
	u32 at = sd_hdd_dirty_after(dirty, unit->arm.next_sector), compared = 0;
	struct hdd_extent *best = NULL;
	u64 best_ns = SD_NEVER;

	for (u32 i = 0; i < dirty->count && compared < CANDIDATES; i++, at++) {
		struct hdd_extent *extent;
		u64 ns;

		if (at >= dirty->count)
			at = 0;
		extent = sd_hdd_dirty_at(dirty, at);
		if (dirty->old_sectors && !extent->old)
			continue;
		compared++;
		ns = reach_ns(unit, now_ns, &extent->place, true, unit->arm.wrote &&
			      extent->sector == unit->arm.next_sector, 0);
		if (ns < best_ns) {
			best_ns = ns;
			best = extent;
		}
	}
	return best;
}

static void begin(struct sd_unit *unit, enum hdd_work work, u64 end, bool write)
{
	struct hdd_arm *arm = &unit->arm;

	arm->work = work;
	arm->event_ns = arm->access.end_ns;
	arm->place = arm->access.place;
	arm->next_sector = end;
	arm->wrote = write;
	arm->destaged = work == HDD_DESTAGING;
}

static void serve(struct sd_unit *unit, u64 now_ns)
{
	u32 position = choose_request(unit, now_ns);
	u32 slot = unit->queue.slots[position];
	struct hdd_request *request = &unit->requests[slot];
	struct hdd_access *access = &unit->arm.access;
	bool write = request->done.op == SD_WRITE;

	sd_hdd_drop(&unit->queue, position);
	sd_hdd_access(unit, now_ns, request->media_sector, request->media_end, write,
		      write ? request->data_ns : 0, access);
	request->done.part_ns[SD_SEEK] = access->seek_ns;
	request->done.part_ns[SD_ROTATION] = access->rotation_ns;
	request->done.part_ns[SD_TRANSFER] = access->transfer_ns;
	if (!write)
		sd_hdd_expect(unit, request, now_ns, access->data_ns);
	unit->arm.slot = slot;
	begin(unit, HDD_SERVING, request->media_end, write);
}

static void destage(struct sd_unit *unit, u64 now_ns)
{
	struct hdd_extent *extent = choose_extent(unit, now_ns);
	struct hdd_arm *arm = &unit->arm;
	u64 end = sd_hdd_extent_end(extent);

	arm->sector = extent->sector;
	arm->old = extent->old;
	if (end > extent->sector + unit->cache.piece_sectors) {
		end = extent->sector + unit->cache.piece_sectors;
		end -= end % unit->geometry.block_sectors;
	}
	arm->sectors = (u32)(end - arm->sector);
	sd_hdd_access(unit, now_ns, arm->sector, end, true, 0, &arm->access);
	sd_hdd_dirty_remove(&unit->cache.dirty, arm->sector, end);
	begin(unit, HDD_DESTAGING, end, true);
}

void sd_hdd_dispatch(struct sd_unit *unit, u64 now_ns)
{
	const struct hdd_cache *cache = &unit->cache;
	bool asked = unit->queue.count;
	bool presses = cache->dirty.count &&
		       (cache->draining || unit->room.count || unit->flushing);

	if (unit->arm.work == HDD_READING_AHEAD && (asked || presses))
		sd_hdd_ahead_stop(unit, now_ns);
	if (unit->arm.work != HDD_IDLE)
		return;
	if (asked && (!presses || unit->arm.destaged))
		serve(unit, now_ns);
	else if (presses || (cache->idle && cache->dirty.count))
		destage(unit, now_ns);
}

static void served(struct sd_unit *unit, u64 now_ns)
{
	u32 slot = unit->arm.slot;
	struct hdd_request *request = &unit->requests[slot];
	bool write = request->done.op == SD_WRITE;

	if (write) {
		/* What the cache held of it is of yesterday. */
		if (unit->cache.sectors_max)
			sd_hdd_dirty_remove(&unit->cache.dirty, request->media_sector,
					    request->media_end);
		sd_hdd_end(unit, slot, now_ns);
		sd_hdd_cache_gave(unit, now_ns);
	} else {
		sd_hdd_keep(unit, request->media_sector, request->media_end);
		sd_hdd_send(unit, slot, now_ns);
	}
	sd_hdd_dispatch(unit, now_ns);
	if (!write && unit->arm.work == HDD_IDLE)
		sd_hdd_go_on(unit, now_ns);
}

static void destaged(struct sd_unit *unit, u64 now_ns)
{
	const struct hdd_access *access = &unit->arm.access;
	struct sd_done *done = sd_hdd_answer(unit, now_ns);

	done->op = SD_MEDIA_WRITE;
	done->sector = unit->arm.sector;
	done->sectors = unit->arm.sectors;
	done->submit_ns = access->begin_ns;
	done->start_ns = access->begin_ns;
	done->part_ns[SD_SEEK] = access->seek_ns;
	done->part_ns[SD_ROTATION] = access->rotation_ns;
	done->part_ns[SD_TRANSFER] = access->transfer_ns;
	sd_hdd_cache_gave(unit, now_ns);
	sd_hdd_dispatch(unit, now_ns);
}

void sd_hdd_arm_event(struct sd_unit *unit, u64 now_ns)
{
	enum hdd_work work = unit->arm.work;

	if (work == HDD_READING_AHEAD) {
		sd_hdd_ahead_event(unit, now_ns);
		return;
	}
	unit->arm.work = HDD_IDLE;
	unit->arm.event_ns = SD_NEVER;
	if (work == HDD_SERVING)
		served(unit, now_ns);
	else
		destaged(unit, now_ns);
}
