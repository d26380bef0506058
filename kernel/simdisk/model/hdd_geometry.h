/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a sector is on a hard disk, when it passes under its head, and how long the arm takes.
 *
 * Sectors follow each other along a track, then over the heads of a cylinder, then over the
 * cylinders from the rim inwards. Every track is turned against the one before it by just the time
 * of the switch, so that one pass over the whole disk never waits for a sector. The time into that
 * pass is a sector's stream time, and it is all there is to know of the angles:
 *
 *     the angle of a sector              = its stream time modulo a revolution
 *     the time to read from a to b       = the difference of their stream times
 *     the wait for a sector at time t    = (its stream time - t) modulo a revolution
 */
#ifndef SIMDISK_HDD_GEOMETRY_H
#define SIMDISK_HDD_GEOMETRY_H

#include "parameters.h"

#define HDD_ZONES_MAX 64u
/* Nodes of the seek curve: one a cylinder up to 64, then 32 to each doubling, up to 2^24. */
#define HDD_SEEK_NODES (64u + 18u * 32u + 1u)
#define HDD_CYLINDERS_MAX (1u << 24)

struct hdd_zone {
	u64 first_sector;
	/* The stream time of that sector. */
	u64 first_ns;
	u32 first_cylinder;
	u32 track_sectors;
};

struct hdd_geometry {
	u64 sectors;
	u32 revolution_ns;
	u32 heads;
	u32 cylinders;
	/* Reads and writes on the media are of whole blocks of so many sectors. */
	u32 block_sectors;
	u32 head_switch_ns;
	/* From the last head of a cylinder to the first one of the next. */
	u32 cylinder_switch_ns;
	/* A whole cylinder with all its switches. */
	u64 cylinder_ns;
	u32 zone_count;
	struct hdd_zone zones[HDD_ZONES_MAX];
	/* Up to this distance the curve is a root, beyond it a straight line. */
	u32 knot_cylinders;
	u32 knot_ns;
	u32 seek_full_ns;
	u32 seek_nodes[HDD_SEEK_NODES];
};

struct hdd_place {
	u32 cylinder;
	u32 head;
	/* Below a revolution. */
	u32 angle_ns;
};

void sd_hdd_geometry(struct hdd_geometry *geometry, struct sd_parameters *parameters);
/* The place of a sector; its stream time is what is given back. */
u64 sd_hdd_locate(const struct hdd_geometry *geometry, u64 sector, struct hdd_place *place);
/* The stream time at which the last sector before `end` has passed; the place is that sector's. */
u64 sd_hdd_locate_end(const struct hdd_geometry *geometry, u64 end, struct hdd_place *place);
/* The sector before which all have passed at a stream time. */
u64 sd_hdd_passed(const struct hdd_geometry *geometry, u64 stream_ns);
/* Moving the arm over so many cylinders. */
u64 sd_hdd_seek_ns(const struct hdd_geometry *geometry, u32 cylinders);
/* Moving from one place to the track of another. */
u64 sd_hdd_move_ns(const struct hdd_geometry *geometry, const struct hdd_place *from,
		   const struct hdd_place *to);

#endif
