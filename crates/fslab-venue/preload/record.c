/*
 * Records what a guest kernel writes to its disk: every write with its data and every punched hole,
 * in the order in which the disk's driver moves data, which is that of submission. When each was
 * submitted and done is in the disk's trace.
 *
 * Loaded before the C library into the guest kernel's process. The driver of the simulated disk is
 * the only user of pwritev(2) there, and calls it with a spin lock held, so nothing of this is
 * entered twice. It makes system calls only: the C library's memory would be that of the guest.
 *
 * With a plan of faults the disk fails by it: see faults.c. What is recorded is what was written.
 *
 * An entry of the file: "WRIT" or "HOLE", four zero bytes, offset and length as 64-bit numbers, and
 * the data of a write. Where the file cannot be written it ends; the host finds that out by the
 * trace, which has a record for each request.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "faults.h"

#define IMAGE "disk.img"
#define RECORD "disk.writes"
/* As many pieces as the driver has in a call, and the head. */
#define PIECES_MAX 257

struct head {
	char kind[4];
	uint32_t zero;
	uint64_t offset;
	uint64_t bytes;
};

enum { UNKNOWN = -1, ENDED = -2 };

static int image = UNKNOWN;
static int record = UNKNOWN;
static struct iovec pieces[PIECES_MAX];

/* The first file that pwritev(2) or fallocate(2) is called for and that is the image. */
static int is_image(int file)
{
	struct stat named, given;

	if (image != UNKNOWN)
		return file == image;
	if (syscall(SYS_newfstatat, AT_FDCWD, IMAGE, &named, 0) < 0 ||
	    syscall(SYS_fstat, file, &given) < 0)
		return 0;
	if (named.st_dev != given.st_dev || named.st_ino != given.st_ino)
		return 0;
	image = file;
	record = syscall(SYS_openat, AT_FDCWD, RECORD,
			 O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
	if (record < 0)
		record = ENDED;
	faults_open();
	return 1;
}

static void end(void)
{
	syscall(SYS_close, record);
	record = ENDED;
}

/* Appends the first `count` pieces, all of them or none of what follows. */
static void append(int count)
{
	struct iovec *next = pieces;

	while (count > 0) {
		long done = syscall(SYS_writev, record, next, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			end();
			return;
		}
		while (count > 0 && (size_t)done >= next->iov_len) {
			done -= next->iov_len;
			next++;
			count--;
		}
		if (count > 0) {
			next->iov_base = (char *)next->iov_base + done;
			next->iov_len -= done;
		}
	}
}

static void add(const char *kind, uint64_t offset, uint64_t bytes, const struct iovec *data,
		int count)
{
	struct head head = { .offset = offset, .bytes = bytes };
	int used = 1;

	if (record < 0)
		return;
	if (count >= PIECES_MAX) {
		end();
		return;
	}
	memcpy(head.kind, kind, sizeof(head.kind));
	pieces[0] = (struct iovec){ .iov_base = &head, .iov_len = sizeof(head) };
	for (int i = 0; i < count && bytes > 0; i++) {
		size_t share = data[i].iov_len < bytes ? data[i].iov_len : bytes;

		pieces[used++] = (struct iovec){ .iov_base = data[i].iov_base, .iov_len = share };
		bytes -= share;
	}
	append(used);
}

/* Writes once and records what was written. */
static long write_once(int file, const struct iovec *data, int count, uint64_t offset)
{
	long done = syscall(SYS_pwritev, file, data, count, offset, 0);
	int error = errno;

	if (done > 0)
		add("WRIT", offset, done, data, count);
	errno = error;
	return done;
}

/*
 * The pieces are those of faults.c, or the driver's, of which a short write is the driver's, too.
 */
long record_put(int file, const struct iovec *data, int count, uint64_t offset)
{
	long done;

	do
		done = write_once(file, data, count, offset);
	while (done < 0 && errno == EINTR);
	return done;
}

ssize_t pwritev64(int file, const struct iovec *data, int count, off64_t offset)
{
	if (is_image(file))
		return faults_write(file, data, count, offset);
	return syscall(SYS_pwritev, file, data, count, offset, 0);
}

ssize_t preadv64(int file, const struct iovec *data, int count, off64_t offset)
{
	if (is_image(file))
		return faults_read(file, data, count, offset);
	return syscall(SYS_preadv, file, data, count, offset, 0);
}

/* How the driver asks whether a flush succeeds. */
int posix_fadvise64(int file, off64_t offset, off64_t bytes, int advice)
{
	long done;

	if (advice == POSIX_FADV_NORMAL && is_image(file))
		return faults_flush();
	done = syscall(SYS_fadvise64, file, offset, bytes, advice);
	return done < 0 ? errno : 0;
}

int fallocate64(int file, int mode, off64_t offset, off64_t bytes)
{
	long done = syscall(SYS_fallocate, file, mode, offset, bytes);
	int error = errno;

	if (done == 0 && (mode & FALLOC_FL_PUNCH_HOLE) && is_image(file)) {
		add("HOLE", offset, bytes, NULL, 0);
		faults_discard(offset, bytes);
	}
	errno = error;
	return done;
}
