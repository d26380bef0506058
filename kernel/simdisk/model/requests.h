/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the units have in common of their requests: slots, first-in first-out lines of slots, and
 * the answers until they are taken.
 */
#ifndef SIMDISK_REQUESTS_H
#define SIMDISK_REQUESTS_H

#include "model.h"

/* The slots of the requests that a unit takes at once. */
struct sd_slots {
	u32 depth;
	/* Submitted and not taken. */
	u32 held;
	/* Those without a request: it has ended, though its answer may not be taken yet. */
	u32 *unused;
	u32 unused_count;
};

bool sd_slots_make(struct sd_slots *slots, u32 depth);
void sd_slots_destroy(struct sd_slots *slots);

static inline bool sd_slots_have_room(const struct sd_slots *slots)
{
	return slots->held < slots->depth;
}

/* The slot of a request that arrives now. */
u32 sd_slots_accept(struct sd_slots *slots);
void sd_slots_free(struct sd_slots *slots, u32 slot);
/* The answer to a request that arrives now, as far as it is known. */
struct sd_done sd_answer_to(const struct sd_request *request, u64 now_ns);

/* Slots in the order in which they were added; a ring. */
struct sd_line {
	u32 *slots;
	u32 size;
	u32 first;
	u32 count;
};

bool sd_line_make(struct sd_line *line, u32 size);
void sd_line_destroy(struct sd_line *line);
void sd_line_add(struct sd_line *line, u32 slot);
u32 sd_line_remove(struct sd_line *line);

/* Of a line that is not empty. */
static inline u32 sd_line_first(const struct sd_line *line)
{
	return line->slots[line->first];
}

/* A ring of answers that were not yet taken. */
struct sd_answers {
	struct sd_done *ring;
	u32 size;
	u32 first;
	u32 count;
};

bool sd_answers_make(struct sd_answers *answers, u32 size);
void sd_answers_destroy(struct sd_answers *answers);
/* A new answer to be filled in. */
struct sd_done *sd_answers_add(struct sd_answers *answers);
/* Takes the first answer of a ring that is not empty. */
void sd_answers_take(struct sd_answers *answers, struct sd_done *done);

/* Of a ring that is not empty. */
static inline u64 sd_answers_first_ns(const struct sd_answers *answers)
{
	return answers->ring[answers->first].done_ns;
}

#endif
