// SPDX-License-Identifier: GPL-2.0
/*
 * A hard disk: the way of a request from its arrival to its end.
 *
 *     arrives -> controller -> read:   buffer, or queue -> arm --> interface -> ends
 *                              write:  room -> interface -> buffer -> ends ... arm
 *                                      or interface -> queue -> arm -> ends
 *                              flush:  waits until the cache is written -> ends
 *
 * A request that comes in is put down as an event of its own time, and is looked at when the events
 * before it were: so it does not matter when the disk is asked.
 */
#include "hdd.h"

#define ARRIVALS ((u64)1 << 63)
/* Answers of the disk's own that one event may bring, and then some. */
#define OWN_ANSWERS 8u

static bool before(const struct hdd_event *left, const struct hdd_event *right)
{
	return left->ns != right->ns ? left->ns < right->ns : left->order < right->order;
}

static void push_event(struct sd_unit *unit, const struct hdd_event *event)
{
	u32 at = unit->event_count++;

	while (at && before(event, &unit->events[(at - 1) / 2])) {
		unit->events[at] = unit->events[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	unit->events[at] = *event;
}

static u32 pop_event(struct sd_unit *unit)
{
	u32 slot = unit->events[0].slot, at = 0, count = --unit->event_count;
	struct hdd_event last = unit->events[count];

	for (;;) {
		u32 child = 2 * at + 1;

		if (child + 1 < count && before(&unit->events[child + 1], &unit->events[child]))
			child++;
		if (child >= count || before(&last, &unit->events[child]))
			break;
		unit->events[at] = unit->events[child];
		at = child;
	}
	unit->events[at] = last;
	return slot;
}

void sd_hdd_later(struct sd_unit *unit, u32 slot, enum hdd_step step, u64 ns)
{
	struct hdd_event event = { .ns = ns, .order = ++unit->event_order, .slot = slot };

	if (step == HDD_ARRIVES)
		event.order |= ARRIVALS;
	unit->requests[slot].step = step;
	push_event(unit, &event);
}

void sd_hdd_append(struct hdd_line *line, u32 slot)
{
	line->slots[line->count++] = slot;
}

void sd_hdd_drop(struct hdd_line *line, u32 position)
{
	line->count--;
	memmove(&line->slots[position], &line->slots[position + 1],
		(line->count - position) * sizeof(*line->slots));
}

struct sd_done *sd_hdd_answer(struct sd_unit *unit, u64 now_ns)
{
	struct sd_done *done = sd_answers_add(&unit->answers);

	memset(done, 0, sizeof(*done));
	done->tag = SD_BACKGROUND;
	done->done_ns = now_ns;
	return done;
}

void sd_hdd_end(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	struct hdd_request *request = &unit->requests[slot];

	request->done.done_ns = now_ns;
	*sd_answers_add(&unit->answers) = request->done;
	sd_slots_free(&unit->slots, slot);
	if (!--unit->outstanding && unit->cache.dirty.count)
		unit->cache.idle_ns = now_ns + unit->cache.idle_wait_ns;
}

/* The time that the interface was busy until now. */
static u64 busy_ns(const struct hdd_interface *interface, u64 now_ns)
{
	u64 ahead_ns = interface->free_ns > now_ns ? interface->free_ns - now_ns : 0;

	return interface->given_ns - ahead_ns;
}

/* Gives the interface away for so long, once it is free, and tells when that ends. */
static u64 occupy(struct hdd_interface *interface, u64 now_ns, u64 ns)
{
	interface->free_ns = (interface->free_ns > now_ns ? interface->free_ns : now_ns) + ns;
	interface->given_ns += ns;
	return interface->free_ns;
}

void sd_hdd_expect(struct sd_unit *unit, struct hdd_request *request, u64 now_ns, u64 data_ns)
{
	request->data_ns = data_ns;
	request->window_ns = now_ns;
	request->window_busy_ns = busy_ns(&unit->interface, now_ns);
}

/*
 * What came into the buffer has been going to the host meanwhile, as far as the interface was free;
 * what is left goes now.
 */
void sd_hdd_send(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	struct hdd_interface *interface = &unit->interface;
	struct hdd_request *request = &unit->requests[slot];
	u64 left_ns = sd_hdd_bytes_ns(request->done.sectors, interface->bytes_per_s);
	u64 sent_ns = now_ns - request->window_ns, end_ns = now_ns;
	u64 busy = busy_ns(interface, now_ns) - request->window_busy_ns;

	sent_ns = sent_ns > busy ? sent_ns - busy : 0;
	if (sent_ns > now_ns - request->data_ns)
		sent_ns = now_ns - request->data_ns;
	if (sent_ns > left_ns)
		sent_ns = left_ns;
	left_ns -= sent_ns;
	interface->given_ns += sent_ns;
	if (left_ns)
		end_ns = occupy(interface, now_ns, left_ns);
	if (request->done.flags & SD_CACHED)
		request->done.part_ns[SD_CACHE] = end_ns - request->commanded_ns;
	else
		request->done.part_ns[SD_CACHE] = end_ns - now_ns;
	sd_hdd_later(unit, slot, HDD_ENDS, end_ns);
}

/* To the media, for which the arm is needed. */
static void to_arm(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	struct hdd_request *request = &unit->requests[slot];

	sd_hdd_locate(&unit->geometry, request->media_sector -
		      request->media_sector % unit->geometry.block_sectors, &request->place);
	sd_hdd_append(&unit->queue, slot);
	sd_hdd_dispatch(unit, now_ns);
}

static bool cache_fits(const struct sd_unit *unit, u64 sectors)
{
	const struct hdd_cache *cache = &unit->cache;
	u64 held = cache->dirty.sectors + cache->coming_sectors;

	if (unit->arm.work == HDD_DESTAGING)
		held += unit->arm.sectors;
	return held + sectors <= cache->sectors_max &&
	       cache->dirty.count + cache->coming < cache->dirty.count_max;
}

static void to_cache(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	struct hdd_request *request = &unit->requests[slot];
	u64 ns = sd_hdd_bytes_ns(request->done.sectors, unit->interface.bytes_per_s);

	unit->cache.coming++;
	unit->cache.coming_sectors += request->done.sectors;
	sd_hdd_later(unit, slot, HDD_BUFFERED, occupy(&unit->interface, now_ns, ns));
}

/* All of a write is in the cache, which is its end. */
static void buffered(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	struct hdd_request *request = &unit->requests[slot];
	struct hdd_cache *cache = &unit->cache;

	cache->coming--;
	cache->coming_sectors -= request->done.sectors;
	sd_hdd_dirty_add(&cache->dirty, request->done.sector,
			 request->done.sector + request->done.sectors);
	if (cache->dirty.sectors * 4 >= cache->sectors_max * 3 ||
	    cache->dirty.count * 4 >= cache->dirty.count_max * 3)
		cache->draining = true;
	request->done.flags |= SD_CACHED;
	request->done.part_ns[SD_CACHE] = now_ns - request->commanded_ns;
	sd_hdd_end(unit, slot, now_ns);
	sd_hdd_dispatch(unit, now_ns);
}

/* Ends the flushes that waited for what is on the media now, and begins those that came since. */
static void turn_flushes(struct sd_unit *unit, u64 now_ns)
{
	struct hdd_dirty *dirty = &unit->cache.dirty;

	while (unit->flush.count) {
		if (unit->flushing && (dirty->old_sectors || (unit->arm.old &&
					unit->arm.work == HDD_DESTAGING)))
			return;
		for (; unit->flushing; unit->flushing--) {
			u32 slot = unit->flush.slots[0];

			unit->requests[slot].done.part_ns[SD_CACHE] =
				now_ns - unit->requests[slot].commanded_ns;
			sd_hdd_drop(&unit->flush, 0);
			sd_hdd_end(unit, slot, now_ns);
		}
		sd_hdd_dirty_age(dirty);
		unit->arm.old = true;
		unit->flushing = unit->flush.count;
	}
}

void sd_hdd_cache_gave(struct sd_unit *unit, u64 now_ns)
{
	struct hdd_cache *cache = &unit->cache;

	if (cache->dirty.sectors * 4 <= cache->sectors_max &&
	    cache->dirty.count * 4 <= cache->dirty.count_max)
		cache->draining = false;
	while (unit->room.count) {
		u32 slot = unit->room.slots[0];

		if (!cache_fits(unit, unit->requests[slot].done.sectors))
			break;
		sd_hdd_drop(&unit->room, 0);
		to_cache(unit, slot, now_ns);
	}
	turn_flushes(unit, now_ns);
}

static void write(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	struct hdd_request *request = &unit->requests[slot];
	u32 sectors = request->done.sectors;
	u64 ns = sd_hdd_bytes_ns(sectors, unit->interface.bytes_per_s);

	/* What is larger than all of the cache passes it by. */
	if (request->done.flags & SD_FUA || sectors > unit->cache.sectors_max) {
		request->data_ns = occupy(&unit->interface, now_ns, ns);
		to_arm(unit, slot, now_ns);
	} else if (unit->room.count || !cache_fits(unit, sectors)) {
		sd_hdd_append(&unit->room, slot);
		sd_hdd_dispatch(unit, now_ns);
	} else {
		to_cache(unit, slot, now_ns);
	}
}

static void arrive(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	struct hdd_request *request = &unit->requests[slot];

	unit->outstanding++;
	unit->cache.idle = false;
	unit->cache.idle_ns = SD_NEVER;
	request->done.start_ns = unit->controller_free_ns > now_ns ? unit->controller_free_ns :
				 now_ns;
	request->commanded_ns = request->done.start_ns + unit->command_ns;
	request->done.part_ns[SD_COMMAND] = unit->command_ns;
	unit->controller_free_ns = request->commanded_ns;
	sd_hdd_later(unit, slot, HDD_COMMANDED, request->commanded_ns);
}

static void commanded(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	u64 block = unit->geometry.block_sectors;
	struct hdd_request *request = &unit->requests[slot];

	request->media_sector = request->done.sector;
	request->media_end = request->done.sector + request->done.sectors;
	switch (request->done.op) {
	case SD_READ:
		/* A block is read as a whole, or not at all. */
		request->media_sector -= request->media_sector % block;
		request->media_end += (block - request->media_end % block) % block;
		if (!sd_hdd_read_buffer(unit, slot, now_ns))
			to_arm(unit, slot, now_ns);
		break;
	case SD_WRITE:
		write(unit, slot, now_ns);
		break;
	case SD_FLUSH:
		sd_hdd_append(&unit->flush, slot);
		turn_flushes(unit, now_ns);
		sd_hdd_dispatch(unit, now_ns);
		break;
	default:
		/* A hard disk gains nothing by forgetting. */
		sd_hdd_end(unit, slot, now_ns);
	}
}

static void request_event(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	switch (unit->requests[slot].step) {
	case HDD_ARRIVES:
		arrive(unit, slot, now_ns);
		break;
	case HDD_COMMANDED:
		commanded(unit, slot, now_ns);
		break;
	case HDD_PASSED:
		sd_hdd_send(unit, slot, now_ns);
		break;
	case HDD_BUFFERED:
		buffered(unit, slot, now_ns);
		break;
	case HDD_ENDS:
		sd_hdd_end(unit, slot, now_ns);
		break;
	}
}

static u64 event_ns(const struct sd_unit *unit)
{
	u64 ns = unit->arm.event_ns;

	if (unit->cache.idle_ns < ns)
		ns = unit->cache.idle_ns;
	if (unit->event_count && unit->events[0].ns < ns)
		ns = unit->events[0].ns;
	return ns;
}

static void work(struct sd_unit *unit, u64 now_ns)
{
	if (unit->arm.event_ns == now_ns) {
		sd_hdd_arm_event(unit, now_ns);
	} else if (unit->cache.idle_ns == now_ns) {
		unit->cache.idle_ns = SD_NEVER;
		unit->cache.idle = true;
		sd_hdd_dispatch(unit, now_ns);
	} else {
		request_event(unit, pop_event(unit), now_ns);
	}
}

static u64 hdd_next_ns(const struct sd_unit *unit)
{
	return unit->answers.count ? sd_answers_first_ns(&unit->answers) : event_ns(unit);
}

static bool hdd_take(struct sd_unit *unit, u64 now_ns, struct sd_done *done)
{
	while (!unit->answers.count) {
		u64 ns = event_ns(unit);

		if (ns > now_ns || ns == SD_NEVER)
			return false;
		work(unit, ns);
	}
	sd_answers_take(&unit->answers, done);
	if (done->tag != SD_BACKGROUND)
		unit->slots.held--;
	return true;
}

static u64 hdd_capacity_sectors(const struct sd_unit *unit)
{
	return unit->geometry.sectors;
}

static bool hdd_has_room(const struct sd_unit *unit)
{
	return sd_slots_have_room(&unit->slots);
}

static void hdd_submit(struct sd_unit *unit, u64 now_ns, const struct sd_request *request)
{
	u32 slot = sd_slots_accept(&unit->slots);
	struct hdd_request *held = &unit->requests[slot];

	memset(held, 0, sizeof(*held));
	held->done = sd_answer_to(request, now_ns);
	sd_hdd_later(unit, slot, HDD_ARRIVES, now_ns);
}

static void hdd_destroy(struct sd_unit *unit)
{
	void *const parts[] = { unit->requests, unit->events, unit->queue.slots, unit->room.slots,
				unit->flush.slots };

	sd_slots_destroy(&unit->slots);
	sd_answers_destroy(&unit->answers);
	sd_hdd_dirty_destroy(&unit->cache.dirty);
	for (u32 i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i])
			sd_release(parts[i]);
	sd_release(unit);
}

/* The buffer is for segments, and for what is not yet written; gives the extents of the latter. */
static u32 read_buffer(struct sd_unit *unit, struct sd_parameters *parameters)
{
	u64 bytes = sd_number(parameters, "buffer_bytes", 0, (u64)1 << 36);
	bool writes = sd_number(parameters, "write_cache", 0, 1);
	u64 held = sd_number_or(parameters, "write_buffer_bytes", 0, (u64)1 << 36, 0);
	u64 wait_ns = sd_number_or(parameters, "destage_idle_ns", 0, 3600000000000, 0);
	u64 segment = sd_number_or(parameters, "read_segment_bytes", 0, (u64)1 << 32, 0);
	struct hdd_ahead *ahead = &unit->ahead;
	struct hdd_cache *cache = &unit->cache;
	u64 block = unit->geometry.block_sectors;

	ahead->segment_count = (u32)sd_number(parameters, "read_segments", 0, HDD_SEGMENTS_MAX);
	ahead->segment_sectors = segment / SD_SECTOR_BYTES;
	if (ahead->segment_count && (!segment || segment % (block * SD_SECTOR_BYTES)))
		sd_refuse(parameters, "read_segment_bytes does not make whole physical blocks");
	if (writes && held < 16384)
		sd_refuse(parameters, "write_buffer_bytes is below 16384 bytes");
	if (ahead->segment_count * segment + (writes ? held : 0) > bytes)
		sd_refuse(parameters,
			  "buffer_bytes is too small for its segments and write_buffer_bytes");
	if (!writes)
		return 0;
	cache->sectors_max = held / SD_SECTOR_BYTES;
	cache->idle_wait_ns = wait_ns;
	cache->piece_sectors = 512;
	if (cache->piece_sectors > cache->sectors_max / 4)
		cache->piece_sectors = (u32)(cache->sectors_max / 4);
	return cache->sectors_max < HDD_EXTENTS_MAX ? (u32)cache->sectors_max : HDD_EXTENTS_MAX;
}

static bool make_lists(struct sd_unit *unit, u32 depth)
{
	unit->requests = sd_alloc(depth * sizeof(*unit->requests));
	unit->events = sd_alloc(depth * sizeof(*unit->events));
	unit->queue.slots = sd_alloc(depth * sizeof(u32));
	unit->room.slots = sd_alloc(depth * sizeof(u32));
	unit->flush.slots = sd_alloc(depth * sizeof(u32));
	return unit->requests && unit->events && unit->queue.slots && unit->room.slots &&
	       unit->flush.slots && sd_slots_make(&unit->slots, depth) &&
	       sd_answers_make(&unit->answers, depth + OWN_ANSWERS);
}

static struct sd_unit *hdd_make(struct sd_parameters *parameters)
{
	struct sd_unit *unit = sd_alloc(sizeof(*unit));
	u32 depth = sd_queue_depth_of(parameters);
	u32 extents;

	if (!unit)
		return NULL;
	unit->interface.bytes_per_s = sd_number(parameters, "interface_bytes_per_s",
						SD_RATE_LEAST, 16000000000);
	unit->command_ns = sd_number(parameters, "command_ns", 0, 1000000000);
	unit->write_settle_ns = sd_number(parameters, "write_settle_ns", 0, 1000000000);
	unit->age_limit_ns = sd_number_or(parameters, "age_limit_ns", 0, SD_NEVER, 1000000000);
	sd_hdd_geometry(&unit->geometry, parameters);
	extents = read_buffer(unit, parameters);
	unit->arm.event_ns = SD_NEVER;
	unit->cache.idle_ns = SD_NEVER;
	if (!sd_accepted(parameters) || !make_lists(unit, depth) ||
	    (extents && !sd_hdd_dirty_make(&unit->cache.dirty, &unit->geometry, extents))) {
		hdd_destroy(unit);
		return NULL;
	}
	return unit;
}

const struct sd_unit_type sd_hdd = {
	.name = "hdd",
	.make = hdd_make,
	.destroy = hdd_destroy,
	.capacity_sectors = hdd_capacity_sectors,
	.has_room = hdd_has_room,
	.submit = hdd_submit,
	.next_ns = hdd_next_ns,
	.take = hdd_take,
};
