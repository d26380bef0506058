/* One operation on each of many files in one directory, relative to the open directory, the clock
 * read before and after each. `create` writes FILE_BYTES of random data into each file, if that is
 * not 0; `read` reads each to its end.
 *
 *     names_loop DIRECTORY FILES FILE_BYTES create|stat|read|unlink */
#define _GNU_SOURCE
#include "reference.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIGITS 8

struct loop {
    int directory;
    size_t file_bytes;
    char *pool;
    char *buffer;
};

static int create(const struct loop *loop, const char *name, uint64_t turn)
{
    int file = openat(loop->directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return -1;
    if (loop->file_bytes > 0) {
        const char *data = loop->pool + turn * BLOCK_BYTES % POOL_BYTES;
        if (pwrite(file, data, loop->file_bytes, 0) != (ssize_t)loop->file_bytes)
            return -1;
    }
    return close(file);
}

/* The buffer is longer than the file, so that one call meets its end. */
static int read_all(const struct loop *loop, const char *name)
{
    int file = openat(loop->directory, name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t got = pread(file, loop->buffer, loop->file_bytes + BLOCK_BYTES, 0);
    if (got != (ssize_t)loop->file_bytes)
        return -1;
    return close(file);
}

static int perform(const struct loop *loop, char operation, const char *name, uint64_t turn)
{
    struct stat status;
    switch (operation) {
    case 'c':
        return create(loop, name, turn);
    case 'r':
        return read_all(loop, name);
    case 's':
        return fstatat(loop->directory, name, &status, 0);
    default:
        return unlinkat(loop->directory, name, 0);
    }
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: names_loop DIRECTORY FILES FILE_BYTES create|stat|read|unlink\n");
        return 2;
    }
    uint64_t files = number(argv[2]);
    struct loop loop = {.file_bytes = number(argv[3])};
    char operation = argv[4][0];
    mkdir(argv[1], 0700);
    loop.directory = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (loop.directory < 0)
        die(argv[1]);
    if (loop.file_bytes > 0) {
        loop.pool = random_pool(loop.file_bytes);
        loop.buffer = page_aligned(loop.file_bytes + BLOCK_BYTES);
    }
    char name[DIGITS + 2] = "f00000000";
    uint64_t sum_ns = 0;

    uint64_t began_ns = now_ns(), end_ns = began_ns;
    for (uint64_t turn = 0; turn < files; turn++) {
        uint64_t rest = turn;
        for (int digit = DIGITS; digit > 0; digit--, rest /= 10)
            name[digit] = (char)('0' + rest % 10);
        uint64_t start_ns = now_ns();
        int failed = perform(&loop, operation, name, turn);
        end_ns = now_ns();
        if (failed)
            die(name);
        sum_ns += end_ns - start_ns;
    }
    print_result(files, end_ns - began_ns, sum_ns);
    return 0;
}
