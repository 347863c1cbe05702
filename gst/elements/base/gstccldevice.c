/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccldevice.h"

#include "ccl.h"

typedef struct
{
  GstAllocator parent;
  GstCclCuda cuda;              /* keeps the context alive while its memory exists */
} GstCclDeviceAllocator;

typedef struct
{
  GstAllocatorClass parent_class;
} GstCclDeviceAllocatorClass;

typedef struct
{
  GstMemory memory;
  gpointer device;
  GMutex lock;                  /* guards what follows: several threads may read */
  guint8 *host;                 /* the copy for readers on the host; NULL: none yet */
  gboolean host_is_current;
} GstCclDeviceMemory;

GType gst_ccl_device_allocator_get_type (void);
G_DEFINE_TYPE (GstCclDeviceAllocator, gst_ccl_device_allocator, GST_TYPE_ALLOCATOR);

#define DEVICE_ALLOCATOR(object) ((GstCclDeviceAllocator *) (object))
#define DEVICE_MEMORY(object) ((GstCclDeviceMemory *) (object))

static GstMemory *
device_alloc (GstAllocator * allocator, gsize size, GstAllocationParams * params)
{
  GstCclDeviceAllocator *const self = DEVICE_ALLOCATOR (allocator);
  GstCclDeviceMemory *memory;
  gpointer device;

  (void) params;
  gst_ccl_cuda_push (&self->cuda);
  device = ccl_device_alloc (size, gst_ccl_cuda_get_device (&self->cuda));
  gst_ccl_cuda_pop (&self->cuda);
  if (!device)
    return NULL;

  memory = g_new0 (GstCclDeviceMemory, 1);
  memory->device = device;
  g_mutex_init (&memory->lock);
  gst_memory_init (GST_MEMORY_CAST (memory), GST_MEMORY_FLAG_NO_SHARE, allocator, NULL, size, 0, 0, size);
  return GST_MEMORY_CAST (memory);
}

static void
device_free (GstAllocator * allocator, GstMemory * memory)
{
  GstCclDeviceAllocator *const self = DEVICE_ALLOCATOR (allocator);

  gst_ccl_cuda_push (&self->cuda);
  ccl_device_free (DEVICE_MEMORY (memory)->device);
  gst_ccl_cuda_pop (&self->cuda);
  g_free (DEVICE_MEMORY (memory)->host);
  g_mutex_clear (&DEVICE_MEMORY (memory)->lock);
  g_free (memory);
}

/* The host's copy, updated; NULL if that fails. */
static gpointer
download (GstCclDeviceMemory * memory)
{
  GstCclDeviceAllocator *const self = DEVICE_ALLOCATOR (memory->memory.allocator);
  const gsize size = memory->memory.maxsize;

  if (memory->host_is_current)
    return memory->host;
  if (!memory->host)
    memory->host = g_try_malloc (size);
  if (!memory->host)
    return NULL;
  gst_ccl_cuda_push (&self->cuda);
  memory->host_is_current = ccl_device_download (memory->host, memory->device, size);
  gst_ccl_cuda_pop (&self->cuda);
  return memory->host_is_current ? memory->host : NULL;
}

static gpointer
device_map (GstMemory * memory, gsize maxsize, GstMapFlags flags)
{
  GstCclDeviceMemory *const self = DEVICE_MEMORY (memory);
  gpointer data;

  (void) maxsize;
  g_mutex_lock (&self->lock);
  if (flags & GST_CCL_MAP_DEVICE) {
    data = self->device;
    if (flags & GST_MAP_WRITE)
      self->host_is_current = FALSE;
  } else {
    data = flags & GST_MAP_WRITE ? NULL : download (self);
  }
  g_mutex_unlock (&self->lock);
  return data;
}

static void
device_unmap (GstMemory * memory)
{
  (void) memory;
}

static void
gst_ccl_device_allocator_finalize (GObject * object)
{
  gst_ccl_cuda_clear (&DEVICE_ALLOCATOR (object)->cuda);
  G_OBJECT_CLASS (gst_ccl_device_allocator_parent_class)->finalize (object);
}

static void
gst_ccl_device_allocator_class_init (GstCclDeviceAllocatorClass * klass)
{
  GST_ALLOCATOR_CLASS (klass)->alloc = device_alloc;
  GST_ALLOCATOR_CLASS (klass)->free = device_free;
  G_OBJECT_CLASS (klass)->finalize = gst_ccl_device_allocator_finalize;
}

static void
gst_ccl_device_allocator_init (GstCclDeviceAllocator * self)
{
  GstAllocator *const allocator = GST_ALLOCATOR (self);

  gst_ccl_cuda_init (&self->cuda, NULL);
  allocator->mem_type = GST_CCL_DEVICE_MEMORY_TYPE;
  allocator->mem_map = device_map;
  allocator->mem_unmap = device_unmap;
}

GstAllocator *
gst_ccl_device_allocator_new (GstCclCuda * cuda)
{
  GstCclDeviceAllocator *const self = g_object_new (gst_ccl_device_allocator_get_type (), NULL);

  gst_object_ref_sink (self);
  gst_ccl_cuda_copy_device (&self->cuda, cuda);
  return GST_ALLOCATOR (self);
}

gboolean
gst_ccl_is_device_memory (GstMemory * memory)
{
  return gst_memory_is_type (memory, GST_CCL_DEVICE_MEMORY_TYPE);
}

const GstCclCuda *
gst_ccl_device_memory_get_cuda (GstMemory * memory)
{
  return &DEVICE_ALLOCATOR (memory->allocator)->cuda;
}
