// SPDX-License-Identifier: GPL-2.0
/*
 * What a guest and its host exchange, as devices: the guest reaches these files of the host and no
 * other.
 *
 *     /dev/fslab-spec     reads the specification of the trial
 *     /dev/fslab-events   appends to the events of the trial
 *     /dev/fslab-status   writes how the trial's process ended
 *     /dev/fslab-forget   a write lets the host forget what its memory holds of the disks' images
 *
 * Bytes pass through a page that is always there, so that no text takes memory by its length.
 */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>

#include <init.h>

#include "../driver/host.h"

#define FILE_NAME_MAX 64
#define DISKS_MAX 16

static char folder[FILE_NAME_MAX];
static char images[DISKS_MAX][FILE_NAME_MAX];
static unsigned int image_count;

static DEFINE_MUTEX(lock);
static char bounce[PAGE_SIZE];
static int spec = -1, events = -1, status = -1;

static int __init read_name(char *line, char *kept)
{
	if (strscpy(kept, line, FILE_NAME_MAX) < 0)
		pr_err("lab: '%s' is too long a name\n", line);
	return 0;
}

static int __init read_folder(char *line, int *add)
{
	*add = 0;
	return read_name(line, folder);
}

__uml_setup("lab_exchange=", read_folder,
"lab_exchange=FOLDER\n"
"    The folder of the host that has what a trial exchanges with it.\n\n"
);

static int __init read_disk(char *line, int *add)
{
	*add = 0;
	if (image_count == DISKS_MAX) {
		pr_err("lab: '%s' is one image too many\n", line);
		return 0;
	}
	return read_name(line, images[image_count++]);
}

__uml_setup("lab_forget=", read_disk,
"lab_forget=FILE\n"
"    An image that the host forgets when /dev/fslab-forget is written; one for each disk.\n\n"
);

static int host_file(const char *name, bool is_new)
{
	char path[2 * FILE_NAME_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return is_new ? simdisk_host_create(path) : simdisk_host_open(path, false);
}

static ssize_t read_spec(struct file *file, char __user *to, size_t count, loff_t *position)
{
	struct simdisk_piece piece = { .address = bounce };
	long long size;
	ssize_t got;

	mutex_lock(&lock);
	if (spec < 0)
		spec = host_file("spec.json", false);
	size = spec < 0 ? spec : simdisk_host_size(spec);
	got = size < 0 ? size : max(size - *position, 0ll);
	if (got > 0) {
		got = min3((size_t)got, count, sizeof(bounce));
		piece.bytes = got;
		if (simdisk_host_read(spec, &piece, 1, *position))
			got = -EIO;
		else if (copy_to_user(to, bounce, got))
			got = -EFAULT;
		else
			*position += got;
	}
	mutex_unlock(&lock);
	return got;
}

static ssize_t append(int *host, const char *name, const char __user *from, size_t count)
{
	size_t share = min(count, sizeof(bounce));
	ssize_t done = share;
	int error;

	mutex_lock(&lock);
	if (*host < 0)
		*host = host_file(name, true);
	if (*host < 0) {
		done = *host;
	} else if (copy_from_user(bounce, from, share)) {
		done = -EFAULT;
	} else {
		error = simdisk_host_append(*host, bounce, share);
		done = error ? error : done;
	}
	mutex_unlock(&lock);
	return done;
}

static ssize_t write_events(struct file *file, const char __user *from, size_t count,
			    loff_t *position)
{
	return append(&events, "events", from, count);
}

static ssize_t write_status(struct file *file, const char __user *from, size_t count,
			    loff_t *position)
{
	return append(&status, "status", from, count);
}

static ssize_t write_forget(struct file *file, const char __user *from, size_t count,
			    loff_t *position)
{
	int error = image_count ? 0 : -ENODEV;

	for (unsigned int i = 0; i < image_count && !error; i++)
		error = simdisk_host_forget(images[i]);
	return error ? error : count;
}

#define OPERATIONS(name, ...) \
	static const struct file_operations name##_operations = { \
		.owner = THIS_MODULE, \
		.llseek = noop_llseek, \
		__VA_ARGS__ \
	}

OPERATIONS(spec, .read = read_spec);
OPERATIONS(events, .write = write_events);
OPERATIONS(status, .write = write_status);
OPERATIONS(forget, .write = write_forget);

#define DEVICE(short_name) { \
	.minor = MISC_DYNAMIC_MINOR, \
	.name = "fslab-" #short_name, \
	.fops = &short_name##_operations, \
	.mode = 0600, \
}

static struct miscdevice devices[] = {
	DEVICE(spec), DEVICE(events), DEVICE(status), DEVICE(forget),
};

static int __init lab_exchange_init(void)
{
	int error = 0;

	if (!*folder)
		return 0;
	for (int i = 0; i < ARRAY_SIZE(devices) && !error; i++)
		error = misc_register(&devices[i]);
	return error;
}
device_initcall(lab_exchange_init);
