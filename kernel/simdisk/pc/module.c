// SPDX-License-Identifier: GPL-2.0
/*
 * fslab.ko: the simulated disk, the lab's images and the exchange with the host as a module of an
 * ordinary kernel.
 */
#include <linux/kernel.h>
#include <linux/notifier.h>
#include <linux/reboot.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "boot.h"
#include "module.h"
#include "regions.h"

extern int (*const fslab_option_read_settings)(char *, int *);
extern int (*const fslab_option_read_image)(char *, int *);
extern int (*const fslab_option_read_folder)(char *, int *);
extern int (*const fslab_option_read_wanted)(char *, int *);

extern int (*const fslab_init_fslab_boot_init)(void);
extern int (*const fslab_init_fslab_clock_init)(void);
extern int (*const fslab_init_lab_disk_init)(void);
extern int (*const fslab_init_lab_exchange_init)(void);
extern int (*const fslab_init_simdisk_init)(void);
extern int (*const fslab_init_fslab_timer_init)(void);

static int __init read_option(char *line)
{
	const struct {
		const char *name;
		int (*read)(char *value, int *add);
	} options[] = {
		{ "simdisk", fslab_option_read_settings },
		{ "lab_image", fslab_option_read_image },
		{ "lab_exchange", fslab_option_read_folder },
		{ "lab_memory", fslab_option_read_wanted },
	};
	char *value = line;
	const char *name = strsep(&value, "=");
	int ignored;

	for (int i = 0; value && i < ARRAY_SIZE(options); i++)
		if (!strcmp(name, options[i].name))
			return options[i].read(value, &ignored);
	pr_err("fslab: '%s' is no option\n", name);
	return -EINVAL;
}

static int __init read_options(void)
{
	char *text = fslab_options();
	char *rest = text, *line;
	int error = 0;

	if (!text)
		return -EINVAL;
	while (!error && (line = strsep(&rest, "\n")))
		if (*line)
			error = read_option(line);
	kfree(text);
	return error;
}

/*
 * A kernel that boots without ACPI cannot switch the machine off; the emulator ends when the
 * machine restarts.
 */
static int end_machine(struct notifier_block *block, unsigned long event, void *data)
{
	if (event == SYS_HALT || event == SYS_POWER_OFF)
		emergency_restart();
	return NOTIFY_DONE;
}

static struct notifier_block end_notifier = {
	.notifier_call = end_machine,
	/* After all others. */
	.priority = INT_MIN,
};

static int __init fslab_init(void)
{
	int (*const steps[])(void) = {
		fslab_init_fslab_timer_init,
		fslab_init_fslab_clock_init,
		fslab_init_lab_disk_init,
		fslab_init_lab_exchange_init,
		fslab_init_simdisk_init,
		fslab_init_fslab_boot_init,
	};
	int error;

	fslab_pause();
	error = fslab_map_regions();
	if (error) {
		pr_err("fslab: the machine has no table of files: %d\n", error);
		return error;
	}
	error = read_options();
	for (int i = 0; !error && i < ARRAY_SIZE(steps); i++)
		error = steps[i]();
	/* The first process restarts the machine where it fails: nothing is undone. */
	return error ?: register_reboot_notifier(&end_notifier);
}
module_init(fslab_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A simulated disk, and what a trial exchanges with its host");
