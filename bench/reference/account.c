/* Runs a command and writes to OUT what it used: user and system time, peak resident memory, wall
 * time, as one line of key=value pairs. A program of its own, and a small one, because the peak
 * that the kernel reports for a child begins with the size of the process that started it.
 *
 *     account OUT COMMAND [ARGUMENT]...
 *
 * Ends with the command's status. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long long ns_of(struct timeval time)
{
    return time.tv_sec * 1000000000LL + time.tv_usec * 1000LL;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: account OUT COMMAND [ARGUMENT]...\n");
        return 2;
    }
    long long began_ns = now_ns();
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        return 2;
    }
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    int status;
    struct rusage used;
    if (wait4(child, &status, 0, &used) != child) {
        perror("wait4");
        return 2;
    }
    FILE *out = fopen(argv[1], "w");
    if (!out) {
        perror(argv[1]);
        return 2;
    }
    fprintf(out, "user_ns=%lld system_ns=%lld resident_kib=%ld elapsed_ns=%lld\n",
            ns_of(used.ru_utime), ns_of(used.ru_stime), used.ru_maxrss, now_ns() - began_ns);
    if (fclose(out) != 0) {
        perror(argv[1]);
        return 2;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
