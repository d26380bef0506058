/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What will happen inside a flash disk, in the order of time. Events of one time happen in the
 * order in which they were added, so a run does not depend on anything but its requests.
 */
#ifndef SIMDISK_FLASH_EVENTS_H
#define SIMDISK_FLASH_EVENTS_H

#include "model.h"

enum sd_event_kind {
	/* The controller has read a command; of a job. */
	SD_EVENT_COMMAND,
	/* A piece of a write is in the buffer; of a job. */
	SD_EVENT_ARRIVAL,
	/* The last of the data of a read has left; of a job. */
	SD_EVENT_ANSWER,
	/* A die has ended what it did; of an operation. */
	SD_EVENT_DIE,
	/* A channel has moved a page; of an operation. */
	SD_EVENT_CHANNEL,
};

struct sd_event {
	u64 at_ns;
	u64 order;
	/* How long after this event, at the least, an answer may come of it. */
	u64 silence_ns;
	u32 kind;
	u32 index;
};

/* A binary heap: the earliest first. */
struct sd_events {
	struct sd_event *heap;
	u32 count;
	u64 order;
};

/* Room for as many events as there may ever be. */
bool sd_events_make(struct sd_events *events, u32 room);
void sd_events_destroy(struct sd_events *events);
void sd_events_add(struct sd_events *events, u64 at_ns, u64 silence_ns, u32 kind, u32 index);
/* Takes the first event; there must be one. */
struct sd_event sd_events_take(struct sd_events *events);
/* The earliest time at which one of the events may lead to an answer. */
u64 sd_events_answer_ns(const struct sd_events *events);

#endif
