// SPDX-License-Identifier: GPL-2.0
/* What the units have in common of their requests. */
#include "requests.h"

bool sd_slots_make(struct sd_slots *slots, u32 depth)
{
	slots->depth = depth;
	slots->unused = sd_alloc(depth * sizeof(*slots->unused));
	if (!slots->unused)
		return false;
	for (u32 i = 0; i < depth; i++)
		slots->unused[i] = i;
	slots->unused_count = depth;
	return true;
}

void sd_slots_destroy(struct sd_slots *slots)
{
	if (slots->unused)
		sd_release(slots->unused);
}

u32 sd_slots_accept(struct sd_slots *slots)
{
	slots->held++;
	return slots->unused[--slots->unused_count];
}

void sd_slots_free(struct sd_slots *slots, u32 slot)
{
	slots->unused[slots->unused_count++] = slot;
}

struct sd_done sd_answer_to(const struct sd_request *request, u64 now_ns)
{
	return (struct sd_done){
		.tag = request->tag,
		.sector = request->sector,
		.sectors = request->sectors,
		.op = request->op,
		.flags = request->flags & SD_FUA,
		.submit_ns = now_ns,
	};
}

/* The index in a ring of the element at a position below twice its size. */
static u32 ring_index(u32 position, u32 size)
{
	return position < size ? position : position - size;
}

bool sd_line_make(struct sd_line *line, u32 size)
{
	line->size = size;
	line->slots = sd_alloc(size * sizeof(*line->slots));
	return line->slots;
}

void sd_line_destroy(struct sd_line *line)
{
	if (line->slots)
		sd_release(line->slots);
}

void sd_line_add(struct sd_line *line, u32 slot)
{
	line->slots[ring_index(line->first + line->count++, line->size)] = slot;
}

u32 sd_line_remove(struct sd_line *line)
{
	u32 slot = sd_line_first(line);

	line->first = ring_index(line->first + 1, line->size);
	line->count--;
	return slot;
}

bool sd_answers_make(struct sd_answers *answers, u32 size)
{
	answers->size = size;
	answers->ring = sd_alloc(size * sizeof(*answers->ring));
	return answers->ring;
}

void sd_answers_destroy(struct sd_answers *answers)
{
	if (answers->ring)
		sd_release(answers->ring);
}

struct sd_done *sd_answers_add(struct sd_answers *answers)
{
	return &answers->ring[ring_index(answers->first + answers->count++, answers->size)];
}

void sd_answers_take(struct sd_answers *answers, struct sd_done *done)
{
	*done = answers->ring[answers->first++];
	/* From its start again, so that little of the memory is ever touched. */
	if (!--answers->count || answers->first == answers->size)
		answers->first = 0;
}
