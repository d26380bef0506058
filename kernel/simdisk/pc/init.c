// SPDX-License-Identifier: GPL-2.0
/*
 * The first process of a PC's guest: loads modules, mounts the lab's root image, and becomes its
 * fslab-guest.
 *
 * The kernel's command line has fslab_modules=NAME,NAME...; the file /modules/NAME has the modules
 * of each, one path per line, in the order in which they are loaded. Everything is in an initramfs,
 * which is emptied on the way, since what stays in it would take memory of the measured system.
 *
 * It also has fslab_seed=TEXT, which is credited as entropy: else the first program that wants
 * random numbers would wait for some seconds.
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROGRAM "/fslab/fslab"
#define SUBCOMMAND "guest-init"
#define ROOT_DEVICE "/dev/lab0"
#define NEW_ROOT "/lab"
#define LINE_MAX_BYTES 4096
#define SEED_BYTES 64
/* The list of what every guest needs. */
#define BASE "base"
/* Every list of modules, to be removed. */
#define LISTS "/modules/lists"

static void fail(const char *task, const char *name)
{
	fprintf(stderr, "fslab: cannot %s %s: %s\n", task, name, strerror(errno));
	/* The emulator ends then, with and without ACPI. */
	reboot(RB_AUTOBOOT);
	_exit(1);
}

static void load(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0) {
		/* A list before this one had it. */
		if (errno == ENOENT)
			return;
		fail("open", path);
	}
	/* ENODEV: the processor lacks what the module is for. */
	if (syscall(SYS_finit_module, file, "", 0) < 0 && errno != EEXIST && errno != ENODEV)
		fail("load", path);
	close(file);
	unlink(path);
}

/* Calls `each` with the lines of a file; a file that is not there has none. */
static void each_line(const char *path, void (*each)(const char *line))
{
	char line[LINE_MAX_BYTES];
	FILE *file = fopen(path, "re");

	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		each(line);
	}
	fclose(file);
}

static void load_list(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "/modules/%s", name);
	each_line(path, load);
}

/*
 * The value of a word of the kernel's command line, in a buffer of this function; NULL without it.
 */
static char *option(const char *name)
{
	static char line[LINE_MAX_BYTES];
	FILE *file = fopen("/proc/cmdline", "re");
	char *value;

	if (!file || !fgets(line, sizeof(line), file))
		fail("read", "/proc/cmdline");
	fclose(file);
	value = strstr(line, name);
	if (!value)
		return NULL;
	value += strlen(name);
	value[strcspn(value, " \n")] = 0;
	return value;
}

static void load_modules(void)
{
	char *rest = option("fslab_modules=");
	char *name;

	load_list(BASE);
	while ((name = strsep(&rest, ",")))
		load_list(name);
}

static void seed_random_numbers(void)
{
	struct {
		struct rand_pool_info info;
		char bytes[SEED_BYTES];
	} pool = { .info = { .entropy_count = 8 * SEED_BYTES, .buf_size = SEED_BYTES } };
	const char *seed = option("fslab_seed=");
	int file = open("/dev/random", O_WRONLY | O_CLOEXEC);

	if (!seed)
		return;
	snprintf(pool.bytes, sizeof(pool.bytes), "%s", seed);
	if (file < 0 || ioctl(file, RNDADDENTROPY, &pool) < 0)
		fail("seed", "/dev/random");
	close(file);
}

static void discard(const char *path)
{
	unlink(path);
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
	each_line(LISTS, discard);
	discard(LISTS);
	discard("/init");
	if (chdir(NEW_ROOT) < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0 ||
	    chdir("/") < 0)
		fail("enter", ROOT_DEVICE);
}

/* The arguments of the program: the kernel puts its own parameters that it does not know before. */
static char **arguments(char **words)
{
	while (*words && strcmp(*words, SUBCOMMAND))
		words++;
	/* The place before the first is the name of the program. */
	words[-1] = PROGRAM;
	return words - 1;
}

int main(int count, char **words)
{
	(void)count;
	mount_at("proc", "/proc", "proc", 0);
	mount_at("devtmpfs", "/dev", "devtmpfs", 0);
	seed_random_numbers();
	load_modules();
	umount2("/proc", MNT_DETACH);
	enter_root();
	execv(PROGRAM, arguments(words + 1));
	fail("start", PROGRAM);
}
