/*
 * Faults of a disk by plan: see faults.c.
 */
#ifndef FSLAB_FAULTS_H
#define FSLAB_FAULTS_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* What accesses a disk. */
enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_FLUSH, ACCESS_DISCARD };

/* Maps the plan, if there is one: once, when the image is known. */
void faults_open(void);

/* The three accesses as a failing disk serves them; errors are in errno, for a flush its value. */
ssize_t faults_read(int image, const struct iovec *data, int count, uint64_t offset);
ssize_t faults_write(int image, const struct iovec *data, int count, uint64_t offset);
int faults_flush(void);
/* Discards do not fail: they are listed. */
void faults_discard(uint64_t offset, uint64_t bytes);

/* Writes all of the pieces and records what was written; what faults.c needs of record.c. */
long record_put(int image, const struct iovec *data, int count, uint64_t offset);

#endif
