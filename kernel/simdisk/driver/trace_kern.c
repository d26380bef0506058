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

struct record {
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

static_assert(sizeof(struct record) == 96);

#define GATHERED 512

static struct record records[GATHERED];
static u32 count;
static int file = -1;

int simdisk_trace_open(const char *path)
{
	const struct header header = {
		.magic = "simdisk",
		.version = 1,
		.record_bytes = sizeof(struct record),
	};
	int opened = simdisk_host_create(path);

	if (opened < 0)
		return opened;
	file = opened;
	return simdisk_host_append(file, &header, sizeof(header));
}

void simdisk_trace_add(const struct sd_done *done, u32 depth, u32 flags)
{
	if (file < 0)
		return;
	if (count == GATHERED)
		simdisk_trace_flush();
	records[count++] = (struct record) {
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

void simdisk_trace_flush(void)
{
	int error;

	if (file < 0 || count == 0)
		return;
	error = simdisk_host_append(file, records, count * sizeof(records[0]));
	count = 0;
	if (error) {
		pr_err("simdisk: the trace ends here, the host cannot write it: %d\n", error);
		simdisk_host_close(file);
		file = -1;
	}
}

void simdisk_trace_close(void)
{
	simdisk_trace_flush();
	simdisk_host_close(file);
	file = -1;
}
