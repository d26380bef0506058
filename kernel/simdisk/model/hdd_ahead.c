// SPDX-License-Identifier: GPL-2.0
/*
 * The read side of a hard disk's buffer: segments that keep what was read, and the reading ahead
 * that fills them. A write goes through the same buffer and brings what is kept up to date.
 *
 * Reading ahead goes in steps, which is only how it is told of: the head stays on its course, so
 * the time at which any sector will have passed is known, and a read that waits for it is told so
 * at once.
 */
#include "hdd.h"

#define STEP_SECTORS 512u

/* When the last sector before `end` will have passed. */
static u64 passing_ns(const struct sd_unit *unit, u64 end)
{
	struct hdd_place place;

	return unit->ahead.from_ns + sd_hdd_locate_end(&unit->geometry, end, &place) -
	       unit->ahead.from_stream_ns;
}

static u64 limit_at(const struct sd_unit *unit, u64 limit)
{
	return limit < unit->geometry.sectors ? limit : unit->geometry.sectors;
}

static void plan_event(struct sd_unit *unit)
{
	struct hdd_ahead *ahead = &unit->ahead;

	unit->arm.event_ns = passing_ns(unit, ahead->step_end);
	if (ahead->wanted && ahead->hold_ns < unit->arm.event_ns)
		unit->arm.event_ns = ahead->hold_ns;
}

static void begin_step(struct sd_unit *unit)
{
	struct hdd_ahead *ahead = &unit->ahead;

	ahead->step_sector = ahead->segments[ahead->segment].end;
	ahead->step_end = ahead->step_sector + STEP_SECTORS;
	if (ahead->step_end > ahead->limit)
		ahead->step_end = ahead->limit;
	plan_event(unit);
}

static void begin_ahead(struct sd_unit *unit, u64 now_ns)
{
	unit->arm.work = HDD_READING_AHEAD;
	unit->arm.wrote = false;
	unit->ahead.hold_ns = now_ns;
	unit->ahead.wanted = false;
}

void sd_hdd_go_on(struct sd_unit *unit, u64 now_ns)
{
	struct hdd_ahead *ahead = &unit->ahead;
	struct hdd_access *access = &unit->arm.access;
	const struct hdd_segment *segment = &ahead->segments[ahead->segment];
	u64 end = segment->end, kept = end - segment->sector;
	struct hdd_place place;

	if (!ahead->segment_count)
		return;
	/* What was read stays in the segment as well, unless it is more than half of it. */
	if (kept > ahead->segment_sectors / 2)
		kept = ahead->segment_sectors / 2;
	ahead->limit = limit_at(unit, end + ahead->segment_sectors - kept);
	if (end >= ahead->limit)
		return;
	memset(access, 0, sizeof(*access));
	access->begin_ns = now_ns;
	ahead->from_ns = now_ns;
	ahead->from_stream_ns = sd_hdd_locate_end(&unit->geometry, end, &place);
	begin_ahead(unit, now_ns);
	begin_step(unit);
}

/*
 * The same after the arm was elsewhere. Here and from now on the host reads in order, and what it
 * has read makes room for what it will.
 */
static void come_back(struct sd_unit *unit, u32 index, u64 limit, u64 now_ns)
{
	struct hdd_ahead *ahead = &unit->ahead;
	struct hdd_access *access = &unit->arm.access;
	u64 end = ahead->segments[index].end;
	struct hdd_place place;

	if (end >= limit)
		return;
	ahead->segment = index;
	ahead->limit = limit;
	sd_hdd_access(unit, now_ns, end, end + unit->geometry.block_sectors, false, 0, access);
	ahead->from_ns = access->data_ns;
	ahead->from_stream_ns = sd_hdd_locate(&unit->geometry, end, &place);
	begin_ahead(unit, now_ns);
	/* An arm on its way comes there first. */
	ahead->hold_ns = now_ns + access->seek_ns;
	begin_step(unit);
}

/* Tells of the step, of which all before `reached` has passed. */
static void end_step(struct sd_unit *unit, u64 reached, u64 now_ns)
{
	struct hdd_ahead *ahead = &unit->ahead;
	struct hdd_segment *segment = &ahead->segments[ahead->segment];
	struct hdd_access *access = &unit->arm.access;

	if (reached > ahead->step_sector) {
		struct sd_done *done = sd_hdd_answer(unit, now_ns);

		done->op = SD_MEDIA_READ;
		done->sector = ahead->step_sector;
		done->sectors = (u32)(reached - ahead->step_sector);
		done->submit_ns = access->begin_ns;
		done->start_ns = access->begin_ns;
		done->part_ns[SD_SEEK] = access->seek_ns;
		done->part_ns[SD_ROTATION] = access->rotation_ns;
		done->part_ns[SD_TRANSFER] = now_ns - access->begin_ns - access->seek_ns -
					     access->rotation_ns;
		sd_hdd_locate_end(&unit->geometry, reached, &unit->arm.place);
	} else {
		sd_hdd_locate(&unit->geometry, reached, &unit->arm.place);
	}
	segment->end = reached;
	if (segment->end - segment->sector > ahead->segment_sectors)
		segment->sector = segment->end - ahead->segment_sectors;
	unit->arm.next_sector = reached;
	memset(access, 0, sizeof(*access));
	access->begin_ns = now_ns;
}

bool sd_hdd_ahead_stop(struct sd_unit *unit, u64 now_ns)
{
	struct hdd_ahead *ahead = &unit->ahead;
	u64 reached = ahead->step_sector;

	if (now_ns < ahead->hold_ns) {
		ahead->wanted = true;
		plan_event(unit);
		return false;
	}
	if (now_ns > ahead->from_ns)
		reached = sd_hdd_passed(&unit->geometry, ahead->from_stream_ns + now_ns -
					ahead->from_ns);
	reached -= reached % unit->geometry.block_sectors;
	if (reached < ahead->step_sector)
		reached = ahead->step_sector;
	if (reached > ahead->step_end)
		reached = ahead->step_end;
	end_step(unit, reached, now_ns);
	unit->arm.work = HDD_IDLE;
	unit->arm.event_ns = SD_NEVER;
	return true;
}

void sd_hdd_ahead_event(struct sd_unit *unit, u64 now_ns)
{
	struct hdd_ahead *ahead = &unit->ahead;
	bool full = ahead->step_end == ahead->limit && now_ns == passing_ns(unit, ahead->limit);

	if (!full && !(ahead->wanted && now_ns >= ahead->hold_ns)) {
		end_step(unit, ahead->step_end, now_ns);
		begin_step(unit);
		return;
	}
	sd_hdd_ahead_stop(unit, now_ns);
	sd_hdd_dispatch(unit, now_ns);
}

void sd_hdd_keep(struct sd_unit *unit, u64 sector, u64 end)
{
	struct hdd_ahead *ahead = &unit->ahead;
	struct hdd_segment *segment;
	u32 index = 0;

	if (!ahead->segment_count)
		return;
	for (u32 i = 0; i < ahead->segment_count; i++) {
		segment = &ahead->segments[i];
		if (segment->end == sector && segment->used) {
			index = i;
			sector = segment->sector;
			break;
		}
		if (segment->used < ahead->segments[index].used)
			index = i;
	}
	segment = &ahead->segments[index];
	segment->sector = sector;
	segment->end = end;
	if (end - sector > ahead->segment_sectors)
		segment->sector = end - ahead->segment_sectors;
	segment->used = ++ahead->uses;
	ahead->segment = index;
}

/* All of it is there: it goes to the host. */
static void hit(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	unit->requests[slot].done.flags |= SD_CACHED;
	sd_hdd_expect(unit, &unit->requests[slot], now_ns, now_ns);
	sd_hdd_send(unit, slot, now_ns);
}

/* Whether the write cache, and what is just being written of it, hold all of it. */
static bool in_cache(const struct sd_unit *unit, u64 sector, u64 end)
{
	const struct hdd_arm *arm = &unit->arm;
	u64 arm_end = arm->sector + arm->sectors;
	u64 until;

	if (!unit->cache.sectors_max)
		return false;
	until = sd_hdd_dirty_until(&unit->cache.dirty, sector);
	if (arm->work == HDD_DESTAGING && arm->sector <= until && until < arm_end)
		until = sd_hdd_dirty_until(&unit->cache.dirty, arm_end);
	return until >= end;
}

/* A read has used up some of a segment: what is ahead of it may grow. */
static void read_on(struct sd_unit *unit, struct hdd_segment *segment, u64 end, u64 now_ns)
{
	struct hdd_ahead *ahead = &unit->ahead;
	u32 index = (u32)(segment - ahead->segments);
	u64 limit = limit_at(unit, end + ahead->segment_sectors);

	segment->used = ++ahead->uses;
	if (unit->arm.work == HDD_READING_AHEAD && ahead->segment == index) {
		if (limit > ahead->limit)
			ahead->limit = limit;
	} else if (unit->arm.work == HDD_IDLE &&
		   (segment->end - end) * 2 <= ahead->segment_sectors) {
		/* Half of what was read ahead is used up. */
		come_back(unit, index, limit, now_ns);
	}
}

/*
 * Waits for what is read ahead, where that comes past this read without the arm being kept from
 * others for longer than it is already.
 */
static bool wait_for_ahead(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	struct hdd_ahead *ahead = &unit->ahead;
	struct hdd_segment *segment = &ahead->segments[ahead->segment];
	struct hdd_request *request = &unit->requests[slot];
	struct hdd_place place;
	u64 passing, data_ns;

	if (unit->arm.work != HDD_READING_AHEAD || request->media_sector < segment->sector ||
	    request->media_sector > ahead->limit)
		return false;
	passing = passing_ns(unit, request->media_end);
	/* It may have passed before this course of the arm began, or even before time 0. */
	if ((s64)(passing - now_ns) < 0)
		passing = now_ns;
	if (ahead->wanted && passing > ahead->hold_ns)
		return false;
	read_on(unit, segment, request->media_end, now_ns);
	if (passing > ahead->hold_ns)
		ahead->hold_ns = passing;
	data_ns = ahead->from_ns + sd_hdd_locate(&unit->geometry, request->media_sector, &place) -
		  ahead->from_stream_ns;
	if ((s64)(data_ns - now_ns) < 0)
		data_ns = now_ns;
	request->done.flags |= SD_CACHED;
	sd_hdd_expect(unit, request, now_ns, data_ns);
	sd_hdd_later(unit, slot, HDD_PASSED, passing);
	return true;
}

/* A segment that has all of it; in *held, else, up to where one has its front. */
static struct hdd_segment *find_segment(struct sd_unit *unit, u64 sector, u64 end, u64 *held)
{
	struct hdd_ahead *ahead = &unit->ahead;

	for (u32 i = 0; i < ahead->segment_count; i++) {
		struct hdd_segment *segment = &ahead->segments[i];

		if (sector < segment->sector || sector >= segment->end)
			continue;
		if (end <= segment->end)
			return segment;
		if (segment->end > *held)
			*held = segment->end;
	}
	return NULL;
}

bool sd_hdd_read_buffer(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	struct hdd_request *request = &unit->requests[slot];
	u64 sector = request->done.sector, end = sector + request->done.sectors;
	u64 held = request->media_sector;
	struct hdd_segment *segment;

	if (in_cache(unit, sector, end)) {
		hit(unit, slot, now_ns);
		return true;
	}
	segment = find_segment(unit, sector, end, &held);
	if (segment) {
		hit(unit, slot, now_ns);
		read_on(unit, segment, request->media_end, now_ns);
		return true;
	}
	if (wait_for_ahead(unit, slot, now_ns))
		return true;
	request->media_sector = held;
	return false;
}
