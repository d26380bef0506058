/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A page of the driver's memory that programs map and read: see page_kern.c.
 */
#ifndef SIMDISK_PAGE_H
#define SIMDISK_PAGE_H

/*
 * Registers /dev/NAME, whose mmap gives the page, read-only; once. Returns 0 or a negative error
 * number.
 */
int simdisk_offer_page(const char *name, void *page);

#endif
