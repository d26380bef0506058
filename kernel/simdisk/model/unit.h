/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One physical disk inside a model: a hard disk (hdd.c) or flash memory (flash.c). A model is one of
 * them, or an array of equal ones (array.c). The functions mean what those of model.h mean.
 */
#ifndef SIMDISK_UNIT_H
#define SIMDISK_UNIT_H

#include "model.h"
#include "parameters.h"

struct sd_unit;

struct sd_unit_type {
	/* The value of the parameter `kind`. */
	const char *name;
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

#endif
