/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of the host as memory. Each ivshmem device of the machine maps one file; the first of them,
 * the exchange, begins with a table of the names of all, written by the host:
 *
 *     offset 0      struct fslab_table, with the names, places and sizes of the files
 *     then          the options, and the small files, at the offsets that the table says
 *
 * What the guest appends to is as long as the table says: the guest counts it up after the bytes
 * are there.
 */
#ifndef FSLAB_REGIONS_H
#define FSLAB_REGIONS_H

#include <linux/types.h>

#define FSLAB_TABLE_MAGIC "fslab-pc"
#define FSLAB_TABLE_VERSION 1
#define FSLAB_FILES_MAX 40
#define FSLAB_NAME_MAX 40

/* Little endian, 72 bytes. */
struct fslab_file {
	char name[FSLAB_NAME_MAX];
	/* The PCI slot of its device. */
	u32 slot;
	/* Whether the guest writes it. */
	u32 is_writable;
	/* Where it begins in the device's memory, and how many bytes it may have. */
	u64 offset;
	u64 capacity;
	/* Bytes that there are. */
	u64 bytes;
};

struct fslab_table {
	char magic[8];
	u32 version;
	u32 count;
	struct fslab_file files[FSLAB_FILES_MAX];
};

/* The name of the options in the table: lines of NAME=VALUE. */
#define FSLAB_OPTIONS "options"
/* The slot of the exchange, and that of memory for the model's state. */
#define FSLAB_EXCHANGE_SLOT 4
#define FSLAB_HEAP_SLOT 5

/* Maps the memory of all devices; a negative errno where the table is not there. */
int fslab_map_regions(void);
void fslab_unmap_regions(void);
/* A file of the table in the memory of its device; NULL if it has none of this name. */
const void *fslab_content(const char *name, u64 *bytes);
/* The options as a text that may be changed, to be freed by kfree(); NULL without memory. */
char *fslab_options(void);

#endif
