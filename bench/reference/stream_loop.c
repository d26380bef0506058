/* One file written or read from its beginning to its end, record by record, the clock read before
 * and after each call. What is written is random data from a pool; nothing is preallocated.
 *
 *     stream_loop FILE FILE_BYTES RECORD_BYTES write|read */
#include "reference.h"
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: stream_loop FILE FILE_BYTES RECORD_BYTES write|read\n");
        return 2;
    }
    uint64_t record = number(argv[3]), records = number(argv[2]) / record;
    int writes = strcmp(argv[4], "write") == 0;
    int file = open(argv[1], O_CLOEXEC | (writes ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY), 0600);
    if (file < 0)
        die(argv[1]);
    char *pool = writes ? random_pool(record) : NULL;
    char *buffer = page_aligned(record);
    uint64_t sum_ns = 0;

    uint64_t began_ns = now_ns(), end_ns = began_ns;
    for (uint64_t turn = 0; turn < records; turn++) {
        uint64_t offset = turn * record;
        uint64_t start_ns = now_ns();
        ssize_t moved = writes ? pwrite(file, pool + offset % POOL_BYTES, record, (off_t)offset)
                               : pread(file, buffer, record, (off_t)offset);
        end_ns = now_ns();
        if (moved != (ssize_t)record)
            die(argv[4]);
        sum_ns += end_ns - start_ns;
    }
    if (close(file) != 0)
        die("close");
    print_result(records, end_ns - began_ns, sum_ns);
    return 0;
}
