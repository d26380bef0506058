/* SPDX-License-Identifier: GPL-2.0 */
/* The images that the command line names, in their order. */
#ifndef LAB_IMAGES_H
#define LAB_IMAGES_H

#include <linux/types.h>

/* The root, and as many layers over it as a study may bring. */
#define LAB_IMAGES_MAX 16

struct lab_image {
	/* A file of the host. */
	const char *file;
	/* A second one, which follows the first; NULL where there is none. */
	const char *appended;
	/* How many bytes of the second one there are: what it lacks reads as zeros. */
	u64 appended_bytes;
};

/* How many there are. */
int lab_images(const struct lab_image **images);

#endif
