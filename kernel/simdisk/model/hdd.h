/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The inside of a hard disk. Its parts work at the same time, each on one thing after the other:
 *
 *     controller   takes requests in the order of their arrival          hdd.c
 *     interface    moves data between host and buffer                    hdd.c
 *     buffer       read segments, and what was written                   hdd_ahead.c, hdd_dirty.c
 *                  and is not yet on the media
 *     arm          reads and writes the media: for a request,            hdd_arm.c
 *                  to write what the buffer holds, or to read ahead      hdd_ahead.c
 *
 * Everything happens at events, and events are worked on in the order of their times only.
 */
#ifndef SIMDISK_HDD_H
#define SIMDISK_HDD_H

#include "hdd_dirty.h"
#include "hdd_geometry.h"
#include "unit.h"

#define HDD_SEGMENTS_MAX 256u
#define HDD_NO_SLOT (~0u)

/* What the next event of a request is. */
enum hdd_step {
	HDD_ARRIVES,
	HDD_COMMANDED,
	/* What is read ahead has come past its end. */
	HDD_PASSED,
	/* All of a write is in the buffer. */
	HDD_BUFFERED,
	/* The last byte has gone to the host. */
	HDD_ENDS,
};

struct hdd_request {
	/* The answer, as far as it is known: address, flags, times, parts. */
	struct sd_done done;
	enum hdd_step step;
	u64 commanded_ns;
	/* What the media is read or written from and to. */
	u64 media_sector;
	u64 media_end;
	struct hdd_place place;
	/* Of a write: when its data is in the buffer. Of a read: when its data began to come. */
	u64 data_ns;
	/* When the interface could begin to help, and how long it had been busy by then. */
	u64 window_ns;
	u64 window_busy_ns;
};

struct hdd_event {
	u64 ns;
	/* Among equals what was under way goes before what arrives, then the older first. */
	u64 order;
	u32 slot;
};

struct hdd_interface {
	u64 bytes_per_s;
	u64 free_ns;
	/* All time that was ever given away, that until free_ns included. */
	u64 given_ns;
};

/* One reading or writing of the media, from the time at which the arm was free for it. */
struct hdd_access {
	u64 begin_ns;
	u64 seek_ns;
	u64 rotation_ns;
	u64 transfer_ns;
	/* The first sector is under the head; the last one has passed. */
	u64 data_ns;
	u64 end_ns;
	/* Where the arm is then. */
	struct hdd_place place;
};

enum hdd_work {
	HDD_IDLE,
	HDD_SERVING,
	HDD_DESTAGING,
	HDD_READING_AHEAD,
};

struct hdd_arm {
	enum hdd_work work;
	/* When the work ends, or its next step does. */
	u64 event_ns;
	/* The head is over this track, and after this sector. */
	struct hdd_place place;
	u64 next_sector;
	bool wrote;
	/* The last thing done for the write cache or for a request was the former. */
	bool destaged;
	struct hdd_access access;
	/* HDD_SERVING */
	u32 slot;
	/* HDD_DESTAGING: what of the cache is being written. */
	u64 sector;
	u32 sectors;
	bool old;
};

/* A stretch of sectors that the buffer holds. */
struct hdd_segment {
	u64 sector;
	u64 end;
	u64 used;
};

struct hdd_ahead {
	u32 segment_count;
	u64 segment_sectors;
	/* Grows with each use of a segment. */
	u64 uses;
	struct hdd_segment segments[HDD_SEGMENTS_MAX];
	/* While the arm reads ahead: into this segment, */
	u32 segment;
	/* this step, */
	u64 step_sector;
	u64 step_end;
	/* up to here; */
	u64 limit;
	/* at this time the head was at this stream time; */
	u64 from_ns;
	u64 from_stream_ns;
	/* requests wait for it until then; */
	u64 hold_ns;
	/* and the arm is wanted for something else. */
	bool wanted;
};

struct hdd_cache {
	/* 0 where there is none. */
	u64 sectors_max;
	u64 idle_wait_ns;
	/* At most so much is written at a time, so that the arm is free again soon. */
	u32 piece_sectors;
	struct hdd_dirty dirty;
	/* Of writes that are on their way into the cache. */
	u64 coming_sectors;
	u32 coming;
	/* More than three quarters were full, and not yet less than a quarter is. */
	bool draining;
	/* The host has asked for nothing long enough; until then, when that will be. */
	bool idle;
	u64 idle_ns;
};

/* Slots in the order in which they came. */
struct hdd_line {
	u32 *slots;
	u32 count;
};

struct sd_unit {
	struct hdd_geometry geometry;
	u64 command_ns;
	u64 write_settle_ns;
	u64 age_limit_ns;
	struct sd_slots slots;
	/* Arrived and not ended. */
	u32 outstanding;
	u64 controller_free_ns;
	struct hdd_interface interface;
	struct hdd_arm arm;
	struct hdd_ahead ahead;
	struct hdd_cache cache;
	struct hdd_request *requests;
	/* A heap, the earliest first. */
	struct hdd_event *events;
	u32 event_count;
	u64 event_order;
	/* Requests that wait for the arm, for room in the cache, and for the cache to be empty; of
	 * the last ones, those whose flush has begun. */
	struct hdd_line queue;
	struct hdd_line room;
	struct hdd_line flush;
	u32 flushing;
	struct sd_answers answers;
};

/* hdd.c */
/* Has the next event of a request come at that time. */
void sd_hdd_later(struct sd_unit *unit, u32 slot, enum hdd_step step, u64 ns);
/* Answers a request, which is then gone. */
void sd_hdd_end(struct sd_unit *unit, u32 slot, u64 ns);
/* A new answer, of what the disk did on its own account, to be filled in. */
struct sd_done *sd_hdd_answer(struct sd_unit *unit, u64 now_ns);
void sd_hdd_append(struct hdd_line *line, u32 slot);
void sd_hdd_drop(struct hdd_line *line, u32 position);
/* The data of a read will come into the buffer from data_ns on, and may go to the host at once. */
void sd_hdd_expect(struct sd_unit *unit, struct hdd_request *request, u64 now_ns, u64 data_ns);
/* All the data of a read is in the buffer: the rest of it goes to the host. */
void sd_hdd_send(struct sd_unit *unit, u32 slot, u64 now_ns);
/* Part of the cache was written: writes get room, flushes end. */
void sd_hdd_cache_gave(struct sd_unit *unit, u64 now_ns);

/* hdd_arm.c */
/*
 * What it takes to read or write the sectors with the arm as it is; of a write, the data is there
 * at data_ns.
 */
void sd_hdd_access(const struct sd_unit *unit, u64 now_ns, u64 sector, u64 end, bool write,
		   u64 data_ns, struct hdd_access *access);
/* Gives the arm the next thing to do, also where it only reads ahead. */
void sd_hdd_dispatch(struct sd_unit *unit, u64 now_ns);
/* What the arm was doing has come to its end. */
void sd_hdd_arm_event(struct sd_unit *unit, u64 now_ns);

/* hdd_ahead.c */
/*
 * Serves a read from the buffer, or has it wait for what is being read ahead. False where neither
 * can be: then the media is to be read from request->media_sector on.
 */
bool sd_hdd_read_buffer(struct sd_unit *unit, u32 slot, u64 now_ns);
/* Keeps what the media gave to a request. */
void sd_hdd_keep(struct sd_unit *unit, u64 sector, u64 end);
/* Reads ahead of what was kept last, with an arm that is there and has nothing to do. */
void sd_hdd_go_on(struct sd_unit *unit, u64 now_ns);
/* Stops reading ahead, unless requests wait for it; whether it did. */
bool sd_hdd_ahead_stop(struct sd_unit *unit, u64 now_ns);
void sd_hdd_ahead_event(struct sd_unit *unit, u64 now_ns);

static inline u64 sd_hdd_bytes_ns(u64 sectors, u64 bytes_per_s)
{
	u64 bytes = sectors * SD_SECTOR_BYTES;

	/* In two steps, so that no size overflows. */
	return bytes / bytes_per_s * 1000000000 + bytes % bytes_per_s * 1000000000 / bytes_per_s;
}

#endif
