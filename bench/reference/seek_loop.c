/* Random reads of whole records of one file by several processes, which take them from one pool.
 * Every PER_UPDATE-th of a process, the first included, has a byte changed, is written back and
 * synced. lseek(2), read(2) and write(2), the clock read before and after each operation; the time
 * is that from the common start to the last end.
 *
 *     seek_loop FILE FILE_BYTES RECORD_BYTES OPERATIONS PROCESSES PER_UPDATE */
#define _GNU_SOURCE
#include "reference.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the processes share. */
struct pool {
    _Atomic uint64_t taken, sum_ns;
    _Atomic uint32_t ready, begin;
};

struct seeker {
    const char *path;
    uint64_t record, records, operations, per_update;
};

static void go_to(int file, off_t offset)
{
    if (lseek(file, offset, SEEK_SET) != offset)
        die("lseek");
}

static void update(int file, char *buffer, uint64_t record, off_t offset)
{
    buffer[0]++;
    go_to(file, offset);
    if (write(file, buffer, record) != (ssize_t)record || fsync(file) != 0)
        die("write");
}

static void seek(const struct seeker *seeker, struct pool *pool, uint64_t process)
{
    int file = open(seeker->path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        die(seeker->path);
    char *buffer = page_aligned(seeker->record);
    uint64_t state = process + 1, sum_ns = 0;

    atomic_fetch_add(&pool->ready, 1);
    while (!atomic_load(&pool->begin))
        usleep(100);
    for (uint64_t turn = 0; atomic_fetch_add(&pool->taken, 1) < seeker->operations; turn++) {
        off_t offset = (off_t)(random_below(&state, seeker->records) * seeker->record);
        uint64_t start_ns = now_ns();
        go_to(file, offset);
        if (read(file, buffer, seeker->record) != (ssize_t)seeker->record)
            die("read");
        if (turn % seeker->per_update == 0)
            update(file, buffer, seeker->record, offset);
        sum_ns += now_ns() - start_ns;
    }
    atomic_fetch_add(&pool->sum_ns, sum_ns);
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: seek_loop FILE FILE_BYTES RECORD_BYTES OPERATIONS PROCESSES "
                        "PER_UPDATE\n");
        return 2;
    }
    struct seeker seeker = {.path = argv[1], .record = number(argv[3])};
    seeker.records = number(argv[2]) / seeker.record;
    seeker.operations = number(argv[4]);
    uint64_t processes = number(argv[5]);
    seeker.per_update = number(argv[6]);
    struct pool *pool = mmap(NULL, sizeof *pool, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pool == MAP_FAILED)
        die("mmap");
    for (uint64_t process = 0; process < processes; process++) {
        pid_t child = fork();
        if (child < 0)
            die("fork");
        if (child == 0) {
            seek(&seeker, pool, process);
            return 0;
        }
    }
    while (atomic_load(&pool->ready) < processes)
        usleep(100);

    uint64_t began_ns = now_ns();
    atomic_store(&pool->begin, 1);
    for (uint64_t process = 0; process < processes; process++) {
        int status;
        if (wait(&status) < 0 || status != 0) {
            fprintf(stderr, "a process failed\n");
            return 1;
        }
    }
    print_result(seeker.operations, now_ns() - began_ns, atomic_load(&pool->sum_ns));
    return 0;
}
