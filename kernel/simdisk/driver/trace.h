/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace of a disk: a record for each request and for each thing that the disk does on its own
 * account, in the order of their ends. Little endian; docs/figures.md names the fields.
 */
#ifndef SIMDISK_TRACE_H
#define SIMDISK_TRACE_H

#include "../model/model.h"

/* What the block layer said of a request, beside the model's own flags. */
#define SIMDISK_TRACE_META (1u << 16)
#define SIMDISK_TRACE_SYNC (1u << 17)
#define SIMDISK_TRACE_READAHEAD (1u << 18)

int simdisk_trace_open(const char *path);
/* depth: requests in the disk after this one came, itself included. */
void simdisk_trace_add(const struct sd_done *done, u32 depth, u32 flags);
/* Everything that was added is in the file. */
void simdisk_trace_flush(void);
/* Nothing is traced from then on. */
void simdisk_trace_close(void);

#endif
