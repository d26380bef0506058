// SPDX-License-Identifier: GPL-2.0
#include "flash_events.h"

bool sd_events_make(struct sd_events *events, u32 room)
{
	events->heap = sd_alloc((u64)room * sizeof(*events->heap));
	return events->heap;
}

void sd_events_destroy(struct sd_events *events)
{
	sd_release(events->heap);
}

static bool earlier(const struct sd_event *one, const struct sd_event *other)
{
	if (one->at_ns != other->at_ns)
		return one->at_ns < other->at_ns;
	return one->order < other->order;
}

void sd_events_add(struct sd_events *events, u64 at_ns, u64 silence_ns, u32 kind, u32 index)
{
	struct sd_event event = { at_ns, events->order++, silence_ns, kind, index };
	u32 place = events->count++;

	while (place) {
		u32 parent = (place - 1) / 2;

		if (!earlier(&event, &events->heap[parent]))
			break;
		events->heap[place] = events->heap[parent];
		place = parent;
	}
	events->heap[place] = event;
}

struct sd_event sd_events_take(struct sd_events *events)
{
	struct sd_event first = events->heap[0];
	struct sd_event last = events->heap[--events->count];
	u32 place = 0;

	for (;;) {
		u32 child = 2 * place + 1;

		if (child >= events->count)
			break;
		if (child + 1 < events->count &&
		    earlier(&events->heap[child + 1], &events->heap[child]))
			child++;
		if (!earlier(&events->heap[child], &last))
			break;
		events->heap[place] = events->heap[child];
		place = child;
	}
	events->heap[place] = last;
	return first;
}

u64 sd_events_answer_ns(const struct sd_events *events)
{
	u64 first_ns = SD_NEVER;

	for (u32 i = 0; i < events->count; i++) {
		u64 answer_ns = events->heap[i].at_ns + events->heap[i].silence_ns;

		if (answer_ns < first_ns)
			first_ns = answer_ns;
	}
	return first_ns;
}
