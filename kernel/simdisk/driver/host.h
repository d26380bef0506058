/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the driver has of its host. None of it takes virtual time, and none of it sleeps in the
 * guest. Included on both sides of the border, by code of the kernel and by code of the C library,
 * so it has nothing but plain C in it.
 */
#ifndef SIMDISK_HOST_H
#define SIMDISK_HOST_H

/* A piece of the guest's memory, the same as the C library's struct iovec. */
struct simdisk_piece {
	void *address;
	unsigned long bytes;
};

/* As many pieces go in one system call. */
#define SIMDISK_PIECES 256

/* The descriptor of a file of the host, or a negative errno. */
int simdisk_host_open(const char *path, int for_writing);
/* A new file, to which is only appended. */
int simdisk_host_create(const char *path);
/* Negative descriptors, of files that were not opened, are ignored. */
void simdisk_host_close(int file);
long long simdisk_host_size(int file);
/* All of the bytes, or a negative errno. What lies beyond the end of the file reads as zeros. */
int simdisk_host_read(int file, struct simdisk_piece *pieces, int count, unsigned long long offset);
int simdisk_host_write(int file, struct simdisk_piece *pieces, int count,
		       unsigned long long offset);
int simdisk_host_append(int file, const void *bytes, unsigned long count);
/* Writes a file's data back and drops the pages that the host's memory holds of it. */
int simdisk_host_forget(const char *path);
/* Makes it read as zeros and take no room. */
int simdisk_host_punch(int file, unsigned long long offset, unsigned long long bytes);

/* Whether a flush succeeds: 0, or a negative errno. Nothing is written back. The host is asked only
 * in a kernel that is built for it: each flush costs a call. */
#ifdef SIMDISK_FLUSH_ERRORS
int simdisk_host_flush(int file);
#else
static inline int simdisk_host_flush(int file)
{
	return 0;
}
#endif

/* Zeroed memory beside the guest's, so that a model's state does not shrink its page cache; it
 * takes room when it is touched. NULL where there is none. */
void *simdisk_host_alloc(unsigned long bytes);
void simdisk_host_free(void *memory);

/* Processor time of this kernel and of its user processes, and the host's clock, in nanoseconds. */
unsigned long long simdisk_host_cpu_ns(void);
unsigned long long simdisk_host_clock_ns(void);

/* Numbers in place of the host's random ones. */
void simdisk_host_seed(unsigned long long seed);

#endif
