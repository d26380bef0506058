// SPDX-License-Identifier: GPL-2.0
/*
 * The host's side of the border: system calls of the host by way of its C library.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <os.h>

#include "host.h"

#define NS_PER_S 1000000000ull

int simdisk_host_open(const char *path, int for_writing)
{
	int file = open(path, (for_writing ? O_RDWR : O_RDONLY) | O_CLOEXEC);

	return file < 0 ? -errno : file;
}

int simdisk_host_create(const char *path)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);

	return file < 0 ? -errno : file;
}

void simdisk_host_close(int file)
{
	if (file >= 0)
		close(file);
}

long long simdisk_host_size(int file)
{
	struct stat about;

	return fstat(file, &about) < 0 ? -errno : about.st_size;
}

/* Leaves out the first `done` bytes of the pieces; gives how many pieces that were. */
static int advance(struct simdisk_piece *pieces, int count, unsigned long done)
{
	int gone = 0;

	while (gone < count && done >= pieces[gone].bytes)
		done -= pieces[gone++].bytes;
	if (gone < count) {
		pieces[gone].address = (char *)pieces[gone].address + done;
		pieces[gone].bytes -= done;
	}
	return gone;
}

int simdisk_host_read(int file, struct simdisk_piece *pieces, int count, unsigned long long offset)
{
	while (count > 0) {
		ssize_t done = preadv(file, (const struct iovec *)pieces, count, offset);
		int gone;

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		if (done == 0) {
			for (; count > 0; pieces++, count--)
				memset(pieces->address, 0, pieces->bytes);
			return 0;
		}
		offset += done;
		gone = advance(pieces, count, done);
		pieces += gone;
		count -= gone;
	}
	return 0;
}

int simdisk_host_write(int file, struct simdisk_piece *pieces, int count,
		       unsigned long long offset)
{
	while (count > 0) {
		ssize_t done = pwritev(file, (const struct iovec *)pieces, count, offset);
		int gone;

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		offset += done;
		gone = advance(pieces, count, done);
		pieces += gone;
		count -= gone;
	}
	return 0;
}

int simdisk_host_append(int file, const void *bytes, unsigned long count)
{
	while (count > 0) {
		ssize_t done = write(file, bytes, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		bytes = (const char *)bytes + done;
		count -= done;
	}
	return 0;
}

int simdisk_host_forget(const char *path)
{
	int file = open(path, O_RDWR | O_CLOEXEC);
	int error;

	if (file < 0)
		return -errno;
	error = fdatasync(file) < 0 ? -errno : -posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
	close(file);
	return error;
}

int simdisk_host_punch(int file, unsigned long long offset, unsigned long long bytes)
{
	int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

	while (fallocate(file, mode, offset, bytes) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* malloc(3) is the kernel's own here, and takes of the guest's memory. */
void *simdisk_host_alloc(unsigned long bytes)
{
	unsigned long whole = bytes + 4096;
	unsigned long *memory = mmap(NULL, whole, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	*memory = whole;
	return (char *)memory + 4096;
}

void simdisk_host_free(void *memory)
{
	unsigned long *start = (unsigned long *)((char *)memory - 4096);

	if (memory)
		munmap(start, *start);
}

static unsigned long long clock_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) < 0)
		return 0;
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static unsigned long long process_ns(int pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) == 0 ? clock_ns(clock) : 0;
}

/*
 * A user process of the guest is a child of this one. Those that have ended are in the sum already.
 * The list is read without streams of the C library, whose memory would be the kernel's.
 */
static unsigned long long living_children_ns(void)
{
	unsigned long long sum = 0;
	char text[256];
	int list, pid = 0;
	ssize_t got;

	snprintf(text, sizeof(text), "/proc/self/task/%d/children", getpid());
	list = open(text, O_RDONLY | O_CLOEXEC);
	if (list < 0)
		return 0;
	while ((got = read(list, text, sizeof(text))) > 0) {
		for (ssize_t i = 0; i < got; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				pid = pid * 10 + text[i] - '0';
				continue;
			}
			sum += pid ? process_ns(pid) : 0;
			pid = 0;
		}
	}
	close(list);
	return sum;
}

unsigned long long simdisk_host_cpu_ns(void)
{
	struct rusage ended;
	unsigned long long sum = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + living_children_ns();

	/* By number: the kernel has a function of that name. */
	if (syscall(SYS_getrusage, RUSAGE_CHILDREN, &ended) == 0) {
		sum += (ended.ru_utime.tv_sec + ended.ru_stime.tv_sec) * NS_PER_S;
		sum += (ended.ru_utime.tv_usec + ended.ru_stime.tv_usec) * 1000ull;
	}
	return sum;
}

unsigned long long simdisk_host_clock_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static int is_seeded;
static unsigned long long state;

void simdisk_host_seed(unsigned long long seed)
{
	is_seeded = 1;
	state = seed;
}

/* SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014. */
static unsigned long long next_number(void)
{
	unsigned long long z = state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* The only source of chance that the guest has of its host; the kernel's own definition has another
 * name in this build. */
ssize_t os_getrandom(void *buffer, size_t bytes, unsigned int flags)
{
	char *place = buffer;
	size_t left = bytes;

	if (!is_seeded) {
		ssize_t got = getrandom(buffer, bytes, flags);

		return got < 0 ? -errno : got;
	}
	while (left > 0) {
		unsigned long long number = next_number();
		size_t share = left < sizeof(number) ? left : sizeof(number);

		memcpy(place, &number, share);
		place += share;
		left -= share;
	}
	return bytes;
}

#ifdef SIMDISK_FLUSH_ERRORS
/* Advice that changes nothing: a library in this process may answer it with an error. */
int simdisk_host_flush(int file)
{
	return -posix_fadvise(file, 0, 0, POSIX_FADV_NORMAL);
}
#endif
