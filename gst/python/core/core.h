/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The extension module gstccl._core: contexts and trackers of the core for Python. gstccl/__init__.py is what users see. */
#ifndef GSTCCL_CORE_H
#define GSTCCL_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "kernels/ccl.h"

/* A mask or label image as Python gave it; image_release() gives it back. */
typedef struct Image {
    const void *data;
    Py_ssize_t width, height, stride; /* stride in bytes */
    Py_ssize_t pixel_size;
    CclMemory memory;
    void *stream;      /* DEVICE: the stream that makes the pixels, as CclMask.producer_stream */
    Py_buffer buffer;  /* held when buffer.obj is set */
    PyObject *capsule; /* a DLPack capsule that is held, or NULL */
} Image;

/* How an error names an array of pixels, and what it advises for elements of another type. */
typedef struct ImageRole {
    const char *what, *advice;
} ImageRole;

extern const ImageRole mask_role, map_role, picture_role;

/* Each sets a Python exception and returns false where the object is no image of the wanted kind. */
bool image_of_mask(PyObject *object, const ImageRole *role, Image *image);
bool image_of_labels(PyObject *object, Image *image);
void image_release(Image *image);

/* A part of image_of_mask(): anything with __dlpack__(), in memory of a CUDA device. */
bool image_of_dlpack(PyObject *object, const ImageRole *role, Image *image);

/* Measures behind the 64 bytes of a record, in this order, each a number of doubles. records.c has their names. */
enum {
    COLUMN_CENTROID = 1 << 0,    /* x, y */
    COLUMN_COVARIANCE = 1 << 1,  /* xx, xy, yy */
    COLUMN_AXES = 1 << 2,        /* major, minor */
    COLUMN_ORIENTATION = 1 << 3, /* 1, like those that follow */
    COLUMN_ECCENTRICITY = 1 << 4,
    COLUMN_DIAMETER = 1 << 5,
    COLUMN_EXTENT = 1 << 6,
    COLUMN_EQUIVALENT_RECT = 1 << 7, /* length, width */
    COLUMN_SHAPE = 1 << 8,           /* 6: three 64-bit integers, three doubles; needs CCL_FEATURE_SHAPE */
    COLUMN_HULL = 1 << 9,            /* 10; needs CCL_FEATURE_HULL */
    COLUMN_HOLES = 1 << 10,          /* a 64-bit integer; needs CCL_FEATURE_HOLES */
    COLUMN_INTENSITY = 1 << 11,      /* 10: three 64-bit integers, then doubles; needs CCL_FEATURE_INTENSITY */
    COLUMN_CONVEXITY = 1 << 12,      /* 1; needs CCL_FEATURE_SHAPE and CCL_FEATURE_HULL */
    COLUMN_CLASS_ID = 1 << 13,       /* a 64-bit integer; needs CCL_FOREGROUND_EQUAL */
};

/* Adds a number. False: a Python exception is set. */
bool add_bit(PyObject *dict, const char *name, unsigned bit);

/* A new dict from the names of columns to their bits. */
PyObject *column_bits(void);

/* A new dict from the names of the columns that need a feature to CCL_FEATURE_... */
PyObject *feature_bits(void);

/* A new bytearray of the table's records, each followed by its columns. */
PyObject *records_of_table(const CclTable *table, unsigned columns);

/* A new bytearray of the records of the holes of each record's component, one component after the other. */
PyObject *holes_of_table(const CclTable *table);

/* A new list with a bytearray of (x, y) floats for each record; `mask` is in host memory. */
PyObject *contours_of_table(const CclTable *table, const CclMask *mask, const CclConfig *of_context, double epsilon);

/* Raises the exception that belongs to a status, with the core's sentence. Returns NULL. */
PyObject *raise_status(CclStatus status);

/* The types Context and Tracker of gstccl._core, and its function volume(). */
extern PyType_Spec context_spec, tracker_spec;
/* A new dict with the settings that a tracker has by default. */
PyObject *tracker_defaults(void);
PyObject *volume(PyObject *module, PyObject *arguments);

#endif
