// SPDX-License-Identifier: GPL-2.0
/*
 * Where the host takes a snapshot of the machine, and what a guest that starts from it reads:
 *
 *     /dev/fslab-boot    the file "boot" of the table; init.c has its format
 *
 * Before the snapshot nothing is read of the table, whose files differ from guest to guest.
 */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>

#include <asm/tsc.h>

#include "boot.h"
#include "regions.h"

/* QEMU, docs/specs/pvpanic: the emulator may stop the machine here. Elsewhere it has no effect. */
#define PVPANIC_PORT 0x505
#define PVPANIC_PANICKED 1

/* With the time in RBX, where the host reads it: that of a machine that is stopped may go on. */
void fslab_pause(void)
{
	asm volatile("outb %b0, %w1" : : "a"(PVPANIC_PANICKED), "d"(PVPANIC_PORT), "b"(rdtsc()));
}

static ssize_t read_boot(struct file *file, char __user *to, size_t count, loff_t *position)
{
	u64 bytes;
	const void *start = fslab_content("share/boot", &bytes);

	return start ? simple_read_from_buffer(to, count, position, start, bytes) : -ENOENT;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.read = read_boot,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "fslab-boot",
	.fops = &operations,
	.mode = 0400,
};

static int __init fslab_boot_init(void)
{
	return misc_register(&device);
}
device_initcall(fslab_boot_init);
