/* Random copies of whole records from a mapped file, the clock read before and after each. The
 * mapping is made before; its page faults are part of the time.
 *
 *     mmap_loop FILE FILE_BYTES RECORD_BYTES OPERATIONS */
#define _GNU_SOURCE
#include "reference.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: mmap_loop FILE FILE_BYTES RECORD_BYTES OPERATIONS\n");
        return 2;
    }
    uint64_t bytes = number(argv[2]), record = number(argv[3]), records = bytes / record;
    uint64_t operations = number(argv[4]);
    int file = open(argv[1], O_RDONLY | O_CLOEXEC);
    if (file < 0)
        die(argv[1]);
    char *data = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    if (data == MAP_FAILED || madvise(data, bytes, MADV_RANDOM) != 0)
        die("mmap");
    char *buffer = page_aligned(record);
    uint64_t state = 1, sum_ns = 0;

    uint64_t began_ns = now_ns(), end_ns = began_ns;
    for (uint64_t turn = 0; turn < operations; turn++) {
        uint64_t offset = random_below(&state, records) * record;
        uint64_t start_ns = now_ns();
        memcpy(buffer, data + offset, record);
        /* The copy is used: the compiler must make it, and before it reads the clock. */
        __asm__ volatile("" : : "r"(buffer) : "memory");
        end_ns = now_ns();
        sum_ns += end_ns - start_ns;
    }
    print_result(operations, end_ns - began_ns, sum_ns);
    return 0;
}
