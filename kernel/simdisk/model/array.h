/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The inside of an array: requests to it are dealt out to its members in array.c, and writes to
 * RAID 5, which has to bring its parity along, are worked on by rows in array_rows.c.
 */
#ifndef SIMDISK_ARRAY_H
#define SIMDISK_ARRAY_H

#include "unit.h"

#define ARRAY_MEMBERS_MAX 64u
/* A write begins and ends within rows, and has whole rows in between. */
#define ARRAY_ROW_WRITES 3u
#define ARRAY_NONE (~0u)

enum array_level {
	LEVEL_NONE,
	RAID_0,
	RAID_1,
	RAID_10,
	RAID_5,
};

/* What one member does for a request. */
struct array_leg {
	struct sd_request request;
	u32 member;
	/* Of the array; and of its row writes, or ARRAY_NONE. */
	u32 slot;
	u32 row_write;
	/* The next leg in the member's line, or of the unused ones. */
	u32 next;
};

struct array_member {
	struct sd_unit *unit;
	/* Legs that it has or that wait for it. */
	u32 legs;
	u32 line_first;
	u32 line_last;
	/* Where the last leg ended. */
	u64 end;
};

struct array_request {
	struct sd_done done;
	bool started;
	/* Everything that ended so far ended in caches. */
	bool cached;
	/* Legs and row writes that have not ended. */
	u32 pending;
};

/*
 * Writes the rows from first to end. Of one row it may be a part, whose sectors lie from begin to
 * limit in the row's data: what was there and the parity are read, and both are written.
 */
struct array_row_write {
	u32 slot;
	u64 first;
	u64 end;
	u64 begin;
	u64 limit;
	bool whole;
	bool waits;
	bool writes;
	u32 pending;
	/* Parts of the legs that ended each of its two phases. */
	u64 part_ns[SD_PARTS];
	bool cached;
	/* In the order of arrival. */
	u32 next;
	u32 previous;
};

struct sd_unit {
	const struct sd_unit_type *type;
	enum array_level level;
	u32 count;
	u64 chunk;
	u64 member_sectors;
	u64 capacity;
	struct sd_slots slots;
	struct array_member members[ARRAY_MEMBERS_MAX];
	struct array_request *requests;
	struct array_leg *legs;
	u32 unused_leg;
	struct array_row_write *row_writes;
	u32 unused_row_write;
	u32 oldest;
	u32 youngest;
	u32 waiting;
	/* Submitted and not looked at. */
	struct sd_line arrivals;
	struct sd_answers answers;
};

/* Sends a member after sectors of its own, for a request or for a row write of it. */
void sd_array_send(struct sd_unit *unit, u32 slot, u32 row_write, u32 to, u32 op, u64 sector,
		   u64 end, u64 now_ns);
/* A part of a request has ended; the last one to end answers it. */
void sd_array_part_ended(struct sd_unit *unit, u32 slot, u64 now_ns);
/* How many chunks of data a row has. */
u32 sd_array_row_chunks(const struct sd_unit *unit);

/* Makes row writes of a write or a discard. */
void sd_array_write_rows(struct sd_unit *unit, u32 slot, u64 now_ns);
/* A leg of a row write has ended. */
void sd_array_row_leg_ended(struct sd_unit *unit, u32 index, const struct sd_done *part);

#endif
