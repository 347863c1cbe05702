/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* gstccl._core.Context: one context of the core. */
#include "core.h"

#include "kernels/analysis/selection.h"

#include <string.h>

typedef struct Context {
    PyObject_HEAD CclContext *context; /* NULL when closed */
    CclConfig config;
    CclSelection selection;
    bool busy; /* a thread is in the core, without the GIL */
} Context;

/* What one call of run() was given. */
typedef struct Call {
    PyObject *mask, *labels, *picture; /* labels, picture: None or an array */
    unsigned threshold;
    int invert;
    CclFilter filter;
    int border;
    unsigned columns;
    double epsilon; /* of contours; negative: none */
} Call;

/* "raster", the name of a measure, or that with "-desc". */
static bool parse_order(const char *name, CclOrder *order)
{
    const size_t length = strlen(name);
    const bool descending = length > 5 && (!strcmp(name + length - 5, "-desc") || !strcmp(name + length - 5, "_desc"));
    const CclMeasure measure = ccl_measure_named(name, length - (descending ? 5 : 0));
    *order = CCL_ORDER_RASTER;
    if (measure < CCL_N_NUMBERS)
        *order = ccl_order_by(measure, descending);
    else if (strcmp(name, "raster") != 0)
        PyErr_Format(PyExc_ValueError, "sort must be 'raster' or a measure such as 'area' or 'area-desc': it is '%s'", name);
    return !PyErr_Occurred();
}

/* The features that filter and order need are added to those of `config`. */
static bool parse_choice(const char *filter, const char *sort, CclConfig *config, CclSelection *selection)
{
    const CclStatus status = ccl_selection_parse(filter, selection);
    if (status != CCL_OK)
        raise_status(status);
    if (status != CCL_OK || !parse_order(sort, &config->order))
        return false;
    config->selects = selection->n_steps > 0;
    config->features |= selection->features | ccl_order_feature(config->order);
    return true;
}

static PyObject *context_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    CclConfig config = ccl_config_default();
    CclSelection selection;
    const char *filter, *sort;
    unsigned connectivity;
    int device, labels, is_map;
    if (keywords && PyDict_Size(keywords)) {
        PyErr_SetString(PyExc_TypeError, "Context takes no keywords here");
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "IIIIizIpIsspI", &config.max_width, &config.max_height, &connectivity,
                          &config.max_components, &device, &config.algorithm, &config.threads, &labels, &config.features, &filter,
                          &sort, &is_map, &config.background_value))
        return NULL;
    config.connectivity = (CclConnectivity)connectivity;
    config.labels = labels;
    config.foreground = is_map ? CCL_FOREGROUND_EQUAL : CCL_FOREGROUND_THRESHOLD;
    config.backend = device < 0 ? CCL_BACKEND_CPU : CCL_BACKEND_CUDA;
    config.device = device < 0 ? 0 : device;
    if (!parse_choice(filter, sort, &config, &selection))
        return NULL;
    CclContext *context;
    CclStatus status;
    Py_BEGIN_ALLOW_THREADS status = ccl_context_new(&config, &context);
    Py_END_ALLOW_THREADS if (status != CCL_OK) return raise_status(status);
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Context *self = (Context *)allocate(type, 0);
    if (!self) {
        ccl_context_free(context);
        return NULL;
    }
    self->context = context;
    self->config = config;
    self->selection = selection;
    self->config.algorithm = NULL; /* belongs to the caller */
    return (PyObject *)self;
}

static void context_dealloc(PyObject *object)
{
    Context *self = (Context *)object;
    PyTypeObject *type = Py_TYPE(object);
    ccl_context_free(self->context);
    freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_object(object);
    Py_DECREF(type);
}

/* The context of the core for one call, which no other thread may have; NULL and an exception otherwise. */
static CclContext *enter(Context *self)
{
    if (self->busy)
        PyErr_SetString(PyExc_RuntimeError, "the context is in use by another thread: give each thread a context of its own");
    else if (!self->context)
        PyErr_SetString(PyExc_ValueError, "the context is closed: make a new one");
    else
        return self->context;
    return NULL;
}

static PyObject *context_close(PyObject *object, PyObject *unused)
{
    (void)unused;
    Context *self = (Context *)object;
    if (self->context && !enter(self))
        return NULL;
    ccl_context_free(self->context);
    self->context = NULL;
    Py_RETURN_NONE;
}

static PyObject *context_algorithm(PyObject *object, PyObject *unused)
{
    (void)unused;
    CclContext *context = enter((Context *)object);
    return context ? PyUnicode_FromString(ccl_context_algorithm(context)->name) : NULL;
}

static bool parse_call(PyObject *arguments, Call *call)
{
    unsigned long long min_area, max_area;
    CclFilter *filter = &call->filter;
    if (!PyArg_ParseTuple(arguments, "OOOIp(KKIIIIi)Id", &call->mask, &call->labels, &call->picture, &call->threshold,
                          &call->invert, &min_area, &max_area, &filter->min_width, &filter->max_width, &filter->min_height,
                          &filter->max_height, &call->border, &call->columns, &call->epsilon))
        return false;
    filter->min_area = min_area, filter->max_area = max_area;
    filter->border = (CclBorder)call->border;
    return true;
}

/* The core's part, without the GIL. */
static bool analyze(Context *self, const CclMask *mask, const CclFilter *filter, const CclLabels *labels, CclTable *table)
{
    CclContext *context = enter(self);
    if (!context)
        return false;
    self->busy = true;
    CclStatus status;
    Py_BEGIN_ALLOW_THREADS status = ccl_analyze(context, mask, filter, labels, table);
    Py_END_ALLOW_THREADS self->busy = false;
    if (status != CCL_OK)
        raise_status(status);
    return status == CCL_OK;
}

static PyObject *result_of(Context *self, const Call *call, const CclMask *mask, const CclTable *table)
{
    PyObject *records = records_of_table(table, call->columns);
    PyObject *contours =
        records && call->epsilon >= 0 ? contours_of_table(table, mask, &self->config, call->epsilon) : Py_NewRef(Py_None);
    PyObject *holes = contours && call->columns & COLUMN_HOLES ? holes_of_table(table) : Py_NewRef(Py_None);
    if (!records || !contours || !holes) {
        Py_XDECREF(records);
        Py_XDECREF(contours);
        Py_XDECREF(holes);
        return NULL;
    }
    return Py_BuildValue("(NIINN)", records, table->n_kept, table->n_found, contours, holes);
}

static const struct {
    unsigned column, feature;
    const char *name;
} groups[] = { { COLUMN_SHAPE, CCL_FEATURE_SHAPE, "shape" },
               { COLUMN_HULL, CCL_FEATURE_HULL, "hull" },
               { COLUMN_HOLES, CCL_FEATURE_HOLES, "holes" },
               { COLUMN_INTENSITY, CCL_FEATURE_INTENSITY, "intensity" } };
#define N_GROUPS (sizeof groups / sizeof *groups)

PyObject *feature_bits(void)
{
    PyObject *dict = PyDict_New();
    for (unsigned i = 0; dict && i < N_GROUPS; i++)
        if (!add_bit(dict, groups[i].name, groups[i].feature))
            Py_CLEAR(dict);
    return dict;
}

static bool check_groups(const Context *self, unsigned columns)
{
    for (unsigned i = 0; i < N_GROUPS; i++)
        if (columns & groups[i].column && !(self->config.features & groups[i].feature)) {
            PyErr_Format(PyExc_ValueError, "the feature '%s' needs a context made with %s=True", groups[i].name, groups[i].name);
            return false;
        }
    if (columns & COLUMN_CLASS_ID && self->config.foreground != CCL_FOREGROUND_EQUAL) {
        PyErr_SetString(PyExc_ValueError, "class ids need a context made with foreground='equal'");
        return false;
    }
    return true;
}

/* The images of a call; those that it was not given have no data. */
typedef struct Images {
    Image mask, labels, picture;
} Images;

static bool check_picture(const Context *self, const Images *images)
{
    const Image *const picture = &images->picture, *const mask = &images->mask;
    if (picture->data && (picture->width != mask->width || picture->height != mask->height))
        PyErr_Format(PyExc_ValueError, "the picture has shape (%zd, %zd), the mask (%zd, %zd)", picture->height, picture->width,
                     mask->height, mask->width);
    else if (picture->data && picture->memory == CCL_MEMORY_DEVICE && self->config.backend == CCL_BACKEND_CPU)
        PyErr_SetString(PyExc_ValueError, "the picture is on a CUDA device, the context on the CPU: use device=\"cuda\"");
    return !PyErr_Occurred();
}

/* The images are held here and given back by the caller. */
static PyObject *run_on(Context *self, const Call *call, const Images *images)
{
    const Image *const mask_image = &images->mask, *const label_image = &images->labels;
    const CclPicture picture = { .luma = images->picture.data,
                                 .stride = (size_t)images->picture.stride,
                                 .sample_size = (unsigned)images->picture.pixel_size,
                                 .memory = images->picture.memory,
                                 .producer_stream = images->picture.stream };
    const CclMask mask = {
        .data = mask_image->data,
        .stride = (size_t)mask_image->stride,
        .width = (uint32_t)mask_image->width,
        .height = (uint32_t)mask_image->height,
        .pixel_size = (unsigned)mask_image->pixel_size,
        .threshold = call->threshold,
        .invert = call->invert,
        .memory = mask_image->memory,
        .producer_stream = mask_image->stream,
        .picture = picture.luma ? &picture : NULL,
    };
    const CclLabels labels = { .data = (uint32_t *)(uintptr_t)label_image->data, .stride = (size_t)label_image->stride };
    if (labels.data && (label_image->width != mask_image->width || label_image->height != mask_image->height)) {
        PyErr_Format(PyExc_ValueError, "the label image has shape (%zd, %zd), the mask (%zd, %zd)", label_image->height,
                     label_image->width, mask_image->height, mask_image->width);
        return NULL;
    }
    if (mask.memory == CCL_MEMORY_DEVICE && self->config.backend == CCL_BACKEND_CPU) {
        PyErr_SetString(PyExc_ValueError, "the mask is on a CUDA device, the context on the CPU: use device=\"cuda\"");
        return NULL;
    }
    if (mask.memory == CCL_MEMORY_DEVICE && call->epsilon >= 0) {
        PyErr_SetString(PyExc_ValueError, "contours need a mask in host memory: this one is on a CUDA device");
        return NULL;
    }
    if (!check_groups(self, call->columns) || !check_picture(self, images))
        return NULL;
    CclTable table;
    CclFilter filter = call->filter;
    filter.selection = self->config.selects ? &self->selection : NULL;
    if (!analyze(self, &mask, &filter, labels.data ? &labels : NULL, &table))
        return NULL;
    return result_of(self, call, &mask, &table);
}

static PyObject *context_run(PyObject *object, PyObject *arguments)
{
    Call call = { 0 };
    Images images = { 0 };
    const ImageRole *const role = ((Context *)object)->config.foreground == CCL_FOREGROUND_EQUAL ? &map_role : &mask_role;
    if (!parse_call(arguments, &call) || !image_of_mask(call.mask, role, &images.mask))
        return NULL;
    PyObject *result = NULL;
    if ((call.labels == Py_None || image_of_labels(call.labels, &images.labels)) &&
        (call.picture == Py_None || image_of_mask(call.picture, &picture_role, &images.picture)))
        result = run_on((Context *)object, &call, &images);
    image_release(&images.picture);
    image_release(&images.labels);
    image_release(&images.mask);
    return result;
}

static PyMethodDef methods[] = {
    { "run", context_run, METH_VARARGS,
      "run(mask, labels, picture, threshold, invert, filter, columns, epsilon)\n--\n\n"
      "Analyses a mask: (records, blobs kept, blobs found, contours or None)." },
    { "close", context_close, METH_NOARGS, "close()\n--\n\nFrees the context's memory." },
    { "algorithm", context_algorithm, METH_NOARGS, "algorithm()\n--\n\nThe name of the labelling method." },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_new, context_new },
    { Py_tp_dealloc, context_dealloc },
    { Py_tp_methods, methods },
    { Py_tp_doc, "A context of the core; gstccl.Context is the interface for users." },
    { 0, NULL },
};

PyType_Spec context_spec = {
    .name = "gstccl._core.Context",
    .basicsize = sizeof(Context),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
