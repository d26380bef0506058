/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The array of system calls that /dev/fslab-calls executes. A program has the same structures:
 * crates/fslab-sys/src/linux/call_array.rs.
 */
#ifndef LAB_CALLS_H
#define LAB_CALLS_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Instead of a system call: copies bytes of the caller's memory; to, from, how many. */
#define LAB_CALL_COPY 0xffffffff
#define LAB_COPY_MAX 64

/* The clock is read before the call, after it. */
#define LAB_CALL_BEFORE (1 << 0)
#define LAB_CALL_AFTER (1 << 1)
/* The array ends after the call unless its result is the expected one. */
#define LAB_CALL_EXPECTS (1 << 2)

#define LAB_ARGUMENTS 6
/* A call refers to the results of at most as many calls before it. */
#define LAB_RESULTS 64

struct lab_call {
	__u32 number;
	__u32 flags;
	__u64 arguments[LAB_ARGUMENTS];
	/*
	 * For each argument 0, or how many calls before this one is the one whose result it is.
	 * The last two are not used.
	 */
	__u8 from[8];
	__s64 expected;
	/* What the driver writes. */
	__s64 result;
	__u64 before;
	__u64 after;
};

/* CLOCK_MONOTONIC; the same in virtual time, as /dev/simclock shows it; the processor's counter. */
#define LAB_CLOCK_MONOTONIC 0
#define LAB_CLOCK_PAGE 1
#define LAB_CLOCK_COUNTER 2

struct lab_calls {
	/* struct lab_call * */
	__u64 calls;
	__u32 count;
	__u32 clock;
	/* The array ends after a call after which the clock has reached this. */
	__u64 until;
	/*
	 * The last reading of LAB_CLOCK_PAGE, and how many readings were the same, by the program
	 * and here. After too many the clock itself is read, which moves it.
	 */
	__u64 last;
	__u32 same;
	__u32 same_max;
};

/* Returns how many calls were made. */
#define LAB_RUN_CALLS _IOWR('F', 1, struct lab_calls)

#endif
