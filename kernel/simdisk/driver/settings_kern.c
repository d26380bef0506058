// SPDX-License-Identifier: GPL-2.0
/*
 * The command line is read before there is memory to be had, hence the arrays of a fixed size.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/printk.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include <init.h>

#include "../model/model.h"
#include "host.h"
#include "settings.h"

static char words[SIMDISK_DISKS_MAX][512];
static struct simdisk_settings disks[SIMDISK_DISKS_MAX];
static unsigned int count;
static bool is_refused;

static void refuse(const char *word)
{
	pr_err("simdisk: '%s' is not understood\n", word);
	is_refused = true;
}

static int __init set(struct simdisk_settings *settings, char *word)
{
	char *value = strchr(word, '=');
	unsigned int number = 0;

	if (!value)
		return -EINVAL;
	*value++ = 0;
	if (!strcmp(word, "model"))
		settings->model = value;
	else if (!strcmp(word, "image"))
		settings->image = value;
	else if (!strcmp(word, "trace"))
		settings->trace = value;
	else if (kstrtouint(value, 10, &number))
		return -EINVAL;
	else if (!strcmp(word, "max_request_bytes") && number >= SD_REQUEST_BYTES_LEAST &&
		 number <= SD_REQUEST_BYTES_MAX)
		settings->max_request_bytes = number;
	else if (!strcmp(word, "physical_block_bytes") && is_power_of_2(number))
		settings->physical_block_bytes = number;
	else if (!strcmp(word, "discard_bytes"))
		settings->discard_bytes = number;
	else if (!strcmp(word, "write_cache"))
		settings->write_cache = number;
	else if (!strcmp(word, "fua"))
		settings->fua = number;
	else if (!strcmp(word, "rotational"))
		settings->rotational = number;
	else if (!strcmp(word, "scheduler"))
		settings->scheduler = number;
	else
		return -EINVAL;
	return 0;
}

static int __init read_settings(char *line, int *add)
{
	struct simdisk_settings *settings = &disks[count];
	char *rest = words[count];
	char *word;

	*add = 0;
	if (count == SIMDISK_DISKS_MAX) {
		refuse(line);
		return 0;
	}
	*settings = (struct simdisk_settings) {
		.max_request_bytes = SZ_1M,
		.physical_block_bytes = 512,
		.rotational = true,
		.scheduler = true,
	};
	if (strscpy(words[count], line, sizeof(words[count])) < 0)
		refuse(line);
	while ((word = strsep(&rest, ",")))
		if (set(settings, word))
			refuse(word);
	if (!settings->model || !settings->image)
		refuse(line);
	count++;
	return 0;
}

__uml_setup("simdisk=", read_settings,
"simdisk=model=FILE,image=FILE[,trace=FILE][,NAME=NUMBER...]\n"
"    A disk that keeps its data in an image and takes the time that a model says; one for\n"
"    each disk.\n\n"
);

static int __init read_seed(char *line, int *add)
{
	unsigned long long seed;

	*add = 0;
	if (kstrtoull(line, 10, &seed))
		refuse(line);
	else
		simdisk_host_seed(seed);
	return 0;
}

__uml_setup("simdisk_seed=", read_seed,
"simdisk_seed=N\n"
"    Random numbers follow from this one instead of coming from the host.\n\n"
);

const struct simdisk_settings *simdisk_settings(unsigned int number)
{
	return number < count && !is_refused ? &disks[number] : NULL;
}
