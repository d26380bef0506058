/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the model asks of its surroundings: integers of a known width, and zeroed memory, of which
 * only what is touched takes room. Inside a guest kernel it is the host's, not the guest's.
 */
#ifndef SIMDISK_PLATFORM_H
#define SIMDISK_PLATFORM_H

#ifdef __KERNEL__

#include <linux/string.h>
#include <linux/types.h>

#include "../driver/host.h"

static inline void *sd_alloc(size_t bytes)
{
	return simdisk_host_alloc(bytes);
}

static inline void sd_release(void *memory)
{
	simdisk_host_free(memory);
}

#else

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

/* Zeroed memory, or NULL. */
static inline void *sd_alloc(size_t bytes)
{
	return calloc(1, bytes);
}

static inline void sd_release(void *memory)
{
	free(memory);
}

#endif
#endif
