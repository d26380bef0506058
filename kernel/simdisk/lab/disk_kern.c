// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/lab0, /dev/lab1 and so on: the guest's root and the layers over it, images of the host's
 * that are read only.
 *
 * A read ends before it has returned, so it takes no virtual time, and the order in which pages are
 * taken from memory does not depend on the host.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/init.h>
#include <linux/slab.h>

#include "../driver/host.h"
#include "../driver/kernel_versions.h"
#include "images.h"

struct lab_disk {
	int file;
	int appended;
	u64 file_bytes;
};

/* What lies beyond the end of either file reads as zeros. */
static int read_bytes(const struct lab_disk *disk, char *place, u64 offset, u64 bytes)
{
	u64 of_file = offset < disk->file_bytes ? min(bytes, disk->file_bytes - offset) : 0;
	struct simdisk_piece first = { .address = place, .bytes = of_file };
	struct simdisk_piece rest = { .address = place + of_file, .bytes = bytes - of_file };
	int error = of_file ? simdisk_host_read(disk->file, &first, 1, offset) : 0;

	if (error || of_file == bytes)
		return error;
	if (disk->appended < 0) {
		memset(rest.address, 0, rest.bytes);
		return 0;
	}
	return simdisk_host_read(disk->appended, &rest, 1, offset + of_file - disk->file_bytes);
}

static void submit(struct bio *bio)
{
	const struct lab_disk *disk = bio->bi_bdev->bd_disk->private_data;
	u64 offset = (u64)bio->bi_iter.bi_sector << SECTOR_SHIFT;
	struct bvec_iter iterator;
	struct bio_vec segment;
	int error = 0;

	if (bio_op(bio) != REQ_OP_READ) {
		bio_io_error(bio);
		return;
	}
	bio_for_each_segment(segment, bio, iterator) {
		error = read_bytes(disk, bvec_virt(&segment), offset, segment.bv_len);
		if (error)
			break;
		offset += segment.bv_len;
	}
	bio->bi_status = error ? errno_to_blk_status(error) : BLK_STS_OK;
	bio_endio(bio);
}

static const struct block_device_operations operations = {
	.owner = THIS_MODULE,
	.submit_bio = submit,
};

static int __init open_files(struct lab_disk *disk, const struct lab_image *image)
{
	long long size;

	disk->appended = -1;
	disk->file = simdisk_host_open(image->file, false);
	if (disk->file < 0)
		return disk->file;
	size = simdisk_host_size(disk->file);
	if (size < 0)
		return size;
	disk->file_bytes = size;
	if (!image->appended)
		return 0;
	disk->appended = simdisk_host_open(image->appended, false);
	return min(disk->appended, 0);
}

static int __init add_disk_of(const struct lab_image *image, int number)
{
	struct lab_disk *kept = kzalloc(sizeof(*kept), GFP_KERNEL);
	struct gendisk *disk;
	int error;

	if (!kept)
		return -ENOMEM;
	error = open_files(kept, image);
	if (error) {
		pr_err("lab: cannot open the image %s: %d\n", image->file, error);
		goto close_files;
	}
	disk = lab_alloc_disk();
	if (IS_ERR_OR_NULL(disk)) {
		error = disk ? PTR_ERR(disk) : -ENOMEM;
		goto close_files;
	}
	snprintf(disk->disk_name, sizeof(disk->disk_name), "lab%d", number);
	disk->fops = &operations;
	disk->private_data = kept;
	set_capacity(disk, (kept->file_bytes + image->appended_bytes) >> SECTOR_SHIFT);
	set_disk_ro(disk, true);
	error = add_disk(disk);
	if (!error)
		return 0;
	put_disk(disk);
close_files:
	simdisk_host_close(kept->appended);
	simdisk_host_close(kept->file);
	kfree(kept);
	return error;
}

static int __init lab_disk_init(void)
{
	const struct lab_image *images;
	int count = lab_images(&images);
	int error = 0;

	for (int number = 0; number < count && !error; number++)
		error = add_disk_of(&images[number], number);
	return error;
}
device_initcall(lab_disk_init);
