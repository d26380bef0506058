// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/fslab-calls: executes an array of system calls in the context of its caller.
 *
 * In a guest the way from a program to its kernel and back costs the host 20 us, most of the time
 * of a call that needs no disk. One ioctl with hundreds of calls has one such way. What else
 * happens around a system call happens around each call of the array, in the same order, so that
 * nothing but the host's time differs: see handle_syscall() and interrupt_end() of User-Mode Linux.
 *
 * The array ends early after an error, an unexpected result or the deadline, and while a signal is
 * pending, which only the way back can deliver, before a call that the clock is read before: the
 * first of an operation.
 */
#include <linux/capability.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/resume_user_mode.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include <asm/unistd.h>
#include <linux/time-internal.h>
#include <sysdep/ptrace.h>
/* Linux 6.19 and later have one declaration of the table of system calls. */
#if __has_include(<sysdep/syscalls.h>)
#include <sysdep/syscalls.h>
#else
#include <asm/syscall.h>
#endif

#include "../driver/clock.h"
#include "calls.h"

static_assert(sizeof(struct lab_call) == 96);
static_assert(sizeof(struct lab_calls) == 40);

/* Calls on files that return to their caller and use none of its registers. */
static bool may_execute(u32 number)
{
	switch (number) {
	case __NR_read:
	case __NR_write:
	case __NR_pread64:
	case __NR_pwrite64:
	case __NR_lseek:
	case __NR_fsync:
	case __NR_fdatasync:
	case __NR_sync_file_range:
	case __NR_syncfs:
	case __NR_fallocate:
	case __NR_truncate:
	case __NR_ftruncate:
	case __NR_openat:
	case __NR_close:
	case __NR_newfstatat:
	case __NR_mkdirat:
	case __NR_unlinkat:
	case __NR_renameat:
	case __NR_linkat:
	case __NR_symlinkat:
	case __NR_readlinkat:
	case __NR_fchmodat:
	case __NR_fchownat:
	case __NR_utimensat:
	case __NR_getdents64:
		return true;
	}
	return false;
}

/* What happens on the way back to a program, but for signals. */
static void return_to_caller(void)
{
	unsigned long flags;

	while ((flags = read_thread_flags()) & (_TIF_NEED_RESCHED | _TIF_NOTIFY_RESUME)) {
		if (flags & _TIF_NEED_RESCHED)
			schedule();
		if (flags & _TIF_NOTIFY_RESUME)
			resume_user_mode_work(&current->thread.regs);
	}
}

static u64 counter(void)
{
#ifdef __x86_64__
	u32 low, high;

	asm volatile("rdtsc" : "=a" (low), "=d" (high));
	return (u64)high << 32 | low;
#else
	return 0;
#endif
}

static u64 now(struct lab_calls *calls)
{
	u64 ns;

	if (calls->clock == LAB_CLOCK_COUNTER)
		return counter();
	if (calls->clock == LAB_CLOCK_PAGE) {
		ns = simdisk_clock_ns();
		if (ns != calls->last) {
			calls->last = ns;
			calls->same = 0;
			return ns;
		}
		if (calls->same++ < calls->same_max)
			return ns;
		calls->same = 0;
	}
	ns = ktime_get_ns();
	return_to_caller();
	return ns;
}

static s64 copy(const struct lab_call *call)
{
	u8 bounce[LAB_COPY_MAX];
	u64 bytes = call->arguments[2];

	if (bytes > sizeof(bounce))
		return -EINVAL;
	if (copy_from_user(bounce, u64_to_user_ptr(call->arguments[1]), bytes) ||
	    copy_to_user(u64_to_user_ptr(call->arguments[0]), bounce, bytes))
		return -EFAULT;
	return 0;
}

static s64 execute(const struct lab_call *call)
{
	const __u64 *a = call->arguments;
	s64 result;

	if (call->number == LAB_CALL_COPY)
		return copy(call);
	if (!may_execute(call->number))
		return -EPERM;
	result = (*sys_call_table[call->number])(a[0], a[1], a[2], a[3], a[4], a[5]);
	/* As after every failed system call: who tries again lets time pass. */
	if (IS_ERR_VALUE(result) && (time_travel_mode == TT_MODE_INFCPU ||
				      time_travel_mode == TT_MODE_EXTERNAL)) {
		um_udelay(1);
		schedule();
	}
	return_to_caller();
	return result;
}

/* True if a signal has interrupted the call, which the way back would make again. */
static bool must_restart(s64 result)
{
	return result <= -ERESTARTSYS && result >= -ERESTART_RESTARTBLOCK;
}

static bool refer_to_results(struct lab_call *call, const s64 *results, u32 done)
{
	for (int i = 0; i < LAB_ARGUMENTS; i++) {
		u8 from = call->from[i];

		if (!from)
			continue;
		if (from > done || from > LAB_RESULTS)
			return false;
		call->arguments[i] = results[(done - from) % LAB_RESULTS];
	}
	return true;
}

/* Makes the call after DONE others; returns whether the array goes on, or an error. */
static int run_call(struct lab_calls *calls, u32 done, s64 *results)
{
	struct lab_call __user *array = u64_to_user_ptr(calls->calls);
	struct lab_call __user *user = array + done;
	struct lab_call call;
	bool is_over;

	if (copy_from_user(&call, user, offsetof(struct lab_call, result)))
		return -EFAULT;
	if (!refer_to_results(&call, results, done))
		return -EINVAL;
	if (call.flags & LAB_CALL_BEFORE && signal_pending(current))
		return -EINTR;
	call.before = call.flags & LAB_CALL_BEFORE ? now(calls) : 0;
	call.result = execute(&call);
	if (must_restart(call.result))
		call.result = -EINTR;
	call.after = call.flags & LAB_CALL_AFTER ? now(calls) : 0;
	results[done % LAB_RESULTS] = call.result;
	if (copy_to_user(&user->result, &call.result,
			 sizeof(call) - offsetof(struct lab_call, result)))
		return -EFAULT;
	is_over = call.flags & LAB_CALL_AFTER && call.after >= calls->until;
	if (call.flags & LAB_CALL_EXPECTS && call.result != call.expected)
		is_over = true;
	return !is_over && !IS_ERR_VALUE(call.result);
}

static long run(struct file *file, unsigned int command, unsigned long address)
{
	void __user *user = (void __user *)address;
	struct lab_calls calls;
	s64 results[LAB_RESULTS];
	int goes_on = 1;
	u32 done = 0;

	if (command != LAB_RUN_CALLS)
		return -ENOTTY;
	if (copy_from_user(&calls, user, sizeof(calls)))
		return -EFAULT;
	while (done < calls.count && goes_on > 0) {
		goes_on = run_call(&calls, done, results);
		if (goes_on >= 0)
			done++;
	}
	if (goes_on < 0 && goes_on != -EINTR)
		return goes_on;
	return copy_to_user(user, &calls, sizeof(calls)) ? -EFAULT : done;
}

static int open(struct inode *inode, struct file *file)
{
	return capable(CAP_SYS_ADMIN) ? nonseekable_open(inode, file) : -EPERM;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = open,
	.unlocked_ioctl = run,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "fslab-calls",
	.fops = &operations,
	.mode = 0600,
};

static int __init lab_calls_init(void)
{
	return misc_register(&device);
}
device_initcall(lab_calls_init);
