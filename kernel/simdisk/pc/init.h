/* SPDX-License-Identifier: GPL-2.0 */
/* In place of User-Mode Linux's header of this name: module.h has what is used of it. */
