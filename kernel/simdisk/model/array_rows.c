// SPDX-License-Identifier: GPL-2.0
/*
 * Writes to RAID 5. A write that covers whole rows is written with their parity and needs nothing
 * more; of a row that it covers in part, the old data and the old parity are read, from which the
 * new parity follows, and both are written. Two writes that have to do with one row would each
 * compute from what the other is about to change, so the later one waits for the earlier one.
 */
#include "array.h"

/* One leg of a row write, in the phase that it is in. */
static void send_row(struct sd_unit *unit, u32 index, u32 to, u64 sector, u64 end, u64 now_ns)
{
	struct array_row_write *row_write = &unit->row_writes[index];
	u32 op = row_write->writes ? unit->requests[row_write->slot].done.op : SD_READ;

	sd_array_send(unit, row_write->slot, index, to, op, sector, end, now_ns);
}

/* Begins the phase of a row write: reading what is to be replaced, or writing. */
static void begin_phase(struct sd_unit *unit, u32 index, u64 now_ns)
{
	struct array_row_write *row_write = &unit->row_writes[index];
	u64 chunk = unit->chunk, row_begin = row_write->first * chunk, data = unit->count - 1;
	u64 first, last, parity_begin, parity_end;

	row_write->cached = true;
	if (row_write->whole) {
		for (u32 i = 0; i < unit->count; i++)
			send_row(unit, index, i, row_begin, row_write->end * chunk, now_ns);
		return;
	}
	first = row_write->begin / chunk;
	last = (row_write->limit - 1) / chunk;
	parity_begin = first == last ? row_write->begin % chunk : 0;
	parity_end = first == last ? (row_write->limit - 1) % chunk + 1 : chunk;
	for (u64 i = first; i <= last; i++) {
		u64 begin = i == first ? row_write->begin % chunk : 0;
		u64 end = i == last ? (row_write->limit - 1) % chunk + 1 : chunk;

		send_row(unit, index, (u32)((row_write->first * data + i) % unit->count),
			 row_begin + begin, row_begin + end, now_ns);
	}
	/* The parity goes round from the last member to the first. */
	send_row(unit, index, unit->count - 1 - (u32)(row_write->first % unit->count),
		 row_begin + parity_begin, row_begin + parity_end, now_ns);
}

/* Whether an older row write has to do with the same rows. */
static bool is_held_off(const struct sd_unit *unit, u32 index)
{
	const struct array_row_write *row_write = &unit->row_writes[index];

	for (u32 i = row_write->previous; i != ARRAY_NONE; i = unit->row_writes[i].previous)
		if (unit->row_writes[i].first < row_write->end &&
		    row_write->first < unit->row_writes[i].end)
			return true;
	return false;
}

static void begin_row_write(struct sd_unit *unit, u32 slot, u64 first, u64 end, u64 begin,
			    u64 limit, u64 now_ns)
{
	u32 index = unit->unused_row_write;
	struct array_row_write *row_write = &unit->row_writes[index];

	unit->unused_row_write = row_write->next;
	memset(row_write, 0, sizeof(*row_write));
	row_write->slot = slot;
	row_write->first = first;
	row_write->end = end;
	row_write->begin = begin;
	row_write->limit = limit;
	row_write->whole = !limit;
	row_write->writes = row_write->whole;
	row_write->next = ARRAY_NONE;
	row_write->previous = unit->youngest;
	if (unit->youngest == ARRAY_NONE)
		unit->oldest = index;
	else
		unit->row_writes[unit->youngest].next = index;
	unit->youngest = index;
	unit->requests[slot].pending++;
	row_write->waits = is_held_off(unit, index);
	if (row_write->waits)
		unit->waiting++;
	else
		begin_phase(unit, index, now_ns);
}

static void end_row_write(struct sd_unit *unit, u32 index, u64 now_ns)
{
	struct array_row_write *row_write = &unit->row_writes[index];
	struct array_request *request = &unit->requests[row_write->slot];
	u32 next = row_write->next, slot = row_write->slot;

	memcpy(request->done.part_ns, row_write->part_ns, sizeof(row_write->part_ns));
	request->cached &= row_write->cached;
	if (row_write->previous == ARRAY_NONE)
		unit->oldest = next;
	else
		unit->row_writes[row_write->previous].next = next;
	if (next == ARRAY_NONE)
		unit->youngest = row_write->previous;
	else
		unit->row_writes[next].previous = row_write->previous;
	row_write->next = unit->unused_row_write;
	unit->unused_row_write = index;
	for (; next != ARRAY_NONE && unit->waiting; next = unit->row_writes[next].next) {
		if (!unit->row_writes[next].waits || is_held_off(unit, next))
			continue;
		unit->row_writes[next].waits = false;
		unit->waiting--;
		begin_phase(unit, next, now_ns);
	}
	sd_array_part_ended(unit, slot, now_ns);
}

/*
 * Cuts a write at whole rows. A discard leaves out what does not make up a row, as parity is to
 * stay right.
 */
void sd_array_write_rows(struct sd_unit *unit, u32 slot, u64 now_ns)
{
	const struct sd_done *done = &unit->requests[slot].done;
	u64 row = (u64)sd_array_row_chunks(unit) * unit->chunk;
	u64 sector = done->sector, end = sector + done->sectors;
	bool parts = done->op == SD_WRITE;
	u64 first = sector / row, last = end / row;

	if (sector % row) {
		u64 limit = end < (first + 1) * row ? end : (first + 1) * row;

		if (parts)
			begin_row_write(unit, slot, first, first + 1, sector % row,
					limit - first * row, now_ns);
		first++;
	}
	if (first < last)
		begin_row_write(unit, slot, first, last, 0, 0, now_ns);
	if (parts && end % row && first <= last)
		begin_row_write(unit, slot, last, last + 1, 0, end % row, now_ns);
}

void sd_array_row_leg_ended(struct sd_unit *unit, u32 index, const struct sd_done *part)
{
	struct array_row_write *row_write = &unit->row_writes[index];

	row_write->cached &= (part->flags & SD_CACHED) != 0;
	if (--row_write->pending)
		return;
	for (u32 i = 0; i < SD_PARTS; i++)
		row_write->part_ns[i] += part->part_ns[i];
	if (row_write->writes) {
		end_row_write(unit, index, part->done_ns);
	} else {
		row_write->writes = true;
		begin_phase(unit, index, part->done_ns);
	}
}
