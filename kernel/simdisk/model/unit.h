/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One physical disk inside a model: a hard disk (hdd.c) or flash memory (flash.c). A model is one
 * of them, or an array of equal ones (array.c), or a controller with a cache before either
 * (controller.c); these are units as well. The functions mean what those of model.h mean.
 *
 * What happens inside a unit depends on the times of its requests alone, not on how often it is
 * asked: of two things at one moment, what was under way comes before what arrives.
 */
#ifndef SIMDISK_UNIT_H
#define SIMDISK_UNIT_H

#include "model.h"
#include "parameters.h"
#include "requests.h"

struct sd_unit;

struct sd_unit_type {
	/* The value of the parameter `kind`. */
	const char *name;
	/* NULL where parameters are refused, or where there is no memory. */
	struct sd_unit *(*make)(struct sd_parameters *parameters);
	void (*destroy)(struct sd_unit *unit);
	u64 (*capacity_sectors)(const struct sd_unit *unit);
	bool (*has_room)(const struct sd_unit *unit);
	void (*submit)(struct sd_unit *unit, u64 now_ns, const struct sd_request *request);
	u64 (*next_ns)(const struct sd_unit *unit);
	bool (*take)(struct sd_unit *unit, u64 now_ns, struct sd_done *done);
};

extern const struct sd_unit_type sd_hdd;
extern const struct sd_unit_type sd_flash;
extern const struct sd_unit_type sd_array;
extern const struct sd_unit_type sd_controller;

/* The type of the single disk that the parameters describe. */
const struct sd_unit_type *sd_unit_type_of(struct sd_parameters *parameters);
/* How many requests each single disk takes at once. */
static inline u32 sd_queue_depth_of(struct sd_parameters *parameters)
{
	return (u32)sd_number(parameters, "queue_depth", 1, SD_QUEUE_MAX);
}
/* How many single disks there are; 1 where they are no array. */
u32 sd_array_members(struct sd_parameters *parameters);
/* What is best written as a whole: a row of an array, or what makes up for a seek. */
u64 sd_array_row_sectors(struct sd_parameters *parameters);
/* The type of all disks together, and how many requests they take at once. */
const struct sd_unit_type *sd_disks_type_of(struct sd_parameters *parameters);
u32 sd_disks_queue_depth_of(struct sd_parameters *parameters);

#endif
