// SPDX-License-Identifier: GPL-2.0
/*
 * Zones and the seek curve of a hard disk. Both are derived from what data sheets tell: sustained
 * rates at the rim and at the hub, and seek times of one track, of the mean, and of the full
 * stroke.
 */
#include "hdd_geometry.h"
#include "model.h"

#define NS_PER_S 1000000000ull
/* Fractions of the seek curve are in units of 2^-24. */
#define ONE ((u64)1 << 24)
#define SAMPLES 4096u
/* Below this many cylinders the curve is a straight line: there is no third of them to bend. */
#define CURVED_CYLINDERS 12u

/* The root, rounded down; only used where the disk is made. */
static u64 root_of(u64 square)
{
	u64 root = 0;

	for (u64 bit = (u64)1 << 31; bit; bit >>= 1)
		if ((root + bit) * (root + bit) <= square)
			root += bit;
	return root;
}

/* (sqrt(d) - 1) / (sqrt(knot) - 1), which is 0 at a distance of 1 and one at the knot. */
static u64 bend(u32 cylinders, u32 knot)
{
	u64 one = (u64)1 << 16;

	return ((root_of((u64)cylinders << 32) - one) * ONE) / (root_of((u64)knot << 32) - one);
}

struct curve {
	u64 track_ns;
	u64 average_ns;
	u64 full_ns;
	/* The longest distance, and the one at which the line begins. */
	u32 full;
	u32 knot;
};

/*
 * The mean of the curve over random pairs of cylinders is linear in the time at the knot: with the
 * share `bent` of the root and `straight` of the line,
 *     mean = track * E[1 - bent] + knot * E[bent + 1 - straight] + full * E[straight],
 * where a distance d of D has the weight D + 1 - d. So the knot follows from the mean.
 */
static u64 knot_time(const struct curve *curve)
{
	u32 samples = curve->full < SAMPLES ? curve->full : SAMPLES;
	u64 weights = 0, flat = 0, knot = 0, steep = 0, known;

	for (u32 i = 0; i < samples; i++) {
		u32 d = samples < SAMPLES ? i + 1 : (u32)((2 * i + 1) * (u64)curve->full /
							  (2 * SAMPLES)) + 1;
		u64 weight = samples < SAMPLES ? samples - i : 2 * (samples - i) - 1;

		weights += weight;
		if (d <= curve->knot) {
			u64 share = bend(d, curve->knot);

			flat += weight * (ONE - share);
			knot += weight * share;
		} else {
			u64 share = (d - curve->knot) * ONE / (curve->full - curve->knot);

			knot += weight * (ONE - share);
			steep += weight * share;
		}
	}
	flat /= weights;
	knot /= weights;
	steep /= weights;
	known = curve->track_ns * flat + curve->full_ns * steep;
	if (curve->average_ns * ONE < known)
		return 0;
	return (curve->average_ns * ONE - known) / knot;
}

/* The distance that a node stands for. */
static u32 node_distance(u32 node)
{
	if (node < 64)
		return node;
	return (32 + (node - 64) % 32) << ((node - 64) / 32 + 1);
}

static void read_seek(struct hdd_geometry *geometry, struct sd_parameters *parameters)
{
	struct curve curve = {
		.track_ns = sd_number(parameters, "seek_track_ns", 1, NS_PER_S),
		.average_ns = sd_number(parameters, "seek_average_ns", 1, NS_PER_S),
		.full_ns = sd_number(parameters, "seek_full_ns", 1, NS_PER_S),
		.full = geometry->cylinders - 1,
		.knot = 1,
	};
	u64 knot_ns = curve.track_ns;

	if (curve.track_ns > curve.average_ns || curve.average_ns > curve.full_ns)
		sd_refuse(parameters, "seek_track_ns, seek_average_ns and seek_full_ns must rise");
	if (geometry->cylinders >= CURVED_CYLINDERS) {
		curve.knot = curve.full / 3;
		knot_ns = knot_time(&curve);
	}
	if (knot_ns < curve.track_ns || knot_ns > curve.full_ns)
		sd_refuse(parameters, "no seek curve through seek_track_ns and seek_full_ns has a "
				      "mean of seek_average_ns");
	if (!sd_accepted(parameters))
		return;
	geometry->knot_cylinders = curve.knot;
	geometry->knot_ns = (u32)knot_ns;
	geometry->seek_full_ns = (u32)curve.full_ns;
	/* One node beyond the knot, since what lies before it is drawn between two. */
	for (u32 i = 1; curve.knot > 1 && node_distance(i - 1) <= curve.knot; i++)
		geometry->seek_nodes[i] = (u32)(curve.track_ns +
						bend(node_distance(i), curve.knot) *
						(knot_ns - curve.track_ns) / ONE);
	geometry->seek_nodes[1] = (u32)curve.track_ns;
}

u64 sd_hdd_seek_ns(const struct hdd_geometry *geometry, u32 cylinders)
{
	u32 beyond, shift, node;
	u64 low, high;

	if (cylinders > geometry->knot_cylinders) {
		beyond = geometry->cylinders - 1 - geometry->knot_cylinders;
		return geometry->knot_ns + (cylinders - geometry->knot_cylinders) *
		       (u64)(geometry->seek_full_ns - geometry->knot_ns) / beyond;
	}
	if (cylinders < 64)
		return geometry->seek_nodes[cylinders];
	shift = 31 - (u32)__builtin_clz(cylinders) - 5;
	node = 64 + (shift - 1) * 32 + (cylinders >> shift) - 32;
	low = geometry->seek_nodes[node];
	high = geometry->seek_nodes[node + 1];
	return low + (((high - low) * (cylinders & ((1u << shift) - 1))) >> shift);
}

u64 sd_hdd_move_ns(const struct hdd_geometry *geometry, const struct hdd_place *from,
		   const struct hdd_place *to)
{
	u64 switch_ns = from->head == to->head ? 0 : geometry->head_switch_ns;
	u64 seek_ns;

	if (from->cylinder == to->cylinder)
		return switch_ns;
	seek_ns = sd_hdd_seek_ns(geometry, from->cylinder < to->cylinder ?
				 to->cylinder - from->cylinder : from->cylinder - to->cylinder);
	return seek_ns > switch_ns ? seek_ns : switch_ns;
}

/*
 * Sectors a track of a zone, whose rates fall evenly from the first zone to the last. A rate is
 * what a long transfer reaches, its switches included.
 */
static u32 track_sectors(const struct hdd_geometry *geometry, u32 zone, u64 outer, u64 inner)
{
	u64 rate = outer, unit = geometry->block_sectors, blocks, divisor;

	if (zone)
		rate -= (outer - inner) * zone / (geometry->zone_count - 1);
	divisor = geometry->heads * unit * SD_SECTOR_BYTES * NS_PER_S;
	blocks = (rate * geometry->cylinder_ns + divisor / 2) / divisor;
	return (u32)(blocks ? blocks * unit : unit);
}

/*
 * Every zone has the same number of cylinders, and the outer ones one more where it does not come
 * out even. The last cylinder is used as far as the capacity goes.
 */
static void lay_out(struct hdd_geometry *geometry, struct sd_parameters *parameters)
{
	u64 all = 0, rest, even, sector = 0, ns = 0, cylinder = 0;
	struct hdd_place last;

	for (u32 i = 0; i < geometry->zone_count; i++)
		all += (u64)geometry->heads * geometry->zones[i].track_sectors;
	even = geometry->sectors / all;
	rest = geometry->sectors % all;
	if (geometry->zone_count > 1 && even < 2)
		sd_refuse(parameters, "there are too few sectors for so many zones");
	for (u32 i = 0; i < geometry->zone_count; i++) {
		struct hdd_zone *zone = &geometry->zones[i];
		u64 cylinder_sectors = (u64)geometry->heads * zone->track_sectors;
		u64 cylinders = even + (rest ? 1 : 0);

		rest -= rest < cylinder_sectors ? rest : cylinder_sectors;
		zone->first_sector = sector;
		zone->first_ns = ns;
		zone->first_cylinder = (u32)cylinder;
		sector += cylinders * cylinder_sectors;
		ns += cylinders * geometry->cylinder_ns;
		cylinder += cylinders;
	}
	if (cylinder >= HDD_CYLINDERS_MAX)
		sd_refuse(parameters, "there are more than 16 million cylinders");
	if (!sd_accepted(parameters))
		return;
	sd_hdd_locate(geometry, geometry->sectors - 1, &last);
	geometry->cylinders = last.cylinder + 1;
}

void sd_hdd_geometry(struct hdd_geometry *geometry, struct sd_parameters *parameters)
{
	u64 outer, inner;
	u32 track_ns;

	geometry->sectors = sd_number(parameters, "sectors", 1, (u64)1 << 40);
	geometry->revolution_ns = (u32)(60 * NS_PER_S / sd_number(parameters, "rpm", 1000, 60000));
	geometry->heads = (u32)sd_number(parameters, "heads", 1, 64);
	geometry->zone_count = (u32)sd_number(parameters, "zones", 1, HDD_ZONES_MAX);
	geometry->head_switch_ns = (u32)sd_number(parameters, "head_switch_ns", 0, NS_PER_S / 100);
	geometry->block_sectors = (u32)sd_number(parameters, "physical_block_bytes", 512, 4096) /
				  SD_SECTOR_BYTES;
	outer = sd_number(parameters, "outer_bytes_per_s", SD_RATE_LEAST, 2 * NS_PER_S);
	inner = sd_number(parameters, "inner_bytes_per_s", SD_RATE_LEAST, 2 * NS_PER_S);
	track_ns = (u32)sd_number(parameters, "seek_track_ns", 1, NS_PER_S / 100);
	if (geometry->block_sectors != 1 && geometry->block_sectors != 8)
		sd_refuse(parameters, "physical_block_bytes is neither 512 nor 4096");
	if (geometry->sectors % geometry->block_sectors)
		sd_refuse(parameters, "sectors do not make whole physical blocks");
	if (inner > outer)
		sd_refuse(parameters, "inner_bytes_per_s is above outer_bytes_per_s");
	geometry->cylinder_switch_ns = track_ns;
	if (geometry->heads > 1 && geometry->head_switch_ns > track_ns)
		geometry->cylinder_switch_ns = geometry->head_switch_ns;
	geometry->cylinder_ns = (u64)geometry->heads * geometry->revolution_ns +
				(geometry->heads - 1) * (u64)geometry->head_switch_ns +
				geometry->cylinder_switch_ns;
	for (u32 i = 0; i < geometry->zone_count; i++)
		geometry->zones[i].track_sectors = track_sectors(geometry, i, outer, inner);
	lay_out(geometry, parameters);
	if (sd_accepted(parameters))
		read_seek(geometry, parameters);
}

/* The zone of a sector, and that of a stream time: the last one that does not begin after it. */
static const struct hdd_zone *zone_of_sector(const struct hdd_geometry *geometry, u64 sector)
{
	u32 low = 0, high = geometry->zone_count;

	while (high - low > 1) {
		u32 middle = (low + high) / 2;

		if (geometry->zones[middle].first_sector <= sector)
			low = middle;
		else
			high = middle;
	}
	return &geometry->zones[low];
}

static const struct hdd_zone *zone_of_time(const struct hdd_geometry *geometry, u64 stream_ns)
{
	u32 low = 0, high = geometry->zone_count;

	while (high - low > 1) {
		u32 middle = (low + high) / 2;

		if (geometry->zones[middle].first_ns <= stream_ns)
			low = middle;
		else
			high = middle;
	}
	return &geometry->zones[low];
}

/* The stream time of the track's begin; *along gets how many of its sectors are before this one. */
static u64 locate_track(const struct hdd_geometry *geometry, u64 sector, struct hdd_place *place,
			const struct hdd_zone **zone, u32 *along)
{
	u64 track, cylinder;

	*zone = zone_of_sector(geometry, sector);
	sector -= (*zone)->first_sector;
	track = sector / (*zone)->track_sectors;
	*along = (u32)(sector - track * (*zone)->track_sectors);
	cylinder = track / geometry->heads;
	place->cylinder = (*zone)->first_cylinder + (u32)cylinder;
	place->head = (u32)(track - cylinder * geometry->heads);
	return (*zone)->first_ns + cylinder * geometry->cylinder_ns +
	       place->head * (u64)(geometry->revolution_ns + geometry->head_switch_ns);
}

u64 sd_hdd_locate(const struct hdd_geometry *geometry, u64 sector, struct hdd_place *place)
{
	const struct hdd_zone *zone;
	u32 along;
	u64 ns = locate_track(geometry, sector, place, &zone, &along);

	ns += (u64)along * geometry->revolution_ns / zone->track_sectors;
	place->angle_ns = (u32)(ns % geometry->revolution_ns);
	return ns;
}

u64 sd_hdd_locate_end(const struct hdd_geometry *geometry, u64 end, struct hdd_place *place)
{
	const struct hdd_zone *zone;
	u32 along;
	u64 ns = locate_track(geometry, end - 1, place, &zone, &along);

	ns += ((u64)along + 1) * geometry->revolution_ns / zone->track_sectors;
	place->angle_ns = (u32)(ns % geometry->revolution_ns);
	return ns;
}

u64 sd_hdd_passed(const struct hdd_geometry *geometry, u64 stream_ns)
{
	const struct hdd_zone *zone = zone_of_time(geometry, stream_ns);
	u64 track_ns = geometry->revolution_ns + geometry->head_switch_ns;
	u64 cylinder, head, along, sectors = zone->track_sectors;

	stream_ns -= zone->first_ns;
	cylinder = stream_ns / geometry->cylinder_ns;
	stream_ns -= cylinder * geometry->cylinder_ns;
	head = stream_ns / track_ns;
	if (head >= geometry->heads)
		head = geometry->heads - 1;
	stream_ns -= head * track_ns;
	along = stream_ns * sectors / geometry->revolution_ns;
	/* The ends of sectors are rounded down, so one more may have passed. */
	if ((along + 1) * geometry->revolution_ns / sectors <= stream_ns)
		along++;
	if (along > sectors)
		along = sectors;
	return zone->first_sector + (cylinder * geometry->heads + head) * sectors + along;
}
