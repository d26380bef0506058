// SPDX-License-Identifier: GPL-2.0
/*
 * Records are gathered, since a system call of the host for each would cost more than the model.
 */
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/printk.h>

#include "host.h"
#include "trace.h"

struct header {
	char magic[8];
	u32 version;
	u32 record_bytes;
};

static_assert(sizeof(struct simdisk_record) == 96);

int simdisk_trace_open(struct simdisk_trace *trace, const char *path)
{
	const struct header header = {
		.magic = "simdisk",
		.version = 1,
		.record_bytes = sizeof(struct simdisk_record),
	};
	int opened = simdisk_host_create(path);

	if (opened < 0)
		return opened;
	trace->file = opened;
	return simdisk_host_append(trace->file, &header, sizeof(header));
}

void simdisk_trace_add(struct simdisk_trace *trace, const struct sd_done *done, u32 depth,
		       u32 flags)
{
	if (trace->file < 0)
		return;
	if (trace->count == SIMDISK_TRACE_GATHERED)
		simdisk_trace_flush(trace);
	trace->records[trace->count++] = (struct simdisk_record) {
		.submit_ns = done->submit_ns,
		.start_ns = done->start_ns,
		.done_ns = done->done_ns,
		.sector = done->sector,
		.sectors = done->sectors,
		.op = done->op,
		.member = min_t(u32, done->member, U8_MAX),
		.depth = min_t(u32, depth, U16_MAX),
		.flags = done->flags | flags,
		.part_ns = {
			done->part_ns[SD_COMMAND],
			done->part_ns[SD_SEEK],
			done->part_ns[SD_ROTATION],
			done->part_ns[SD_TRANSFER],
			done->part_ns[SD_CACHE],
		},
	};
}

void simdisk_trace_flush(struct simdisk_trace *trace)
{
	int error;

	if (trace->file < 0 || trace->count == 0)
		return;
	error = simdisk_host_append(trace->file, trace->records,
				    trace->count * sizeof(trace->records[0]));
	trace->count = 0;
	if (error) {
		pr_err("simdisk: the trace ends here, the host cannot write it: %d\n", error);
		simdisk_host_close(trace->file);
		trace->file = -1;
	}
}

void simdisk_trace_close(struct simdisk_trace *trace)
{
	simdisk_trace_flush(trace);
	simdisk_host_close(trace->file);
	trace->file = -1;
}
