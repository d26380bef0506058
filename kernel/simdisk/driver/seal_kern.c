// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/module/fslab/parameters/hostfs_sealed: once 1 is written, no hostfs can be mounted, mounted
 * anew with other flags, or looked at by fspick(2), by root neither; nothing takes that back. What
 * is mounted already stays as it is.
 *
 * hostfs reaches every file of the host that the guest's user reaches, so root in the guest could
 * otherwise mount it a second time and write where the read-only root of the guest cannot. Each way
 * to a mount or a remount begins with a context, which the type of the file system makes; that is
 * where the type refuses from then on. The file system itself is not changed, so that this holds in
 * every version since 5.1, in which contexts came.
 */
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/fs_context.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

static bool is_sealed;

static int refuse_context(struct fs_context *context)
{
	return -EPERM;
}

static int seal(const char *text, const struct kernel_param *parameter)
{
	struct file_system_type *type;
	bool wanted;

	if (!text || kstrtobool(text, &wanted))
		return -EINVAL;
	if (is_sealed || !wanted)
		return is_sealed && !wanted ? -EPERM : 0;
	/* The reference is kept: the type must stay as it is now. */
	type = get_fs_type("hostfs");
	if (!type)
		return -ENODEV;
	type->init_fs_context = refuse_context;
	is_sealed = true;
	return 0;
}

static int is_sealed_get(char *page, const struct kernel_param *parameter)
{
	return sprintf(page, "%d\n", is_sealed);
}

static const struct kernel_param_ops operations = {
	.set = seal,
	.get = is_sealed_get,
};

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "fslab."
module_param_cb(hostfs_sealed, &operations, NULL, 0600);
