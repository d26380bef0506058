// SPDX-License-Identifier: GPL-2.0
/*
 * Reading the text of a model's parameters. The text is copied once and cut in place; the sentences
 * about errors are put together here, since the kernel and a program print differently.
 */
#include "parameters.h"

/* More lines than any disk has parameters. */
#define LINES_MAX 64u
#define SENTENCE_BYTES 200u

struct sd_parameter {
	const char *name;
	const char *value;
	bool taken;
};

struct sd_parameters {
	u32 count;
	bool refused;
	struct sd_parameter lines[LINES_MAX];
	char text[];
};

/* The one sentence that a caller of sd_new may read until the next call. */
static char sentence[SENTENCE_BYTES];

static void say(const char *words)
{
	size_t length = strlen(sentence);

	while (*words && length + 1 < SENTENCE_BYTES)
		sentence[length++] = *words++;
	sentence[length] = 0;
}

static void say_number(u64 number)
{
	char digits[21];
	u32 at = sizeof(digits) - 1;

	digits[at] = 0;
	do {
		digits[--at] = '0' + number % 10;
		number /= 10;
	} while (number);
	say(digits + at);
}

/* Begins the sentence, unless an earlier one stands. */
static bool begins(struct sd_parameters *parameters)
{
	if (parameters->refused)
		return false;
	parameters->refused = true;
	sentence[0] = 0;
	return true;
}

void sd_refuse(struct sd_parameters *parameters, const char *reason)
{
	if (begins(parameters))
		say(reason);
}

bool sd_accepted(const struct sd_parameters *parameters)
{
	return !parameters->refused;
}

static struct sd_parameter *find(struct sd_parameters *parameters, const char *name)
{
	for (u32 i = 0; i < parameters->count; i++)
		if (!strcmp(parameters->lines[i].name, name))
			return &parameters->lines[i];
	return NULL;
}

bool sd_given(const struct sd_parameters *parameters, const char *name)
{
	for (u32 i = 0; i < parameters->count; i++)
		if (!strcmp(parameters->lines[i].name, name))
			return true;
	return false;
}

/* One line without its end; empty ones are passed over. */
static void read_line(struct sd_parameters *parameters, char *line)
{
	char *value = line;

	if (!*line)
		return;
	while (*value && *value != '=')
		value++;
	if (!*value || value == line) {
		if (begins(parameters)) {
			say("\"");
			say(line);
			say("\" is not of the form name=value");
		}
		return;
	}
	*value++ = 0;
	if (find(parameters, line)) {
		if (begins(parameters)) {
			say(line);
			say(" is given twice");
		}
		return;
	}
	if (parameters->count == LINES_MAX) {
		sd_refuse(parameters, "there are too many parameters");
		return;
	}
	parameters->lines[parameters->count].name = line;
	parameters->lines[parameters->count].value = value;
	parameters->count++;
}

struct sd_parameters *sd_parameters_new(const char *text)
{
	size_t length = strlen(text);
	struct sd_parameters *parameters = sd_alloc(sizeof(*parameters) + length + 1);
	char *line;

	if (!parameters)
		return NULL;
	memcpy(parameters->text, text, length + 1);
	line = parameters->text;
	for (size_t i = 0; i <= length; i++) {
		char *end = &parameters->text[i];

		if (*end && *end != '\n')
			continue;
		*end = 0;
		read_line(parameters, line);
		line = end + 1;
	}
	return parameters;
}

const char *sd_parameters_end(struct sd_parameters *parameters)
{
	bool refused;

	for (u32 i = 0; i < parameters->count; i++) {
		if (parameters->lines[i].taken || !begins(parameters))
			continue;
		say(parameters->lines[i].name);
		say(" is no parameter of this disk");
	}
	refused = parameters->refused;
	sd_release(parameters);
	return refused ? sentence : NULL;
}

static bool read_number(const char *digits, u64 *number)
{
	u64 sum = 0;

	if (!*digits)
		return false;
	for (; *digits; digits++) {
		u64 digit = (u64)(*digits - '0');

		if (*digits < '0' || *digits > '9' || sum > (~(u64)0 - digit) / 10)
			return false;
		sum = sum * 10 + digit;
	}
	*number = sum;
	return true;
}

static u64 number_of(struct sd_parameters *parameters, struct sd_parameter *line, u64 least,
		     u64 most)
{
	u64 number = 0;
	bool is_number = read_number(line->value, &number);

	line->taken = true;
	if (is_number && number >= least && number <= most)
		return number;
	if (begins(parameters)) {
		say(line->name);
		say("=");
		say(line->value);
		say(is_number ? " is not between " : " is not a whole number between ");
		say_number(least);
		say(" and ");
		say_number(most);
	}
	return least;
}

static void say_missing(struct sd_parameters *parameters, const char *name)
{
	if (begins(parameters)) {
		say(name);
		say(" is missing");
	}
}

u64 sd_number(struct sd_parameters *parameters, const char *name, u64 least, u64 most)
{
	struct sd_parameter *line = find(parameters, name);

	if (line)
		return number_of(parameters, line, least, most);
	say_missing(parameters, name);
	return least;
}

u64 sd_number_or(struct sd_parameters *parameters, const char *name, u64 least, u64 most,
		 u64 otherwise)
{
	struct sd_parameter *line = find(parameters, name);

	return line ? number_of(parameters, line, least, most) : otherwise;
}

u32 sd_word(struct sd_parameters *parameters, const char *name, const char *const words[])
{
	struct sd_parameter *line = find(parameters, name);

	if (!line) {
		say_missing(parameters, name);
		return 0;
	}
	line->taken = true;
	for (u32 i = 0; words[i]; i++)
		if (!strcmp(words[i], line->value))
			return i;
	if (begins(parameters)) {
		say(name);
		say("=");
		say(line->value);
		say(" is none of");
		for (u32 i = 0; words[i]; i++) {
			say(i ? ", " : " ");
			say(words[i]);
		}
	}
	return 0;
}
