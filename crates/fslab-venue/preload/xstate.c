/*
 * ptrace(2) for User-Mode Linux on processors with more extended state than it has room for, such
 * as the tiles of AMX. Linux sets the state of a traced process only as a whole, while User-Mode
 * Linux keeps its first part: the rest, which no program of a guest can have in use, is set to
 * zero.
 *
 * Loaded before the C library into the guest kernel's process, which has one thread that traces.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef NT_X86_XSTATE
#define NT_X86_XSTATE 0x202
#endif
/* More than any processor has. */
#define STATE_BYTES_MAX 65536

static char state[STATE_BYTES_MAX];
/* Bytes of the state of this processor; 0 until it was asked for. */
static size_t state_bytes;

static long call(long request, long pid, void *address, void *data)
{
	return syscall(SYS_ptrace, request, pid, address, data);
}

static long set_state(long pid, const struct iovec *part)
{
	struct iovec all = { .iov_base = state, .iov_len = sizeof(state) };

	if (!state_bytes) {
		if (call(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &all) < 0)
			return -1;
		state_bytes = all.iov_len;
		memset(state, 0, sizeof(state));
	}
	if (part->iov_len > state_bytes) {
		errno = EFAULT;
		return -1;
	}
	all.iov_len = state_bytes;
	memcpy(state, part->iov_base, part->iov_len);
	return call(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, &all);
}

long ptrace(enum __ptrace_request request, ...)
{
	va_list arguments;
	long pid, result, word;
	void *address, *data;

	va_start(arguments, request);
	pid = va_arg(arguments, pid_t);
	address = va_arg(arguments, void *);
	data = va_arg(arguments, void *);
	va_end(arguments);
	if (request == PTRACE_SETREGSET && (long)address == NT_X86_XSTATE)
		return set_state(pid, data);
	if (request != PTRACE_PEEKTEXT && request != PTRACE_PEEKDATA && request != PTRACE_PEEKUSER)
		return call(request, pid, address, data);
	/* The system call stores the word; the C library's function returns it. */
	result = call(request, pid, address, &word);
	if (result < 0)
		return result;
	errno = 0;
	return word;
}
