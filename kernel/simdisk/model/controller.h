/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The inside of a RAID controller with a battery-backed cache. Its parts work at the same time,
 * each on one thing after the other:
 *
 *     processor    takes requests in the order of their arrival              controller.c
 *     bus          moves data between host and cache                         controller.c
 *     cache        what was written and is not yet on the disks              sectors.h
 *     disks        one disk or an array: reads that the cache does not hold, controller.c
 *                  and what the cache gives away                             controller_back.c
 */
#ifndef SIMDISK_CONTROLLER_H
#define SIMDISK_CONTROLLER_H

#include "sectors.h"
#include "unit.h"

#define CONTROLLER_WRITES_MAX 64u

struct controller_request {
	struct sd_done done;
	/* When its command ended; when its next event is. */
	u64 commanded_ns;
	u64 event_ns;
};

/* A part of the cache on its way to the disks; unused where it has no sectors. */
struct controller_write {
	u64 sector;
	u32 sectors;
	u64 begin_ns;
};

struct controller_cache {
	u64 sectors_max;
	struct sectors dirty;
	/* Of writes that are on their way into the cache, and out of it. */
	u64 coming_sectors;
	u64 going_sectors;
	/* More than three quarters were full, and not yet less than a quarter is. */
	bool draining;
	/* What the last interval's end found, and is not yet on its way to the disks. */
	u64 due_sectors;
	u64 interval_ns;
	u64 interval_end_ns;
	/* Up to where the last piece went. */
	u64 position;
	/* No piece goes over the end of a row. */
	u64 row_sectors;
	struct controller_write *writes;
	u32 writes_max;
	u32 write_count;
};

struct sd_unit {
	/* The disks. */
	const struct sd_unit_type *type;
	struct sd_unit *disks;
	u64 bytes_per_s;
	u64 command_ns;
	struct sd_slots slots;
	u64 processor_free_ns;
	u64 bus_free_ns;
	struct controller_cache cache;
	struct controller_request *requests;
	/* Their next event: each of these has its own in the order of their times. */
	struct sd_line arriving;
	struct sd_line commanded;
	struct sd_line moving;
	/* Those that wait for room in the cache, and in the queue of the disks. */
	struct sd_line room;
	struct sd_line outside;
	struct sd_answers answers;
};

/* controller.c */
/* Writes that wait get the room there is. */
void sd_controller_cache_gave(struct sd_unit *unit, u64 now_ns);

/* controller_back.c */
/* Whether all these sectors are in the cache. */
bool sd_controller_holds(const struct sd_unit *unit, u64 sector, u64 end);
bool sd_controller_fits(const struct sd_unit *unit, u64 sectors);
/* What was written is in the cache now. */
void sd_controller_add(struct sd_unit *unit, u64 sector, u64 end, u64 now_ns);
/* The interval has ended: what is in the cache now is to go. */
void sd_controller_interval(struct sd_unit *unit, u64 now_ns);
/* Gives the disks what has to go, as far as they take it. */
void sd_controller_write_back(struct sd_unit *unit, u64 now_ns);
/* A piece is on the disks. */
void sd_controller_wrote(struct sd_unit *unit, u32 index, const struct sd_done *part);

#endif
