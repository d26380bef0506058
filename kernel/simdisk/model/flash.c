// SPDX-License-Identifier: GPL-2.0
/* Flash memory: what it is made of, and the time in which it works. */
#include "flash_device.h"

/* Answers on the disk's own account that may wait to be taken; more than these are not told. */
#define ANSWERS_MAX 65536u
/* The least operations of the host's reads, and of its writes, under way at once. */
#define OPS_LEAST 2048u

static void take_interface(struct sd_flash *flash, struct sd_parameters *parameters)
{
	flash->sectors = sd_number(parameters, "sectors", 1, (u64)1 << 36);
	flash->queue_depth = sd_queue_depth_of(parameters);
	flash->interface_bytes_per_s =
		sd_number(parameters, "interface_bytes_per_s", SD_RATE_LEAST, SD_RATE_MAX);
	flash->command_ns = sd_number(parameters, "command_ns", 0, 1000000000);
	flash->has_cache = sd_number(parameters, "write_cache", 0, 1);
	flash->buffer_bytes = sd_number(parameters, "buffer_bytes", 0, (u64)1 << 32);
	/* What is lost with the power is nothing: flushes and FUA cost no more than a command. */
	flash->is_protected = sd_number_or(parameters, "power_protected", 0, 1, 0);
	flash->heeds_discards = sd_number(parameters, "discard", 0, 1);
	/* Told to the host; what a small write costs follows of the grains. */
	sd_number_or(parameters, "physical_block_bytes", SD_SECTOR_BYTES, 65536, 0);
}

static void take_mapping(struct sd_flash *flash, struct sd_parameters *parameters)
{
	static const struct sd_mapping *const mappings[] = { &sd_page_mapping, &sd_block_mapping };
	static const char *const words[] = { "page", "block", NULL };
	u64 used_permille = sd_number_or(parameters, "precondition_permille", 0, 1000, 0);
	u32 grain_sectors;

	flash->mapping = mappings[sd_word(parameters, "mapping", words)];
	flash->grain_bytes = flash->nand.page_bytes;
	/* SSDs keep the place of each 4 KiB, however large their pages are. */
	if (flash->mapping == &sd_page_mapping && flash->grain_bytes > 4096)
		flash->grain_bytes = 4096;
	flash->grains_per_page = flash->nand.page_bytes / flash->grain_bytes;
	grain_sectors = flash->grain_bytes / SD_SECTOR_BYTES;
	while (grain_sectors >> (flash->grain_shift + 1))
		flash->grain_shift++;
	flash->grains = (flash->sectors + grain_sectors - 1) >> flash->grain_shift;
	flash->used_grains = flash->grains * used_permille / 1000;
	/* Else the buffer could be full of a page that waits for its second half. */
	if (flash->has_cache && flash->buffer_bytes < 2 * flash->nand.page_bytes)
		sd_refuse(parameters, "buffer_bytes is less than two pages");
	if (flash->is_protected && !flash->has_cache)
		sd_refuse(parameters, "power_protected is of a write_cache, and there is none");
}

static bool reserve(struct sd_flash *flash)
{
	u32 own = 4 * flash->nand.dies + 16;
	u32 host = OPS_LEAST + 8 * flash->nand.dies;
	u64 jobs = flash->queue_depth + 1;

	if (flash->has_cache)
		jobs += flash->buffer_bytes / flash->grain_bytes;
	flash->kept_from_writes = own;
	flash->kept_from_reads = own + host;
	flash->jobs = sd_alloc(jobs * sizeof(*flash->jobs));
	return flash->jobs && sd_answers_make(&flash->answers, ANSWERS_MAX + SD_QUEUE_MAX) &&
	       sd_events_make(&flash->events, own + 2 * host + flash->queue_depth + 1) &&
	       sd_nand_reserve(&flash->nand, &flash->events, own + 2 * host);
}

static void flash_destroy(struct sd_unit *unit)
{
	struct sd_flash *flash = (struct sd_flash *)unit;

	if (flash->state)
		flash->mapping->destroy(flash->state);
	sd_nand_destroy(&flash->nand);
	sd_events_destroy(&flash->events);
	sd_answers_destroy(&flash->answers);
	sd_release(flash->jobs);
	sd_release(flash);
}

static struct sd_unit *flash_make(struct sd_parameters *parameters)
{
	struct sd_flash *flash = sd_alloc(sizeof(*flash));
	struct sd_job_queue none = { SD_NONE, SD_NONE };

	if (!flash)
		return NULL;
	flash->intake = flash->mapping_line = flash->reads = flash->live = none;
	flash->first_unused_job = SD_NONE;
	take_interface(flash, parameters);
	if (sd_nand_make(&flash->nand, parameters))
		take_mapping(flash, parameters);
	if (sd_accepted(parameters) && reserve(flash))
		flash->state = flash->mapping->make(flash, parameters);
	if (!flash->state) {
		flash_destroy((struct sd_unit *)flash);
		return NULL;
	}
	return (struct sd_unit *)flash;
}

static u64 flash_capacity_sectors(const struct sd_unit *unit)
{
	return ((const struct sd_flash *)unit)->sectors;
}

static bool flash_has_room(const struct sd_unit *unit)
{
	const struct sd_flash *flash = (const struct sd_flash *)unit;

	return flash->outstanding < flash->queue_depth;
}

static void work(struct sd_flash *flash, u64 now_ns)
{
	while (flash->events.count && flash->events.heap[0].at_ns <= now_ns) {
		struct sd_event event = sd_events_take(&flash->events);

		sd_flash_event(flash, &event);
	}
}

static void flash_submit(struct sd_unit *unit, u64 now_ns, const struct sd_request *request)
{
	struct sd_flash *flash = (struct sd_flash *)unit;

	/* What is under way at this moment does not know of the request. */
	work(flash, now_ns);
	flash->outstanding++;
	sd_flash_accept(flash, now_ns, request);
}

static u64 flash_next_ns(const struct sd_unit *unit)
{
	const struct sd_flash *flash = (const struct sd_flash *)unit;

	if (flash->answers.count)
		return sd_answers_first_ns(&flash->answers);
	return sd_events_answer_ns(&flash->events);
}

static bool flash_take(struct sd_unit *unit, u64 now_ns, struct sd_done *done)
{
	struct sd_flash *flash = (struct sd_flash *)unit;

	work(flash, now_ns);
	if (!flash->answers.count)
		return false;
	sd_answers_take(&flash->answers, done);
	if (done->tag != SD_BACKGROUND)
		flash->outstanding--;
	return true;
}

void sd_flash_answer(struct sd_flash *flash, const struct sd_done *done)
{
	if (done->tag == SD_BACKGROUND && flash->answers.count >= ANSWERS_MAX)
		return;
	*sd_answers_add(&flash->answers) = *done;
}

void sd_flash_report(struct sd_flash *flash, enum sd_op op, u64 grain, u64 grains, u64 from_ns,
		     u64 now_ns)
{
	struct sd_done done = { .tag = SD_BACKGROUND, .op = op };

	if (!grains)
		return;
	done.sector = grain << flash->grain_shift;
	done.sectors = grains << flash->grain_shift;
	done.submit_ns = done.start_ns = from_ns;
	done.done_ns = now_ns;
	done.part_ns[SD_TRANSFER] = now_ns - from_ns;
	sd_flash_answer(flash, &done);
}

const struct sd_unit_type sd_flash = {
	.name = "flash",
	.make = flash_make,
	.destroy = flash_destroy,
	.capacity_sectors = flash_capacity_sectors,
	.has_room = flash_has_room,
	.submit = flash_submit,
	.next_ns = flash_next_ns,
	.take = flash_take,
};
