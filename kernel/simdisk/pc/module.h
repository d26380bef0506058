/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included before every file of the module: what is built into User-Mode Linux becomes a part of
 * one module, whose parts module.c initialises in their order.
 *
 *     __uml_setup("NAME=", function, ...)    a line of the options in the exchange
 *     device_initcall(function)              a step of the module's initialisation
 */
#ifndef FSLAB_MODULE_H
#define FSLAB_MODULE_H

#include <linux/init.h>
#include <linux/module.h>

#define __uml_setup(name, function, ...) \
	int (*const fslab_option_##function)(char *, int *) __initconst = function

#undef device_initcall
#define device_initcall(function) \
	int (*const fslab_init_##function)(void) __initconst = function

#endif
