/* Random reads of whole records, one pread(2) after the other, the clock read before and after each.
 *
 *     pread_loop FILE FILE_BYTES RECORD_BYTES OPERATIONS */
#include "reference.h"
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: pread_loop FILE FILE_BYTES RECORD_BYTES OPERATIONS\n");
        return 2;
    }
    uint64_t record = number(argv[3]), records = number(argv[2]) / record;
    uint64_t operations = number(argv[4]);
    int file = open(argv[1], O_RDONLY | O_CLOEXEC);
    if (file < 0)
        die(argv[1]);
    char *buffer = page_aligned(record);
    uint64_t state = 1, sum_ns = 0;

    uint64_t began_ns = now_ns(), end_ns = began_ns;
    for (uint64_t turn = 0; turn < operations; turn++) {
        off_t offset = (off_t)(random_below(&state, records) * record);
        uint64_t start_ns = now_ns();
        ssize_t got = pread(file, buffer, record, offset);
        end_ns = now_ns();
        if (got != (ssize_t)record)
            die("pread");
        sum_ns += end_ns - start_ns;
    }
    print_result(operations, end_ns - began_ns, sum_ns);
    return 0;
}
