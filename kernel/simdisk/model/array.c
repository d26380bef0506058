// SPDX-License-Identifier: GPL-2.0
/*
 * Several equal disks as one: RAID 0, 1, 10 and 5.
 *
 *     request -> legs, at most one for each member, or
 *             -> row writes (RAID 5), each of which reads with legs and then writes with legs
 *
 * All that a request needs of one member is one leg, since chunks that follow each other on a
 * member are of one request as well. The legs of a member that takes no more wait in line. Events
 * are worked on in the order of their times over all members, so that what is decided here, such as
 * which mirror reads, does not depend on when the array is asked.
 */
#include "array.h"

/* Where there are no chunks. */
#define PLAIN_ROW_SECTORS 512u

static const char *const levels[] = { "none", "raid0", "raid1", "raid10", "raid5", NULL };

u32 sd_array_members(struct sd_parameters *parameters)
{
	static const u32 least[] = { 1, 2, 2, 4, 3 };
	u32 level = 0, count;

	if (sd_given(parameters, "array"))
		level = sd_word(parameters, "array", levels);
	if (level == LEVEL_NONE)
		return 1;
	count = (u32)sd_number(parameters, "members", least[level], ARRAY_MEMBERS_MAX);
	if (level == RAID_10 && count % 2)
		sd_refuse(parameters, "raid10 needs an even number of members");
	return count;
}

static u32 row_chunks(enum array_level level, u32 members)
{
	switch (level) {
	case RAID_1:
		return 1;
	case RAID_10:
		return members / 2;
	case RAID_5:
		return members - 1;
	default:
		return members;
	}
}

u32 sd_array_row_chunks(const struct sd_unit *unit)
{
	return row_chunks(unit->level, unit->count);
}

u64 sd_array_row_sectors(struct sd_parameters *parameters)
{
	u32 members = sd_array_members(parameters);
	enum array_level level = LEVEL_NONE;

	if (members > 1)
		level = (enum array_level)sd_word(parameters, "array", levels);
	if (level == LEVEL_NONE || level == RAID_1)
		return PLAIN_ROW_SECTORS;
	return sd_number(parameters, "chunk_sectors", 1, 1u << 24) * row_chunks(level, members);
}

void sd_array_part_ended(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	struct array_request *request = &unit->requests[slot];

	if (--request->pending)
		return;
	request->done.done_ns = now_ns;
	if (request->started && request->cached)
		request->done.flags |= SD_CACHED;
	*sd_answers_add(&unit->answers) = request->done;
	sd_slots_free(&unit->slots, slot);
}

static void give(struct sd_unit *unit, u32 index, u64 now_ns)
{
	unit->type->submit(unit->members[unit->legs[index].member].unit, now_ns,
			   &unit->legs[index].request);
}

void sd_array_send(struct sd_unit *unit, u32 slot, u32 row_write, u32 to, u32 op, u64 sector,
		   u64 end, u64 now_ns)
{
	struct array_member *member = &unit->members[to];
	u32 index = unit->unused_leg;
	struct array_leg *leg = &unit->legs[index];

	unit->unused_leg = leg->next;
	memset(leg, 0, sizeof(*leg));
	leg->request.tag = index;
	leg->request.sector = sector;
	leg->request.sectors = (u32)(end - sector);
	leg->request.op = op;
	leg->request.flags = op == SD_WRITE ? unit->requests[slot].done.flags & SD_FUA : 0;
	leg->member = to;
	leg->slot = slot;
	leg->row_write = row_write;
	leg->next = ARRAY_NONE;
	if (row_write == ARRAY_NONE)
		unit->requests[slot].pending++;
	else
		unit->row_writes[row_write].pending++;
	member->legs++;
	if (op != SD_FLUSH)
		member->end = end;
	if (member->line_first == ARRAY_NONE && unit->type->has_room(member->unit)) {
		give(unit, index, now_ns);
		return;
	}
	if (member->line_first == ARRAY_NONE)
		member->line_first = index;
	else
		unit->legs[member->line_last].next = index;
	member->line_last = index;
}

/* The mirror with the least to do; among equals the one whose head was left nearest. */
static u32 choose_mirror(const struct sd_unit *unit, u32 first, u32 count, u64 sector)
{
	u64 best_distance = SD_NEVER;
	u32 best = first;

	for (u32 i = first; i < first + count; i++) {
		const struct array_member *member = &unit->members[i];
		u64 distance = member->end > sector ? member->end - sector : sector - member->end;

		if (member->legs > unit->members[best].legs)
			continue;
		if (member->legs < unit->members[best].legs || distance < best_distance) {
			best = i;
			best_distance = distance;
		}
	}
	return best;
}

/* To one of the mirrors from first on, or to all of them. */
static void send_mirrors(struct sd_unit *unit, u32 slot, u32 first, u32 count, u64 sector, u64 end,
			 u64 now_ns)
{
	u32 op = unit->requests[slot].done.op;

	if (op == SD_READ) {
		first = choose_mirror(unit, first, count, sector);
		count = 1;
	}
	for (u32 i = first; i < first + count; i++)
		sd_array_send(unit, slot, ARRAY_NONE, i, op, sector, end, now_ns);
}

/*
 * Deals the chunks of a request to places in turn; to each belong `copies` members. In `per_row`
 * chunks every place gets one; with RAID 5, where a row has a chunk less than there are places, the
 * left-symmetric layout deals them just so. What a place reads then goes on over its parity chunks:
 * the head has to pass them in any case.
 */
static void deal(struct sd_unit *unit, u32 slot, u32 places, u32 per_row, u32 copies, u64 now_ns)
{
	const struct sd_done *done = &unit->requests[slot].done;
	u64 chunk = unit->chunk, last_sector = done->sector + done->sectors - 1;
	u64 first = done->sector / chunk, last = last_sector / chunk;

	for (u32 i = 0; i < places && i <= last - first; i++) {
		u64 from = first + i, to = last - (last - from) % places;
		u64 sector = from / per_row * chunk, end = to / per_row * chunk + chunk;

		if (from == first)
			sector += done->sector % chunk;
		if (to == last)
			end -= chunk - 1 - last_sector % chunk;
		send_mirrors(unit, slot, (u32)(from % places) * copies, copies, sector, end,
			     now_ns);
	}
}

static void arrive(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	struct array_request *request = &unit->requests[slot];
	u32 op = request->done.op;

	/* One more until everything was sent. */
	request->pending = 1;
	request->cached = true;
	request->done.start_ns = now_ns;
	if (op == SD_FLUSH)
		for (u32 i = 0; i < unit->count; i++)
			sd_array_send(unit, slot, ARRAY_NONE, i, op, 0, 0, now_ns);
	else if (unit->level == RAID_1)
		send_mirrors(unit, slot, 0, unit->count, request->done.sector,
			     request->done.sector + request->done.sectors, now_ns);
	else if (unit->level == RAID_5 && op != SD_READ)
		sd_array_write_rows(unit, slot, now_ns);
	else
		deal(unit, slot, unit->level == RAID_10 ? unit->count / 2 : unit->count,
		     sd_array_row_chunks(unit), unit->level == RAID_10 ? 2 : 1, now_ns);
	sd_array_part_ended(unit, slot, now_ns);
}

/* A member has room for one more. */
static void advance_line(struct sd_unit *unit, struct array_member *member, u64 now_ns)
{
	u32 index = member->line_first;

	if (index == ARRAY_NONE || !unit->type->has_room(member->unit))
		return;
	member->line_first = unit->legs[index].next;
	give(unit, index, now_ns);
}

static void leg_ended(struct sd_unit *unit, const struct sd_done *part)
{
	u32 index = (u32)part->tag;
	struct array_leg leg = unit->legs[index];
	struct array_request *request = &unit->requests[leg.slot];
	bool cached = part->flags & SD_CACHED;

	unit->legs[index].next = unit->unused_leg;
	unit->unused_leg = index;
	unit->members[leg.member].legs--;
	if (!request->started || part->start_ns < request->done.start_ns)
		request->done.start_ns = part->start_ns;
	request->started = true;
	request->done.member = leg.member;
	if (leg.row_write == ARRAY_NONE) {
		memcpy(request->done.part_ns, part->part_ns, sizeof(part->part_ns));
		request->cached &= cached;
		sd_array_part_ended(unit, leg.slot, part->done_ns);
	} else {
		sd_array_row_leg_ended(unit, leg.row_write, part);
	}
	advance_line(unit, &unit->members[leg.member], part->done_ns);
}

/* Gives in *next the member, or ARRAY_NONE for an arrival, whose event is next. */
static u64 event_ns(const struct sd_unit *unit, u32 *next)
{
	u64 ns = SD_NEVER;

	*next = ARRAY_NONE;
	for (u32 i = 0; i < unit->count; i++) {
		u64 member_ns = unit->type->next_ns(unit->members[i].unit);

		if (member_ns < ns) {
			ns = member_ns;
			*next = i;
		}
	}
	if (unit->arrivals.count) {
		u32 slot = sd_line_first(&unit->arrivals);
		u64 arrival_ns = unit->requests[slot].done.submit_ns;

		if (arrival_ns < ns) {
			ns = arrival_ns;
			*next = ARRAY_NONE;
		}
	}
	return ns;
}

static u64 array_next_ns(const struct sd_unit *unit)
{
	u32 next;

	if (unit->answers.count)
		return sd_answers_first_ns(&unit->answers);
	return event_ns(unit, &next);
}

static void work(struct sd_unit *unit, u32 next, u64 now_ns)
{
	struct sd_done part;

	if (next == ARRAY_NONE) {
		arrive(unit, sd_line_remove(&unit->arrivals), now_ns);
		return;
	}
	if (!unit->type->take(unit->members[next].unit, now_ns, &part))
		return;
	if (part.tag != SD_BACKGROUND) {
		leg_ended(unit, &part);
		return;
	}
	part.member = next;
	*sd_answers_add(&unit->answers) = part;
}

static bool array_take(struct sd_unit *unit, u64 now_ns, struct sd_done *done)
{
	while (!unit->answers.count) {
		u32 next;
		u64 ns = event_ns(unit, &next);

		if (ns > now_ns || ns == SD_NEVER)
			return false;
		work(unit, next, ns);
	}
	sd_answers_take(&unit->answers, done);
	if (done->tag != SD_BACKGROUND)
		unit->slots.held--;
	return true;
}

static bool array_has_room(const struct sd_unit *unit)
{
	return sd_slots_have_room(&unit->slots);
}

static void array_submit(struct sd_unit *unit, u64 now_ns, const struct sd_request *request)
{
	u32 slot = sd_slots_accept(&unit->slots);
	struct array_request *held = &unit->requests[slot];

	memset(held, 0, sizeof(*held));
	held->done = sd_answer_to(request, now_ns);
	sd_line_add(&unit->arrivals, slot);
}

static u64 array_capacity_sectors(const struct sd_unit *unit)
{
	return unit->capacity;
}

static void array_destroy(struct sd_unit *unit)
{
	void *const parts[] = { unit->requests, unit->legs, unit->row_writes };

	for (u32 i = 0; i < unit->count; i++)
		if (unit->members[i].unit)
			unit->type->destroy(unit->members[i].unit);
	sd_slots_destroy(&unit->slots);
	sd_line_destroy(&unit->arrivals);
	sd_answers_destroy(&unit->answers);
	for (u32 i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i])
			sd_release(parts[i]);
	sd_release(unit);
}

static bool make_lists(struct sd_unit *unit, u32 depth)
{
	u32 legs = depth * unit->count * (unit->level == RAID_5 ? ARRAY_ROW_WRITES : 1);
	u32 row_writes = unit->level == RAID_5 ? depth * ARRAY_ROW_WRITES : 1;

	unit->requests = sd_alloc(depth * sizeof(*unit->requests));
	unit->legs = sd_alloc(legs * sizeof(*unit->legs));
	unit->row_writes = sd_alloc(row_writes * sizeof(*unit->row_writes));
	if (!unit->requests || !unit->legs || !unit->row_writes ||
	    !sd_slots_make(&unit->slots, depth) || !sd_line_make(&unit->arrivals, depth) ||
	    !sd_answers_make(&unit->answers, depth + 1))
		return false;
	for (u32 i = 0; i < legs; i++)
		unit->legs[i].next = i + 1;
	for (u32 i = 0; i < row_writes; i++)
		unit->row_writes[i].next = i + 1;
	unit->oldest = ARRAY_NONE;
	unit->youngest = ARRAY_NONE;
	return true;
}

static bool make_members(struct sd_unit *unit, struct sd_parameters *parameters)
{
	for (u32 i = 0; i < unit->count; i++) {
		unit->members[i].line_first = ARRAY_NONE;
		unit->members[i].unit = unit->type->make(parameters);
		if (!unit->members[i].unit)
			return false;
	}
	unit->member_sectors = unit->type->capacity_sectors(unit->members[0].unit);
	unit->capacity = unit->member_sectors;
	if (unit->level != RAID_1) {
		unit->member_sectors -= unit->member_sectors % unit->chunk;
		unit->capacity = unit->member_sectors * sd_array_row_chunks(unit);
		if (!unit->capacity)
			sd_refuse(parameters, "chunk_sectors is larger than a member");
	}
	return sd_accepted(parameters);
}

static struct sd_unit *array_make(struct sd_parameters *parameters)
{
	struct sd_unit *unit = sd_alloc(sizeof(*unit));
	u32 depth = sd_disks_queue_depth_of(parameters);

	if (!unit)
		return NULL;
	unit->level = (enum array_level)sd_word(parameters, "array", levels);
	unit->count = sd_array_members(parameters);
	unit->type = sd_unit_type_of(parameters);
	/* Mirrors alone have no chunks, but a profile may state them. */
	unit->chunk = unit->level == RAID_1 ?
		sd_number_or(parameters, "chunk_sectors", 1, 1u << 24, 1) :
		sd_number(parameters, "chunk_sectors", 1, 1u << 24);
	if (!sd_accepted(parameters) || !make_lists(unit, depth) ||
	    !make_members(unit, parameters)) {
		array_destroy(unit);
		return NULL;
	}
	return unit;
}

const struct sd_unit_type sd_array = {
	.name = "array",
	.make = array_make,
	.destroy = array_destroy,
	.capacity_sectors = array_capacity_sectors,
	.has_room = array_has_room,
	.submit = array_submit,
	.next_ns = array_next_ns,
	.take = array_take,
};
