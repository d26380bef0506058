/*
 * A failing disk: reads, writes and flushes of a guest kernel's disk fail by a plan, which the host
 * writes while the guest waits.
 *
 * The plan is a file that is mapped, so that it is read and its counters are written without a
 * system call:
 *
 *     0      head      "FSLFAULT", whether it is armed, rules, accesses, capacity of the list
 *     64     rules     64 bytes each
 *     4096   accesses  24 bytes each, in order, while armed
 *
 * Of the rules that an access is about, the first that is due is obeyed. A rule is about the
 * sectors of the access that it names; the others are read or written as they should be. All
 * numbers have the byte order of the machine. The reader is crates/fslab-crash/src/faults/plan.rs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "faults.h"

#define PLAN "disk.faults"
#define RULES_OFFSET 64
#define RULES_MAX 63
#define LIST_OFFSET 4096
#define SECTOR 512
/* More pieces than the driver has in a call. */
#define PIECES_MAX 257

/* What goes wrong. */
enum kind {
	READ_ERROR = 1,
	WRITE_ERROR,
	READ_CORRUPTION,
	WRITE_CORRUPTION,
	LOST_WRITE,
	MISDIRECTED_WRITE,
	SHORN_WRITE,
	FLUSH_ERROR,
};

struct head {
	char magic[8];
	uint32_t is_armed;
	uint32_t rules;
	uint64_t accesses;
	uint64_t capacity;
	uint64_t unused[4];
};

struct rule {
	uint32_t kind;
	uint32_t unused;
	/* Sectors from `first` to before `end`. */
	uint64_t first;
	uint64_t end;
	/* Accesses before the first that fails, and how many fail; 0: all further ones. */
	uint64_t after;
	uint64_t times;
	/* Sectors: how far a misdirected write goes, or how many a shorn one keeps. */
	int64_t argument;
	uint64_t accesses;
	uint64_t hits;
};

struct listed {
	uint32_t access;
	/* The rule that was obeyed, from 1; 0 for none. */
	uint32_t rule;
	uint64_t sector;
	uint64_t sectors;
};

/* A part of a request, in bytes. */
struct part {
	uint64_t begin;
	uint64_t end;
};

static volatile struct head *head;
static struct rule *rules;
static struct listed *list;
static struct iovec pieces[PIECES_MAX];
static char sector[SECTOR];

void faults_open(void)
{
	struct stat about;
	void *plan;
	int file = syscall(SYS_openat, AT_FDCWD, PLAN, O_RDWR | O_CLOEXEC);

	if (file < 0)
		return;
	if (syscall(SYS_fstat, file, &about) == 0 && about.st_size >= LIST_OFFSET) {
		plan = (void *)syscall(SYS_mmap, NULL, about.st_size, PROT_READ | PROT_WRITE,
				       MAP_SHARED, file, 0);
		if (plan != MAP_FAILED && !memcmp(plan, "FSLFAULT", 8)) {
			rules = (struct rule *)((char *)plan + RULES_OFFSET);
			list = (struct listed *)((char *)plan + LIST_OFFSET);
			head = plan;
		}
	}
	syscall(SYS_close, file);
}

static enum access access_of(uint32_t kind)
{
	switch (kind) {
	case READ_ERROR:
	case READ_CORRUPTION:
		return ACCESS_READ;
	case FLUSH_ERROR:
		return ACCESS_FLUSH;
	default:
		return ACCESS_WRITE;
	}
}

static int is_due(const struct rule *rule)
{
	uint64_t number = rule->accesses - 1;

	if (number < rule->after)
		return 0;
	return rule->times == 0 || number - rule->after < rule->times;
}

/* Counts and lists an access; the rule to obey, or NULL. */
static struct rule *rule_of(enum access access, uint64_t offset, uint64_t bytes)
{
	uint64_t first = offset / SECTOR, end = (offset + bytes + SECTOR - 1) / SECTOR;
	struct rule *due = NULL;

	if (!head || !head->is_armed)
		return NULL;
	for (uint32_t i = 0; i < head->rules && i < RULES_MAX; i++) {
		struct rule *rule = &rules[i];
		int is_about = access == ACCESS_FLUSH || (first < rule->end && rule->first < end);

		if (access_of(rule->kind) != access || !is_about)
			continue;
		rule->accesses++;
		if (!due && is_due(rule)) {
			rule->hits++;
			due = rule;
		}
	}
	if (head->accesses < head->capacity)
		list[head->accesses] = (struct listed){
			.access = access,
			.rule = due ? due - rules + 1 : 0,
			.sector = first,
			.sectors = end - first,
		};
	head->accesses++;
	return due;
}

static uint64_t bytes_of(const struct iovec *data, int count)
{
	uint64_t bytes = 0;

	for (int i = 0; i < count; i++)
		bytes += data[i].iov_len;
	return bytes;
}

/* The bytes of the request that a rule is about, from its begin on. */
static struct part part_of(const struct rule *rule, uint64_t offset, uint64_t bytes)
{
	uint64_t first = rule->first * SECTOR, end = rule->end * SECTOR;

	return (struct part){
		.begin = first > offset ? first - offset : 0,
		.end = end < offset + bytes ? end - offset : bytes,
	};
}

/* The pieces of a part; their number. */
static int cut(const struct iovec *data, int count, struct part part)
{
	uint64_t at = 0;
	int used = 0;

	for (int i = 0; i < count && used < PIECES_MAX; i++) {
		uint64_t begin = part.begin > at ? part.begin - at : 0;
		uint64_t end = part.end > at ? part.end - at : 0;

		if (end > data[i].iov_len)
			end = data[i].iov_len;
		if (begin < end)
			pieces[used++] = (struct iovec){
				.iov_base = (char *)data[i].iov_base + begin,
				.iov_len = end - begin,
			};
		at += data[i].iov_len;
	}
	return used;
}

static long put(int image, const struct iovec *data, int count, struct part part, uint64_t place)
{
	if (part.begin >= part.end)
		return 0;
	return record_put(image, pieces, cut(data, count, part), place);
}

static void invert(const struct iovec *data, int count, struct part part)
{
	int used = cut(data, count, part);

	for (int i = 0; i < used; i++)
		for (size_t at = 0; at < pieces[i].iov_len; at++)
			((unsigned char *)pieces[i].iov_base)[at] ^= 0xff;
}

/* Writes the part with all its bits inverted, sector by sector: the data is the guest's. */
static long put_inverted(int image, const struct iovec *data, int count, struct part part,
			 uint64_t offset)
{
	long done = 0;

	for (uint64_t at = part.begin; at < part.end && done >= 0; at += SECTOR) {
		uint64_t length = part.end - at < SECTOR ? part.end - at : SECTOR;
		int used = cut(data, count, (struct part){ at, at + length });
		struct iovec piece = { .iov_base = sector, .iov_len = length };
		char *to = sector;

		for (int i = 0; i < used; i++) {
			memcpy(to, pieces[i].iov_base, pieces[i].iov_len);
			to += pieces[i].iov_len;
		}
		for (uint64_t i = 0; i < length; i++)
			sector[i] ^= 0xff;
		done = record_put(image, &piece, 1, offset + at);
	}
	return done;
}

static long put_faulty(int image, const struct iovec *data, int count, struct part part,
		       uint64_t offset, const struct rule *rule)
{
	uint64_t kept;

	switch (rule->kind) {
	case WRITE_CORRUPTION:
		return put_inverted(image, data, count, part, offset);
	case MISDIRECTED_WRITE:
		return put(image, data, count, part,
			   offset + part.begin + rule->argument * SECTOR);
	case SHORN_WRITE:
		kept = rule->argument * SECTOR;
		if (part.end - part.begin > kept)
			part.end = part.begin + kept;
		return put(image, data, count, part, offset + part.begin);
	default:
		return 0;
	}
}

ssize_t faults_write(int image, const struct iovec *data, int count, uint64_t offset)
{
	uint64_t bytes = bytes_of(data, count);
	struct rule *rule = rule_of(ACCESS_WRITE, offset, bytes);
	struct part part;

	if (!rule)
		return record_put(image, data, count, offset);
	if (rule->kind == WRITE_ERROR || count >= PIECES_MAX) {
		errno = EIO;
		return -1;
	}
	part = part_of(rule, offset, bytes);
	if (put(image, data, count, (struct part){ 0, part.begin }, offset) < 0 ||
	    put_faulty(image, data, count, part, offset, rule) < 0 ||
	    put(image, data, count, (struct part){ part.end, bytes }, offset + part.end) < 0)
		return -1;
	return bytes;
}

ssize_t faults_read(int image, const struct iovec *data, int count, uint64_t offset)
{
	struct rule *rule = rule_of(ACCESS_READ, offset, bytes_of(data, count));
	long done;

	if (rule && rule->kind == READ_ERROR) {
		errno = EIO;
		return -1;
	}
	done = syscall(SYS_preadv, image, data, count, offset, 0);
	if (rule && done > 0)
		invert(data, count, part_of(rule, offset, done));
	return done;
}

int faults_flush(void)
{
	return rule_of(ACCESS_FLUSH, 0, 0) ? EIO : 0;
}

void faults_discard(uint64_t offset, uint64_t bytes)
{
	rule_of(ACCESS_DISCARD, offset, bytes);
}
