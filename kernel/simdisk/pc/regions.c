// SPDX-License-Identifier: GPL-2.0
/*
 * The host of a PC: files that are mapped as memory, without a system call and without a wait. The
 * clock stands still while data are copied, as a device would do it by itself.
 *
 * A descriptor is the number of a file in the table.
 */
#include <linux/align.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../driver/host.h"
#include "clock.h"
#include "regions.h"

#define IVSHMEM_DEVICE 0x1110
#define IVSHMEM_MEMORY_BAR 2
#define SLOTS 32

static_assert(sizeof(struct fslab_file) == 72);

struct region {
	void *base;
	u64 bytes;
};

static struct region regions[SLOTS];
static struct fslab_table *table;
static u64 heap_used;

static int map_device(struct pci_dev *device)
{
	struct region *region = &regions[PCI_SLOT(device->devfn)];
	int error = pci_enable_device_mem(device);

	if (error)
		return error;
	region->bytes = pci_resource_len(device, IVSHMEM_MEMORY_BAR);
	region->base = memremap(pci_resource_start(device, IVSHMEM_MEMORY_BAR), region->bytes,
				MEMREMAP_WB);
	return region->base ? 0 : -ENOMEM;
}

static bool fits(const struct fslab_file *file)
{
	const struct region *region;

	if (file->slot >= SLOTS || strnlen(file->name, FSLAB_NAME_MAX) == FSLAB_NAME_MAX)
		return false;
	region = &regions[file->slot];
	return region->base && file->offset <= region->bytes &&
	       file->capacity <= region->bytes - file->offset && file->bytes <= file->capacity;
}

static int check_table(void)
{
	const struct region *exchange = &regions[FSLAB_EXCHANGE_SLOT];
	u32 i;

	table = exchange->base;
	if (!table || exchange->bytes < sizeof(*table) ||
	    memcmp(table->magic, FSLAB_TABLE_MAGIC, sizeof(table->magic)) ||
	    table->version != FSLAB_TABLE_VERSION || table->count > FSLAB_FILES_MAX)
		return -EINVAL;
	for (i = 0; i < table->count; i++)
		if (!fits(&table->files[i]))
			return -EINVAL;
	return 0;
}

int fslab_map_regions(void)
{
	struct pci_dev *device = NULL;
	int error = 0;

	while (!error && (device = pci_get_device(PCI_VENDOR_ID_REDHAT_QUMRANET, IVSHMEM_DEVICE,
						  device)))
		error = map_device(device);
	pci_dev_put(device);
	if (!error)
		error = check_table();
	if (error)
		fslab_unmap_regions();
	return error;
}

void fslab_unmap_regions(void)
{
	int slot;

	table = NULL;
	for (slot = 0; slot < SLOTS; slot++)
		if (regions[slot].base)
			memunmap(regions[slot].base);
	memset(regions, 0, sizeof(regions));
}

static int find(const char *name)
{
	u32 i;

	for (i = 0; i < table->count; i++)
		if (!strcmp(table->files[i].name, name))
			return i;
	return -ENOENT;
}

static struct fslab_file *file_of(int number)
{
	return number >= 0 && number < table->count ? &table->files[number] : NULL;
}

static void *start_of(const struct fslab_file *file)
{
	return regions[file->slot].base + file->offset;
}

const void *fslab_content(const char *name, u64 *bytes)
{
	const struct fslab_file *file = file_of(find(name));

	if (!file)
		return NULL;
	*bytes = file->bytes;
	return start_of(file);
}

char *fslab_options(void)
{
	u64 bytes;
	const void *start = fslab_content(FSLAB_OPTIONS, &bytes);

	return start ? kmemdup_nul(start, bytes, GFP_KERNEL) : NULL;
}

int simdisk_host_open(const char *path, int for_writing)
{
	int number = find(path);

	if (number >= 0 && for_writing && !table->files[number].is_writable)
		return -EACCES;
	return number;
}

int simdisk_host_create(const char *path)
{
	int number = simdisk_host_open(path, true);

	if (number >= 0)
		WRITE_ONCE(table->files[number].bytes, 0);
	return number;
}

void simdisk_host_close(int file)
{
}

long long simdisk_host_size(int number)
{
	const struct fslab_file *file = file_of(number);

	return file ? file->bytes : -EBADF;
}

int simdisk_host_read(int number, struct simdisk_piece *pieces, int count,
		      unsigned long long offset)
{
	const struct fslab_file *file = file_of(number);
	u64 there;

	if (!file)
		return -EBADF;
	simdisk_hold_clock();
	for (; count > 0; pieces++, count--) {
		there = offset < file->bytes ? min(pieces->bytes, file->bytes - offset) : 0;
		memcpy(pieces->address, start_of(file) + offset, there);
		memset(pieces->address + there, 0, pieces->bytes - there);
		offset += pieces->bytes;
	}
	simdisk_release_clock();
	return 0;
}

int simdisk_host_write(int number, struct simdisk_piece *pieces, int count,
		       unsigned long long offset)
{
	const struct fslab_file *file = file_of(number);
	int error = file ? 0 : -EBADF;

	simdisk_hold_clock();
	for (; count > 0 && !error; pieces++, count--) {
		if (offset > file->bytes || pieces->bytes > file->bytes - offset)
			error = -ENOSPC;
		else
			memcpy(start_of(file) + offset, pieces->address, pieces->bytes);
		offset += pieces->bytes;
	}
	simdisk_release_clock();
	return error;
}

int simdisk_host_append(int number, const void *bytes, unsigned long count)
{
	struct fslab_file *file = file_of(number);

	if (!file)
		return -EBADF;
	if (count > file->capacity - file->bytes)
		return -ENOSPC;
	memcpy(start_of(file) + file->bytes, bytes, count);
	/* The host reads the bytes after it has read how many there are. */
	smp_store_release(&file->bytes, file->bytes + count);
	return 0;
}

/* The host holds nothing of a disk that the model has not: its memory is the disk. */
int simdisk_host_forget(const char *path)
{
	return -ENODEV;
}

/* What is discarded keeps its content, as on many disks, and its room in the host's file. */
int simdisk_host_punch(int file, unsigned long long offset, unsigned long long bytes)
{
	return 0;
}

/* There is one model, and what it takes is given back with the machine. */
void *simdisk_host_alloc(unsigned long bytes)
{
	const struct region *heap = &regions[FSLAB_HEAP_SLOT];
	void *memory = heap->base + heap_used;

	bytes = ALIGN(bytes, 64);
	if (!heap->base || bytes > heap->bytes - heap_used)
		return NULL;
	heap_used += bytes;
	return memory;
}

void simdisk_host_free(void *memory)
{
}

/* The host counts outside of the machine. */
unsigned long long simdisk_host_cpu_ns(void)
{
	return 0;
}

unsigned long long simdisk_host_clock_ns(void)
{
	return 0;
}

/* The emulator seeds the machine. */
void simdisk_host_seed(unsigned long long seed)
{
}
