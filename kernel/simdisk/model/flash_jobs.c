// SPDX-License-Identifier: GPL-2.0
/* What all requests of a flash disk need: queues, the time of each part, the interface. */
#include "flash_jobs.h"

/* ---- queues ---- */

void sd_job_queue_add(struct sd_flash *flash, struct sd_job_queue *queue, enum sd_job_line line,
		      u32 job)
{
	flash->jobs[job].next[line] = SD_NONE;
	if (queue->first == SD_NONE)
		queue->first = job;
	else
		flash->jobs[queue->last].next[line] = job;
	queue->last = job;
}

void sd_job_queue_pop(struct sd_flash *flash, struct sd_job_queue *queue, enum sd_job_line line)
{
	queue->first = flash->jobs[queue->first].next[line];
}

void sd_job_live_add(struct sd_flash *flash, u32 job)
{
	flash->jobs[job].older = flash->live.last;
	flash->jobs[job].newer = SD_NONE;
	if (flash->live.last == SD_NONE)
		flash->live.first = job;
	else
		flash->jobs[flash->live.last].newer = job;
	flash->live.last = job;
}

void sd_job_live_remove(struct sd_flash *flash, u32 index)
{
	const struct sd_job *job = &flash->jobs[index];

	if (job->older == SD_NONE)
		flash->live.first = job->newer;
	else
		flash->jobs[job->older].newer = job->newer;
	if (job->newer == SD_NONE)
		flash->live.last = job->older;
	else
		flash->jobs[job->newer].older = job->older;
}

u32 sd_job_get(struct sd_flash *flash)
{
	u32 job = flash->first_unused_job;

	if (job == SD_NONE)
		job = flash->fresh_job++;
	else
		flash->first_unused_job = flash->jobs[job].next[SD_LINE_INTAKE];
	memset(&flash->jobs[job], 0, sizeof(flash->jobs[job]));
	return job;
}

void sd_job_put(struct sd_flash *flash, u32 job)
{
	flash->jobs[job].next[SD_LINE_INTAKE] = flash->first_unused_job;
	flash->first_unused_job = job;
}

/* ---- where the time goes ---- */

void sd_job_cover(struct sd_job *job, u64 from_ns, u64 to_ns, enum sd_part part)
{
	if (from_ns < job->covered_ns)
		from_ns = job->covered_ns;
	if (to_ns <= from_ns)
		return;
	job->done.part_ns[part] += to_ns - from_ns;
	job->covered_ns = to_ns;
}

void sd_job_cover_op(struct sd_job *job, const struct sd_nand_op *op)
{
	bool is_program = op->kind == SD_NAND_PROGRAM;

	if (is_program)
		sd_job_cover(job, op->channel_from_ns, op->channel_to_ns, SD_TRANSFER);
	sd_job_cover(job, op->media_from_ns, op->media_to_ns, SD_TRANSFER);
	if (!is_program)
		sd_job_cover(job, op->channel_from_ns, op->channel_to_ns, SD_TRANSFER);
}

void sd_job_wait(struct sd_job *job, u64 now_ns)
{
	if (job->waiting_ns == SD_NEVER)
		job->waiting_ns = now_ns;
}

void sd_job_wait_no_more(struct sd_job *job, u64 now_ns)
{
	if (job->waiting_ns == SD_NEVER)
		return;
	sd_job_cover(job, job->waiting_ns, now_ns, SD_CACHE);
	job->waiting_ns = SD_NEVER;
}

void sd_job_answer(struct sd_flash *flash, u64 now_ns, u32 index)
{
	struct sd_job *job = &flash->jobs[index];

	job->done.done_ns = now_ns;
	sd_flash_answer(flash, &job->done);
}

/* ---- the interface ---- */

u64 sd_job_bytes(const struct sd_flash *flash, const struct sd_job *job, u64 grain, u64 count)
{
	u64 from = grain << flash->grain_shift, to = (grain + count) << flash->grain_shift;

	if (from < job->from_sector)
		from = job->from_sector;
	if (to > job->to_sector)
		to = job->to_sector;
	return (to - from) * SD_SECTOR_BYTES;
}

u64 sd_flash_interface_ns(const struct sd_flash *flash, u64 bytes)
{
	return sd_bytes_ns(bytes, flash->interface_bytes_per_s);
}

u64 sd_job_use_interface(struct sd_flash *flash, u64 now_ns, struct sd_job *job, u64 bytes)
{
	u64 from_ns = flash->interface_ns > now_ns ? flash->interface_ns : now_ns;

	flash->interface_ns = from_ns + sd_flash_interface_ns(flash, bytes);
	sd_job_cover(job, from_ns, flash->interface_ns, SD_CACHE);
	return flash->interface_ns;
}
