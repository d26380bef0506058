// SPDX-License-Identifier: GPL-2.0
/* Which pages the areas of a flash disk have, and where they lie. */
#include "flash_areas.h"

u32 sd_area_pages(const struct sd_flash *flash, u32 area)
{
	const struct sd_areas *areas = flash->state;
	u64 left = flash->grains - (u64)area * areas->area_pages;

	return left < areas->area_pages ? (u32)left : areas->area_pages;
}

static bool is_full_from_before(const struct sd_flash *flash, u32 area)
{
	const struct sd_areas *areas = flash->state;

	return areas->areas[area].state == SD_AREA_UNTOUCHED &&
	       (u64)area * areas->area_pages < flash->used_grains;
}

bool sd_area_has_page(const struct sd_flash *flash, u32 area, u32 page)
{
	const struct sd_areas *areas = flash->state;

	if (areas->areas[area].state != SD_AREA_NOTED)
		return is_full_from_before(flash, area);
	return areas->noted[(u64)area * areas->words + page / 64] >> (page % 64) & 1;
}

bool sd_area_has_any(const struct sd_flash *flash, u32 area)
{
	const struct sd_areas *areas = flash->state;

	if (areas->areas[area].state != SD_AREA_NOTED)
		return is_full_from_before(flash, area);
	return areas->areas[area].count;
}

void sd_area_note(struct sd_flash *flash, u32 index)
{
	struct sd_areas *areas = flash->state;
	struct sd_area *area = &areas->areas[index];
	u64 *words = &areas->noted[(u64)index * areas->words];
	bool is_full = is_full_from_before(flash, index);

	if (area->state == SD_AREA_NOTED)
		return;
	area->count = is_full ? sd_area_pages(flash, index) : 0;
	memset(words, 0, areas->words * sizeof(*words));
	for (u32 page = 0; page < area->count; page++)
		words[page / 64] |= (u64)1 << (page % 64);
	area->state = SD_AREA_NOTED;
}

void sd_area_set_page(struct sd_areas *areas, u32 index, u32 page, bool is_there)
{
	struct sd_area *area = &areas->areas[index];
	u64 *word = &areas->noted[(u64)index * areas->words + page / 64];
	u64 bit = (u64)1 << (page % 64);

	if (is_there && !(*word & bit))
		area->count++;
	if (!is_there && *word & bit)
		area->count--;
	*word = is_there ? *word | bit : *word & ~bit;
}

struct sd_log *sd_area_log(const struct sd_areas *areas, u32 area)
{
	for (u32 i = 0; i < areas->log_count; i++)
		if (areas->logs[i].area == area)
			return &areas->logs[i];
	return NULL;
}

u64 sd_area_page_number(const struct sd_areas *areas, const struct sd_log *log, u32 place)
{
	return (areas->area_count + log->serial) * areas->area_pages + place;
}
