/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dies behind channels. A die does one thing at a time: it reads a page into its register,
 * programs one from there, or erases a block. A channel moves one page at a time between the
 * registers of its dies and the controller; it moves the next page to a die while that still
 * programs the last one.
 *
 *     read:     [die: page_read] [channel]
 *     program:  [channel] [die: page_program]
 *     copy:     [die: page_read, channel out, channel in, page_program]
 *
 * What waits for a die does so in two lines. Urgent reads pass the rest, but not for ever.
 */
#ifndef SIMDISK_FLASH_NAND_H
#define SIMDISK_FLASH_NAND_H

#include "flash_events.h"
#include "model.h"
#include "parameters.h"

#define SD_NONE (~(u32)0)
/* The most pieces of which a page is made. */
#define SD_GRAINS_MAX 16u

enum sd_nand_kind {
	SD_NAND_READ,
	SD_NAND_PROGRAM,
	SD_NAND_ERASE,
	SD_NAND_COPY,
};

/* For whom a die does something. */
enum sd_nand_purpose {
	/* A request of the host. */
	SD_FOR_HOST,
	/* A write that covers a part of a grain, and needs the rest. */
	SD_FOR_REST,
	/* Garbage collection or a merge. */
	SD_FOR_MAPPING,
	/* Nobody waits for it. */
	SD_FOR_NOBODY,
};

struct sd_nand_op {
	/* The number of the page that is programmed, or of that which is read. */
	u64 page;
	/* When the die and the channel did it. */
	u64 media_from_ns;
	u64 media_to_ns;
	u64 channel_from_ns;
	u64 channel_to_ns;
	/* How long after its end, at the least, an answer may come of it. */
	u64 silence_ns;
	/* The next in a line. */
	u32 next;
	/* The next program of the same bucket. */
	u32 chain;
	u32 die;
	/* What the channel moves. */
	u32 bytes;
	/* Who reads. */
	u32 job;
	/* What the grains of the page are for: jobs, or places in a block. */
	u32 slots[SD_GRAINS_MAX];
	u8 grains;
	u8 kind;
	u8 purpose;
	bool copied_out;
};

struct sd_nand_line {
	u32 first;
	u32 last;
};

struct sd_die {
	struct sd_nand_line urgent;
	struct sd_nand_line patient;
	/* What it does. */
	u32 current;
	/* What is in its register, or on the way there, to be programmed. */
	u32 loaded;
	bool is_loaded;
	/* How many urgent reads passed what waits. */
	u32 passed;
};

struct sd_nand {
	u32 channels;
	u32 dies;
	u32 page_bytes;
	u32 pages_per_block;
	u64 page_read_ns;
	u64 page_program_ns;
	u64 block_erase_ns;
	/* The shortest of these three. */
	u64 shortest_ns;
	u64 channel_bytes_per_s;
	struct sd_events *events;
	struct sd_die *die;
	/* Until when each channel is taken. */
	u64 *channel_ns;
	struct sd_nand_op *ops;
	u32 op_count;
	u32 first_unused;
	u32 unused;
	u32 *programs;
};

/* Takes what the parameters say of it; op_count operations may be under way at once. */
bool sd_nand_make(struct sd_nand *nand, struct sd_parameters *parameters);
bool sd_nand_reserve(struct sd_nand *nand, struct sd_events *events, u32 op_count);
void sd_nand_destroy(struct sd_nand *nand);

/* The time of bytes at a rate, rounded up. */
static inline u64 sd_bytes_ns(u64 bytes, u64 bytes_per_s)
{
	u64 seconds = 0;

	if (bytes >> 33) {
		seconds = bytes / bytes_per_s;
		bytes %= bytes_per_s;
	}
	return seconds * 1000000000u + (bytes * 1000000000u + bytes_per_s - 1) / bytes_per_s;
}

static inline u64 sd_channel_ns(const struct sd_nand *nand, u64 bytes)
{
	return sd_bytes_ns(bytes, nand->channel_bytes_per_s);
}

/* An operation that is not under way; SD_NONE where all are. */
u32 sd_nand_get(struct sd_nand *nand);
void sd_nand_put(struct sd_nand *nand, u32 op);
/* Makes a program known as that of its page, from before it waits for a die to its end. */
void sd_nand_announce(struct sd_nand *nand, u32 op);
/* The program of a page that is not on the media yet, or SD_NONE. */
u32 sd_nand_program_of(const struct sd_nand *nand, u64 page);
/* Lets an operation wait for its die. */
void sd_nand_start(struct sd_nand *nand, u64 now_ns, u32 op, bool urgent);
/* What follows of an event of a die or a channel; true where the operation has ended with it. */
bool sd_nand_event(struct sd_nand *nand, const struct sd_event *event);

#endif
