/* Writes to as much memory as it is told, and gives it back. Where the machine is a guest, memory
 * that was free for a while may have been returned to the host, and whoever touches it next pays
 * for getting it again: run right before a measurement, this pays instead.
 *
 *     touch BYTES */
#define _GNU_SOURCE
#include "reference.h"
#include <sys/mman.h>

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: touch BYTES\n");
        return 2;
    }
    size_t bytes = number(argv[1]);
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        die("mmap");
    for (size_t at = 0; at < bytes; at += BLOCK_BYTES)
        ((volatile char *)memory)[at] = 1;
    return 0;
}
