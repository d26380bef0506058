/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The text of a model's parameters: lines of `name=value`. Each is taken by whom it concerns, by
 * several where it concerns several; what nobody took at the end is an error, so that no misspelt
 * name goes unnoticed.
 */
#ifndef SIMDISK_PARAMETERS_H
#define SIMDISK_PARAMETERS_H

#include "platform.h"

struct sd_parameters;

/* Reads the text, whose errors are noted like all others; NULL where there is no memory. */
struct sd_parameters *sd_parameters_new(const char *text);
/*
 * Gives the first error noted, or that of a parameter that nobody took, or NULL, and frees the
 * parameters. The sentence stays until the next call.
 */
const char *sd_parameters_end(struct sd_parameters *parameters);

/* Whether there is a parameter of this name. */
bool sd_given(const struct sd_parameters *parameters, const char *name);
/*
 * A whole number between least and most, both included. Gives least, and notes the error, where it
 * is missing, no number, or out of these bounds.
 */
u64 sd_number(struct sd_parameters *parameters, const char *name, u64 least, u64 most);
/* The same, and `otherwise` where the parameter is missing. */
u64 sd_number_or(struct sd_parameters *parameters, const char *name, u64 least, u64 most,
		 u64 otherwise);
/* The index of the value among the words, which end with NULL; 0 and an error where it is none. */
u32 sd_word(struct sd_parameters *parameters, const char *name, const char *const words[]);
/* Notes an error that the parameters have together; the first one noted is the one reported. */
void sd_refuse(struct sd_parameters *parameters, const char *reason);
/* Whether nothing was wrong so far. */
bool sd_accepted(const struct sd_parameters *parameters);

#endif
