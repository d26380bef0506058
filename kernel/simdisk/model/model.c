// SPDX-License-Identifier: GPL-2.0
/*
 * A model is one unit, which is a hard disk, flash memory, an array of equal ones of these, or a
 * controller with a cache. Here stands only what they share: which of them it is, and how many
 * requests it takes.
 */
#include "unit.h"

struct sd_model {
	const struct sd_unit_type *type;
	struct sd_unit *unit;
	u32 queue_depth;
};

const struct sd_unit_type *sd_unit_type_of(struct sd_parameters *parameters)
{
	static const struct sd_unit_type *const types[] = { &sd_hdd, &sd_flash };
	static const char *const kinds[] = { "hdd", "flash", NULL };

	return types[sd_word(parameters, "kind", kinds)];
}

const struct sd_unit_type *sd_disks_type_of(struct sd_parameters *parameters)
{
	return sd_array_members(parameters) > 1 ? &sd_array : sd_unit_type_of(parameters);
}

u32 sd_disks_queue_depth_of(struct sd_parameters *parameters)
{
	u32 depth = sd_array_members(parameters) * sd_queue_depth_of(parameters);

	return depth < SD_QUEUE_MAX ? depth : SD_QUEUE_MAX;
}

static void make(struct sd_model *model, struct sd_parameters *parameters)
{
	model->queue_depth = sd_disks_queue_depth_of(parameters);
	model->type = sd_given(parameters, "controller_bytes") ? &sd_controller :
		      sd_disks_type_of(parameters);
	/* The block layer's, in the same text; the model takes requests of any size. */
	sd_number_or(parameters, "max_request_bytes", SD_REQUEST_BYTES_LEAST, SD_REQUEST_BYTES_MAX,
		     0);
	if (sd_accepted(parameters))
		model->unit = model->type->make(parameters);
}

struct sd_model *sd_new(const char *text, const char **error)
{
	struct sd_parameters *parameters = sd_parameters_new(text);
	struct sd_model *model = sd_alloc(sizeof(*model));

	*error = NULL;
	if (parameters && model)
		make(model, parameters);
	if (parameters)
		*error = sd_parameters_end(parameters);
	if (!*error && (!model || !model->unit))
		*error = "there is not enough memory for the disk";
	if (*error) {
		if (model)
			sd_destroy(model);
		return NULL;
	}
	return model;
}

void sd_destroy(struct sd_model *model)
{
	if (model->unit)
		model->type->destroy(model->unit);
	sd_release(model);
}

u64 sd_capacity_sectors(const struct sd_model *model)
{
	return model->type->capacity_sectors(model->unit);
}

u32 sd_queue_depth(const struct sd_model *model)
{
	return model->queue_depth;
}

bool sd_has_room(const struct sd_model *model)
{
	return model->type->has_room(model->unit);
}

void sd_submit(struct sd_model *model, u64 now_ns, const struct sd_request *request)
{
	model->type->submit(model->unit, now_ns, request);
}

u64 sd_next_ns(const struct sd_model *model)
{
	return model->type->next_ns(model->unit);
}

bool sd_take(struct sd_model *model, u64 now_ns, struct sd_done *done)
{
	return model->type->take(model->unit, now_ns, done);
}
