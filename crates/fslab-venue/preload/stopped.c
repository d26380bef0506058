/*
 * waitpid(2) for User-Mode Linux whose processes are stopped and continued by another program, for
 * example by `kill -STOP` to all processes of a user. The kernel traces the processes of its guest,
 * and so sees SIGSTOP and SIGCONT before they act. It expects other stops alone, and dies of these.
 * Here such a process goes on as it was last told to, without the signal: the process that traces
 * it stops and continues by itself, and the guest with it.
 *
 * The first stop of a new process, a SIGSTOP that it sends itself, is the kernel's: it was not told
 * to go on before.
 *
 * Loaded before the C library into the guest kernel's process, which has one thread that traces.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PTRACE_SYSEMU
#define PTRACE_SYSEMU 31
#endif
#ifndef PTRACE_SYSEMU_SINGLESTEP
#define PTRACE_SYSEMU_SINGLESTEP 32
#endif

/* The process that was last told to go on, and how. */
static pid_t going;
static long going_by;

static int goes_on(long request)
{
	return request == PTRACE_CONT || request == PTRACE_SYSCALL ||
	       request == PTRACE_SINGLESTEP || request == PTRACE_SYSEMU ||
	       request == PTRACE_SYSEMU_SINGLESTEP;
}

long ptrace(enum __ptrace_request request, ...)
{
	static long (*next)(enum __ptrace_request, ...);
	va_list arguments;
	void *address, *data;
	pid_t pid;

	va_start(arguments, request);
	pid = va_arg(arguments, pid_t);
	address = va_arg(arguments, void *);
	data = va_arg(arguments, void *);
	va_end(arguments);
	if (!next)
		next = (long (*)(enum __ptrace_request, ...))dlsym(RTLD_NEXT, "ptrace");
	if (goes_on((long)request)) {
		going = pid;
		going_by = (long)request;
	} else if (request == PTRACE_KILL && pid == going) {
		going = 0;
	}
	return next(request, pid, address, data);
}

static int is_from_outside(pid_t pid, int status)
{
	int signal;

	if (pid <= 0 || pid != going || !WIFSTOPPED(status))
		return 0;
	/* Events of ptrace(2) are in the bits above the signal. */
	if (status >> 16)
		return 0;
	signal = WSTOPSIG(status);
	return signal == SIGSTOP || signal == SIGCONT || signal == SIGTSTP ||
	       signal == SIGTTIN || signal == SIGTTOU;
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	int seen = 0;
	pid_t found;

	for (;;) {
		found = (pid_t)syscall(SYS_wait4, pid, &seen, options, NULL);
		if (!is_from_outside(found, seen))
			break;
		if (syscall(SYS_ptrace, going_by, found, NULL, NULL) < 0)
			break;
	}
	if (found == going && found > 0 && !WIFSTOPPED(seen))
		going = 0;
	if (status && found > 0)
		*status = seen;
	return found;
}
