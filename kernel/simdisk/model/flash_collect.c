// SPDX-License-Identifier: GPL-2.0
/*
 * Garbage collection: the closed block with the fewest valid grains is read, these are written
 * elsewhere, and it is erased. One block after another, as long as free ones are few.
 *
 * The host's writes wait for it in proportion: when half of a block is through, half of what it
 * will give may have been written. So they get slower all along, and do not stop for a whole block.
 */
#include "flash_page.h"

/* The share of a block by which the host may be ahead. */
#define AHEAD 8u

bool sd_collect_keeps_up(const struct sd_flash *flash)
{
	const struct sd_pages *pages = flash->state;
	const struct sd_collection *collection = &pages->collection;
	u64 scanned = (u64)collection->scanned_pages * flash->grains_per_page;

	if (collection->victim == SD_NONE)
		return true;
	return collection->written * pages->block_grains <=
	       scanned * collection->gain + (u64)pages->block_grains * pages->block_grains / AHEAD;
}

/* Reads the valid grains of the next page of the victim, if it has any. */
static void read_page(struct sd_flash *flash, u64 now_ns)
{
	struct sd_pages *pages = flash->state;
	struct sd_collection *collection = &pages->collection;
	u32 page = collection->scanned_pages++;
	u32 first = collection->victim * pages->block_grains + page * flash->grains_per_page;
	u32 index = SD_NONE;
	struct sd_nand_op *op = NULL;

	for (u32 place = first; place < first + flash->grains_per_page; place++) {
		u32 grain = sd_pages_owner(flash, place);

		if (grain == SD_NONE || sd_pages_place(flash, grain) != place)
			continue;
		if (!op) {
			index = sd_nand_get(&flash->nand);
			op = &flash->nand.ops[index];
		}
		op->slots[op->grains++] = place;
	}
	if (!op)
		return;
	op->kind = SD_NAND_READ;
	op->purpose = SD_FOR_MAPPING;
	op->page = first / flash->grains_per_page;
	op->die = op->page % flash->nand.dies;
	op->bytes = op->grains * flash->grain_bytes;
	collection->reads++;
	collection->read += op->grains;
	sd_nand_start(&flash->nand, now_ns, index, false);
}

static void erase(struct sd_flash *flash, u64 now_ns)
{
	struct sd_pages *pages = flash->state;

	pages->collection.erases_begun = true;
	pages->collection.erases = flash->nand.dies;
	for (u32 die = 0; die < flash->nand.dies; die++) {
		u32 index = sd_nand_get(&flash->nand);
		struct sd_nand_op *op = &flash->nand.ops[index];

		op->kind = SD_NAND_ERASE;
		op->purpose = SD_FOR_MAPPING;
		op->die = die;
		sd_nand_start(&flash->nand, now_ns, index, false);
	}
}

/* What is under way at once is bounded by what the other users leave. */
static void go_on(struct sd_flash *flash, u64 now_ns)
{
	struct sd_pages *pages = flash->state;
	struct sd_collection *collection = &pages->collection;

	if (!pages->blocks[collection->victim].valid)
		collection->scanned_pages = pages->block_pages;
	while (collection->scanned_pages < pages->block_pages &&
	       collection->reads + collection->programs < 2 * flash->nand.dies)
		read_page(flash, now_ns);
	if (collection->scanned_pages == pages->block_pages && !collection->reads &&
	    !collection->programs && !collection->erases_begun)
		erase(flash, now_ns);
}

void sd_collect(struct sd_flash *flash, u64 now_ns)
{
	struct sd_pages *pages = flash->state;
	struct sd_collection *collection = &pages->collection;
	u32 victim;

	if (collection->victim != SD_NONE || pages->free_count >= SD_FREE_LOW)
		return;
	while (pages->fewest < pages->block_grains && !pages->by_valid[pages->fewest])
		pages->fewest++;
	/* A block without garbage is no gain. */
	if (pages->fewest == pages->block_grains)
		return;
	victim = pages->by_valid[pages->fewest] - 1;
	sd_pages_unlink(pages, victim);
	pages->blocks[victim].state = SD_BLOCK_VICTIM;
	memset(collection, 0, sizeof(*collection));
	collection->victim = victim;
	collection->gain = pages->block_grains - pages->blocks[victim].valid;
	collection->began_ns = now_ns;
	go_on(flash, now_ns);
}

/* Writes elsewhere what was read, unless the host has written it since. */
static void move(struct sd_flash *flash, u64 now_ns, const struct sd_nand_op *op)
{
	struct sd_pages *pages = flash->state;
	struct sd_collection *collection = &pages->collection;

	for (u32 i = 0; i < op->grains; i++) {
		u32 grain = sd_pages_owner(flash, op->slots[i]);

		if (sd_pages_place(flash, grain) != op->slots[i])
			continue;
		/* A block moves to less than a block, and that is kept free, as are operations. */
		if (!sd_pages_open(flash, &pages->moved))
			return;
		if (!collection->moved++)
			collection->first_moved = grain;
		sd_pages_add(flash, now_ns, &pages->moved, grain, SD_NONE);
	}
}

static void end(struct sd_flash *flash, u64 now_ns)
{
	struct sd_pages *pages = flash->state;
	struct sd_collection *collection = &pages->collection;

	sd_flash_report(flash, SD_MEDIA_READ, collection->first_moved, collection->read,
			collection->began_ns, now_ns);
	sd_flash_report(flash, SD_MEDIA_WRITE, collection->first_moved, collection->moved,
			collection->began_ns, now_ns);
	sd_pages_free(pages, collection->victim);
	collection->victim = SD_NONE;
	sd_collect(flash, now_ns);
}

void sd_collect_ended(struct sd_flash *flash, u64 now_ns, const struct sd_nand_op *op)
{
	struct sd_pages *pages = flash->state;
	struct sd_collection *collection = &pages->collection;

	switch (op->kind) {
	case SD_NAND_READ:
		move(flash, now_ns, op);
		collection->reads--;
		break;
	case SD_NAND_PROGRAM:
		collection->programs--;
		break;
	case SD_NAND_ERASE:
		if (!--collection->erases) {
			end(flash, now_ns);
			return;
		}
		break;
	}
	go_on(flash, now_ns);
}
