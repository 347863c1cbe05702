/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which methods checkccl judges or times, each with which SIMD tiers, threads and contexts. */
#include "device.h"
#include "options.h"
#include "subjects.h"

#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SUBJECTS = 256 };

typedef struct Variant {
    const char *name;
    uint32_t cpu_flags;
    unsigned threads;
    unsigned every, every_of_many; /* as in Subject: primes, to meet every kind */
    bool shared;
} Variant;

/* Every SIMD tier by itself, in the calling thread; then threads, which take longer to wake than a small image takes. A tier that
 * this CPU lacks falls back to the next lower one. */
static const Variant cpu_variants[] = {
    { "", CCL_CPU_ALL, 1, 0, 0, false },
    { " plain C", 0, 1, 0, 0, false },
#if defined(__x86_64__) || defined(__i386__)
    { " sse2", CCL_CPU_SSE2, 1, 0, 0, false },
    { " sse4.2", CCL_CPU_SSE2 | CCL_CPU_SSE42, 1, 0, 0, false },
    { " avx2", CCL_CPU_SSE2 | CCL_CPU_SSE42 | CCL_CPU_AVX2, 1, 0, 0, false },
#endif
    { " 2 threads", CCL_CPU_ALL, 2, 7, 7, false },
    { " 5 threads", CCL_CPU_ALL, 5, 5, 5, false },
    { " all threads", CCL_CPU_ALL, 0, 11, 11, false },
    { NULL, 0, 0, 0, 0, false },
};
/* A frame of sixteen pixels takes a GPU as long as one of ten thousand. */
static const Variant cuda_variants[] = {
    { "", CCL_CPU_ALL, 1, 0, 13, false },
    { " 2 threads", CCL_CPU_ALL, 2, 7, 13, false }, /* the CPU packs masks, where the method can read bits */
    { " shared", CCL_CPU_ALL, 1, 5, 13, true },     /* through a scheduler: only methods with batches */
    { NULL, 0, 0, 0, 0, false },
};
static const Variant no_variant[] = { { NULL, 0, 0, 0, 0, false } };
static const Variant shared_variant[] = { { " shared", CCL_CPU_ALL, 1, 0, 13, true }, { NULL, 0, 0, 0, 0, false } };
/* The reference is a flood fill and knows no variants. */
static const Variant one_variant[] = { { "", CCL_CPU_ALL, 1, 0, 0, false }, { NULL, 0, 0, 0, 0, false } };

static bool wanted(const Options *options, const CclAlgorithmInfo *info)
{
    const char *const backend = info->backend == CCL_BACKEND_CUDA ? "cuda" : "cpu";
    return (!options->backend || !strcmp(options->backend, backend)) &&
           (!options->algorithm || named_in(options->algorithm, info->name));
}

/* In these methods a label moves by a pixel, a tile or a line per iteration, and the host waits for the device after each. A
 * spiral of a million pixels takes minutes. Smaller images test these methods as well. */
static uint32_t max_pixels_for(const CclAlgorithmInfo *info, bool quick)
{
    static const char *const by_lines[] = { "lnp", "dpl", "rasmusson", "8dls", "m8dls" };
    if (info->backend != CCL_BACKEND_CUDA)
        return 0;
    if (!strcmp(info->name, "np"))
        return quick ? 1000 : 100000;
    for (unsigned i = 0; i < sizeof by_lines / sizeof *by_lines; i++)
        if (!strcmp(info->name, by_lines[i]))
            return quick ? 10000 : 1000000;
    return 0;
}

static void add_subject(Session *session, const Options *options, const CclAlgorithmInfo *info, unsigned connectivity,
                        const Variant *v)
{
    unsigned *const n = info->volume ? &session->n_volumes : &session->n_subjects;
    if (*n == MAX_SUBJECTS)
        return;
    Subject *const subject = &(info->volume ? session->volumes : session->subjects)[(*n)++];
    const bool cuda = info->backend == CCL_BACKEND_CUDA;
    const unsigned thinner = options->every ? options->every : 1;
    subject->config = ccl_config_default();
    subject->config.backend = info->backend;
    subject->config.algorithm = info->name;
    subject->config.connectivity = (CclConnectivity)connectivity;
    subject->config.cpu_flags = v->cpu_flags;
    subject->config.threads = v->threads;
    subject->config.shared = v->shared;
    subject->features_counted = ccl_features(info->backend, info->name, CCL_FOREGROUND_THRESHOLD, info->volume);
    subject->map_features = ccl_features(info->backend, info->name, CCL_FOREGROUND_EQUAL, info->volume);
    subject->every = options->every > 1 && !v->every ? options->every : v->every * thinner;
    subject->every_of_many = v->every_of_many * thinner;
    subject->max_pixels = max_pixels_for(info, session->quick);
    subject->turn = *n; /* each starts with another case */
    snprintf(subject->name, sizeof subject->name, "%s %s %u%s", cuda ? "cuda" : "cpu", info->name, connectivity,
             v->name);
    session->cuda |= cuda;
}

static const Variant *variants_of(const Options *options, const CclAlgorithmInfo *info)
{
    if (options->shared)
        return info->backend == CCL_BACKEND_CUDA && !info->volume ? shared_variant : no_variant;
    if (info->volume || !strcmp(info->name, "reference"))
        return one_variant;
    return info->backend == CCL_BACKEND_CUDA ? cuda_variants : cpu_variants;
}

static void add_subjects(Session *session, const Options *options, const CclAlgorithmInfo *info)
{
    const Variant *const variants = variants_of(options, info);
    for (unsigned connectivity = 8; connectivity >= 4; connectivity -= 4)
        if (info->connectivity & connectivity && (!options->connectivity || options->connectivity == connectivity))
            for (const Variant *v = variants; v->name; v++)
                if (!v->shared || ((const CclAlgorithm *)info)->batches)
                    add_subject(session, options, info, connectivity, v);
}

static void add_bench_subject(Session *session, const Options *options, const CclAlgorithmInfo *info,
                              unsigned connectivity, const Variant *variant)
{
    enum { ALL = CCL_FEATURE_SHAPE | CCL_FEATURE_HULL | CCL_FEATURE_HOLES | CCL_FEATURE_INTENSITY };
    static const struct {
        const char *name;
        unsigned features;
        CclForeground foreground;
    } groups[] = { { "shape", CCL_FEATURE_SHAPE, 0 },
                   { "hull", CCL_FEATURE_HULL, 0 },
                   { "holes", CCL_FEATURE_HOLES, 0 },
                   { "intensity", CCL_FEATURE_INTENSITY, 0 },
                   { "all", ALL, 0 },
                   { "equal", 0, CCL_FOREGROUND_EQUAL },
                   { "equal-shape", CCL_FEATURE_SHAPE, CCL_FOREGROUND_EQUAL },
                   { "equal-hull", CCL_FEATURE_HULL, CCL_FOREGROUND_EQUAL },
                   { "equal-holes", CCL_FEATURE_HOLES, CCL_FOREGROUND_EQUAL },
                   { "equal-all", ALL, CCL_FOREGROUND_EQUAL } };
    char name[32];
    add_subject(session, options, info, connectivity, variant);
    for (unsigned i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (!options->features || !named_in(options->features, groups[i].name))
            continue;
        const unsigned counted = ccl_features(info->backend, info->name, groups[i].foreground, info->volume);
        if ((groups[i].features | CCL_FEATURE_TABLE) & ~counted)
            continue;
        Variant with = *variant;
        snprintf(name, sizeof name, "%.24s %s", variant->name, groups[i].name);
        with.name = name;
        add_subject(session, options, info, connectivity, &with);
        Subject *const added =
            info->volume ? &session->volumes[session->n_volumes - 1] : &session->subjects[session->n_subjects - 1];
        added->config.features = groups[i].features;
        added->config.foreground = groups[i].foreground;
        added->features_counted = counted;
    }
}

/* For the benchmark: every requested tier with every requested number of threads. */
static void add_bench_subjects(Session *session, const Options *options, const CclAlgorithmInfo *info)
{
    static const struct {
        const char *name;
        uint32_t cpu_flags;
    } tiers[] = { { "all", CCL_CPU_ALL },
                  { "avx2", CCL_CPU_SSE2 | CCL_CPU_SSE42 | CCL_CPU_AVX2 },
                  { "sse4.2", CCL_CPU_SSE2 | CCL_CPU_SSE42 },
                  { "sse2", CCL_CPU_SSE2 },
                  { "c", 0 } };
    unsigned connectivity = options->connectivity ? options->connectivity : 8;
    if (!options->connectivity && options->algorithm && !(info->connectivity & 8))
        connectivity = 4;
    const bool reference = !strncmp(info->name, "reference", 9);
    if (!(info->connectivity & connectivity) || (reference && !options->algorithm))
        return;
    if (info->backend == CCL_BACKEND_CUDA) {
        add_bench_subject(session, options, info, connectivity, one_variant);
        return;
    }
    if (info->volume || reference) {
        add_subject(session, options, info, connectivity, one_variant);
        return;
    }
    for (unsigned t = 0; t < sizeof tiers / sizeof *tiers; t++)
        for (unsigned threads = 0; threads <= 256; threads++) {
            char number[8], name[32];
            snprintf(number, sizeof number, "%u", threads);
            if (!kind_wanted(options->tiers ? options->tiers : "all", tiers[t].name) ||
                !kind_wanted(options->threads ? options->threads : "1", number))
                continue;
            snprintf(name, sizeof name, "%s%s%s%s", t ? " " : "", t ? tiers[t].name : "",
                     threads == 1 ? "" : " threads=", threads == 1 ? "" : number);
            add_bench_subject(session, options, info, connectivity,
                              &(Variant){ name, tiers[t].cpu_flags, threads, 0, 0, false });
        }
}

void choose_subjects(Session *session, const Options *options)
{
    const CclAlgorithmInfo *info;
    const bool device = device_count() > 0;
    session->subjects = calloc(MAX_SUBJECTS, sizeof *session->subjects);
    session->volumes = calloc(MAX_SUBJECTS, sizeof *session->volumes);
    for (unsigned i = 0; (info = ccl_algorithm(i)); i++)
        if (wanted(options, info) && (device || info->backend != CCL_BACKEND_CUDA))
            (options->bench ? add_bench_subjects : add_subjects)(session, options, info);
}
