// SPDX-License-Identifier: GPL-2.0
/*
 * The block devices /dev/simdisk, /dev/simdiskb and so on: data lie in images of the host, time is
 * that of each disk's model. All disks follow one clock.
 *
 * Data are moved when a request is submitted, and the request ends when the model says, from a
 * timer. Nothing but that timer moves the clock of a guest in virtual time, so what the host does
 * and how long it takes leaves no trace in any figure.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/reboot.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include <init.h>

#include "../model/model.h"
#include "host.h"
#include "kernel_versions.h"
#include "settings.h"
#include "trace.h"

#define NAME "simdisk"
/* The longest text of a model's parameters. */
#define PARAMETERS_MAX 8192
/* Guest memory is contiguous in the host's eyes, so a segment may be as long as a request. */
#define SEGMENTS_MAX SIMDISK_PIECES

struct simdisk {
	/* Guards the model, whose clock last_ns is, too. */
	spinlock_t lock;
	struct sd_model *model;
	u64 last_ns;
	struct hrtimer timer;
	struct blk_mq_tag_set tags;
	struct gendisk *gendisk;
	struct simdisk_trace trace;
	int image;
	u32 in_flight;
};

static struct simdisk *disks[SIMDISK_DISKS_MAX];

/* The driver's data of a request while it is in the disk. */
struct simdisk_command {
	/* In the list of requests that have ended in the model and not yet in the block layer. */
	struct list_head ended;
	u32 depth;
	u32 trace_flags;
};

/*
 * The model's time never goes back: a timer may be ahead of the clock by less than its resolution.
 */
static u64 model_now(struct simdisk *disk, u64 earliest)
{
	disk->last_ns = max3(disk->last_ns, earliest, (u64)ktime_get_ns());
	return disk->last_ns;
}

static blk_status_t status_of(int error)
{
	return error ? errno_to_blk_status(error) : BLK_STS_OK;
}

static blk_status_t move_data(int image, struct request *rq)
{
	struct simdisk_piece pieces[SIMDISK_PIECES / 8];
	unsigned long long offset = blk_rq_pos(rq) << SECTOR_SHIFT;
	bool is_write = rq_data_dir(rq) == WRITE;
	struct req_iterator iterator;
	struct bio_vec segment;
	unsigned long bytes = 0;
	int count = 0, error = 0;

	rq_for_each_bvec(segment, rq, iterator) {
		if (count == ARRAY_SIZE(pieces)) {
			error = is_write ? simdisk_host_write(image, pieces, count, offset)
					 : simdisk_host_read(image, pieces, count, offset);
			if (error)
				return status_of(error);
			offset += bytes;
			bytes = count = 0;
		}
		pieces[count].address = bvec_virt(&segment);
		pieces[count++].bytes = segment.bv_len;
		bytes += segment.bv_len;
	}
	error = is_write ? simdisk_host_write(image, pieces, count, offset)
			 : simdisk_host_read(image, pieces, count, offset);
	return status_of(error);
}

static u32 trace_flags(const struct request *rq)
{
	u32 flags = 0;

	if (rq->cmd_flags & REQ_META)
		flags |= SIMDISK_TRACE_META;
	if (rq->cmd_flags & REQ_SYNC)
		flags |= SIMDISK_TRACE_SYNC;
	if (rq->cmd_flags & REQ_RAHEAD)
		flags |= SIMDISK_TRACE_READAHEAD;
	return flags;
}

static blk_status_t serve(int image, struct request *rq, struct sd_request *request)
{
	request->tag = rq->tag;
	request->sector = blk_rq_pos(rq);
	request->sectors = blk_rq_sectors(rq);
	request->flags = 0;
	switch (req_op(rq)) {
	case REQ_OP_READ:
		request->op = SD_READ;
		return move_data(image, rq);
	case REQ_OP_WRITE:
		request->op = SD_WRITE;
		if (rq->cmd_flags & REQ_FUA)
			request->flags = SD_FUA;
		return move_data(image, rq);
	case REQ_OP_FLUSH:
		request->op = SD_FLUSH;
		request->sector = request->sectors = 0;
		return status_of(simdisk_host_flush(image));
	case REQ_OP_DISCARD:
		request->op = SD_DISCARD;
		return status_of(simdisk_host_punch(image, request->sector << SECTOR_SHIFT,
						    (u64)request->sectors << SECTOR_SHIFT));
	default:
		return BLK_STS_NOTSUPP;
	}
}

static void collect(struct simdisk *disk, const struct sd_done *done, struct list_head *ended)
{
	struct simdisk_command *command;

	if (done->tag == SD_BACKGROUND) {
		simdisk_trace_add(&disk->trace, done, 0, 0);
		return;
	}
	command = blk_mq_rq_to_pdu(blk_mq_tag_to_rq(disk->tags.tags[0], done->tag));
	simdisk_trace_add(&disk->trace, done, command->depth, command->trace_flags);
	disk->in_flight--;
	list_add_tail(&command->ended, ended);
}

/*
 * Runs the model until now, collects the requests that have ended, and arms the timer for the next
 * event. Called with the lock held; the caller passes the list to end_requests() without it, since
 * the block layer may submit the next request from within blk_mq_end_request().
 */
static void advance(struct simdisk *disk, u64 now_ns, struct list_head *ended)
{
	struct sd_done done;
	u64 next_ns;

	while (sd_take(disk->model, now_ns, &done))
		collect(disk, &done, ended);
	next_ns = sd_next_ns(disk->model);
	if (next_ns != SD_NEVER)
		hrtimer_start(&disk->timer, ns_to_ktime(next_ns), HRTIMER_MODE_ABS_HARD);
}

static void end_requests(struct list_head *ended)
{
	struct simdisk_command *command, *next;

	list_for_each_entry_safe(command, next, ended, ended)
		blk_mq_end_request(blk_mq_rq_from_pdu(command), BLK_STS_OK);
}

static blk_status_t queue_rq(struct blk_mq_hw_ctx *context, const struct blk_mq_queue_data *queued)
{
	struct request *rq = queued->rq;
	struct simdisk *disk = rq->q->queuedata;
	struct simdisk_command *command = blk_mq_rq_to_pdu(rq);
	struct sd_request request;
	blk_status_t status;
	LIST_HEAD(ended);
	unsigned long irqs;
	u64 now_ns;

	spin_lock_irqsave(&disk->lock, irqs);
	if (!sd_has_room(disk->model)) {
		/* It is offered again when a request ends. */
		status = BLK_STS_DEV_RESOURCE;
		goto out;
	}
	blk_mq_start_request(rq);
	status = serve(disk->image, rq, &request);
	if (status != BLK_STS_OK)
		goto out;
	command->depth = ++disk->in_flight;
	command->trace_flags = trace_flags(rq);
	now_ns = model_now(disk, 0);
	sd_submit(disk->model, now_ns, &request);
	advance(disk, now_ns, &ended);
out:
	spin_unlock_irqrestore(&disk->lock, irqs);
	end_requests(&ended);
	return status;
}

static enum hrtimer_restart on_time(struct hrtimer *expired)
{
	struct simdisk *disk = container_of(expired, struct simdisk, timer);
	unsigned long irqs;
	LIST_HEAD(ended);

	spin_lock_irqsave(&disk->lock, irqs);
	advance(disk, model_now(disk, ktime_to_ns(hrtimer_get_expires(expired))), &ended);
	spin_unlock_irqrestore(&disk->lock, irqs);
	end_requests(&ended);
	return HRTIMER_NORESTART;
}

static const struct blk_mq_ops queue_operations = {
	.queue_rq = queue_rq,
};

static const struct block_device_operations disk_operations = {
	.owner = THIS_MODULE,
};

/* "CPU REAL": what the host has spent on this kernel, and its clock, in nanoseconds. */
static ssize_t host_clocks_show(struct device *device, struct device_attribute *attribute,
				char *page)
{
	return sysfs_emit(page, "%llu %llu\n", simdisk_host_cpu_ns(), simdisk_host_clock_ns());
}
static DEVICE_ATTR_RO(host_clocks);

static struct attribute *simdisk_attrs[] = {
	&dev_attr_host_clocks.attr,
	NULL,
};
ATTRIBUTE_GROUPS(simdisk);

/* What is traced stays traced, however the guest ends. */
static int on_reboot(struct notifier_block *block, unsigned long code, void *unused)
{
	unsigned long irqs;

	for (int i = 0; i < SIMDISK_DISKS_MAX && disks[i]; i++) {
		spin_lock_irqsave(&disks[i]->lock, irqs);
		simdisk_trace_flush(&disks[i]->trace);
		spin_unlock_irqrestore(&disks[i]->lock, irqs);
	}
	return NOTIFY_DONE;
}

static struct notifier_block reboot_notifier = {
	.notifier_call = on_reboot,
};

static struct sd_model *__init make_model(const char *path)
{
	char *text = kzalloc(PARAMETERS_MAX + 1, GFP_KERNEL);
	struct simdisk_piece piece = { .address = text, .bytes = PARAMETERS_MAX };
	const char *reason = "the file cannot be read";
	int file = simdisk_host_open(path, false);
	struct sd_model *model = NULL;

	if (file >= 0 && text && !simdisk_host_read(file, &piece, 1, 0))
		model = sd_new(text, &reason);
	simdisk_host_close(file);
	kfree(text);
	if (!model)
		pr_err("simdisk: no disk of %s: %s\n", path, reason);
	return model;
}

static int __init open_files(struct simdisk *disk, const struct simdisk_settings *settings)
{
	int error;

	disk->image = simdisk_host_open(settings->image, true);
	if (disk->image < 0) {
		pr_err("simdisk: cannot open %s: %d\n", settings->image, disk->image);
		return disk->image;
	}
	if (!settings->trace)
		return 0;
	error = simdisk_trace_open(&disk->trace, settings->trace);
	if (error)
		pr_err("simdisk: cannot make %s: %d\n", settings->trace, error);
	return error;
}

/* A disk ends where its image ends: a study may take a part of a large one. */
static u64 __init capacity_sectors(const struct simdisk *disk)
{
	return min(sd_capacity_sectors(disk->model),
		   (u64)simdisk_host_size(disk->image) >> SECTOR_SHIFT);
}

static int __init make_queue(struct simdisk *disk, const struct simdisk_settings *settings)
{
	struct blk_mq_tag_set *tags = &disk->tags;
	int error;

	tags->ops = &queue_operations;
	tags->nr_hw_queues = 1;
	tags->queue_depth = sd_queue_depth(disk->model);
	tags->numa_node = NUMA_NO_NODE;
	tags->cmd_size = sizeof(struct simdisk_command);
	tags->flags = SIMDISK_QUEUE_FLAGS;
	if (!settings->scheduler)
		tags->flags |= BLK_MQ_F_NO_SCHED_BY_DEFAULT;
	error = blk_mq_alloc_tag_set(tags);
	if (error)
		return error;
	disk->gendisk = simdisk_alloc_disk(tags, settings);
	if (!IS_ERR(disk->gendisk))
		return 0;
	blk_mq_free_tag_set(tags);
	return PTR_ERR(disk->gendisk);
}

static void __init close_disk(struct simdisk *disk)
{
	simdisk_trace_close(&disk->trace);
	simdisk_host_close(disk->image);
	if (disk->model)
		sd_destroy(disk->model);
	kfree(disk);
}

/* The disk `number`: /dev/simdisk is the first, /dev/simdiskb the second. */
static int __init add_disk_of(unsigned int number, const struct simdisk_settings *settings)
{
	struct simdisk *disk = kzalloc(sizeof(*disk), GFP_KERNEL);
	int error = -EINVAL;

	if (!disk)
		return -ENOMEM;
	spin_lock_init(&disk->lock);
	disk->image = disk->trace.file = -1;
	disk->model = make_model(settings->model);
	if (!disk->model)
		goto close;
	error = open_files(disk, settings);
	if (error)
		goto close;
	simdisk_setup_timer(&disk->timer, on_time);
	error = make_queue(disk, settings);
	if (error)
		goto close;
	disk->gendisk->queue->queuedata = disk;
	disk->gendisk->fops = &disk_operations;
	strscpy(disk->gendisk->disk_name, NAME, sizeof(disk->gendisk->disk_name));
	if (number > 0)
		snprintf(disk->gendisk->disk_name, sizeof(disk->gendisk->disk_name), NAME "%c",
			 'a' + number);
	set_capacity(disk->gendisk, capacity_sectors(disk));
	/* Adding a disk reads it. */
	disks[number] = disk;
	error = device_add_disk(NULL, disk->gendisk, simdisk_groups);
	if (!error)
		return 0;
	disks[number] = NULL;
	put_disk(disk->gendisk);
	blk_mq_free_tag_set(&disk->tags);
close:
	close_disk(disk);
	return error;
}

static int __init simdisk_init(void)
{
	const struct simdisk_settings *settings;
	int error = 0;

	register_reboot_notifier(&reboot_notifier);
	for (unsigned int i = 0; !error && (settings = simdisk_settings(i)); i++)
		error = add_disk_of(i, settings);
	return error;
}
device_initcall(simdisk_init);
