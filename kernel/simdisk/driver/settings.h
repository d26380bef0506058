/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's command line, with one simdisk= for each disk, in their order:
 *
 *     simdisk=model=FILE,image=FILE[,trace=FILE][,NAME=NUMBER...]
 *     simdisk_seed=N
 *
 * Names of files are relative to the folder in which the kernel was started.
 */
#ifndef SIMDISK_SETTINGS_H
#define SIMDISK_SETTINGS_H

#include <linux/types.h>

struct simdisk_settings {
	/* The parameters of the model. */
	const char *model;
	const char *image;
	/* NULL: none is written. */
	const char *trace;
	/* The largest request that the disk takes. */
	u32 max_request_bytes;
	u32 physical_block_bytes;
	/* What is discarded in one piece; 0: the disk knows no discards. */
	u32 discard_bytes;
	bool rotational;
	/* Whether there is a volatile cache to be flushed, and whether a write can pass it by. */
	bool write_cache;
	bool fua;
	/* Whether an I/O scheduler sorts what waits, as distributions have it for all but NVMe. */
	bool scheduler;
};

#define SIMDISK_DISKS_MAX 16

/* Those of the disk `number`, from 0; NULL where the command line names no such disk. */
const struct simdisk_settings *simdisk_settings(unsigned int number);

#endif
