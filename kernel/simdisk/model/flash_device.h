/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A flash disk: requests become jobs, jobs become operations of dies.
 *
 *     read:   command --> [mapping] --> die, channel --> interface --> answer
 *     write:  command --> intake: room in the buffer, interface --> [mapping] --> channel, die
 *                                                  cached: answer here     else: answer here
 *
 * The mapping (flash_page.c, flash_block.c) knows where each grain lies. A grain is the least that
 * it can tell apart: a write of a part of one is a read and a write. What was never written, or was
 * discarded, lies nowhere: the controller knows its content without the media, and answers at once.
 *
 * Writes, flushes and discards take effect in the order of their arrival. Writes enter the buffer
 * one after another, so that a stream stays one, whatever its depth.
 */
#ifndef SIMDISK_FLASH_DEVICE_H
#define SIMDISK_FLASH_DEVICE_H

#include "flash_nand.h"
#include "unit.h"

/* The page of a grain that lies nowhere. */
#define SD_NOWHERE (~(u64)0)

enum sd_job_line {
	/* Writes that wait for the interface, or reads that wait for free operations. */
	SD_LINE_INTAKE,
	/* Writes of which the mapping has not had all. */
	SD_LINE_MAPPING,
	SD_LINES,
};

struct sd_job {
	/* The answer in the making. */
	struct sd_done done;
	/* Until when part_ns tells where the time went. */
	u64 covered_ns;
	/* Since when it waits for room or for the mapping; SD_NEVER where it does not. */
	u64 waiting_ns;
	/* When the last of a read's data has left. */
	u64 sent_ns;
	/* What the host asked for, in sectors. */
	u64 from_sector;
	u64 to_sector;
	/* The same in grains, of which it may cover a part of the first and of the last. */
	u64 first;
	u32 grains;
	/* In the buffer; of a read: in the hands of the dies or already sent. */
	u32 arrived;
	/* Given to the mapping. */
	u32 mapped;
	/* Not on the media; of a read: not read. */
	u32 left;
	/* On the media, without those that were written again while in the buffer. */
	u32 programmed;
	/* The next in a line, by line. */
	u32 next[SD_LINES];
	/* Among all writes and flushes. */
	u32 older;
	u32 newer;
	/* A write that is answered from the media, and not from the buffer. */
	bool forced;
	/* A write that was answered from the buffer. */
	bool answered;
	/* A flush of which all that came before is with the dies. */
	bool sealed;
};

struct sd_job_queue {
	u32 first;
	u32 last;
};

struct sd_flash;

/* How the places of grains are kept. */
struct sd_mapping {
	/* Takes what the parameters say of it; NULL where they are wrong. */
	void *(*make)(struct sd_flash *flash, struct sd_parameters *parameters);
	void (*destroy)(void *state);
	/* The number of the page that holds a grain, or SD_NOWHERE; modulo the dies, its die. */
	u64 (*locate)(const struct sd_flash *flash, u64 grain);
	/* Takes a grain of a job; false where it must wait until sd_flash_go_on. */
	bool (*put)(struct sd_flash *flash, u64 now_ns, u64 grain, u32 job);
	/* Hands a page to its die that is not full; NULL where there is never one. */
	void (*seal)(struct sd_flash *flash, u64 now_ns);
	/* Forgets grains. */
	void (*trim)(struct sd_flash *flash, u64 first, u64 count);
	/* An operation of its own has ended. */
	void (*ended)(struct sd_flash *flash, u64 now_ns, const struct sd_nand_op *op);
};

extern const struct sd_mapping sd_page_mapping;
extern const struct sd_mapping sd_block_mapping;

struct sd_flash {
	u64 sectors;
	u64 grains;
	u32 grain_bytes;
	/* Sectors of a grain, as a power of two. */
	u32 grain_shift;
	u32 grains_per_page;
	u32 queue_depth;
	/* Operations that the host's reads, and the host's writes, leave to the others. */
	u32 kept_from_reads;
	u32 kept_from_writes;
	u64 interface_bytes_per_s;
	u64 command_ns;
	bool has_cache;
	bool is_protected;
	bool heeds_discards;
	/* The share of the disk, from its start, that counts as written before. */
	u64 used_grains;
	u64 buffer_bytes;
	u64 buffered_bytes;

	const struct sd_mapping *mapping;
	void *state;
	struct sd_nand nand;
	struct sd_events events;
	/* Until when the interface is taken. */
	u64 interface_ns;

	struct sd_job *jobs;
	u32 first_unused_job;
	u32 fresh_job;
	/* Requests that were submitted and whose answers were not taken. */
	u32 outstanding;
	struct sd_job_queue intake;
	struct sd_job_queue mapping_line;
	struct sd_job_queue reads;
	/* Writes and flushes in the order of their arrival. */
	struct sd_job_queue live;
	bool is_receiving;
	/* The rest of a grain is being read, or is there. */
	bool fetches_rest;
	bool has_rest;

	struct sd_answers answers;
};

/* flash.c */
void sd_flash_answer(struct sd_flash *flash, const struct sd_done *done);
/* Reports grains that the disk has read or written on its own account. */
void sd_flash_report(struct sd_flash *flash, enum sd_op op, u64 grain, u64 grains, u64 from_ns,
		     u64 now_ns);

/* flash_requests.c */
void sd_flash_accept(struct sd_flash *flash, u64 now_ns, const struct sd_request *request);
void sd_flash_event(struct sd_flash *flash, const struct sd_event *event);
/* Offers the mapping what waits for it. */
void sd_flash_go_on(struct sd_flash *flash, u64 now_ns);
/* A grain of a job is on the media, or was written again before it got there. */
void sd_flash_settle(struct sd_flash *flash, u64 now_ns, u32 job, bool is_programmed);

#endif
