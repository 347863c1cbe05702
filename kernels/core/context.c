/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The methods of the build, and a context from ccl_context_new() to ccl_context_free(). */
#include "context.h"

#include "analysis/measures.h"
#include "order.h"
#include "select.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- methods */

static const char *backend_name(CclBackendKind kind)
{
    return kind == CCL_BACKEND_CUDA ? "CUDA" : "CPU";
}

const CclAlgorithmInfo *ccl_algorithm(unsigned index)
{
    unsigned n = 0;
    while (ccl_algorithms[n] && n < index)
        n++;
    return ccl_algorithms[n] ? &ccl_algorithms[n]->info : NULL;
}

bool ccl_backend_built(CclBackendKind backend)
{
    for (unsigned i = 0; ccl_algorithms[i]; i++)
        if (ccl_algorithms[i]->info.backend == backend)
            return true;
    return false;
}

/* What it counts in masks or in label maps; 0: it does not label them. */
static unsigned features_of(const CclAlgorithm *algorithm, CclForeground foreground)
{
    if (foreground == CCL_FOREGROUND_EQUAL)
        return algorithm->takes_maps ? algorithm->map_features | CCL_FEATURE_TABLE : 0;
    return algorithm->features_counted | CCL_FEATURE_TABLE;
}

unsigned ccl_features(CclBackendKind backend, const char *algorithm, CclForeground foreground, bool volume)
{
    unsigned features = 0;
    for (unsigned i = 0; ccl_algorithms[i]; i++) {
        const CclAlgorithmInfo *const info = &ccl_algorithms[i]->info;
        const bool fits = !algorithm || !strcmp(algorithm, "auto") || !strcmp(algorithm, info->name);
        if (info->backend == backend && info->volume == volume && fits)
            features |= features_of(ccl_algorithms[i], foreground);
    }
    return features;
}

static CclStatus choose_algorithm(const CclConfig *config, const CclAlgorithm **algorithm)
{
    const bool any = !config->algorithm || !strcmp(config->algorithm, "auto");
    const CclAlgorithm *named = NULL, *other_kind = NULL, *without_maps = NULL, *without_features = NULL;

    for (unsigned i = 0; ccl_algorithms[i]; i++) {
        const CclAlgorithm *const candidate = ccl_algorithms[i];
        if (candidate->info.backend != config->backend)
            continue;
        if (!any && strcmp(candidate->info.name, config->algorithm) != 0)
            continue;
        if (candidate->info.volume != (config->volume != 0)) {
            other_kind = candidate;
            continue;
        }
        const unsigned features = features_of(candidate, config->foreground);
        if (!features) {
            without_maps = candidate;
            continue;
        }
        if (config->features & ~features) {
            without_features = without_features ? without_features : candidate;
            continue;
        }
        named = candidate;
        if (candidate->info.connectivity & config->connectivity) {
            *algorithm = candidate;
            return CCL_OK;
        }
    }
    if (named)
        return ccl_fail(CCL_ERROR_UNSUPPORTED, "algorithm \"%s\" does not do %d-connectivity, only %d", named->info.name,
                        config->connectivity, config->connectivity == CCL_CONNECT_4 ? 8 : 4);
    if (without_maps)
        return ccl_fail(CCL_ERROR_UNSUPPORTED, "the %s backend labels no label maps with algorithm \"%s\"",
                        backend_name(config->backend), any ? "auto" : config->algorithm);
    if (without_features)
        return ccl_fail(CCL_ERROR_UNSUPPORTED, "the %s backend has no features 0x%x with algorithm \"%s\"",
                        backend_name(config->backend), config->features & ~features_of(without_features, config->foreground),
                        any ? "auto" : config->algorithm);
    if (other_kind && !any)
        return ccl_fail(CCL_ERROR_UNSUPPORTED, "algorithm \"%s\" labels %s", other_kind->info.name,
                        config->volume ? "single masks, not volumes" : "volumes, not single masks");
    return ccl_fail(CCL_ERROR_UNSUPPORTED, "the %s backend has no algorithm \"%s\"", backend_name(config->backend),
                    any ? "auto" : config->algorithm);
}

/* ---------------------------------------------------------------- context */

CclConfig ccl_config_default(void)
{
    return (CclConfig){
        .backend = CCL_BACKEND_CPU,
        .connectivity = CCL_CONNECT_8,
        .max_components = 4096,
        .depth = 1,
        .cpu_flags = CCL_CPU_ALL,
    };
}

/* Records that a backend fills. To choose components, the core must see all of them. */
static uint32_t table_capacity(const CclConfig *config)
{
    const uint32_t max =
        config->volume ? ccl_max_volume_components(config) : ccl_max_components_of(config, config->max_width, config->max_height);
    const bool chooses = config->order != CCL_ORDER_RASTER || (config->selects && config->backend != CCL_BACKEND_CPU);
    const uint32_t wanted = chooses ? CCL_MAX_COMPONENTS : config->max_components;
    return wanted < max ? wanted : max;
}

static CclStatus check_features(const CclConfig *config)
{
    const unsigned known = CCL_FEATURE_SHAPE | CCL_FEATURE_HULL | CCL_FEATURE_HOLES | CCL_FEATURE_INTENSITY;
    if (config->features & ~known)
        return ccl_fail(CCL_ERROR_ARGUMENT, "features 0x%x do not exist", config->features & ~known);
    if (config->features && config->volume)
        return ccl_fail(CCL_ERROR_UNSUPPORTED, "volumes have no features");
    return CCL_OK;
}

static CclStatus check_order(const CclConfig *config)
{
    if ((unsigned)config->order >= CCL_N_ORDERS)
        return ccl_fail(CCL_ERROR_ARGUMENT, "order %d does not exist", (int)config->order);
    const unsigned feature = ccl_order_feature(config->order);
    if (feature & ~config->features)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the order by %s needs features 0x%x",
                        ccl_measure_info(ccl_order_number(config->order))->name, feature);
    return CCL_OK;
}

CclStatus ccl_context_new(const CclConfig *config, CclContext **result)
{
    const CclAlgorithm *algorithm = NULL;

    *result = NULL;
    CCL_TRY(ccl_check_config(config));
    CCL_TRY(check_order(config));
    if (!ccl_backend_built(config->backend))
        return ccl_fail(CCL_ERROR_UNSUPPORTED, "this build has no %s backend (built without the CUDA toolkit)",
                        backend_name(config->backend));
    CCL_TRY(check_features(config));
    CCL_TRY(choose_algorithm(config, &algorithm));

    CclContext *const context = calloc(1, sizeof *context);
    if (!context)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
    context->config = *config;
    context->config.algorithm = algorithm->info.name;
    context->algorithm = algorithm;
    if (config->backend == CCL_BACKEND_CUDA)
        context->backend = config->volume ? &ccl_cuda_volumes : &ccl_cuda_backend;
    else
        context->backend = config->volume ? &ccl_cpu_volumes : &ccl_cpu_backend;
    context->capacity = table_capacity(config);

    CclStatus status = context->backend->open(context);
    if (status == CCL_OK)
        status = ccl_order_open(context);
    if (status == CCL_OK)
        status = ccl_select_open(context);
    if (status != CCL_OK) {
        ccl_context_free(context);
        return status;
    }
    *result = context;
    return CCL_OK;
}

void ccl_context_free(CclContext *context)
{
    if (!context)
        return;
    context->backend->close(context);
    ccl_order_close(context);
    ccl_select_close(context);
    free(context);
}

const CclAlgorithmInfo *ccl_context_algorithm(const CclContext *context)
{
    return &context->algorithm->info;
}

void ccl_context_memory(const CclContext *context, size_t *host_bytes, size_t *device_bytes)
{
    *host_bytes = context->host_bytes;
    *device_bytes = context->device_bytes;
}

unsigned ccl_steps(const CclContext *context, const CclStep **steps)
{
    *steps = context->steps;
    return context->n_steps;
}

CclStatus ccl_check_usable(const CclContext *context)
{
    if (context->lost)
        return ccl_fail(CCL_ERROR_DEVICE, "the device failed in an earlier frame; make a new context");
    return CCL_OK;
}
