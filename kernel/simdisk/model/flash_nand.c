// SPDX-License-Identifier: GPL-2.0
#include "flash_nand.h"

/* How many urgent reads pass what waits: writes get slow under reads, but never stop. */
#define PASSED_MAX 8
/* A power of two. */
#define BUCKETS 4096u

bool sd_nand_make(struct sd_nand *nand, struct sd_parameters *parameters)
{
	nand->channels = sd_number(parameters, "channels", 1, 64);
	nand->dies = nand->channels * sd_number(parameters, "dies_per_channel", 1, 64);
	nand->page_bytes = sd_number(parameters, "page_bytes", SD_SECTOR_BYTES, 65536);
	nand->pages_per_block = sd_number(parameters, "pages_per_block", 1, 65536);
	nand->page_read_ns = sd_number(parameters, "page_read_ns", 0, 1000000000);
	nand->page_program_ns = sd_number(parameters, "page_program_ns", 0, 1000000000);
	nand->block_erase_ns = sd_number(parameters, "block_erase_ns", 0, 10000000000);
	nand->channel_bytes_per_s =
		sd_number(parameters, "channel_bytes_per_s", SD_RATE_LEAST, SD_RATE_MAX);
	nand->shortest_ns = nand->page_read_ns;
	if (nand->shortest_ns > nand->page_program_ns)
		nand->shortest_ns = nand->page_program_ns;
	if (nand->shortest_ns > nand->block_erase_ns)
		nand->shortest_ns = nand->block_erase_ns;
	if (sd_accepted(parameters) && nand->page_bytes & (nand->page_bytes - 1))
		sd_refuse(parameters, "page_bytes is no power of two");
	if (sd_accepted(parameters) && nand->dies > 1024)
		sd_refuse(parameters, "there are more than 1024 dies");
	return sd_accepted(parameters);
}

bool sd_nand_reserve(struct sd_nand *nand, struct sd_events *events, u32 op_count)
{
	nand->events = events;
	nand->op_count = op_count;
	nand->die = sd_alloc(nand->dies * sizeof(*nand->die));
	nand->channel_ns = sd_alloc(nand->channels * sizeof(*nand->channel_ns));
	nand->ops = sd_alloc((u64)op_count * sizeof(*nand->ops));
	nand->programs = sd_alloc(BUCKETS * sizeof(*nand->programs));
	if (!nand->die || !nand->channel_ns || !nand->ops || !nand->programs)
		return false;
	for (u32 i = 0; i < nand->dies; i++) {
		struct sd_nand_line none = { SD_NONE, SD_NONE };

		nand->die[i].urgent = nand->die[i].patient = none;
		nand->die[i].current = nand->die[i].loaded = SD_NONE;
	}
	for (u32 i = 0; i < BUCKETS; i++)
		nand->programs[i] = SD_NONE;
	for (u32 i = 0; i < op_count; i++)
		nand->ops[i].next = i + 1 < op_count ? i + 1 : SD_NONE;
	nand->unused = op_count;
	return true;
}

void sd_nand_destroy(struct sd_nand *nand)
{
	sd_release(nand->die);
	sd_release(nand->channel_ns);
	sd_release(nand->ops);
	sd_release(nand->programs);
}

u32 sd_nand_get(struct sd_nand *nand)
{
	u32 op = nand->first_unused;

	if (!nand->unused)
		return SD_NONE;
	nand->unused--;
	nand->first_unused = nand->ops[op].next;
	memset(&nand->ops[op], 0, sizeof(nand->ops[op]));
	return op;
}

static u32 *bucket(const struct sd_nand *nand, u64 page)
{
	/* Pages of one time are neighbours, so that their low digits tell them apart best. */
	return &nand->programs[page & (BUCKETS - 1)];
}

void sd_nand_announce(struct sd_nand *nand, u32 op)
{
	u32 *first = bucket(nand, nand->ops[op].page);

	nand->ops[op].chain = *first;
	*first = op;
}

u32 sd_nand_program_of(const struct sd_nand *nand, u64 page)
{
	u32 op = *bucket(nand, page);

	while (op != SD_NONE && nand->ops[op].page != page)
		op = nand->ops[op].chain;
	return op;
}

void sd_nand_put(struct sd_nand *nand, u32 op)
{
	if (nand->ops[op].kind == SD_NAND_PROGRAM) {
		u32 *link = bucket(nand, nand->ops[op].page);

		while (*link != op)
			link = &nand->ops[*link].chain;
		*link = nand->ops[op].chain;
	}
	nand->ops[op].next = nand->first_unused;
	nand->first_unused = op;
	nand->unused++;
}

static void line_up(struct sd_nand *nand, struct sd_nand_line *line, u32 op)
{
	nand->ops[op].next = SD_NONE;
	if (line->first == SD_NONE)
		line->first = op;
	else
		nand->ops[line->last].next = op;
	line->last = op;
}

static u32 step_out(struct sd_nand *nand, struct sd_nand_line *line)
{
	u32 op = line->first;

	line->first = nand->ops[op].next;
	return op;
}

/* Moves data over the channel of a die as soon as that is free. */
static void use_channel(struct sd_nand *nand, u64 now_ns, u32 index, u64 takes_ns, u64 silence_ns)
{
	struct sd_nand_op *op = &nand->ops[index];
	u64 *free_ns = &nand->channel_ns[op->die % nand->channels];

	op->channel_from_ns = *free_ns > now_ns ? *free_ns : now_ns;
	op->channel_to_ns = op->channel_from_ns + takes_ns;
	*free_ns = op->channel_to_ns;
	sd_events_add(nand->events, *free_ns, silence_ns, SD_EVENT_CHANNEL, index);
}

/* Moves the next page that is to be programmed into the register, when that is empty. */
static void load(struct sd_nand *nand, u64 now_ns, struct sd_die *die)
{
	struct sd_nand_op *op;

	if (die->loaded != SD_NONE || die->patient.first == SD_NONE)
		return;
	op = &nand->ops[die->patient.first];
	if (op->kind != SD_NAND_PROGRAM)
		return;
	die->loaded = step_out(nand, &die->patient);
	die->is_loaded = false;
	use_channel(nand, now_ns, die->loaded, sd_channel_ns(nand, op->bytes),
		    nand->page_program_ns);
}

/* The next of what a free die shall do, or SD_NONE. */
static u32 choose(struct sd_nand *nand, struct sd_die *die)
{
	bool has_patient = die->loaded != SD_NONE || die->patient.first != SD_NONE;
	bool can_patient = die->loaded != SD_NONE ? die->is_loaded : has_patient;
	u32 op;

	if (die->urgent.first != SD_NONE && (!can_patient || die->passed < PASSED_MAX)) {
		die->passed += has_patient;
		return step_out(nand, &die->urgent);
	}
	if (!can_patient)
		return SD_NONE;
	die->passed = 0;
	if (die->loaded == SD_NONE)
		return step_out(nand, &die->patient);
	op = die->loaded;
	die->loaded = SD_NONE;
	return op;
}

/* The silence after a die gets free, when something else may be waiting for it. */
static u64 free_silence_ns(const struct sd_nand *nand, u64 silence_ns)
{
	return silence_ns < nand->shortest_ns ? silence_ns : nand->shortest_ns;
}

static void begin(struct sd_nand *nand, u64 now_ns, u32 index)
{
	struct sd_nand_op *op = &nand->ops[index];
	u64 channel_ns = sd_channel_ns(nand, op->bytes);
	u64 takes_ns = 0, silence_ns = 0;

	switch (op->kind) {
	case SD_NAND_READ:
		takes_ns = nand->page_read_ns;
		silence_ns = free_silence_ns(nand, channel_ns + op->silence_ns);
		break;
	case SD_NAND_PROGRAM:
		takes_ns = nand->page_program_ns;
		break;
	case SD_NAND_ERASE:
		takes_ns = nand->block_erase_ns;
		break;
	case SD_NAND_COPY:
		takes_ns = nand->page_read_ns;
		silence_ns = 2 * channel_ns + nand->page_program_ns;
		break;
	}
	op->media_from_ns = now_ns;
	op->media_to_ns = now_ns + takes_ns;
	sd_events_add(nand->events, op->media_to_ns, silence_ns, SD_EVENT_DIE, index);
}

/* Gives a die something to do, when it is free. */
static void occupy(struct sd_nand *nand, u64 now_ns, struct sd_die *die)
{
	load(nand, now_ns, die);
	if (die->current != SD_NONE)
		return;
	die->current = choose(nand, die);
	if (die->current == SD_NONE)
		return;
	begin(nand, now_ns, die->current);
	load(nand, now_ns, die);
}

void sd_nand_start(struct sd_nand *nand, u64 now_ns, u32 index, bool urgent)
{
	struct sd_die *die = &nand->die[nand->ops[index].die];

	line_up(nand, urgent ? &die->urgent : &die->patient, index);
	occupy(nand, now_ns, die);
}

static bool die_event(struct sd_nand *nand, u64 now_ns, u32 index)
{
	struct sd_nand_op *op = &nand->ops[index];
	struct sd_die *die = &nand->die[op->die];
	u64 moved_ns = sd_channel_ns(nand, op->bytes);

	if (op->kind == SD_NAND_COPY && !op->copied_out) {
		/* The die waits for the data to come back. */
		op->copied_out = true;
		use_channel(nand, now_ns, index, 2 * moved_ns, nand->page_program_ns);
		return false;
	}
	if (op->kind == SD_NAND_READ)
		use_channel(nand, now_ns, index, moved_ns, op->silence_ns);
	die->current = SD_NONE;
	occupy(nand, now_ns, die);
	return op->kind != SD_NAND_READ;
}

static bool channel_event(struct sd_nand *nand, u64 now_ns, u32 index)
{
	struct sd_nand_op *op = &nand->ops[index];
	struct sd_die *die = &nand->die[op->die];

	switch (op->kind) {
	case SD_NAND_PROGRAM:
		die->is_loaded = true;
		occupy(nand, now_ns, die);
		return false;
	case SD_NAND_COPY:
		sd_events_add(nand->events, now_ns + nand->page_program_ns,
			      free_silence_ns(nand, op->silence_ns), SD_EVENT_DIE, index);
		return false;
	default:
		return true;
	}
}

bool sd_nand_event(struct sd_nand *nand, const struct sd_event *event)
{
	if (event->kind == SD_EVENT_DIE)
		return die_event(nand, event->at_ns, event->index);
	return channel_event(nand, event->at_ns, event->index);
}
