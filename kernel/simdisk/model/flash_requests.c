// SPDX-License-Identifier: GPL-2.0
/* The way of a request through a flash disk, from its command to its answer. */
#include "flash_jobs.h"

#define GRAIN_SECTORS(flash) ((u64)1 << (flash)->grain_shift)

/* ---- reads ---- */

static void send(struct sd_flash *flash, u64 now_ns, struct sd_job *job, u64 bytes)
{
	if (bytes)
		job->sent_ns = sd_job_use_interface(flash, now_ns, job, bytes);
}

static void read_ends(struct sd_flash *flash, u64 now_ns, u32 index)
{
	struct sd_job *job = &flash->jobs[index];
	u64 at_ns = job->sent_ns > now_ns ? job->sent_ns : now_ns;

	if (job->arrived == job->grains && !job->left)
		sd_events_add(&flash->events, at_ns, 0, SD_EVENT_ANSWER, index);
}

/* Lets a die read the next grains of a job that lie on one page; false where it must wait. */
static bool read_page(struct sd_flash *flash, u64 now_ns, u32 index, u64 page)
{
	struct sd_job *job = &flash->jobs[index];
	u64 grain = job->first + job->arrived;
	struct sd_nand_op *op;
	u32 op_index, count = 1;

	if (flash->nand.unused <= flash->kept_from_reads)
		return false;
	op_index = sd_nand_get(&flash->nand);
	op = &flash->nand.ops[op_index];
	while (job->arrived + count < job->grains && count < flash->grains_per_page &&
	       flash->mapping->locate(flash, grain + count) == page)
		count++;
	op->kind = SD_NAND_READ;
	op->purpose = SD_FOR_HOST;
	op->page = page;
	op->die = page % flash->nand.dies;
	op->bytes = count * flash->grain_bytes;
	op->job = index;
	/* What of the page crosses the interface stands in the only slot. */
	op->slots[0] = sd_job_bytes(flash, job, grain, count);
	op->silence_ns = sd_flash_interface_ns(flash, op->slots[0]);
	job->arrived += count;
	job->left++;
	job->done.flags &= ~SD_CACHED;
	sd_nand_start(&flash->nand, now_ns, op_index, true);
	return true;
}

/* Hands a read to the dies; false where some of it must wait for free operations. */
static bool read_on(struct sd_flash *flash, u64 now_ns, u32 index)
{
	struct sd_job *job = &flash->jobs[index];
	u64 bytes = 0;

	while (job->arrived < job->grains) {
		u64 grain = job->first + job->arrived;
		u64 page = flash->mapping->locate(flash, grain);

		if (page == SD_NOWHERE) {
			job->done.flags &= ~SD_CACHED;
		} else if (sd_nand_program_of(&flash->nand, page) == SD_NONE) {
			if (read_page(flash, now_ns, index, page))
				continue;
			break;
		}
		bytes += sd_job_bytes(flash, job, grain, 1);
		job->arrived++;
	}
	send(flash, now_ns, job, bytes);
	read_ends(flash, now_ns, index);
	return job->arrived == job->grains;
}

static void reads_go_on(struct sd_flash *flash, u64 now_ns)
{
	while (flash->reads.first != SD_NONE && read_on(flash, now_ns, flash->reads.first))
		sd_job_queue_pop(flash, &flash->reads, SD_LINE_INTAKE);
}

/* ---- writes ---- */

/* What came before each of the flushes at the head is on the media. */
static void end_flushes(struct sd_flash *flash, u64 now_ns)
{
	u32 index;

	while ((index = flash->live.first) != SD_NONE && flash->jobs[index].sealed) {
		sd_job_cover(&flash->jobs[index], 0, now_ns, SD_TRANSFER);
		sd_job_answer(flash, now_ns, index);
		sd_job_live_remove(flash, index);
		sd_job_put(flash, index);
	}
}

static void end_write(struct sd_flash *flash, u64 now_ns, u32 index)
{
	struct sd_job *job = &flash->jobs[index];

	if (!job->answered) {
		sd_job_answer(flash, now_ns, index);
	} else if (job->programmed) {
		job->done.sectors = job->programmed << flash->grain_shift;
		sd_job_answer(flash, now_ns, index);
	}
	sd_job_live_remove(flash, index);
	sd_job_put(flash, index);
	end_flushes(flash, now_ns);
}

void sd_flash_settle(struct sd_flash *flash, u64 now_ns, u32 index, bool is_programmed)
{
	struct sd_job *job = &flash->jobs[index];

	flash->buffered_bytes -= flash->grain_bytes;
	job->programmed += is_programmed;
	if (--job->left == 0)
		end_write(flash, now_ns, index);
}

/* All of a write is in the buffer, which answers it; what is left is the disk's own business. */
static void answer_cached(struct sd_flash *flash, u64 now_ns, struct sd_job *job)
{
	struct sd_done done = job->done;

	done.flags |= SD_CACHED;
	done.done_ns = now_ns;
	sd_flash_answer(flash, &done);
	job->answered = true;
	job->covered_ns = now_ns;
	memset(&job->done, 0, sizeof(job->done));
	job->done.tag = SD_BACKGROUND;
	job->done.op = SD_MEDIA_WRITE;
	job->done.sector = job->first << flash->grain_shift;
	job->done.submit_ns = job->done.start_ns = now_ns;
}

/* The grains that a write sends next: up to the end of an aligned page. */
static u32 next_piece(const struct sd_flash *flash, const struct sd_job *job)
{
	u32 left = job->grains - job->arrived;
	u32 piece = flash->grains_per_page -
		    (u32)((job->first + job->arrived) & (flash->grains_per_page - 1));

	return piece < left ? piece : left;
}

/* Whether the next piece of a write must wait for room in the buffer. */
static bool lacks_room(const struct sd_flash *flash, const struct sd_job *job)
{
	u64 bytes = (u64)next_piece(flash, job) * flash->grain_bytes;

	return flash->has_cache && flash->buffered_bytes + bytes > flash->buffer_bytes;
}

static void receive(struct sd_flash *flash, u64 now_ns)
{
	while (flash->intake.first != SD_NONE && !flash->is_receiving) {
		u32 index = flash->intake.first, piece;
		struct sd_job *job = &flash->jobs[index];
		u64 at_ns;

		if (job->arrived == job->grains) {
			/* Nothing to send: a flush, a discard. */
			sd_job_queue_pop(flash, &flash->intake, SD_LINE_INTAKE);
			sd_job_queue_add(flash, &flash->mapping_line, SD_LINE_MAPPING, index);
			sd_flash_go_on(flash, now_ns);
			continue;
		}
		if (lacks_room(flash, job)) {
			sd_job_wait(job, now_ns);
			return;
		}
		sd_job_wait_no_more(job, now_ns);
		piece = next_piece(flash, job);
		flash->buffered_bytes += (u64)piece * flash->grain_bytes;
		at_ns = sd_job_use_interface(flash, now_ns, job,
				      sd_job_bytes(flash, job, job->first + job->arrived, piece));
		sd_events_add(&flash->events, at_ns, 0, SD_EVENT_ARRIVAL, index);
		flash->is_receiving = true;
	}
}

static void arrival(struct sd_flash *flash, u64 now_ns, u32 index)
{
	struct sd_job *job = &flash->jobs[index];

	flash->is_receiving = false;
	if (!job->arrived)
		sd_job_queue_add(flash, &flash->mapping_line, SD_LINE_MAPPING, index);
	job->arrived += next_piece(flash, job);
	if (job->arrived == job->grains) {
		sd_job_queue_pop(flash, &flash->intake, SD_LINE_INTAKE);
		if (!job->forced)
			answer_cached(flash, now_ns, job);
	}
	sd_flash_go_on(flash, now_ns);
	receive(flash, now_ns);
}

/* ---- what the mapping gets ---- */

/* Whether a job covers only a part of its next grain, and the rest lies on the media. */
static bool needs_rest(const struct sd_flash *flash, const struct sd_job *job, u64 *page)
{
	u64 grain = job->first + job->mapped;
	u64 from = grain << flash->grain_shift, to = from + GRAIN_SECTORS(flash);

	if (to > flash->sectors)
		to = flash->sectors;
	if (job->from_sector <= from && job->to_sector >= to)
		return false;
	*page = flash->mapping->locate(flash, grain);
	return *page != SD_NOWHERE && sd_nand_program_of(&flash->nand, *page) == SD_NONE;
}

/* Sees to it that the next grain of a job is whole; false where it must wait for that. */
static bool has_rest(struct sd_flash *flash, u64 now_ns, u32 index)
{
	struct sd_nand_op *op;
	u32 op_index;
	u64 page;

	if (flash->has_rest || !needs_rest(flash, &flash->jobs[index], &page))
		return true;
	if (flash->nand.unused <= flash->kept_from_writes)
		return false;
	op_index = sd_nand_get(&flash->nand);
	op = &flash->nand.ops[op_index];
	op->kind = SD_NAND_READ;
	op->purpose = SD_FOR_REST;
	op->page = page;
	op->die = page % flash->nand.dies;
	op->bytes = flash->grain_bytes;
	op->job = index;
	flash->fetches_rest = true;
	sd_nand_start(&flash->nand, now_ns, op_index, true);
	return false;
}

/* Gives the mapping what has arrived of a write; true where that was all of it. */
static bool map_write(struct sd_flash *flash, u64 now_ns, u32 index)
{
	struct sd_job *job = &flash->jobs[index];

	while (job->mapped < job->arrived) {
		if (!has_rest(flash, now_ns, index))
			return false;
		if (!flash->mapping->put(flash, now_ns, job->first + job->mapped, index)) {
			sd_job_wait(job, now_ns);
			return false;
		}
		sd_job_wait_no_more(job, now_ns);
		flash->has_rest = false;
		job->mapped++;
	}
	return job->mapped == job->grains;
}

static void discard(struct sd_flash *flash, u64 now_ns, u32 index)
{
	const struct sd_job *job = &flash->jobs[index];
	u64 first = (job->from_sector + GRAIN_SECTORS(flash) - 1) >> flash->grain_shift;
	u64 last = job->to_sector >> flash->grain_shift;

	if (job->to_sector == flash->sectors)
		last = flash->grains;
	if (flash->heeds_discards && last > first)
		flash->mapping->trim(flash, first, last - first);
	sd_job_answer(flash, now_ns, index);
	sd_job_put(flash, index);
}

static void seal(struct sd_flash *flash, u64 now_ns)
{
	if (flash->mapping->seal)
		flash->mapping->seal(flash, now_ns);
}

static void flush(struct sd_flash *flash, u64 now_ns, u32 index)
{
	struct sd_job *job = &flash->jobs[index];

	if (flash->is_protected) {
		sd_job_answer(flash, now_ns, index);
		sd_job_live_remove(flash, index);
		sd_job_put(flash, index);
		end_flushes(flash, now_ns);
		return;
	}
	seal(flash, now_ns);
	job->sealed = true;
	end_flushes(flash, now_ns);
}

void sd_flash_go_on(struct sd_flash *flash, u64 now_ns)
{
	u32 index;

	while ((index = flash->mapping_line.first) != SD_NONE && !flash->fetches_rest) {
		struct sd_job *job = &flash->jobs[index];
		u32 op = job->answered ? (u32)SD_WRITE : job->done.op;

		if (op == SD_WRITE && !map_write(flash, now_ns, index))
			return;
		sd_job_queue_pop(flash, &flash->mapping_line, SD_LINE_MAPPING);
		if (op == SD_DISCARD)
			discard(flash, now_ns, index);
		else if (op == SD_FLUSH)
			flush(flash, now_ns, index);
		else if (!job->grains)
			end_write(flash, now_ns, index);
		else if (job->forced)
			seal(flash, now_ns);
	}
}

/* ---- events ---- */

void sd_flash_accept(struct sd_flash *flash, u64 now_ns, const struct sd_request *request)
{
	u32 index = sd_job_get(flash);
	struct sd_job *job = &flash->jobs[index];
	u64 end = request->sector + request->sectors;
	bool has_data = request->sectors && request->op <= SD_WRITE;
	u64 silence_ns = 0;

	job->done = sd_answer_to(request, now_ns);
	job->done.start_ns = now_ns;
	job->done.part_ns[SD_COMMAND] = flash->command_ns;
	job->covered_ns = now_ns + flash->command_ns;
	job->waiting_ns = SD_NEVER;
	job->from_sector = request->sector;
	job->to_sector = end;
	job->first = request->sector >> flash->grain_shift;
	if (has_data) {
		u64 bytes;
		u32 piece;

		job->grains = ((end - 1) >> flash->grain_shift) - job->first + 1;
		/* A read ends when all of it is sent; a piece of a write may end another one. */
		piece = request->op == SD_READ ? job->grains : next_piece(flash, job);
		bytes = sd_job_bytes(flash, job, job->first, piece);
		silence_ns = sd_flash_interface_ns(flash, bytes);
	}
	if (request->op == SD_WRITE)
		job->left = job->grains;
	job->forced = !flash->has_cache || (request->flags & SD_FUA && !flash->is_protected);
	if (request->op == SD_WRITE || request->op == SD_FLUSH)
		sd_job_live_add(flash, index);
	sd_events_add(&flash->events, job->covered_ns, silence_ns, SD_EVENT_COMMAND, index);
}

static void command(struct sd_flash *flash, u64 now_ns, u32 index)
{
	struct sd_job *job = &flash->jobs[index];

	if (job->done.op != SD_READ) {
		sd_job_queue_add(flash, &flash->intake, SD_LINE_INTAKE, index);
		/* Behind others that wait for room, it waits for the same. */
		if (job->grains && lacks_room(flash, job))
			sd_job_wait(job, now_ns);
		if (flash->intake.first == index)
			receive(flash, now_ns);
		return;
	}
	/* Until a grain is found to be elsewhere. */
	job->done.flags |= SD_CACHED;
	sd_job_queue_add(flash, &flash->reads, SD_LINE_INTAKE, index);
	if (flash->reads.first == index)
		reads_go_on(flash, now_ns);
}

/* An operation has ended, and is given back after this. */
static void op_ends(struct sd_flash *flash, u64 now_ns, const struct sd_nand_op *op)
{
	struct sd_job *job = &flash->jobs[op->job];

	switch (op->purpose) {
	case SD_FOR_HOST:
		if (op->kind == SD_NAND_READ) {
			sd_job_cover_op(job, op);
			send(flash, now_ns, job, op->slots[0]);
			job->left--;
			read_ends(flash, now_ns, op->job);
			break;
		}
		for (u32 i = 0; i < op->grains; i++) {
			if (op->slots[i] == SD_NONE)
				continue;
			sd_job_cover_op(&flash->jobs[op->slots[i]], op);
			sd_flash_settle(flash, now_ns, op->slots[i], true);
		}
		break;
	case SD_FOR_REST:
		sd_job_cover_op(job, op);
		flash->fetches_rest = false;
		flash->has_rest = true;
		break;
	case SD_FOR_MAPPING:
		flash->mapping->ended(flash, now_ns, op);
		break;
	}
}

static void nand_event(struct sd_flash *flash, const struct sd_event *event)
{
	const struct sd_nand_op *op = &flash->nand.ops[event->index];
	u64 now_ns = event->at_ns;
	bool is_host, is_read;

	if (!sd_nand_event(&flash->nand, event))
		return;
	is_host = op->purpose == SD_FOR_HOST;
	is_read = is_host && op->kind == SD_NAND_READ;
	op_ends(flash, now_ns, op);
	sd_nand_put(&flash->nand, event->index);
	/* Operations are short only while the host has many; so only the end of these matters. */
	if (is_host)
		reads_go_on(flash, now_ns);
	/* A read of the host makes no room for anything else. */
	if (is_read)
		return;
	sd_flash_go_on(flash, now_ns);
	receive(flash, now_ns);
}

void sd_flash_event(struct sd_flash *flash, const struct sd_event *event)
{
	switch (event->kind) {
	case SD_EVENT_COMMAND:
		command(flash, event->at_ns, event->index);
		break;
	case SD_EVENT_ARRIVAL:
		arrival(flash, event->at_ns, event->index);
		break;
	case SD_EVENT_ANSWER:
		sd_job_answer(flash, event->at_ns, event->index);
		sd_job_put(flash, event->index);
		break;
	default:
		nand_event(flash, event);
		break;
	}
}
