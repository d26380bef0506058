// SPDX-License-Identifier: GPL-2.0
/*
 * A mapping of areas, as sticks and cards have it: an area is a block of each die, and its pages
 * lie in it in their order. Flash memory is not written in place, so an area that is written to has
 * a log beside it: an area whose pages are filled in the order of the writes. There are few logs.
 * When one is full, or wanted for another area, it is closed:
 *
 *     all pages there, in order     the log becomes the area              switch: nothing copied
 *     the first pages, in order     the other pages are copied into it    partial merge
 *     else                          all are copied into an empty area     full merge
 *
 * and what is left over is erased. Where a request ends within a page and the next one begins
 * there, the page is completed in its place, so that both are in order. A writer waits for a merge;
 * there is one at a time. Pages that were never written, or are discarded, are not copied. Each die
 * copies the pages whose place in order is on it, one after another; all dies do so at once.
 */
#include "flash_areas.h"

#define LOGS_MAX 256u

static u64 areas_locate(const struct sd_flash *flash, u64 grain)
{
	const struct sd_areas *areas = flash->state;
	u32 area = grain / areas->area_pages, page = grain % areas->area_pages;
	const struct sd_log *log = sd_area_log(areas, area);

	if (log && log->places[page])
		return sd_area_page_number(areas, log, log->places[page] - 1);
	return sd_area_has_page(flash, area, page) ? grain : SD_NOWHERE;
}

/* ---- closing a log ---- */

static void erase(struct sd_flash *flash, u64 now_ns, enum sd_nand_purpose purpose)
{
	for (u32 die = 0; die < flash->nand.dies; die++) {
		u32 index = sd_nand_get(&flash->nand);
		struct sd_nand_op *op = &flash->nand.ops[index];

		op->kind = SD_NAND_ERASE;
		op->purpose = purpose;
		op->die = die;
		sd_nand_start(&flash->nand, now_ns, index, false);
	}
}

/* The area has what it had and what the log has, and the log is free. */
static void adopt(struct sd_flash *flash, struct sd_log *log)
{
	struct sd_areas *areas = flash->state;

	sd_area_note(flash, log->area);
	for (u32 page = 0; page < log->pages; page++)
		if (log->places[page])
			sd_area_set_page(areas, log->area, page, true);
	if (!areas->areas[log->area].count)
		areas->areas[log->area].state = SD_AREA_STALE;
	log->area = SD_NONE;
}

static bool is_copied(const struct sd_flash *flash, const struct sd_log *log, u32 page)
{
	if (log->places[page])
		return !log->is_ordered;
	return sd_area_has_page(flash, log->area, page);
}

/* Lets a die copy its next page, if there is one. */
static void copy(struct sd_flash *flash, u64 now_ns, u32 die)
{
	struct sd_areas *areas = flash->state;
	struct sd_merge *merge = &areas->merge;
	u64 copy_ns = flash->nand.page_read_ns + flash->nand.page_program_ns;
	struct sd_nand_op *op;
	u32 index;

	if (!merge->left[die])
		return;
	while (!is_copied(flash, merge->log, merge->next_page[die]))
		merge->next_page[die] += flash->nand.dies;
	merge->next_page[die] += flash->nand.dies;
	merge->left[die]--;
	merge->running++;
	merge->copied++;
	index = sd_nand_get(&flash->nand);
	op = &flash->nand.ops[index];
	op->kind = SD_NAND_COPY;
	op->purpose = SD_FOR_MAPPING;
	op->die = die;
	op->bytes = flash->nand.page_bytes;
	op->silence_ns = merge->left[die] * copy_ns + merge->erases * flash->nand.block_erase_ns;
	sd_nand_start(&flash->nand, now_ns, index, false);
}

static void merge(struct sd_flash *flash, u64 now_ns, struct sd_log *log, u32 erases)
{
	struct sd_areas *areas = flash->state;
	struct sd_merge *merge = &areas->merge;

	merge->log = log;
	merge->erases = erases;
	merge->copied = merge->running = 0;
	merge->began_ns = now_ns;
	for (u32 die = 0; die < flash->nand.dies; die++) {
		merge->next_page[die] = die;
		copy(flash, now_ns, die);
	}
}

/* Closes a log; where that takes a merge, the log is free when that has ended. */
static void close(struct sd_flash *flash, u64 now_ns, struct sd_log *log)
{
	struct sd_areas *areas = flash->state;
	u32 erases = !log->is_ordered + sd_area_has_any(flash, log->area);
	bool copies = false;

	memset(areas->merge.left, 0, flash->nand.dies * sizeof(*areas->merge.left));
	for (u32 page = 0; page < log->pages; page++) {
		if (!is_copied(flash, log, page))
			continue;
		areas->merge.left[page % flash->nand.dies]++;
		copies = true;
	}
	if (copies) {
		merge(flash, now_ns, log, erases);
		return;
	}
	while (erases--)
		erase(flash, now_ns, SD_FOR_NOBODY);
	adopt(flash, log);
}

static void end_merge(struct sd_flash *flash, u64 now_ns)
{
	struct sd_areas *areas = flash->state;
	struct sd_merge *merge = &areas->merge;
	u64 first = (u64)merge->log->area * areas->area_pages;

	sd_flash_report(flash, SD_MEDIA_READ, first, merge->copied, merge->began_ns, now_ns);
	sd_flash_report(flash, SD_MEDIA_WRITE, first, merge->copied, merge->began_ns, now_ns);
	adopt(flash, merge->log);
	merge->log = NULL;
}

static void areas_ended(struct sd_flash *flash, u64 now_ns, const struct sd_nand_op *op)
{
	struct sd_areas *areas = flash->state;
	struct sd_merge *merge = &areas->merge;

	merge->running--;
	if (op->kind == SD_NAND_COPY)
		copy(flash, now_ns, op->die);
	if (merge->running)
		return;
	/* Nothing is erased before all of it is copied. */
	if (!merge->erases) {
		end_merge(flash, now_ns);
		return;
	}
	merge->erases--;
	merge->running = flash->nand.dies;
	erase(flash, now_ns, SD_FOR_MAPPING);
}

/* ---- writes and discards ---- */

/* The log that is free, or else that which was not written to for the longest. */
static struct sd_log *log_to_open(const struct sd_areas *areas)
{
	struct sd_log *oldest = &areas->logs[0];

	for (u32 i = 0; i < areas->log_count; i++) {
		struct sd_log *log = &areas->logs[i];

		if (log->area == SD_NONE)
			return log;
		if (log->used < oldest->used)
			oldest = log;
	}
	return oldest;
}

static void open_log(struct sd_flash *flash, u64 now_ns, struct sd_log *log, u32 area)
{
	struct sd_areas *areas = flash->state;

	if (areas->areas[area].state == SD_AREA_STALE) {
		/* The log's first pages wait for it in the lines of the dies. */
		erase(flash, now_ns, SD_FOR_NOBODY);
		sd_area_note(flash, area);
	}
	log->area = area;
	log->pages = sd_area_pages(flash, area);
	log->next = 0;
	log->is_ordered = true;
	log->serial = areas->serial++;
	memset(log->places, 0, areas->area_pages * sizeof(*log->places));
}

/* The log whose last page a write completes, or NULL where it begins elsewhere. */
static struct sd_log *log_to_continue(const struct sd_flash *flash, u64 grain, u32 index)
{
	const struct sd_areas *areas = flash->state;
	const struct sd_job *job = &flash->jobs[index];
	u32 page = grain % areas->area_pages;
	struct sd_log *log = sd_area_log(areas, grain / areas->area_pages);

	if (!log || !log->next || log->places[page] != log->next)
		return NULL;
	if (grain != job->first || job->from_sector != areas->end_sector ||
	    job->from_sector == grain << flash->grain_shift)
		return NULL;
	return log;
}

/* The log of an area with room for a page, or NULL while a merge makes one. */
static struct sd_log *log_with_room(struct sd_flash *flash, u64 now_ns, u32 area)
{
	struct sd_areas *areas = flash->state;
	struct sd_log *log = sd_area_log(areas, area);

	if (log && log->next < areas->area_pages)
		return log;
	if (!log)
		log = log_to_open(areas);
	if (log->area != SD_NONE)
		close(flash, now_ns, log);
	if (areas->merge.log)
		return NULL;
	open_log(flash, now_ns, log, area);
	return log;
}

/* The log with the next page of an area, or NULL while a merge makes room. */
static struct sd_log *append(struct sd_flash *flash, u64 now_ns, u64 grain)
{
	struct sd_areas *areas = flash->state;
	u32 area = grain / areas->area_pages, page = grain % areas->area_pages;
	struct sd_log *log = areas->complete;

	areas->complete = NULL;
	if (log && log->area != SD_NONE)
		close(flash, now_ns, log);
	log = log_with_room(flash, now_ns, area);
	if (!log)
		return NULL;
	log->is_ordered &= page == log->next;
	log->places[page] = ++log->next;
	if (log->is_ordered && log->next == log->pages)
		areas->complete = log;
	return log;
}

static bool areas_put(struct sd_flash *flash, u64 now_ns, u64 grain, u32 job)
{
	struct sd_areas *areas = flash->state;
	/* A page, and the erasing of up to two areas to either side of it. */
	u32 wanted = 1 + 4 * flash->nand.dies;
	struct sd_nand_op *op;
	struct sd_log *log;
	u32 index;

	if (areas->merge.log || flash->nand.unused < flash->kept_from_writes + wanted)
		return false;
	log = log_to_continue(flash, grain, job);
	if (!log)
		log = append(flash, now_ns, grain);
	if (!log)
		return false;
	index = sd_nand_get(&flash->nand);
	op = &flash->nand.ops[index];
	op->kind = SD_NAND_PROGRAM;
	op->purpose = SD_FOR_HOST;
	op->page = sd_area_page_number(areas, log, log->next - 1);
	op->die = op->page % flash->nand.dies;
	op->bytes = flash->nand.page_bytes;
	op->grains = 1;
	op->slots[0] = job;
	sd_nand_announce(&flash->nand, index);
	sd_nand_start(&flash->nand, now_ns, index, false);
	log->used = ++areas->clock;
	areas->end_sector = flash->jobs[job].to_sector;
	return true;
}

/* Forgets pages of an area. */
static void trim_area(struct sd_flash *flash, u32 index, u32 first, u32 count)
{
	struct sd_areas *areas = flash->state;
	struct sd_log *log = sd_area_log(areas, index);

	if (count == sd_area_pages(flash, index)) {
		if (log || sd_area_has_any(flash, index))
			areas->areas[index].state = SD_AREA_STALE;
		if (log)
			log->area = SD_NONE;
		return;
	}
	if (log)
		memset(&log->places[first], 0, count * sizeof(*log->places));
	if (!sd_area_has_any(flash, index))
		return;
	sd_area_note(flash, index);
	for (u32 page = first; page < first + count; page++)
		sd_area_set_page(areas, index, page, false);
	/* An area with a log is erased when that is closed, or not at all. */
	if (!areas->areas[index].count)
		areas->areas[index].state = SD_AREA_STALE;
}

static void areas_trim(struct sd_flash *flash, u64 first, u64 count)
{
	const struct sd_areas *areas = flash->state;

	while (count) {
		u32 page = first % areas->area_pages;
		u64 here = areas->area_pages - page;

		if (here > count)
			here = count;
		trim_area(flash, first / areas->area_pages, page, here);
		first += here;
		count -= here;
	}
}

/* ---- the whole ---- */

static void areas_destroy(void *state)
{
	struct sd_areas *areas = state;

	sd_release(areas->areas);
	sd_release(areas->noted);
	sd_release(areas->logs);
	sd_release(areas->places);
	sd_release(areas->merge.next_page);
	sd_release(areas->merge.left);
	sd_release(areas);
}

static bool reserve(const struct sd_flash *flash, struct sd_areas *areas)
{
	areas->areas = sd_alloc((u64)areas->area_count * sizeof(*areas->areas));
	areas->noted = sd_alloc((u64)areas->area_count * areas->words * sizeof(*areas->noted));
	areas->logs = sd_alloc(areas->log_count * sizeof(*areas->logs));
	areas->places = sd_alloc((u64)areas->log_count * areas->area_pages *
				 sizeof(*areas->places));
	areas->merge.next_page = sd_alloc(flash->nand.dies * sizeof(*areas->merge.next_page));
	areas->merge.left = sd_alloc(flash->nand.dies * sizeof(*areas->merge.left));
	if (!areas->areas || !areas->noted || !areas->logs || !areas->places ||
	    !areas->merge.next_page || !areas->merge.left)
		return false;
	for (u32 i = 0; i < areas->log_count; i++) {
		areas->logs[i].area = SD_NONE;
		areas->logs[i].places = &areas->places[(u64)i * areas->area_pages];
	}
	return true;
}

static void *areas_make(struct sd_flash *flash, struct sd_parameters *parameters)
{
	struct sd_areas *areas = sd_alloc(sizeof(*areas));
	u64 pages = (u64)flash->nand.pages_per_block * flash->nand.dies;

	if (!areas)
		return NULL;
	areas->log_count = sd_number(parameters, "open_blocks", 1, LOGS_MAX);
	/* There are as many spare blocks as logs and a merge take, whatever a profile says. */
	sd_number_or(parameters, "spare_permille", 0, 10000, 0);
	areas->area_pages = pages;
	areas->area_count = (flash->grains + pages - 1) / pages;
	areas->words = (pages + 63) / 64;
	if (sd_accepted(parameters) && reserve(flash, areas))
		return areas;
	areas_destroy(areas);
	return NULL;
}

const struct sd_mapping sd_block_mapping = {
	.make = areas_make,
	.destroy = areas_destroy,
	.locate = areas_locate,
	.put = areas_put,
	.trim = areas_trim,
	.ended = areas_ended,
};
