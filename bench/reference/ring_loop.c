/* Random reads of whole records through a bare io_uring, by system calls alone: registered file and
 * buffers, SINGLE_ISSUER and DEFER_TASKRUN. Every free slot is filled, one io_uring_enter(2)
 * submits them and waits for BATCH completions, and all that are there are taken. The clock is read
 * once after each such call.
 *
 *     ring_loop FILE FILE_BYTES RECORD_BYTES OPERATIONS DEPTH BATCH buffered|direct */
#define _GNU_SOURCE
#include "reference.h"
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct ring {
    int fd;
    _Atomic uint32_t *submission_tail, *completion_head, *completion_tail;
    uint32_t submission_mask, completion_mask;
    struct io_uring_sqe *entries;
    struct io_uring_cqe *completions;
};

static void *map(int fd, size_t bytes, off_t offset)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);
    if (at == MAP_FAILED)
        die("mmap");
    return at;
}

static struct ring set_up(uint32_t depth)
{
    struct io_uring_params params;
    memset(&params, 0, sizeof params);
    params.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
    struct ring ring;
    ring.fd = (int)syscall(SYS_io_uring_setup, depth, &params);
    if (ring.fd < 0)
        die("io_uring_setup");
    size_t submissions = params.sq_off.array + params.sq_entries * sizeof(uint32_t);
    size_t completions = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    char *sq = map(ring.fd, submissions, IORING_OFF_SQ_RING);
    char *cq = map(ring.fd, completions, IORING_OFF_CQ_RING);
    ring.entries = map(ring.fd, params.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
    ring.submission_tail = (_Atomic uint32_t *)(sq + params.sq_off.tail);
    ring.submission_mask = *(uint32_t *)(sq + params.sq_off.ring_mask);
    ring.completion_head = (_Atomic uint32_t *)(cq + params.cq_off.head);
    ring.completion_tail = (_Atomic uint32_t *)(cq + params.cq_off.tail);
    ring.completion_mask = *(uint32_t *)(cq + params.cq_off.ring_mask);
    ring.completions = (struct io_uring_cqe *)(cq + params.cq_off.cqes);
    uint32_t *array = (uint32_t *)(sq + params.sq_off.array);
    for (uint32_t index = 0; index < params.sq_entries; index++)
        array[index] = index;
    return ring;
}

static void register_with(const struct ring *ring, unsigned what, void *table, unsigned count)
{
    if (syscall(SYS_io_uring_register, ring->fd, what, table, count) < 0)
        die("io_uring_register");
}

int main(int argc, char **argv)
{
    if (argc != 8) {
        fprintf(stderr, "usage: ring_loop FILE FILE_BYTES RECORD_BYTES OPERATIONS DEPTH BATCH "
                        "buffered|direct\n");
        return 2;
    }
    uint64_t record = number(argv[3]), records = number(argv[2]) / record;
    uint64_t operations = number(argv[4]);
    uint32_t depth = (uint32_t)number(argv[5]), batch = (uint32_t)number(argv[6]);
    int direct = strcmp(argv[7], "direct") == 0 ? O_DIRECT : 0;
    int file = open(argv[1], O_RDONLY | O_CLOEXEC | direct);
    if (file < 0)
        die(argv[1]);
    struct ring ring = set_up(depth);
    char *memory = page_aligned(depth * record);
    struct iovec *buffers = page_aligned(depth * sizeof *buffers);
    uint64_t *starts_ns = page_aligned(depth * sizeof *starts_ns);
    uint32_t *free_slots = page_aligned(depth * sizeof *free_slots), free_count = depth;
    for (uint32_t slot = 0; slot < depth; slot++) {
        buffers[slot] = (struct iovec){memory + slot * record, record};
        free_slots[slot] = slot;
    }
    register_with(&ring, IORING_REGISTER_BUFFERS, buffers, depth);
    register_with(&ring, IORING_REGISTER_FILES, &file, 1);

    uint64_t state = 1, sum_ns = 0, queued = 0, done = 0;
    uint32_t tail = *ring.submission_tail, head = *ring.completion_head;
    uint64_t began_ns = now_ns(), clock_ns = began_ns;
    while (done < operations) {
        uint32_t fresh = 0;
        while (free_count > 0 && queued < operations) {
            uint32_t slot = free_slots[--free_count];
            struct io_uring_sqe *entry = &ring.entries[tail++ & ring.submission_mask];
            memset(entry, 0, sizeof *entry);
            entry->opcode = IORING_OP_READ_FIXED;
            entry->flags = IOSQE_FIXED_FILE;
            entry->off = random_below(&state, records) * record;
            entry->addr = (uint64_t)(uintptr_t)buffers[slot].iov_base;
            entry->len = (uint32_t)record;
            entry->buf_index = (uint16_t)slot;
            entry->user_data = slot;
            starts_ns[slot] = clock_ns;
            queued++;
            fresh++;
        }
        atomic_store_explicit(ring.submission_tail, tail, memory_order_release);
        uint64_t flying = queued - done;
        uint32_t wait_for = flying < batch ? (uint32_t)flying : batch;
        long taken = syscall(SYS_io_uring_enter, ring.fd, fresh, wait_for, IORING_ENTER_GETEVENTS,
                             NULL, 0);
        clock_ns = now_ns();
        if (taken != (long)fresh)
            die("io_uring_enter");
        uint32_t end = atomic_load_explicit(ring.completion_tail, memory_order_acquire);
        for (; head != end; head++) {
            struct io_uring_cqe *completion = &ring.completions[head & ring.completion_mask];
            if (completion->res != (int32_t)record)
                die("read");
            uint32_t slot = (uint32_t)completion->user_data;
            sum_ns += clock_ns - starts_ns[slot];
            free_slots[free_count++] = slot;
            done++;
        }
        atomic_store_explicit(ring.completion_head, head, memory_order_release);
    }
    print_result(operations, clock_ns - began_ns, sum_ns);
    return 0;
}
