/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SD_FLASH_JOBS_H
#define SD_FLASH_JOBS_H

/* What all requests of a flash disk need: queues, the time of each part, the interface. */
#include "flash_device.h"

/* An unused job, cleared. */
u32 sd_job_get(struct sd_flash *flash);
void sd_job_put(struct sd_flash *flash, u32 job);
void sd_job_queue_add(struct sd_flash *flash, struct sd_job_queue *queue, enum sd_job_line line,
		      u32 job);
void sd_job_queue_pop(struct sd_flash *flash, struct sd_job_queue *queue, enum sd_job_line line);
/* Adds a write or a flush to the list of those that are not complete, behind all others. */
void sd_job_live_add(struct sd_flash *flash, u32 job);
void sd_job_live_remove(struct sd_flash *flash, u32 index);

/* Adds an interval to a part of the job's time, without what an earlier part has already. */
void sd_job_cover(struct sd_job *job, u64 from_ns, u64 to_ns, enum sd_part part);
/* Adds the transfer and the media time of an operation. */
void sd_job_cover_op(struct sd_job *job, const struct sd_nand_op *op);
/* From here to sd_job_wait_no_more() the job waits for the cache. */
void sd_job_wait(struct sd_job *job, u64 now_ns);
void sd_job_wait_no_more(struct sd_job *job, u64 now_ns);
/* Answers the request of a job. */
void sd_job_answer(struct sd_flash *flash, u64 now_ns, u32 index);

/* The bytes of a job in some of the disk's grains. */
u64 sd_job_bytes(const struct sd_flash *flash, const struct sd_job *job, u64 grain, u64 count);
/* The time that bytes take on the interface. */
u64 sd_flash_interface_ns(const struct sd_flash *flash, u64 bytes);
/* Moves bytes of a job over the interface as soon as that is free; gives when they are there. */
u64 sd_job_use_interface(struct sd_flash *flash, u64 now_ns, struct sd_job *job, u64 bytes);

#endif
