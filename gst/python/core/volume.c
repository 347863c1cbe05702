/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* gstccl._core.volume(): a stack of masks, labelled in three dimensions. */
#include "core.h"

#include <string.h>

_Static_assert(sizeof(CclVolumeComponent) == 32, "VOLUME of gstccl/_volume.py names the members");

/* What one call was given. */
typedef struct Stack {
    PyObject *masks, *labels; /* sequences; labels may be None */
    CclConfig config;
    unsigned threshold;
    int invert;
    CclLabels images[CCL_MAX_FRAMES];
    Image held[CCL_MAX_FRAMES]; /* of `images` */
} Stack;

static bool add_mask(CclContext *context, const Stack *stack, Py_ssize_t i)
{
    Image image;
    PyObject *object = PySequence_GetItem(stack->masks, i);
    const ImageRole *const role = stack->config.foreground == CCL_FOREGROUND_EQUAL ? &map_role : &mask_role;
    const bool is_mask = object && image_of_mask(object, role, &image);
    CclStatus status = CCL_ERROR_ARGUMENT;
    if (is_mask) {
        const CclMask mask = {
            .data = image.data,
            .stride = (size_t)image.stride,
            .width = (uint32_t)image.width,
            .height = (uint32_t)image.height,
            .pixel_size = (unsigned)image.pixel_size,
            .threshold = stack->threshold,
            .invert = stack->invert,
            .memory = image.memory,
            .producer_stream = image.stream,
        };
        Py_BEGIN_ALLOW_THREADS status = ccl_volume_add(context, &mask);
        Py_END_ALLOW_THREADS if (status != CCL_OK) raise_status(status);
        image_release(&image);
    }
    Py_XDECREF(object);
    return is_mask && status == CCL_OK;
}

static bool hold_labels(Stack *stack, Py_ssize_t i)
{
    PyObject *object = PySequence_GetItem(stack->labels, i);
    const bool is_image = object && image_of_labels(object, &stack->held[i]);
    Py_XDECREF(object);
    stack->images[i] = (CclLabels){ .data = (uint32_t *)(uintptr_t)stack->held[i].data, .stride = (size_t)stack->held[i].stride };
    return is_image;
}

static PyObject *bytes_of(const void *data, size_t size)
{
    PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (bytes && size)
        memcpy(PyByteArray_AsString(bytes), data, size);
    return bytes;
}

static PyObject *label(CclContext *context, const Stack *stack)
{
    CclVolumeTable table;
    CclStatus status;
    const CclLabels *labels = stack->labels == Py_None ? NULL : stack->images;
    Py_BEGIN_ALLOW_THREADS status = ccl_volume_label(context, labels, &table);
    Py_END_ALLOW_THREADS if (status != CCL_OK) return raise_status(status);
    PyObject *records = bytes_of(table.components, table.n_components * sizeof *table.components);
    PyObject *class_ids = bytes_of(table.class_ids, table.class_ids ? table.n_components * sizeof *table.class_ids : 0);
    if (records && class_ids)
        return Py_BuildValue("(NNI)", records, class_ids, table.n_found);
    Py_XDECREF(records);
    Py_XDECREF(class_ids);
    return NULL;
}

static PyObject *label_stack(Stack *stack)
{
    CclContext *context;
    CclStatus status;
    Py_BEGIN_ALLOW_THREADS status = ccl_context_new(&stack->config, &context);
    Py_END_ALLOW_THREADS if (status != CCL_OK) return raise_status(status);
    bool complete = true;
    for (Py_ssize_t i = 0; complete && i < (Py_ssize_t)stack->config.volume; i++)
        complete = add_mask(context, stack, i) && (stack->labels == Py_None || hold_labels(stack, i));
    PyObject *result = complete ? label(context, stack) : NULL;
    for (uint32_t i = 0; i < stack->config.volume; i++)
        image_release(&stack->held[i]);
    ccl_context_free(context);
    return result;
}

PyObject *volume(PyObject *module, PyObject *arguments)
{
    (void)module;
    Stack *stack = PyMem_Calloc(1, sizeof *stack);
    if (!stack)
        return PyErr_NoMemory();
    CclConfig *config = &stack->config;
    *config = ccl_config_default();
    unsigned connectivity;
    int device, is_map;
    PyObject *result = NULL;
    if (PyArg_ParseTuple(arguments, "OO(III)IIiIIppI", &stack->masks, &stack->labels, &config->volume, &config->max_height,
                         &config->max_width, &connectivity, &config->max_components, &device, &config->threads, &stack->threshold,
                         &stack->invert, &is_map, &config->background_value)) {
        config->foreground = is_map ? CCL_FOREGROUND_EQUAL : CCL_FOREGROUND_THRESHOLD;
        config->connectivity = (CclConnectivity)connectivity;
        config->labels = stack->labels != Py_None;
        config->backend = device < 0 ? CCL_BACKEND_CPU : CCL_BACKEND_CUDA;
        config->device = device < 0 ? 0 : device;
        if (config->volume > CCL_MAX_FRAMES)
            PyErr_Format(PyExc_ValueError, "a stack has at most %u masks: this one has %u", CCL_MAX_FRAMES, config->volume);
        else
            result = label_stack(stack);
    }
    PyMem_Free(stack);
    return result;
}
