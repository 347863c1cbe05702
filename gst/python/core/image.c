/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Arrays of Python as masks and label images of the core, without copies. */
#include "core.h"

#include <string.h>

/* gstccl/_masks.py has the same. */
const ImageRole mask_role = { "the mask", "pass mask != 0" };
const ImageRole map_role = { "the label map", "pass map.astype(numpy.uint16) if no value is above 65535" };
const ImageRole picture_role = { "the picture", "convert it to uint8 or uint16" };

/* One element of an array, from its format in the struct module's notation: the bytes of a pixel, 0 when it is none. */
static int mask_pixel_size(const Py_buffer *buffer)
{
    const char *format = buffer->format ? buffer->format : "B";
    const uint16_t one = 1;
    const char native = *(const char *)&one ? '<' : '>';
    if (*format == '@' || *format == '=' || *format == native || (*format && strchr("<>!|", *format) && buffer->itemsize == 1))
        format++;
    if (!strcmp(format, "?") || !strcmp(format, "B"))
        return 1;
    return strcmp(format, "H") ? 0 : 2;
}

/* Checks two dimensions whose columns lie side by side; `what` begins the sentence. */
static bool take_shape(Image *image, const char *what, int n_dimensions, const Py_ssize_t *shape, const Py_ssize_t *strides)
{
    if (n_dimensions != 2) {
        PyErr_Format(PyExc_ValueError, "%s must have 2 dimensions (rows, columns): it has %d", what, n_dimensions);
        return false;
    }
    image->height = shape[0], image->width = shape[1];
    if (shape[0] < 1 || shape[1] < 1 || shape[0] > CCL_MAX_SIZE || shape[1] > CCL_MAX_SIZE) {
        PyErr_Format(PyExc_ValueError, "%s must have 1 to %d rows and columns: its shape is (%zd, %zd)", what, (int)CCL_MAX_SIZE,
                     shape[0], shape[1]);
        return false;
    }
    if (shape[1] > 1 && strides[1] != image->pixel_size) {
        PyErr_Format(PyExc_ValueError,
                     "the columns of %s must lie side by side: they are %zd bytes apart; pass numpy.ascontiguousarray() of it",
                     what, strides[1]);
        return false;
    }
    image->stride = shape[0] > 1 ? strides[0] : shape[1] * image->pixel_size;
    if (image->stride < shape[1] * image->pixel_size) {
        PyErr_Format(PyExc_ValueError,
                     "the rows of %s must follow each other downwards: they are %zd bytes apart; pass "
                     "numpy.ascontiguousarray() of it",
                     what, image->stride);
        return false;
    }
    return true;
}

/* (pointer, (rows, columns), (row stride, column stride), bytes of a pixel, stream): what __cuda_array_interface__ says. */
static bool image_of_tuple(PyObject *object, const ImageRole *role, Image *image)
{
    unsigned long long data, stream;
    Py_ssize_t shape[2], strides[2];
    if (!PyArg_ParseTuple(object, "K(nn)(nn)nK", &data, &shape[0], &shape[1], &strides[0], &strides[1], &image->pixel_size,
                          &stream))
        return false;
    image->data = (const void *)(uintptr_t)data;
    image->memory = CCL_MEMORY_DEVICE;
    image->stream = (void *)(uintptr_t)stream;
    return take_shape(image, role->what, 2, shape, strides);
}

static bool image_of_buffer(PyObject *object, const ImageRole *role, Image *image)
{
    if (PyObject_GetBuffer(object, &image->buffer, PyBUF_RECORDS_RO) < 0) {
        image->buffer.obj = NULL;
        return false;
    }
    const Py_buffer *buffer = &image->buffer;
    image->pixel_size = mask_pixel_size(buffer);
    if (!image->pixel_size) {
        PyErr_Format(PyExc_TypeError, "%s must be bool, uint8 or uint16 in native byte order: its elements are '%s'; %s",
                     role->what, buffer->format ? buffer->format : "B", role->advice);
        return false;
    }
    image->data = buffer->buf;
    image->memory = CCL_MEMORY_HOST;
    return take_shape(image, role->what, buffer->ndim, buffer->shape, buffer->strides);
}

bool image_of_mask(PyObject *object, const ImageRole *role, Image *image)
{
    *image = (Image){ 0 };
    bool taken;
    if (PyTuple_Check(object) && PyTuple_Size(object) == 1)
        taken = image_of_dlpack(PyTuple_GetItem(object, 0), role, image); /* asked for, even if there is a buffer */
    else if (PyTuple_Check(object))
        taken = image_of_tuple(object, role, image);
    else if (PyObject_CheckBuffer(object))
        taken = image_of_buffer(object, role, image);
    else
        taken = image_of_dlpack(object, role, image);
    if (!taken)
        image_release(image);
    return taken;
}

bool image_of_labels(PyObject *object, Image *image)
{
    *image = (Image){ 0 };
    if (PyObject_GetBuffer(object, &image->buffer, PyBUF_RECORDS) < 0) {
        image->buffer.obj = NULL;
        PyErr_SetString(PyExc_TypeError, "labels must be True, False or a writable array of uint32");
        return false;
    }
    const Py_buffer *buffer = &image->buffer;
    const char *format = buffer->format ? buffer->format : "B";
    image->data = buffer->buf;
    image->pixel_size = 4;
    bool taken = false;
    if (buffer->itemsize != 4 || (strcmp(format, "I") != 0 && strcmp(format, "L") != 0))
        PyErr_Format(PyExc_TypeError, "the label image must be uint32 in native byte order: its elements are '%s'", format);
    else if (take_shape(image, "the label image", buffer->ndim, buffer->shape, buffer->strides)) {
        taken = !((uintptr_t)image->data % 4 || image->stride % 4);
        if (!taken)
            PyErr_SetString(PyExc_ValueError, "the label image must be aligned to 4 bytes");
    }
    if (!taken)
        image_release(image);
    return taken;
}

void image_release(Image *image)
{
    if (image->buffer.obj)
        PyBuffer_Release(&image->buffer);
    Py_CLEAR(image->capsule);
}

/* ---------------------------------------------------------------- DLPack */

/* The structures of DLPack 0.8, as https://dmlc.github.io/dlpack/latest/c_api.html describes them. */
typedef struct DlTensor {
    void *data;
    int32_t device_type, device_id;
    int32_t n_dimensions;
    uint8_t type_code, bits;
    uint16_t lanes;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: rows without gaps */
    uint64_t byte_offset;
} DlTensor;

enum { DL_CUDA = 2, DL_CUDA_MANAGED = 13, DL_UNSIGNED = 1, DL_BOOL = 6 };

/* The legacy default stream, which waits for all blocking streams of its device. */
#define LEGACY_STREAM 1

static bool take_tensor(const DlTensor *tensor, const ImageRole *role, Image *image)
{
    if (tensor->device_type != DL_CUDA && tensor->device_type != DL_CUDA_MANAGED) {
        PyErr_Format(PyExc_TypeError, "%s must be in host memory or on a CUDA device: its DLPack device type is %d", role->what,
                     (int)tensor->device_type);
        return false;
    }
    const bool is_pixel = (tensor->type_code == DL_BOOL && tensor->bits == 8) ||
                          (tensor->type_code == DL_UNSIGNED && (tensor->bits == 8 || tensor->bits == 16));
    if (!is_pixel || tensor->lanes != 1) {
        PyErr_Format(PyExc_TypeError, "%s must be bool, uint8 or uint16: %s", role->what, role->advice);
        return false;
    }
    image->pixel_size = tensor->bits / 8;
    image->data = (const char *)tensor->data + tensor->byte_offset;
    image->memory = CCL_MEMORY_DEVICE;
    image->stream = (void *)(uintptr_t)LEGACY_STREAM;
    Py_ssize_t shape[2] = { 0 }, strides[2] = { 0 };
    for (int i = 0; i < 2 && tensor->n_dimensions == 2; i++) {
        shape[i] = (Py_ssize_t)tensor->shape[i];
        strides[i] = (Py_ssize_t)(tensor->strides ? tensor->strides[i] : i ? 1 : tensor->shape[1]) * image->pixel_size;
    }
    return take_shape(image, role->what, tensor->n_dimensions, shape, strides);
}

/* The capsule keeps its name: whoever made it frees the tensor with it, when image_release() drops it. */
bool image_of_dlpack(PyObject *object, const ImageRole *role, Image *image)
{
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__");
    if (!method) {
        PyErr_Format(PyExc_TypeError, "%s must be an array, or have DLPack or __cuda_array_interface__: it is %R", role->what,
                     (PyObject *)Py_TYPE(object));
        return false;
    }
    PyObject *arguments = PyTuple_New(0), *stream = Py_BuildValue("{s:i}", "stream", LEGACY_STREAM);
    if (arguments && stream)
        image->capsule = PyObject_Call(method, arguments, stream);
    Py_XDECREF(arguments);
    Py_XDECREF(stream);
    Py_DECREF(method);
    if (!image->capsule)
        return false;
    const DlTensor *tensor = PyCapsule_GetPointer(image->capsule, "dltensor");
    return tensor && take_tensor(tensor, role, image);
}
