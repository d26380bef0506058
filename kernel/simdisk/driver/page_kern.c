// SPDX-License-Identifier: GPL-2.0
/* A page of the driver's memory that programs map: reading it takes no system call. */
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "page.h"

static void *offered;

static int map(struct file *file, struct vm_area_struct *area)
{
	if (area->vm_end - area->vm_start != PAGE_SIZE || area->vm_flags & VM_WRITE)
		return -EINVAL;
	return vm_insert_page(area, area->vm_start, virt_to_page(offered));
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.mmap = map,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.fops = &operations,
	.mode = 0444,
};

int __init simdisk_offer_page(const char *name, void *page)
{
	offered = page;
	device.name = name;
	return misc_register(&device);
}
