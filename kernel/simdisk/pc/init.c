// SPDX-License-Identifier: GPL-2.0
/*
 * The first process of a PC's guest: loads modules, mounts the lab's root image, and becomes its
 * fslab-guest.
 *
 * /modules/base lists the modules of every guest, one path per line, in the order in which they are
 * loaded. The last of them is fslab's, which has a snapshot of the machine taken: everything up to
 * there is done once for many guests. What is done for one guest stands in /dev/fslab-boot:
 *
 *     SEED          a text that is credited as entropy: else the first program that wants random
 *                   numbers would wait for some seconds
 *     WORD WORD...  the arguments of fslab-guest
 *     BYTES         then as many bytes: a module, in the order in which they are loaded; and so on
 *
 * Everything is in an initramfs, which is emptied on the way, since what stays in it would take
 * memory of the measured system.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROGRAM "/fslab/fslab"
#define ROOT_DEVICE "/dev/lab0"
#define NEW_ROOT "/lab"
#define BASE "/modules/base"
#define BOOT "/dev/fslab-boot"
#define LINE_MAX_BYTES 4096
#define WORDS_MAX 8
#define SEED_BYTES 64

static void fail(const char *task, const char *name)
{
	fprintf(stderr, "fslab: cannot %s %s: %s\n", task, name, strerror(errno));
	/* The emulator ends then, with and without ACPI. */
	reboot(RB_AUTOBOOT);
	_exit(1);
}

/* ENODEV: the processor lacks what the module is for. */
static void expect_loaded(long status, const char *name)
{
	if (status < 0 && errno != EEXIST && errno != ENODEV)
		fail("load", name);
}

static void load_file(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		fail("open", path);
	expect_loaded(syscall(SYS_finit_module, file, "", 0), path);
	close(file);
	unlink(path);
}

static void load_base(void)
{
	char line[LINE_MAX_BYTES];
	FILE *list = fopen(BASE, "re");

	if (!list)
		fail("open", BASE);
	while (fgets(line, sizeof(line), list)) {
		line[strcspn(line, "\n")] = 0;
		load_file(line);
	}
	fclose(list);
	unlink(BASE);
}

/* A line without its end; NULL where there is none. */
static char *read_line(FILE *boot, char line[LINE_MAX_BYTES])
{
	if (!fgets(line, LINE_MAX_BYTES, boot))
		return NULL;
	line[strcspn(line, "\n")] = 0;
	return line;
}

static void seed_random_numbers(const char *seed)
{
	struct {
		struct rand_pool_info info;
		char bytes[SEED_BYTES];
	} pool = { .info = { .entropy_count = 8 * SEED_BYTES, .buf_size = SEED_BYTES } };
	int file = open("/dev/random", O_WRONLY | O_CLOEXEC);

	memcpy(pool.bytes, seed, strnlen(seed, SEED_BYTES));
	if (file < 0 || ioctl(file, RNDADDENTROPY, &pool) < 0)
		fail("seed", "/dev/random");
	close(file);
}

static void load_from(FILE *boot, unsigned long bytes)
{
	void *module = malloc(bytes);

	if (!module || fread(module, 1, bytes, boot) != bytes)
		fail("read a module of", BOOT);
	expect_loaded(syscall(SYS_init_module, module, bytes, ""), "a module of " BOOT);
	free(module);
}

/* Does what one guest does, and keeps the arguments of its program. */
static void read_boot(char arguments[LINE_MAX_BYTES])
{
	char line[LINE_MAX_BYTES];
	FILE *boot = fopen(BOOT, "re");

	if (!boot || !read_line(boot, line))
		fail("read", BOOT);
	seed_random_numbers(line);
	if (!read_line(boot, arguments))
		fail("read", BOOT);
	while (read_line(boot, line))
		load_from(boot, strtoul(line, NULL, 10));
	fclose(boot);
}

static void mount_at(const char *source, const char *target, const char *type, unsigned long flags)
{
	if (mount(source, target, type, flags, "") < 0 && errno != EBUSY)
		fail("mount", source);
}

static void enter_root(void)
{
	mount_at(ROOT_DEVICE, NEW_ROOT, "erofs", MS_RDONLY);
	if (mount("/dev", NEW_ROOT "/dev", NULL, MS_MOVE, NULL) < 0)
		fail("move", "/dev");
	unlink("/init");
	if (chdir(NEW_ROOT) < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0 ||
	    chdir("/") < 0)
		fail("enter", ROOT_DEVICE);
}

static void become(char *arguments)
{
	char *words[WORDS_MAX + 2] = { PROGRAM };
	int count = 1;

	while (count <= WORDS_MAX && (words[count] = strsep(&arguments, " ")))
		count++;
	words[count] = NULL;
	execv(PROGRAM, words);
	fail("start", PROGRAM);
}

int main(void)
{
	char arguments[LINE_MAX_BYTES];

	mount_at("devtmpfs", "/dev", "devtmpfs", 0);
	load_base();
	read_boot(arguments);
	enter_root();
	become(arguments);
}
