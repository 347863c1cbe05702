/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclpinned.h"

#include <string.h>

#include "ccl.h"

typedef struct
{
  GstAllocator parent;
  GstCclCuda cuda;              /* keeps the context alive while its memory exists */
} GstCclPinnedAllocator;

typedef struct
{
  GstAllocatorClass parent_class;
} GstCclPinnedAllocatorClass;

typedef struct
{
  GstMemory memory;
  guint8 *block;                /* the block from ccl_pinned_alloc(); NULL in a shared part */
  guint8 *data;                 /* aligned; counted from it: memory.offset */
} GstCclPinnedMemory;

GType gst_ccl_pinned_allocator_get_type (void);
G_DEFINE_TYPE (GstCclPinnedAllocator, gst_ccl_pinned_allocator, GST_TYPE_ALLOCATOR);

#define PINNED_ALLOCATOR(object) ((GstCclPinnedAllocator *) (object))
#define PINNED_MEMORY(object) ((GstCclPinnedMemory *) (object))

static GstMemory *
pinned_alloc (GstAllocator * allocator, gsize size, GstAllocationParams * params)
{
  GstCclPinnedAllocator *self = PINNED_ALLOCATOR (allocator);
  const gsize align = params->align | gst_memory_alignment;
  const gsize maxsize = params->prefix + size + params->padding;
  guint8 *block;

  /* Page-locked blocks begin at a page; only a larger alignment costs space. */
  gst_ccl_cuda_push (&self->cuda);
  block = ccl_pinned_alloc (maxsize + (align > 4095 ? align : 0), gst_ccl_cuda_get_device (&self->cuda));
  gst_ccl_cuda_pop (&self->cuda);
  if (!block)
    return gst_allocator_alloc (NULL, size, params);    /* slower to upload, but usable */

  GstCclPinnedMemory *memory = g_new0 (GstCclPinnedMemory, 1);
  memory->block = block;
  memory->data = (guint8 *) (((guintptr) block + align) & ~(guintptr) align);
  if (params->prefix && (params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED))
    memset (memory->data, 0, params->prefix);
  if (params->padding && (params->flags & GST_MEMORY_FLAG_ZERO_PADDED))
    memset (memory->data + params->prefix + size, 0, params->padding);
  gst_memory_init (GST_MEMORY_CAST (memory), params->flags, allocator, NULL, maxsize, align, params->prefix, size);
  return GST_MEMORY_CAST (memory);
}

static void
pinned_free (GstAllocator * allocator, GstMemory * memory)
{
  GstCclPinnedAllocator *self = PINNED_ALLOCATOR (allocator);

  if (PINNED_MEMORY (memory)->block) {
    gst_ccl_cuda_push (&self->cuda);
    ccl_pinned_free (PINNED_MEMORY (memory)->block);
    gst_ccl_cuda_pop (&self->cuda);
  }
  g_free (memory);
}

static gpointer
pinned_map (GstMemory * memory, gsize maxsize, GstMapFlags flags)
{
  (void) maxsize, (void) flags;
  return PINNED_MEMORY (memory)->data;
}

static void
pinned_unmap (GstMemory * memory)
{
  (void) memory;
}

static GstMemory *
pinned_share (GstMemory * memory, gssize offset, gssize size)
{
  GstMemory *parent = memory->parent ? memory->parent : memory;
  GstCclPinnedMemory *part = g_new0 (GstCclPinnedMemory, 1);

  if (size == -1)
    size = memory->size - offset;
  part->data = PINNED_MEMORY (memory)->data;
  gst_memory_init (GST_MEMORY_CAST (part), GST_MINI_OBJECT_FLAGS (parent) | GST_MINI_OBJECT_FLAG_LOCK_READONLY,
      memory->allocator, parent, memory->maxsize, memory->align, memory->offset + offset, size);
  return GST_MEMORY_CAST (part);
}

static void
gst_ccl_pinned_allocator_finalize (GObject * object)
{
  gst_ccl_cuda_clear (&PINNED_ALLOCATOR (object)->cuda);
  G_OBJECT_CLASS (gst_ccl_pinned_allocator_parent_class)->finalize (object);
}

static void
gst_ccl_pinned_allocator_class_init (GstCclPinnedAllocatorClass * klass)
{
  GST_ALLOCATOR_CLASS (klass)->alloc = pinned_alloc;
  GST_ALLOCATOR_CLASS (klass)->free = pinned_free;
  G_OBJECT_CLASS (klass)->finalize = gst_ccl_pinned_allocator_finalize;
}

static void
gst_ccl_pinned_allocator_init (GstCclPinnedAllocator * self)
{
  GstAllocator *allocator = GST_ALLOCATOR (self);

  gst_ccl_cuda_init (&self->cuda, NULL);
  allocator->mem_type = GST_CCL_PINNED_MEMORY_TYPE;
  allocator->mem_map = pinned_map;
  allocator->mem_unmap = pinned_unmap;
  allocator->mem_share = pinned_share;
}

GstAllocator *
gst_ccl_pinned_allocator_new (GstCclCuda * cuda)
{
  GstCclPinnedAllocator *self = g_object_new (gst_ccl_pinned_allocator_get_type (), NULL);

  gst_object_ref_sink (self);
  gst_ccl_cuda_copy_device (&self->cuda, cuda);
  return GST_ALLOCATOR (self);
}

gboolean
gst_ccl_is_pinned_memory (GstMemory * memory)
{
  return gst_memory_is_type (memory, GST_CCL_PINNED_MEMORY_TYPE);
}

void
gst_ccl_pinned_propose (GstCclCuda * cuda, GstQuery * query)
{
  GstAllocationParams params;
  GstAllocator *allocator = NULL;

  gst_allocation_params_init (&params);
  if (gst_query_get_n_allocation_pools (query))
    return;
  if (gst_query_get_n_allocation_params (query)) {
    gst_query_parse_nth_allocation_param (query, 0, &allocator, &params);
    if (allocator) {
      gst_object_unref (allocator);
      return;
    }
  }
  allocator = gst_ccl_pinned_allocator_new (cuda);
  if (gst_query_get_n_allocation_params (query))
    gst_query_set_nth_allocation_param (query, 0, allocator, &params);
  else
    gst_query_add_allocation_param (query, allocator, &params);
  gst_object_unref (allocator);
}
