// SPDX-License-Identifier: GPL-2.0
/*
 * A RAID controller with a battery-backed write cache before a disk or an array.
 *
 *     arrives -> processor -> read:    cache -> bus -> ends, or disks -> ends
 *                             write:   room -> bus -> cache -> ends ... disks
 *                                      or disks -> ends, where it is larger than the cache
 *                             flush:   ends: the battery keeps what the cache holds
 *                             discard: disks -> ends
 *
 * What is read from the disks is not kept, and goes to the host while it comes from them. Like an
 * array, the controller works on events in the order of their times over itself and its disks.
 */
#include "controller.h"

/* More answers than one event brings. */
#define OWN_ANSWERS 2u

#define LINES(unit)                                                             \
	{                                                                       \
		&(unit)->arriving, &(unit)->commanded, &(unit)->moving,         \
			&(unit)->room, &(unit)->outside                         \
	}

static void end(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	unit->requests[slot].done.done_ns = now_ns;
	*sd_answers_add(&unit->answers) = unit->requests[slot].done;
	sd_slots_free(&unit->slots, slot);
}

/* Over the bus, from the cache or into it. */
static void move(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	u64 bytes = (u64)unit->requests[slot].done.sectors * SD_SECTOR_BYTES;
	u64 rate = unit->bytes_per_s;

	if (unit->bus_free_ns < now_ns)
		unit->bus_free_ns = now_ns;
	/* In two steps, so that no size overflows. */
	unit->bus_free_ns += bytes / rate * 1000000000 + bytes % rate * 1000000000 / rate;
	unit->requests[slot].event_ns = unit->bus_free_ns;
	sd_line_add(&unit->moving, slot);
}

static void to_cache(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	unit->cache.coming_sectors += unit->requests[slot].done.sectors;
	move(unit, slot, now_ns);
}

void sd_controller_cache_gave(struct sd_unit *unit, u64 now_ns)
{
	while (unit->room.count) {
		u32 slot = sd_line_first(&unit->room);

		if (!sd_controller_fits(unit, unit->requests[slot].done.sectors))
			return;
		to_cache(unit, sd_line_remove(&unit->room), now_ns);
	}
}

/* Gives the disks the requests that wait for them, and then what has to go of the cache. */
static void advance(struct sd_unit *unit, u64 now_ns)
{
	while (unit->outside.count && unit->type->has_room(unit->disks)) {
		u32 slot = sd_line_remove(&unit->outside);
		const struct sd_done *done = &unit->requests[slot].done;
		struct sd_request request = {
			.tag = slot,
			.sector = done->sector,
			.sectors = done->sectors,
			.op = done->op,
			.flags = done->flags & SD_FUA,
		};

		unit->type->submit(unit->disks, now_ns, &request);
	}
	sd_controller_write_back(unit, now_ns);
}

static void write(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	const struct sd_done *done = &unit->requests[slot].done;

	if (done->sectors > unit->cache.sectors_max) {
		sd_sectors_remove(&unit->cache.dirty, done->sector, done->sector + done->sectors);
		sd_line_add(&unit->outside, slot);
	} else if (unit->room.count || !sd_controller_fits(unit, done->sectors)) {
		sd_line_add(&unit->room, slot);
	} else {
		to_cache(unit, slot, now_ns);
	}
}

static void commanded(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	struct sd_done *done = &unit->requests[slot].done;
	u64 limit = done->sector + done->sectors;

	switch (done->op) {
	case SD_READ:
		if (sd_controller_holds(unit, done->sector, limit))
			move(unit, slot, now_ns);
		else
			sd_line_add(&unit->outside, slot);
		break;
	case SD_WRITE:
		write(unit, slot, now_ns);
		break;
	case SD_DISCARD:
		sd_sectors_remove(&unit->cache.dirty, done->sector, limit);
		sd_line_add(&unit->outside, slot);
		break;
	default:
		end(unit, slot, now_ns);
	}
	advance(unit, now_ns);
}

/* All of a write is in the cache, or all of a read is at the host. */
static void moved(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	struct controller_request *request = &unit->requests[slot];
	struct sd_done *done = &request->done;

	done->flags |= SD_CACHED;
	done->part_ns[SD_CACHE] = now_ns - request->commanded_ns;
	if (done->op == SD_WRITE)
		sd_controller_add(unit, done->sector, done->sector + done->sectors, now_ns);
	end(unit, slot, now_ns);
	advance(unit, now_ns);
}

static void arrive(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	struct controller_request *request = &unit->requests[slot];

	request->done.start_ns = unit->processor_free_ns > now_ns ? unit->processor_free_ns :
				 now_ns;
	request->commanded_ns = request->done.start_ns + unit->command_ns;
	request->event_ns = request->commanded_ns;
	request->done.part_ns[SD_COMMAND] = unit->command_ns;
	unit->processor_free_ns = request->commanded_ns;
	sd_line_add(&unit->commanded, slot);
}

static void of_disks(struct sd_unit *unit, u64 now_ns)
{
	struct sd_done part, *done;

	if (!unit->type->take(unit->disks, now_ns, &part))
		return;
	if (part.tag == SD_BACKGROUND) {
		*sd_answers_add(&unit->answers) = part;
	} else if (part.tag >= unit->slots.depth) {
		sd_controller_wrote(unit, (u32)part.tag - unit->slots.depth, &part);
	} else {
		done = &unit->requests[part.tag].done;
		done->member = part.member;
		done->flags |= part.flags & SD_CACHED;
		for (u32 i = 0; i < SD_PARTS; i++)
			done->part_ns[i] += part.part_ns[i];
		end(unit, (u32)part.tag, part.done_ns);
	}
	advance(unit, now_ns);
}

enum source { DISKS, MOVING, COMMANDED, INTERVAL, ARRIVING, SOURCES };

static u64 line_ns(const struct sd_unit *unit, const struct sd_line *line)
{
	return line->count ? unit->requests[sd_line_first(line)].event_ns : SD_NEVER;
}

/* Whose event is next; of equals, what was under way goes before what arrives. */
static enum source next_of(const struct sd_unit *unit, u64 *ns)
{
	const u64 times[SOURCES] = {
		[DISKS] = unit->type->next_ns(unit->disks),
		[MOVING] = line_ns(unit, &unit->moving),
		[COMMANDED] = line_ns(unit, &unit->commanded),
		[INTERVAL] = unit->cache.interval_end_ns,
		[ARRIVING] = line_ns(unit, &unit->arriving),
	};
	enum source best = DISKS;

	for (enum source i = MOVING; i < SOURCES; i++)
		if (times[i] < times[best])
			best = i;
	*ns = times[best];
	return best;
}

static void work(struct sd_unit *unit, enum source source, u64 now_ns)
{
	switch (source) {
	case DISKS:
		of_disks(unit, now_ns);
		break;
	case MOVING:
		moved(unit, sd_line_remove(&unit->moving), now_ns);
		break;
	case COMMANDED:
		commanded(unit, sd_line_remove(&unit->commanded), now_ns);
		break;
	case INTERVAL:
		sd_controller_interval(unit, now_ns);
		advance(unit, now_ns);
		break;
	default:
		arrive(unit, sd_line_remove(&unit->arriving), now_ns);
	}
}

static u64 controller_next_ns(const struct sd_unit *unit)
{
	u64 ns;

	if (unit->answers.count)
		return sd_answers_first_ns(&unit->answers);
	next_of(unit, &ns);
	return ns;
}

static bool controller_take(struct sd_unit *unit, u64 now_ns, struct sd_done *done)
{
	while (!unit->answers.count) {
		u64 ns;
		enum source source = next_of(unit, &ns);

		if (ns > now_ns || ns == SD_NEVER)
			return false;
		work(unit, source, ns);
	}
	sd_answers_take(&unit->answers, done);
	if (done->tag != SD_BACKGROUND)
		unit->slots.held--;
	return true;
}

static u64 controller_capacity_sectors(const struct sd_unit *unit)
{
	return unit->type->capacity_sectors(unit->disks);
}

static bool controller_has_room(const struct sd_unit *unit)
{
	return sd_slots_have_room(&unit->slots);
}

static void controller_submit(struct sd_unit *unit, u64 now_ns, const struct sd_request *request)
{
	u32 slot = sd_slots_accept(&unit->slots);
	struct controller_request *held = &unit->requests[slot];

	*held = (struct controller_request){
		.done = sd_answer_to(request, now_ns),
		.event_ns = now_ns,
	};
	sd_line_add(&unit->arriving, slot);
}

static void controller_destroy(struct sd_unit *unit)
{
	struct sd_line *const lines[] = LINES(unit);
	void *const parts[] = { unit->requests, unit->cache.writes };

	if (unit->disks)
		unit->type->destroy(unit->disks);
	sd_sectors_destroy(&unit->cache.dirty);
	sd_slots_destroy(&unit->slots);
	sd_answers_destroy(&unit->answers);
	for (u32 i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		sd_line_destroy(lines[i]);
	for (u32 i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i])
			sd_release(parts[i]);
	sd_release(unit);
}

static bool make_lists(struct sd_unit *unit, u32 depth)
{
	struct sd_line *const lines[] = LINES(unit);

	for (u32 i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!sd_line_make(lines[i], depth))
			return false;
	unit->requests = sd_alloc(depth * sizeof(*unit->requests));
	unit->cache.writes = sd_alloc(unit->cache.writes_max * sizeof(*unit->cache.writes));
	return unit->requests && unit->cache.writes && sd_slots_make(&unit->slots, depth) &&
	       sd_answers_make(&unit->answers, depth + OWN_ANSWERS);
}

static void read_cache(struct sd_unit *unit, struct sd_parameters *parameters)
{
	struct controller_cache *cache = &unit->cache;
	u32 members = sd_array_members(parameters);

	cache->sectors_max = sd_number(parameters, "controller_bytes", 1u << 20, (u64)1 << 40) /
			     SD_SECTOR_BYTES;
	cache->interval_ns = sd_number(parameters, "controller_interval_ns", 1000000,
				       3600000000000);
	cache->interval_end_ns = SD_NEVER;
	cache->writes_max = members * (u32)sd_number(parameters, "controller_writes", 1,
						     CONTROLLER_WRITES_MAX);
	cache->row_sectors = sd_array_row_sectors(parameters);
}

static struct sd_unit *controller_make(struct sd_parameters *parameters)
{
	struct sd_unit *unit = sd_alloc(sizeof(*unit));
	u32 depth = sd_disks_queue_depth_of(parameters);

	if (!unit)
		return NULL;
	unit->type = sd_disks_type_of(parameters);
	unit->bytes_per_s = sd_number(parameters, "controller_bytes_per_s", SD_RATE_LEAST,
				      SD_RATE_MAX);
	unit->command_ns = sd_number(parameters, "controller_command_ns", 0, 1000000000);
	read_cache(unit, parameters);
	if (sd_accepted(parameters))
		unit->disks = unit->type->make(parameters);
	if (!unit->disks || !make_lists(unit, depth) ||
	    !sd_sectors_make(&unit->cache.dirty, controller_capacity_sectors(unit))) {
		controller_destroy(unit);
		return NULL;
	}
	return unit;
}

const struct sd_unit_type sd_controller = {
	.name = "controller",
	.make = controller_make,
	.destroy = controller_destroy,
	.capacity_sectors = controller_capacity_sectors,
	.has_room = controller_has_room,
	.submit = controller_submit,
	.next_ns = controller_next_ns,
	.take = controller_take,
};
