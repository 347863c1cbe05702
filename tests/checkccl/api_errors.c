/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of methods, and the errors of ccl_context_new(), ccl_submit() and ccl_collect() with their messages. */
#include "api.h"
#include "device.h"

#include "analysis/selection.h"

#include <string.h>

/* ---------------------------------------------------------------- the table of methods */

void check_methods(Session *session)
{
    const CclAlgorithmInfo *a, *b;
    unsigned n = 0;
    for (; (a = ccl_algorithm(n)); n++) {
        check(session, a->name && a->name[0] && a->title && a->title[0], "method %u has no name or no title", n);
        check(session, a->connectivity && !(a->connectivity & ~(unsigned)(CCL_CONNECT_4 | CCL_CONNECT_8)),
              "method %s: connectivity %u", a->name, a->connectivity);
        check(session, ccl_backend_built(a->backend), "method %s belongs to a backend that is not built", a->name);
        for (unsigned k = 0; k < n; k++) {
            b = ccl_algorithm(k);
            check(session, a->backend != b->backend || strcmp(a->name, b->name) != 0, "two methods are called %s",
                  a->name);
        }
    }
    check(session, !ccl_algorithm(n + 1) && !ccl_algorithm(1000000), "there are methods past the last");
    check(session, ccl_backend_built(CCL_BACKEND_CPU), "no CPU backend");

    const CclConfig config = ccl_config_default();
    check(session,
          config.backend == CCL_BACKEND_CPU && !config.algorithm && config.connectivity == CCL_CONNECT_8 &&
              config.max_components == 4096 && config.order == CCL_ORDER_RASTER && config.depth == 1 &&
              config.device == 0 && config.max_width == 0 && config.max_height == 0 && config.cpu_flags == CCL_CPU_ALL,
          "the default configuration is not the documented one");
}

/* ---------------------------------------------------------------- errors of ccl_context_new() */

static void new_fails(Session *session, const CclConfig *config, CclStatus status, const char *fragment)
{
    CclContext *context = (CclContext *)(void *)&session; /* must be overwritten */
    const CclStatus got = ccl_context_new(config, &context);
    check(session, got == status && !context, "ccl_context_new: status %d, not %d, for \"%s\"", got, status, fragment);
    check(session, got == CCL_OK || strstr(ccl_error_message(), fragment),
          "ccl_context_new: message \"%s\" lacks \"%s\"", ccl_error_message(), fragment);
    if (got == CCL_OK)
        ccl_context_free(context);
}

CclConfig small_config(const Subject *subject)
{
    CclConfig config = subject->config;
    config.max_width = 40;
    config.max_height = 30;
    config.max_components = 1000;
    return config;
}

/* The method's other connectivity, where it has but one. */
static void check_wrong_connectivity(Session *session)
{
    const CclAlgorithmInfo *info;
    for (unsigned i = 0; (info = ccl_algorithm(i)); i++) {
        if (info->connectivity == (CCL_CONNECT_4 | CCL_CONNECT_8))
            continue;
        CclConfig config = ccl_config_default();
        config.backend = info->backend;
        config.algorithm = info->name;
        config.connectivity = info->connectivity == CCL_CONNECT_4 ? CCL_CONNECT_8 : CCL_CONNECT_4;
        config.max_width = config.max_height = 10;
        config.volume = info->volume;
        new_fails(session, &config, CCL_ERROR_UNSUPPORTED, info->name);
        new_fails(session, &config, CCL_ERROR_UNSUPPORTED, "connectivity");
    }
}

static void check_feature(Session *session, const CclConfig *config, bool has)
{
    CclContext *context;
    if (!has) {
        new_fails(session, config, CCL_ERROR_UNSUPPORTED, config->volume ? "volumes have no features" : "has no features 0x");
    } else if (config->backend == CCL_BACKEND_CPU || device_count()) {
        check(session, ccl_context_new(config, &context) == CCL_OK, "%s with features 0x%x: %s", config->algorithm,
              config->features, ccl_error_message());
        ccl_context_free(context);
    }
}

/* A context takes the features that ccl_features() has, and no others. */
static void check_features_of(Session *session, CclConfig config)
{
    const unsigned has = ccl_features(config.backend, config.algorithm, config.foreground, config.volume != 0);
    if (!(has & CCL_FEATURE_TABLE))
        new_fails(session, &config, CCL_ERROR_UNSUPPORTED, "labels no label maps");
    for (unsigned feature = CCL_FEATURE_SHAPE; has && feature <= CCL_FEATURE_INTENSITY; feature <<= 1) {
        config.features = feature;
        check_feature(session, &config, has & feature);
    }
}

static void check_features_of_all(Session *session)
{
    const CclAlgorithmInfo *info;
    CclConfig config = ccl_config_default();
    config.max_width = config.max_height = 10;
    for (unsigned i = 0; (info = ccl_algorithm(i)); i++) {
        config.backend = info->backend;
        config.algorithm = info->name;
        config.volume = info->volume;
        config.connectivity = info->connectivity & CCL_CONNECT_8 ? CCL_CONNECT_8 : CCL_CONNECT_4;
        config.foreground = CCL_FOREGROUND_THRESHOLD;
        check_features_of(session, config);
        config.foreground = CCL_FOREGROUND_EQUAL;
        check_features_of(session, config);
    }
    check(session, !ccl_features(CCL_BACKEND_CPU, "no-such-method", CCL_FOREGROUND_THRESHOLD, false), "features of no method");
    check(session, ccl_features(CCL_BACKEND_CPU, NULL, CCL_FOREGROUND_EQUAL, true) == CCL_FEATURE_TABLE, "volumes of maps");
    check(session,
          ccl_features(CCL_BACKEND_CUDA, NULL, CCL_FOREGROUND_EQUAL, true) ==
              (ccl_backend_built(CCL_BACKEND_CUDA) ? (unsigned)CCL_FEATURE_TABLE : 0),
          "volumes of maps on CUDA");
}

void check_config_errors(Session *session, const Subject *subject)
{
    const CclConfig good = small_config(subject);
#define WRONG(member, value, status, fragment)                \
    do {                                                      \
        CclConfig wrong = good;                               \
        wrong.member = value;                                 \
        new_fails(session, &wrong, status, fragment);         \
    } while (0)
    WRONG(max_width, 0, CCL_ERROR_ARGUMENT, "0x30");
    WRONG(max_height, 0, CCL_ERROR_ARGUMENT, "40x0");
    WRONG(max_width, CCL_MAX_SIZE + 1, CCL_ERROR_ARGUMENT, "16385");
    WRONG(max_height, CCL_MAX_SIZE + 1, CCL_ERROR_ARGUMENT, "16385");
    WRONG(max_height, UINT32_MAX, CCL_ERROR_ARGUMENT, "4294967295");
    WRONG(max_components, 0, CCL_ERROR_ARGUMENT, "max_components 0");
    WRONG(max_components, CCL_MAX_COMPONENTS + 1, CCL_ERROR_ARGUMENT, "1048577");
    WRONG(depth, 0, CCL_ERROR_ARGUMENT, "depth 0");
    WRONG(depth, CCL_MAX_DEPTH + 1, CCL_ERROR_ARGUMENT, "depth 5");
    WRONG(order, (CclOrder)CCL_N_ORDERS, CCL_ERROR_ARGUMENT, "does not exist");
    WRONG(order, ccl_order_by(CCL_MEASURE_N_HOLES, true), CCL_ERROR_ARGUMENT, "the order by n-holes needs features 0x1");
    WRONG(connectivity, (CclConnectivity)6, CCL_ERROR_ARGUMENT, "6");
    WRONG(connectivity, (CclConnectivity)0, CCL_ERROR_ARGUMENT, "0");
    WRONG(backend, (CclBackendKind)7, CCL_ERROR_ARGUMENT, "7");
    WRONG(algorithm, "no-such-method", CCL_ERROR_UNSUPPORTED, "no-such-method");
    WRONG(algorithm, "", CCL_ERROR_UNSUPPORTED, "\"\"");
    WRONG(features, 1u << 31, CCL_ERROR_ARGUMENT, "features 0x80000000");
    if (good.backend == CCL_BACKEND_CUDA)
        WRONG(device, device_count(), CCL_ERROR_NO_DEVICE, "device");
#undef WRONG
    check_wrong_connectivity(session);
    check_features_of_all(session);
}

void check_no_cuda(Session *session)
{
    CclConfig config = ccl_config_default();
    config.backend = CCL_BACKEND_CUDA;
    config.max_width = config.max_height = 16;
    CclConfig of_volume = config;
    of_volume.backend = CCL_BACKEND_CPU;
    of_volume.volume = 2;
    of_volume.features = CCL_FEATURE_SHAPE;
    new_fails(session, &of_volume, CCL_ERROR_UNSUPPORTED, "volumes have no features");
    if (!ccl_backend_built(CCL_BACKEND_CUDA))
        new_fails(session, &config, CCL_ERROR_UNSUPPORTED, "CUDA");
    else if (!device_count())
        new_fails(session, &config, CCL_ERROR_NO_DEVICE, "CUDA");
    if (!device_count())
        check(session, !ccl_pinned_alloc(4096, 0), "ccl_pinned_alloc() gives memory without a device");
}

/* ---------------------------------------------------------------- errors of frames */

CclContext *open_or_fail(Session *session, const Subject *subject, const CclConfig *config)
{
    CclContext *context = NULL;
    check(session, ccl_context_new(config, &context) == CCL_OK, "%s: %s", subject->name, ccl_error_message());
    return context;
}

static void submit_fails(Session *session, CclContext *context, const CclMask *mask, const CclLabels *labels,
                         const char *fragment)
{
    const CclStatus got = ccl_submit(context, mask, NULL, labels);
    check(session, got == CCL_ERROR_ARGUMENT, "ccl_submit: status %d, not ARGUMENT, for \"%s\"", got, fragment);
    check(session, got == CCL_OK || strstr(ccl_error_message(), fragment), "ccl_submit: message \"%s\" lacks \"%s\"",
          ccl_error_message(), fragment);
    CclTable table;
    if (got == CCL_OK)
        ccl_collect(context, &table);
}

static void check_mask_errors(Session *session, const Subject *subject, CclContext *context, const CclMask *good)
{
#define WRONG(member, value, fragment)                                \
    do {                                                              \
        CclMask wrong = *good;                                        \
        wrong.member = value;                                         \
        submit_fails(session, context, &wrong, NULL, fragment);       \
    } while (0)
    WRONG(data, NULL, "data");
    WRONG(width, 0, "0x30");
    WRONG(height, 0, "40x0");
    WRONG(width, 41, "41x30");
    WRONG(height, 31, "40x31");
    WRONG(stride, 39, "39");
    WRONG(stride, 0, "stride");
    WRONG(pixel_size, 3, "3");
    WRONG(pixel_size, 2, "stride"); /* 40 pixels of 2 bytes need 80 */
    WRONG(memory, (CclMemory)3, "memory kind 3 of the mask");
    if (subject->config.backend == CCL_BACKEND_CPU)
        WRONG(memory, CCL_MEMORY_DEVICE, "device memory");
#undef WRONG
}

static void check_label_errors(Session *session, const Subject *subject, CclContext *context, const CclMask *mask,
                               const CclLabels *good)
{
#define WRONG(member, value, fragment)                                \
    do {                                                              \
        CclLabels wrong = *good;                                      \
        wrong.member = value;                                         \
        submit_fails(session, context, mask, &wrong, fragment);       \
    } while (0)
    WRONG(data, NULL, "label image");
    WRONG(data, (uint32_t *)(void *)((uint8_t *)good->data + 2), "multiple of 4");
    WRONG(memory, (CclMemory)3, "memory kind 3 of the label image");
    WRONG(stride, 159, "159");
    WRONG(stride, 162, "162");
    WRONG(stride, 0, "stride 0");
    if (subject->config.backend == CCL_BACKEND_CPU)
        WRONG(memory, CCL_MEMORY_DEVICE, "device memory");
#undef WRONG
}

static void check_selection_errors(Session *session, const Subject *subject, const CclMask *mask, const CclLabels *labels)
{
    static CclSelection shape;
    const CclFilter filter = { .selection = &shape };
    CclConfig config = small_config(subject);

    ccl_selection_parse("n-holes > 0", &shape);
    for (unsigned i = 0; i < 2; i++) {
        config.selects = config.labels = i;
        CclContext *const context = open_or_fail(session, subject, &config);
        if (!context)
            return;
        check(session,
              ccl_submit(context, mask, &filter, NULL) == CCL_ERROR_ARGUMENT &&
                  strstr(ccl_error_message(), i ? "needs features 0x1" : "without selections"),
              "%s: a selection that the context cannot apply: \"%s\"", subject->name, ccl_error_message());
        shape.features = 0;
        const CclLabels far = { .data = labels->data, .stride = labels->stride, .memory = CCL_MEMORY_DEVICE };
        if (i && config.backend == CCL_BACKEND_CUDA)
            check(session,
                  ccl_submit(context, mask, &filter, &far) == CCL_ERROR_ARGUMENT &&
                      strstr(ccl_error_message(), "label image in host memory"),
                  "%s: a selection with labels on the device: \"%s\"", subject->name, ccl_error_message());
        shape.features = CCL_FEATURE_SHAPE;
        ccl_context_free(context);
    }
}

void check_frame_errors(Session *session, const Subject *subject)
{
    static const uint8_t pixels[40 * 31 * 2];
    static uint32_t label_pixels[40 * 30];
    const CclMask good = { .data = pixels, .stride = 40, .width = 40, .height = 30 };
    const CclLabels good_labels = { .data = label_pixels, .stride = 160 };
    const CclFilter wrong_border = { .border = (CclBorder)3 };
    CclConfig config = small_config(subject);
    CclTable table;
    CclContext *context = open_or_fail(session, subject, &config);
    if (!context)
        return;

    check_mask_errors(session, subject, context, &good);
    check_selection_errors(session, subject, &good, &good_labels);
    submit_fails(session, context, &good, &good_labels, "label");
    check(session, ccl_submit(context, &good, &wrong_border, NULL) == CCL_ERROR_ARGUMENT &&
                       strstr(ccl_error_message(), "border rule 3"),
          "%s: a border rule that does not exist: \"%s\"", subject->name, ccl_error_message());
    check(session, ccl_collect(context, &table) == CCL_ERROR_ARGUMENT && strstr(ccl_error_message(), "waiting"),
          "%s: ccl_collect() without ccl_submit() says \"%s\"", subject->name, ccl_error_message());
    check(session, ccl_analyze(context, &good, NULL, NULL, &table) == CCL_OK && table.n_found == 0 && table.width == 40,
          "%s: after refused frames a good one fails", subject->name);
    ccl_context_free(context);

    config.labels = true;
    context = open_or_fail(session, subject, &config);
    if (!context)
        return;
    check_label_errors(session, subject, context, &good, &good_labels);
    check(session, ccl_analyze(context, &good, NULL, &good_labels, &table) == CCL_OK, "%s: good labels: %s",
          subject->name, ccl_error_message());
    ccl_context_free(context);
    ccl_context_free(NULL);
}
