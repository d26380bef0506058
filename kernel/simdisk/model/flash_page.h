/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A mapping of grains, as SSDs have it: each grain is written wherever the disk writes just then.
 *
 * Blocks are those of all dies together, so neighbouring pages lie on different dies. The host's
 * writes fill one block, and what garbage collection moves (flash_collect.c) fills another.
 *
 *     place of a grain   untouched | none | grain of a block     by regions, touched when written
 *     block              valid grains; closed ones stand in a line of those with as many
 *
 * A disk that was used before has the grains of its used part at home: in order, from its first
 * block on. That is what untouched means there, and nothing is stored for it.
 */
#ifndef SIMDISK_FLASH_PAGE_H
#define SIMDISK_FLASH_PAGE_H

#include "flash_device.h"

/* Free blocks below which garbage is collected. */
#define SD_FREE_LOW 3u

enum sd_block_state {
	SD_BLOCK_FREE,
	SD_BLOCK_OPEN,
	SD_BLOCK_CLOSED,
	SD_BLOCK_VICTIM,
};

struct sd_block {
	u32 valid;
	/* In the line of free blocks, or of those with as many valid grains; or SD_NONE. */
	u32 older;
	u32 newer;
	u8 state;
	/* Whether its grains are at home. */
	bool is_home;
};

/* A block that is being filled, and its page that is. */
struct sd_stream {
	u32 block;
	u32 next;
	u32 op;
};

struct sd_collection {
	/* SD_NONE where nothing is collected. */
	u32 victim;
	u32 scanned_pages;
	u32 reads;
	u32 programs;
	u32 erases;
	bool erases_begun;
	/* What the victim gives, and what the host has written meanwhile, in grains. */
	u64 gain;
	u64 written;
	u64 began_ns;
	u64 first_moved;
	u64 moved;
	u64 read;
};

struct sd_pages {
	u32 block_grains;
	u32 block_pages;
	u32 block_count;
	struct sd_block *blocks;
	/* By valid grains, the first closed block plus one; 0 for none. */
	u32 *by_valid;
	/* No closed block has fewer valid grains than this. */
	u32 fewest;
	u32 first_free;
	u32 last_free;
	u32 free_count;
	u32 *places;
	u8 *regions;
	/* By grain of a block, what was written there plus one. */
	u32 *owners;
	struct sd_stream host;
	struct sd_stream moved;
	struct sd_collection collection;
};

/* flash_page.c */

/* Where a grain lies, or SD_NONE. */
u32 sd_pages_place(const struct sd_flash *flash, u32 grain);
/* What was last written to a place, or SD_NONE; it may lie elsewhere by now. */
u32 sd_pages_owner(const struct sd_flash *flash, u32 place);
/* Sees to it that a grain can be added to a stream; false where it must wait. */
bool sd_pages_open(struct sd_flash *flash, struct sd_stream *stream);
/* Adds a grain to an open stream, on behalf of a job or of SD_NONE. */
void sd_pages_add(struct sd_flash *flash, u64 now_ns, struct sd_stream *stream, u32 grain, u32 job);
void sd_pages_unlink(struct sd_pages *pages, u32 block);
/* Takes a block that is erased. */
void sd_pages_free(struct sd_pages *pages, u32 block);

/* flash_collect.c */

/* Begins to collect garbage where free blocks are few and there is any. */
void sd_collect(struct sd_flash *flash, u64 now_ns);
/* Whether the host may write before more is collected. */
bool sd_collect_keeps_up(const struct sd_flash *flash);
void sd_collect_ended(struct sd_flash *flash, u64 now_ns, const struct sd_nand_op *op);

#endif
