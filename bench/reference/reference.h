/* What every reference loop needs: a clock, a random number, an end with a reason, and the one line
 * that it prints. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Random data that writes are cut from: as long as what fslab writes from. */
#define POOL_BYTES ((size_t)4 << 20)
#define BLOCK_BYTES ((size_t)4096)

static inline uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators". */
static inline uint64_t random_bits(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * 2685821657736338717u;
}

/* A number below `bound`, by multiplication instead of division. */
static inline uint64_t random_below(uint64_t *state, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)random_bits(state) * bound) >> 64);
}

static inline void die(const char *what)
{
    perror(what);
    exit(1);
}

static inline uint64_t number(const char *text)
{
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (*text == 0 || *end != 0) {
        fprintf(stderr, "'%s' is no number\n", text);
        exit(2);
    }
    return value;
}

/* pread(2) without the C library's function, which makes each call slower than the kernel is: one
 * program that alternates between the two finds a difference at every quantile. */
static inline ssize_t read_at(int file, void *buffer, size_t length, off_t offset)
{
#if defined(__x86_64__)
    ssize_t result;
    register off_t fourth __asm__("r10") = offset;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"((long)SYS_pread64), "D"((long)file), "S"(buffer), "d"(length),
                       "r"(fourth)
                     : "rcx", "r11", "memory");
    if (result < 0) {
        errno = (int)-result;
        return -1;
    }
    return result;
#else
    return pread(file, buffer, length, offset);
#endif
}

static inline void *page_aligned(size_t bytes)
{
    void *memory = NULL;
    if (posix_memalign(&memory, BLOCK_BYTES, bytes) != 0)
        die("posix_memalign");
    memset(memory, 0, bytes);
    return memory;
}

/* A pool of random data with `slack` bytes of its beginning repeated behind its end. */
static inline char *random_pool(size_t slack)
{
    uint64_t state = 88172645463325252u;
    char *pool = page_aligned(POOL_BYTES + slack);
    for (size_t at = 0; at < POOL_BYTES; at += sizeof(uint64_t)) {
        uint64_t bits = random_bits(&state);
        memcpy(pool + at, &bits, sizeof bits);
    }
    for (size_t at = 0; at < slack; at++)
        pool[POOL_BYTES + at] = pool[at % POOL_BYTES];
    return pool;
}

/* `sum_ns` is the sum of the latencies: that it is printed keeps the compiler from dropping the
 * second reading of the clock. */
static inline void print_result(uint64_t operations, uint64_t elapsed_ns, uint64_t sum_ns)
{
    printf("operations=%llu elapsed_ns=%llu latency_sum_ns=%llu\n",
           (unsigned long long)operations, (unsigned long long)elapsed_ns,
           (unsigned long long)sum_ns);
}

#endif
