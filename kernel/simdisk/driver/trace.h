/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace of a disk: a record for each request and for each thing that the disk does on its own
 * account, in the order of their ends. Little endian; docs/figures.md names the fields.
 */
#ifndef SIMDISK_TRACE_H
#define SIMDISK_TRACE_H

#include <linux/types.h>

#include "../model/model.h"

/* What the block layer said of a request, beside the model's own flags. */
#define SIMDISK_TRACE_META (1u << 16)
#define SIMDISK_TRACE_SYNC (1u << 17)
#define SIMDISK_TRACE_READAHEAD (1u << 18)

#define SIMDISK_TRACE_GATHERED 512

struct simdisk_record {
	u64 submit_ns;
	u64 start_ns;
	u64 done_ns;
	u64 sector;
	u32 sectors;
	u8 op;
	u8 member;
	u16 depth;
	u32 flags;
	u32 reserved;
	u64 part_ns[SD_PARTS];
	u64 reserved_too;
};

/* The trace of one disk. Nothing is traced while it has no file. */
struct simdisk_trace {
	/* A descriptor of the host, -1 without one. */
	int file;
	/* Records that are not in the file yet. */
	u32 count;
	struct simdisk_record records[SIMDISK_TRACE_GATHERED];
};

int simdisk_trace_open(struct simdisk_trace *trace, const char *path);
/* depth: requests in the disk after this one came, itself included. */
void simdisk_trace_add(struct simdisk_trace *trace, const struct sd_done *done, u32 depth,
		       u32 flags);
/* Everything that was added is in the file. */
void simdisk_trace_flush(struct simdisk_trace *trace);
/* Nothing is traced from then on. */
void simdisk_trace_close(struct simdisk_trace *trace);

#endif
