// SPDX-License-Identifier: GPL-2.0
/*
 * The command line is read before there is memory to be had, hence the arrays of a fixed size.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/string.h>

#include <init.h>

#include "images.h"

static char words[LAB_IMAGES_MAX][64];
static struct lab_image images[LAB_IMAGES_MAX];
static int count;

/* FILE or FILE+FILE:BYTES */
static int __init parse(char *word, struct lab_image *image)
{
	char *appended = word;
	char *bytes;

	image->file = strsep(&appended, "+");
	if (!appended)
		return *image->file ? 0 : -EINVAL;
	bytes = appended;
	image->appended = strsep(&bytes, ":");
	if (!bytes || !*image->file || !*image->appended)
		return -EINVAL;
	return kstrtoull(bytes, 10, &image->appended_bytes);
}

static int __init read_image(char *line, int *add)
{
	*add = 0;
	if (count == LAB_IMAGES_MAX || strscpy(words[count], line, sizeof(words[count])) < 0 ||
	    parse(words[count], &images[count]))
		pr_err("lab: '%s' is no image\n", line);
	else
		count++;
	return 0;
}

__uml_setup("lab_image=", read_image,
"lab_image=FILE[+FILE:BYTES]\n"
"    An image of the host's as /dev/lab0, /dev/lab1 and so on, to be read only; behind it, where\n"
"    it is named, BYTES bytes of a second file.\n\n"
);

int lab_images(const struct lab_image **found)
{
	*found = images;
	return count;
}
