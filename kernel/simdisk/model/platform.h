/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the model asks of its surroundings: integers of a known width, and memory. Inside the kernel
 * that is the kernel's, in a program the C library's.
 */
#ifndef SIMDISK_PLATFORM_H
#define SIMDISK_PLATFORM_H

#ifdef __KERNEL__

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>

static inline void *sd_alloc(size_t bytes)
{
	return kvzalloc(bytes, GFP_KERNEL);
}

static inline void sd_release(void *memory)
{
	kvfree(memory);
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
