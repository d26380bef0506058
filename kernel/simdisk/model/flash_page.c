// SPDX-License-Identifier: GPL-2.0
#include "flash_page.h"

/* Grains whose places are known, or not touched, or gone, together. */
#define REGION_GRAINS 4096u
/* Blocks beyond the capacity without which nothing would ever be free: two that are filled, one for
 * garbage collection to begin with, and two that make it worth it. */
#define SPARE_LEAST 5u
/* In all members of an array: each takes room from the start. */
#define BLOCKS_MAX ((u64)1 << 24)

enum place {
	PLACE_UNTOUCHED,
	PLACE_NONE,
	/* And the grain of a block. */
	PLACE_FIRST,
};

enum region {
	REGION_UNTOUCHED,
	/* All its grains lie nowhere, whatever is noted of them. */
	REGION_GONE,
	REGION_TOUCHED,
};

/* ---- blocks ---- */

static void link_closed(struct sd_pages *pages, u32 index)
{
	struct sd_block *block = &pages->blocks[index];
	u32 *first = &pages->by_valid[block->valid];

	block->older = SD_NONE;
	block->newer = *first - 1;
	if (*first)
		pages->blocks[*first - 1].older = index;
	*first = index + 1;
	if (block->valid < pages->fewest)
		pages->fewest = block->valid;
}

void sd_pages_unlink(struct sd_pages *pages, u32 index)
{
	const struct sd_block *block = &pages->blocks[index];

	if (block->older == SD_NONE)
		pages->by_valid[block->valid] = block->newer + 1;
	else
		pages->blocks[block->older].newer = block->newer;
	if (block->newer != SD_NONE)
		pages->blocks[block->newer].older = block->older;
}

/* Some grains of a block are valid no more. */
static void lose(struct sd_pages *pages, u32 index, u32 count)
{
	struct sd_block *block = &pages->blocks[index];

	if (!count)
		return;
	if (block->state != SD_BLOCK_CLOSED) {
		block->valid -= count;
		return;
	}
	sd_pages_unlink(pages, index);
	block->valid -= count;
	link_closed(pages, index);
}

void sd_pages_free(struct sd_pages *pages, u32 index)
{
	struct sd_block *block = &pages->blocks[index];

	block->state = SD_BLOCK_FREE;
	block->is_home = false;
	block->newer = SD_NONE;
	if (pages->free_count++)
		pages->blocks[pages->last_free].newer = index;
	else
		pages->first_free = index;
	pages->last_free = index;
}

/* ---- places ---- */

u32 sd_pages_place(const struct sd_flash *flash, u32 grain)
{
	const struct sd_pages *pages = flash->state;
	u32 place;

	switch (pages->regions[grain / REGION_GRAINS]) {
	case REGION_GONE:
		return SD_NONE;
	case REGION_TOUCHED:
		place = pages->places[grain];
		if (place >= PLACE_FIRST)
			return place - PLACE_FIRST;
		if (place == PLACE_NONE)
			return SD_NONE;
		break;
	}
	return grain < flash->used_grains ? grain : SD_NONE;
}

u32 sd_pages_owner(const struct sd_flash *flash, u32 place)
{
	const struct sd_pages *pages = flash->state;

	if (pages->blocks[place / pages->block_grains].is_home)
		return place < flash->used_grains ? place : SD_NONE;
	return pages->owners[place] - 1;
}

static void set_place(struct sd_pages *pages, u32 grain, u32 place)
{
	u8 *region = &pages->regions[grain / REGION_GRAINS];
	u32 first = grain / REGION_GRAINS * REGION_GRAINS;

	if (*region == REGION_GONE)
		for (u32 i = 0; i < REGION_GRAINS; i++)
			pages->places[first + i] = PLACE_NONE;
	*region = REGION_TOUCHED;
	pages->places[grain] = place + PLACE_FIRST;
}

/* Forgets grains that were never touched, and are at home. */
static void trim_home(struct sd_pages *pages, u32 first, u32 count)
{
	while (count) {
		u32 here = pages->block_grains - first % pages->block_grains;

		if (here > count)
			here = count;
		lose(pages, first / pages->block_grains, here);
		first += here;
		count -= here;
	}
}

/* Forgets grains of one region, all of which may be all it has. */
static void trim_region(struct sd_flash *flash, u32 first, u32 count, bool is_all)
{
	struct sd_pages *pages = flash->state;
	u8 *region = &pages->regions[first / REGION_GRAINS];
	u32 block = 0, lost = 0;

	if (*region == REGION_GONE || (*region == REGION_UNTOUCHED && first >= flash->used_grains))
		return;
	if (*region == REGION_UNTOUCHED && is_all) {
		u64 used = flash->used_grains - first;

		trim_home(pages, first, used < count ? (u32)used : count);
		*region = REGION_GONE;
		return;
	}
	for (u32 grain = first; grain < first + count; grain++) {
		u32 place = sd_pages_place(flash, grain);

		if (!is_all)
			pages->places[grain] = PLACE_NONE;
		if (place == SD_NONE)
			continue;
		/* Neighbours often share a block, and its line is left once for all of them. */
		if (place / pages->block_grains != block) {
			lose(pages, block, lost);
			block = place / pages->block_grains;
			lost = 0;
		}
		lost++;
	}
	lose(pages, block, lost);
	*region = is_all ? REGION_GONE : REGION_TOUCHED;
}

static void pages_trim(struct sd_flash *flash, u64 first, u64 count)
{
	while (count) {
		u32 offset = first % REGION_GRAINS;
		u64 here = REGION_GRAINS - offset;

		if (here > count)
			here = count;
		trim_region(flash, first, here,
			    !offset && (here == REGION_GRAINS || first + here == flash->grains));
		first += here;
		count -= here;
	}
}

static u64 pages_locate(const struct sd_flash *flash, u64 grain)
{
	u32 place = sd_pages_place(flash, grain);

	return place == SD_NONE ? SD_NOWHERE : place / flash->grains_per_page;
}

/* ---- streams ---- */

/* Goes on to a new block; the last free one is garbage collection's. */
static bool open_block(struct sd_pages *pages, struct sd_stream *stream)
{
	if (pages->free_count <= (stream == &pages->host))
		return false;
	if (stream->block != SD_NONE) {
		pages->blocks[stream->block].state = SD_BLOCK_CLOSED;
		link_closed(pages, stream->block);
	}
	stream->block = pages->first_free;
	stream->next = 0;
	pages->first_free = pages->blocks[stream->block].newer;
	pages->free_count--;
	pages->blocks[stream->block].state = SD_BLOCK_OPEN;
	return true;
}

bool sd_pages_open(struct sd_flash *flash, struct sd_stream *stream)
{
	struct sd_pages *pages = flash->state;
	bool is_host = stream == &pages->host;
	struct sd_nand_op *op;

	if (stream->op != SD_NONE)
		return true;
	if (flash->nand.unused <= (is_host ? flash->kept_from_writes : 0))
		return false;
	if ((stream->block == SD_NONE || stream->next == pages->block_grains) &&
	    !open_block(pages, stream))
		return false;
	stream->op = sd_nand_get(&flash->nand);
	op = &flash->nand.ops[stream->op];
	op->kind = SD_NAND_PROGRAM;
	op->purpose = is_host ? SD_FOR_HOST : SD_FOR_MAPPING;
	op->page = ((u64)stream->block * pages->block_grains + stream->next) /
		   flash->grains_per_page;
	op->die = op->page % flash->nand.dies;
	op->bytes = flash->nand.page_bytes;
	sd_nand_announce(&flash->nand, stream->op);
	return true;
}

static void program(struct sd_flash *flash, u64 now_ns, struct sd_stream *stream)
{
	struct sd_pages *pages = flash->state;
	u32 op = stream->op;

	/* The rest of a page that is not full is lost until the block is erased. */
	stream->next += flash->grains_per_page - flash->nand.ops[op].grains;
	stream->op = SD_NONE;
	if (stream == &pages->moved)
		pages->collection.programs++;
	sd_nand_start(&flash->nand, now_ns, op, false);
}

void sd_pages_add(struct sd_flash *flash, u64 now_ns, struct sd_stream *stream, u32 grain, u32 job)
{
	struct sd_pages *pages = flash->state;
	struct sd_nand_op *op = &flash->nand.ops[stream->op];
	u32 place = stream->block * pages->block_grains + stream->next++;
	u32 old = sd_pages_place(flash, grain);

	if (old != SD_NONE)
		lose(pages, old / pages->block_grains, 1);
	pages->owners[place] = grain + 1;
	pages->blocks[stream->block].valid++;
	set_place(pages, grain, place);
	op->slots[op->grains++] = job;
	if (op->grains == flash->grains_per_page)
		program(flash, now_ns, stream);
}

/* Replaces a grain that is still in the buffer, in the page that is being filled. */
static bool replace(struct sd_flash *flash, u64 now_ns, u32 grain, u32 job)
{
	const struct sd_pages *pages = flash->state;
	u32 place = sd_pages_place(flash, grain);
	struct sd_nand_op *op;
	u32 *slot, old_job;

	if (place == SD_NONE || pages->host.op == SD_NONE)
		return false;
	op = &flash->nand.ops[pages->host.op];
	if (place / flash->grains_per_page != op->page)
		return false;
	slot = &op->slots[place % flash->grains_per_page];
	old_job = *slot;
	*slot = job;
	sd_flash_settle(flash, now_ns, old_job, false);
	return true;
}

static bool pages_put(struct sd_flash *flash, u64 now_ns, u64 grain, u32 job)
{
	struct sd_pages *pages = flash->state;

	if (replace(flash, now_ns, grain, job))
		return true;
	if (!sd_collect_keeps_up(flash) || !sd_pages_open(flash, &pages->host)) {
		sd_collect(flash, now_ns);
		return false;
	}
	sd_pages_add(flash, now_ns, &pages->host, grain, job);
	pages->collection.written++;
	sd_collect(flash, now_ns);
	return true;
}

static void pages_seal(struct sd_flash *flash, u64 now_ns)
{
	struct sd_pages *pages = flash->state;

	if (pages->host.op != SD_NONE)
		program(flash, now_ns, &pages->host);
}

/* ---- the whole ---- */

static void pages_destroy(void *state)
{
	struct sd_pages *pages = state;

	sd_release(pages->blocks);
	sd_release(pages->by_valid);
	sd_release(pages->places);
	sd_release(pages->regions);
	sd_release(pages->owners);
	sd_release(pages);
}

/* What was written before lies at home, and all else is free. */
static void fill(const struct sd_flash *flash, struct sd_pages *pages)
{
	for (u32 i = 0; i < pages->block_count; i++) {
		u64 first = (u64)i * pages->block_grains;
		u64 used = flash->used_grains > first ? flash->used_grains - first : 0;

		if (!used) {
			sd_pages_free(pages, i);
			continue;
		}
		pages->blocks[i].state = SD_BLOCK_CLOSED;
		pages->blocks[i].is_home = true;
		pages->blocks[i].valid = used < pages->block_grains ? used : pages->block_grains;
		link_closed(pages, i);
	}
}

static bool measure(struct sd_flash *flash, struct sd_pages *pages,
		    struct sd_parameters *parameters)
{
	u64 block_pages = (u64)flash->nand.pages_per_block * flash->nand.dies;
	u64 block_grains = block_pages * flash->grains_per_page;
	u64 data = (flash->grains + block_grains - 1) / block_grains;
	u64 spare = (data * sd_number(parameters, "spare_permille", 0, 10000) + 999) / 1000;

	if (spare < SPARE_LEAST)
		spare = SPARE_LEAST;
	/* Of block mapping; a profile may have it all the same. */
	sd_number_or(parameters, "open_blocks", 0, 1024, 0);
	if ((data + spare) * block_grains >= SD_NONE - PLACE_FIRST)
		sd_refuse(parameters, "the disk is too large for mapping=page");
	if ((data + spare) * sd_array_members(parameters) > BLOCKS_MAX)
		sd_refuse(parameters, "pages_per_block is too small for a disk of this size");
	pages->block_pages = block_pages;
	pages->block_grains = block_grains;
	pages->block_count = data + spare;
	return sd_accepted(parameters);
}

static void *pages_make(struct sd_flash *flash, struct sd_parameters *parameters)
{
	struct sd_stream none = { SD_NONE, 0, SD_NONE };
	struct sd_pages *pages = sd_alloc(sizeof(*pages));
	u64 regions = flash->grains / REGION_GRAINS + 1;

	if (!pages)
		return NULL;
	if (!measure(flash, pages, parameters))
		goto failed;
	pages->host = pages->moved = none;
	pages->collection.victim = SD_NONE;
	pages->blocks = sd_alloc(pages->block_count * sizeof(*pages->blocks));
	pages->by_valid = sd_alloc(((u64)pages->block_grains + 1) * sizeof(*pages->by_valid));
	pages->places = sd_alloc(regions * REGION_GRAINS * sizeof(*pages->places));
	pages->regions = sd_alloc(regions);
	pages->owners = sd_alloc((u64)pages->block_count * pages->block_grains *
				 sizeof(*pages->owners));
	if (!pages->blocks || !pages->by_valid || !pages->places || !pages->regions ||
	    !pages->owners)
		goto failed;
	fill(flash, pages);
	return pages;
failed:
	pages_destroy(pages);
	return NULL;
}

const struct sd_mapping sd_page_mapping = {
	.make = pages_make,
	.destroy = pages_destroy,
	.locate = pages_locate,
	.put = pages_put,
	.seal = pages_seal,
	.trim = pages_trim,
	.ended = sd_collect_ended,
};
