/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A disk as a function of time: requests go in with the time of their arrival, and come out with
 * the time at which they are done and where that time went. No clock is read and nothing is random,
 * so equal requests at equal times give equal answers.
 *
 *     sd_submit(now, request) --> queue --> [cache] --> media --> sd_take(now) --> done
 *                                                sd_next() tells when to call again
 *
 * Times are nanoseconds since any moment, addresses are sectors of 512 bytes, all of it integers.
 * A model is used by one thread at a time; whoever has several locks around it.
 */
#ifndef SIMDISK_MODEL_H
#define SIMDISK_MODEL_H

#include "platform.h"

#define SD_SECTOR_BYTES 512u
/* The time of an event that never comes. */
#define SD_NEVER (~(u64)0)
/* The tag of what the disk does on its own: destaging, reading ahead, collecting garbage. */
#define SD_BACKGROUND (~(u64)0)
/* The member of an array where there are several. */
#define SD_SEVERAL 255u
/* The deepest queue that a model may have. */
#define SD_QUEUE_MAX 1024u
/* The largest request that a system may be told to send: no less than a page of its memory. */
#define SD_REQUEST_BYTES_LEAST 4096u
#define SD_REQUEST_BYTES_MAX (1u << 30)
/* The slowest and the fastest interface or channel, in bytes per second, whose times stay within
 * 64 bits. */
#define SD_RATE_LEAST 10000u
#define SD_RATE_MAX 18000000000u

enum sd_op {
	SD_READ,
	SD_WRITE,
	/* Ends when all that was written before it is on the media. Has no address. */
	SD_FLUSH,
	SD_DISCARD,
	/* Only in answers: the media read or written on the disk's own account. */
	SD_MEDIA_READ,
	SD_MEDIA_WRITE,
};

/* Flags of a request. */
/* A write that is on the media when it ends. */
#define SD_FUA (1u << 0)
/* Flags of an answer. */
/* A read that the cache answered, or a write that ended in the cache. */
#define SD_CACHED (1u << 8)

/*
 * Where the time of a request went, from its start to its end; what is left of that, if anything,
 * is waiting for a part of the disk that another request held, such as the arm.
 */
enum sd_part {
	/* The interface's and the controller's overhead. */
	SD_COMMAND,
	SD_SEEK,
	SD_ROTATION,
	/* To or from the media. */
	SD_TRANSFER,
	/* To or from the cache, and waiting for room in it. */
	SD_CACHE,
	SD_PARTS,
};

struct sd_request {
	/* Given back in the answer; not SD_BACKGROUND. */
	u64 tag;
	u64 sector;
	u32 sectors;
	/* enum sd_op, SD_READ to SD_DISCARD */
	u32 op;
	u32 flags;
};

struct sd_done {
	/* As in the request, or SD_BACKGROUND. */
	u64 tag;
	u64 sector;
	u32 sectors;
	u32 op;
	u32 flags;
	/* Which member of an array; 0 where there is none. In the answer to a request that went to
	 * several: the one that ended last. What a controller writes back has the array's address,
	 * and SD_SEVERAL. */
	u32 member;
	/* When it arrived, when the disk took its command, when it ended. */
	u64 submit_ns;
	u64 start_ns;
	u64 done_ns;
	u64 part_ns[SD_PARTS];
};

struct sd_model;

/*
 * Makes a disk of parameters: lines of `name=value`, where values are whole numbers or words.
 * Gives NULL and a sentence in *error where they are wrong; the sentence stays until the next call.
 */
struct sd_model *sd_new(const char *parameters, const char **error);
void sd_destroy(struct sd_model *model);

u64 sd_capacity_sectors(const struct sd_model *model);
/* How many requests the disk takes at once. */
u32 sd_queue_depth(const struct sd_model *model);
/* Whether one more request may be submitted now. */
bool sd_has_room(const struct sd_model *model);
/* Takes a request that lies within the capacity. Times never go back from call to call. */
void sd_submit(struct sd_model *model, u64 now_ns, const struct sd_request *request);
/* When something happens next, if only inside; not before it, sd_take has nothing to give. */
u64 sd_next_ns(const struct sd_model *model);
/*
 * Lets the disk work until now_ns, and gives the next thing that is done by then, in the order of
 * their ends; false where there is none. Called until it gives false.
 */
bool sd_take(struct sd_model *model, u64 now_ns, struct sd_done *done);

#endif
