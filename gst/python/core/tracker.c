/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* gstccl._core.Tracker: one tracker of the core. It works under the GIL, so one thread at a time is inside. */
#include "core.h"

#include "kernels/analysis/track.h"

#include <stddef.h>
#include <string.h>

/* Pixels are squares here, and points in a table are relative to the centre of the first one. */
#define TO_SQUARES 0.5

_Static_assert(sizeof(CclTrack) == 136 && offsetof(CclTrack, x) == 48, "TRACK of gstccl/_tracker.py names the members");

typedef struct Tracker {
    PyObject_HEAD CclTracker *tracker;
    bool boxes;
} Tracker;

PyObject *tracker_defaults(void)
{
    const CclTrackerConfig config = ccl_tracker_config_default();
    return Py_BuildValue("{sIsIsIsdsdsd}", "max_tracks", config.max_tracks, "min_hits", config.min_hits, "max_age",
                         config.max_age, "max_distance", config.max_distance, "iou_threshold", config.iou_threshold,
                         "high_confidence", config.high_confidence);
}

static PyObject *tracker_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    CclTrackerConfig config = ccl_tracker_config_default();
    int iou, single_class, merge_split, boxes;
    if (keywords && PyDict_Size(keywords)) {
        PyErr_SetString(PyExc_TypeError, "Tracker takes no keywords here");
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "pIIIddpppdd", &iou, &config.max_tracks, &config.min_hits, &config.max_age,
                          &config.max_distance, &config.iou_threshold, &single_class, &merge_split, &boxes, &config.frame_seconds,
                          &config.high_confidence))
        return NULL;
    config.method = iou ? CCL_TRACK_IOU : CCL_TRACK_KALMAN;
    config.single_class = single_class, config.merge_split = merge_split, config.boxes = boxes;
    CclTracker *tracker;
    const CclStatus status = ccl_tracker_new(&config, &tracker);
    if (status != CCL_OK)
        return raise_status(status);
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Tracker *self = (Tracker *)allocate(type, 0);
    if (!self) {
        ccl_tracker_free(tracker);
        return NULL;
    }
    self->tracker = tracker;
    self->boxes = boxes;
    return (PyObject *)self;
}

static void tracker_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    ccl_tracker_free(((Tracker *)object)->tracker);
    freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_object(object);
    Py_DECREF(type);
}

static CclDetection detection_of_component(const char *record)
{
    CclComponent c;
    CclShape shape;
    memcpy(&c, record, sizeof c);
    ccl_shape_from_moments(&c.moments, &shape);
    return (CclDetection){
        .x = shape.x + TO_SQUARES,
        .y = shape.y + TO_SQUARES,
        .xx = shape.xx,
        .xy = shape.xy,
        .yy = shape.yy,
        .x0 = c.x0,
        .y0 = c.y0,
        .x1 = c.x1,
        .y1 = c.y1,
    };
}

/* x0, y0, x1, y1, confidence, class */
static CclDetection detection_of_box(const char *record)
{
    double d[6];
    memcpy(d, record, sizeof d);
    return (CclDetection){
        .x = (d[0] + d[2]) / 2,
        .y = (d[1] + d[3]) / 2,
        .x0 = d[0],
        .y0 = d[1],
        .x1 = d[2],
        .y1 = d[3],
        .confidence = d[4],
        .type = (uint32_t)d[5],
    };
}

/* n records of `size` bytes. class_ids: NULL, or n numbers. */
typedef struct Records {
    const char *records;
    Py_ssize_t size, n;
    const uint32_t *class_ids;
} Records;

static void read_detections(const Tracker *self, const Records *from, CclDetection *detections)
{
    for (Py_ssize_t i = 0; i < from->n; i++) {
        const char *const record = from->records + i * from->size;
        detections[i] = self->boxes ? detection_of_box(record) : detection_of_component(record);
        detections[i].class_id = from->class_ids ? from->class_ids[i] : 0;
    }
}

/* The ids of the records' tracks, as a new bytearray. */
static PyObject *update(Tracker *self, const Records *records, double frames)
{
    const Py_ssize_t n = records->n;
    CclDetection *detections = PyMem_Malloc((size_t)(n ? n : 1) * sizeof *detections);
    if (!detections)
        return PyErr_NoMemory();
    PyObject *ids = PyByteArray_FromStringAndSize(NULL, n * (Py_ssize_t)sizeof(uint64_t));
    if (ids) {
        read_detections(self, records, detections);
        const CclStatus status = ccl_tracker_update(self->tracker, detections, (uint32_t)n, frames,
                                                    n ? (uint64_t *)(void *)PyByteArray_AsString(ids) : NULL);
        if (status != CCL_OK) {
            Py_CLEAR(ids);
            raise_status(status);
        }
    }
    PyMem_Free(detections);
    return ids;
}

/* update(records, frames, class_ids): class_ids is a buffer of uint32, empty where the records have none. */
static PyObject *tracker_update(PyObject *object, PyObject *arguments)
{
    Py_buffer records, class_ids;
    double frames;
    if (!PyArg_ParseTuple(arguments, "y*dy*", &records, &frames, &class_ids))
        return NULL;
    Tracker *self = (Tracker *)object;
    const Py_ssize_t least = self->boxes ? 6 * (Py_ssize_t)sizeof(double) : (Py_ssize_t)sizeof(CclComponent);
    const Py_ssize_t n = records.itemsize < least ? 0 : records.len / records.itemsize;
    const bool has_classes = class_ids.len == n * (Py_ssize_t)sizeof(uint32_t) && n > 0;
    PyObject *ids = NULL;
    if (records.itemsize < least || n >= (Py_ssize_t)UINT32_MAX)
        PyErr_Format(PyExc_ValueError, "records of %zd bytes are not what the tracker takes", records.itemsize);
    else if (class_ids.len && !has_classes)
        PyErr_Format(PyExc_ValueError, "%zd bytes are not the class ids of %zd records", class_ids.len, n);
    else
        ids = update(self, &(Records){ records.buf, records.itemsize, n, has_classes ? class_ids.buf : NULL }, frames);
    PyBuffer_Release(&records);
    PyBuffer_Release(&class_ids);
    return ids;
}

static PyObject *tracker_skip(PyObject *object, PyObject *frames)
{
    const double n = PyFloat_AsDouble(frames);
    if (PyErr_Occurred())
        return NULL;
    ccl_tracker_skip(((Tracker *)object)->tracker, n);
    Py_RETURN_NONE;
}

static PyObject *tracker_reset(PyObject *object, PyObject *unused)
{
    (void)unused;
    ccl_tracker_reset(((Tracker *)object)->tracker);
    Py_RETURN_NONE;
}

static PyObject *tracker_tracks(PyObject *object, PyObject *unused)
{
    (void)unused;
    Tracker *self = (Tracker *)object;
    const CclTrack *tracks;
    const uint32_t n = ccl_tracker_tracks(self->tracker, &tracks);
    PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(n * sizeof *tracks));
    char *to = bytes ? PyByteArray_AsString(bytes) : NULL;
    for (uint32_t i = 0; to && i < n; i++) {
        CclTrack track = tracks[i];
        if (!self->boxes)
            track.x -= TO_SQUARES, track.y -= TO_SQUARES;
        memcpy(to + i * sizeof track, &track, sizeof track);
    }
    return bytes;
}

static PyMethodDef methods[] = {
    { "update", tracker_update, METH_VARARGS, "update(records, frames)\n--\n\nOne frame: for each record the id of its track." },
    { "skip", tracker_skip, METH_O, "skip(frames)\n--\n\nA frame with nothing to compare with." },
    { "reset", tracker_reset, METH_NOARGS, "reset()\n--\n\nForgets all tracks." },
    { "tracks", tracker_tracks, METH_NOARGS, "tracks()\n--\n\nThe tracks as of the last update." },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_new, tracker_new },
    { Py_tp_dealloc, tracker_dealloc },
    { Py_tp_methods, methods },
    { Py_tp_doc, "A tracker of the core; gstccl.Tracker is the interface for users." },
    { 0, NULL },
};

PyType_Spec tracker_spec = {
    .name = "gstccl._core.Tracker",
    .basicsize = sizeof(Tracker),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
