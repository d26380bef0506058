/* Reads of whole records, one pread(2) after the other, at random or from the last record to the
 * first and again, without the C library in between, the clock read before and after each.
 *
 *     pread_loop FILE FILE_BYTES RECORD_BYTES OPERATIONS random|backward */
#include "reference.h"
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: pread_loop FILE FILE_BYTES RECORD_BYTES OPERATIONS "
                        "random|backward\n");
        return 2;
    }
    uint64_t record = number(argv[3]), records = number(argv[2]) / record;
    uint64_t operations = number(argv[4]);
    int backward = strcmp(argv[5], "backward") == 0;
    int file = open(argv[1], O_RDONLY | O_CLOEXEC);
    if (file < 0)
        die(argv[1]);
    char *buffer = page_aligned(record);
    uint64_t state = 1, index = 0, sum_ns = 0;

    uint64_t began_ns = now_ns(), end_ns = began_ns;
    for (uint64_t turn = 0; turn < operations; turn++) {
        index = backward ? (index > 0 ? index : records) - 1 : random_below(&state, records);
        uint64_t start_ns = now_ns();
        ssize_t got = read_at(file, buffer, record, (off_t)(index * record));
        end_ns = now_ns();
        if (got != (ssize_t)record)
            die("pread");
        sum_ns += end_ns - start_ns;
    }
    print_result(operations, end_ns - began_ns, sum_ns);
    return 0;
}
