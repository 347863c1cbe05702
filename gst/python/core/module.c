/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The module gstccl._core: exceptions, the table of methods, and what other files add. */
#include "core.h"

static PyObject *error, *unsupported_error, *no_device_error, *device_error;

PyObject *raise_status(CclStatus status)
{
    PyObject *type = error;
    switch (status) {
    case CCL_OK:
        break;
    case CCL_ERROR_ARGUMENT:
        type = PyExc_ValueError;
        break;
    case CCL_ERROR_UNSUPPORTED:
        type = unsupported_error;
        break;
    case CCL_ERROR_NO_DEVICE:
        type = no_device_error;
        break;
    case CCL_ERROR_OUT_OF_MEMORY:
        type = PyExc_MemoryError;
        break;
    case CCL_ERROR_DEVICE:
        type = device_error;
        break;
    }
    PyErr_SetString(type, ccl_error_message());
    return NULL;
}

static PyObject *add_exception(PyObject *module, const char *name, const char *doc, PyObject *base)
{
    PyObject *type = PyErr_NewExceptionWithDoc(name, doc, base, NULL);
    if (type && PyModule_AddObjectRef(module, name + sizeof "gstccl." - 1, type) < 0)
        Py_CLEAR(type);
    return type;
}

static bool add_exceptions(PyObject *module)
{
    error = add_exception(module, "gstccl.Error", "Base class of this module's own exceptions.", PyExc_RuntimeError);
    unsupported_error =
        error ? add_exception(module, "gstccl.UnsupportedError", "The method or this build cannot do what was asked.", error)
              : NULL;
    no_device_error =
        error ? add_exception(module, "gstccl.NoDeviceError", "There is no such CUDA device, or no driver.", error) : NULL;
    device_error = error ? add_exception(module, "gstccl.DeviceError", "A CUDA call failed: make a new context.", error) : NULL;
    return unsupported_error && no_device_error && device_error;
}

/* [(name, title, "cpu" or "cuda", connectivities)] of single masks, best first. */
static PyObject *algorithms(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    const CclAlgorithmInfo *info;
    for (unsigned i = 0; list && (info = ccl_algorithm(i)); i++) {
        if (info->volume)
            continue;
        PyObject *row = Py_BuildValue("(sssI)", info->name, info->title, info->backend == CCL_BACKEND_CPU ? "cpu" : "cuda",
                                      info->connectivity);
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyMethodDef functions[] = {
    { "algorithms", algorithms, METH_NOARGS, "algorithms()\n--\n\n(name, title, device, connectivities) of each method." },
    { "volume", volume, METH_VARARGS,
      "volume(masks, labels, connectivity, max_components, device, threads, threshold, invert)\n--\n\n"
      "Labels a stack of masks: (records, number of components)." },
    { NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "gstccl._core", .m_doc = "The core of gstccl.", .m_size = -1, .m_methods = functions,
};

PyMODINIT_FUNC PyInit__core(void); /* no header of Python's declares it */

static bool add_type(PyObject *module, const char *name, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    const bool added = type && PyModule_AddObjectRef(module, name, type) == 0;
    Py_XDECREF(type);
    return added;
}

/* Takes the object. */
static bool add_object(PyObject *module, const char *name, PyObject *object)
{
    const bool added = object && PyModule_AddObjectRef(module, name, object) == 0;
    Py_XDECREF(object);
    return added;
}

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module)
        return NULL;
    const bool complete = add_type(module, "Context", &context_spec) && add_type(module, "Tracker", &tracker_spec) &&
                          add_object(module, "TRACKER_DEFAULTS", tracker_defaults()) &&
                          add_object(module, "COLUMNS", column_bits()) && add_object(module, "FEATURES", feature_bits()) &&
                          add_exceptions(module) && PyModule_AddIntConstant(module, "MAX_COMPONENTS", CCL_MAX_COMPONENTS) == 0 &&
                          PyModule_AddIntConstant(module, "HAS_CUDA", ccl_backend_built(CCL_BACKEND_CUDA)) == 0;
    if (!complete)
        Py_CLEAR(module);
    return module;
}
