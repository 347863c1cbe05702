/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Device and page-locked memory: see emulate.h. All allocations are in one range of addresses. Each begins at the start of a
 * page and has at least one free page after it. */
#include "emulate.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <vector>

namespace emulate {

uintptr_t memory_base;
size_t memory_size;

namespace {

constexpr size_t PAGE = 4096;

std::vector<Allocation> allocations(1); /* number 0: none */
std::vector<uint32_t> unused;           /* numbers */
uint32_t *owners;                       /* by page: number in `allocations` */
size_t n_pages, next_page;
size_t bytes_in_use;
unsigned n_in_use;

void reserve()
{
    for (size_t size = (size_t)16 << 30; size >= (size_t)1 << 30 && !memory_size; size /= 4) {
        void *const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            continue;
        memory_base = (uintptr_t)memory;
        memory_size = size;
    }
    n_pages = memory_size / PAGE;
    owners = (uint32_t *)mmap(nullptr, (n_pages + 1) * sizeof *owners, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!memory_size || owners == MAP_FAILED) {
        fprintf(stderr, "emulation: no addresses left for device memory\n");
        exit(2);
    }
}

/* The first of n consecutive free pages, searched from the last allocation on, once around. */
bool find_pages(size_t n, size_t *first)
{
    size_t page = next_page, searched = 0;
    while (searched <= n_pages + n) {
        if (page + n > n_pages) {
            searched += n_pages - page;
            page = 0;
        }
        size_t free = 0;
        while (free < n && !owners[page + free])
            free++;
        if (free == n) {
            *first = page;
            return true;
        }
        const Allocation &there = allocations[owners[page + free]];
        const size_t past = (there.begin - memory_base) / PAGE + there.pages;
        searched += past - page;
        page = past;
    }
    return false;
}

} // namespace

void *memory_allocate(size_t size, Kind kind)
{
    if (!memory_size)
        reserve();
    const size_t n = (size + PAGE - 1) / PAGE + 1;
    size_t first;
    if (!size || size > memory_size / 2 || !find_pages(n, &first))
        return nullptr;
    next_page = first + n;
    uint32_t number;
    if (unused.empty()) {
        number = (uint32_t)allocations.size();
        allocations.emplace_back();
    } else {
        number = unused.back();
        unused.pop_back();
    }
    Allocation &allocation = allocations[number];
    allocation.begin = memory_base + first * PAGE;
    allocation.end = allocation.begin + size;
    allocation.pages = n;
    allocation.kind = kind;
    allocation.cleared = step;
    for (size_t i = 0; i < n - 1; i++)
        owners[first + i] = number;
    if (kind != Kind::SHARED) {
        memset((void *)allocation.begin, 0xa5, size);
        bytes_in_use += size;
        n_in_use++;
    }
    return (void *)allocation.begin;
}

bool memory_free(void *memory)
{
    if (!in_memory((uintptr_t)memory))
        return false;
    const size_t first = ((uintptr_t)memory - memory_base) / PAGE;
    const uint32_t number = owners[first];
    Allocation &allocation = allocations[number];
    if (!number || allocation.begin != (uintptr_t)memory)
        return false;
    const size_t size = allocation.end - allocation.begin;
    for (size_t i = 0; i < allocation.pages - 1; i++)
        owners[first + i] = 0;
    if (allocation.kind != Kind::SHARED) {
        bytes_in_use -= size;
        n_in_use--;
    }
    madvise(memory, (size + PAGE - 1) / PAGE * PAGE, MADV_DONTNEED);
    forget_accesses(allocation.begin, allocation.pages * PAGE);
    allocation = Allocation{};
    unused.push_back(number);
    return true;
}

Allocation &memory_owner(uintptr_t address)
{
    return allocations[owners[(address - memory_base) / PAGE]];
}

size_t memory_in_use(unsigned *n)
{
    if (!memory_size)
        reserve();
    *n = n_in_use;
    return bytes_in_use;
}

} // namespace emulate
