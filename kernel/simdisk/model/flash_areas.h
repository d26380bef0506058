/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SD_FLASH_AREAS_H
#define SD_FLASH_AREAS_H

/* The areas of a flash disk, their logs, and the merge of a log: see flash_block.c. */
#include "flash_device.h"

enum sd_area_state {
	/* Full in the part of the disk that was used before, else empty. */
	SD_AREA_UNTOUCHED,
	/* It has nothing, but must be erased before it is written. */
	SD_AREA_STALE,
	/* It has the pages that are noted. */
	SD_AREA_NOTED,
};

struct sd_area {
	u32 count;
	u8 state;
};

struct sd_log {
	/* SD_NONE where it is free. */
	u32 area;
	/* Pages that it has room for, and that are filled. */
	u32 pages;
	u32 next;
	/* Whether each page so far is at its place. */
	bool is_ordered;
	/* When it was last written to, in writes. */
	u64 used;
	/* Tells its pages from those of all other logs of all times. */
	u64 serial;
	/* By page of the area, where in the log it is plus one. */
	u32 *places;
};

struct sd_merge {
	/* NULL where there is none. */
	struct sd_log *log;
	u32 running;
	/* Areas that are to be erased at its end. */
	u32 erases;
	u32 copied;
	u64 began_ns;
	/* By die, its next page, and how many it has to copy. */
	u32 *next_page;
	u32 *left;
};

struct sd_areas {
	u32 area_pages;
	u32 area_count;
	/* Words in which the pages of an area are noted, as bits. */
	u32 words;
	u32 log_count;
	u64 clock;
	u64 serial;
	struct sd_area *areas;
	u64 *noted;
	struct sd_log *logs;
	/*
	 * The log that is full and in order, while a write may still complete its last page; else
	 * NULL.
	 */
	struct sd_log *complete;
	/* The sector behind the last write. */
	u64 end_sector;
	u32 *places;
	struct sd_merge merge;
};

/* Pages of an area: the last one may have fewer. */
u32 sd_area_pages(const struct sd_flash *flash, u32 area);
bool sd_area_has_page(const struct sd_flash *flash, u32 area, u32 page);
bool sd_area_has_any(const struct sd_flash *flash, u32 area);
/* From here on the pages of an area are noted one by one. */
void sd_area_note(struct sd_flash *flash, u32 area);
/* Notes whether an area has a page. */
void sd_area_set_page(struct sd_areas *areas, u32 area, u32 page, bool is_there);
/* The log of an area; NULL if it has none. */
struct sd_log *sd_area_log(const struct sd_areas *areas, u32 area);
/* Pages in logs have numbers beyond those of all areas, each for one program of one time. */
u64 sd_area_page_number(const struct sd_areas *areas, const struct sd_log *log, u32 place);

#endif
