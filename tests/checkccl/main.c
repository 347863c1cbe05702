/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench.h"
#include "checkccl.h"
#include "device.h"

#include "backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_SKIPPED = 77, MAX_SUBJECTS = 256 };

typedef struct Options {
    const char *backend;   /* "cpu", "cuda"; NULL: both */
    const char *algorithm; /* names with commas; NULL: all */
    const char *suite;     /* names with commas; NULL: all */
    const char *images;
    unsigned connectivity; /* 0: both */
    unsigned every;        /* 0 and 1: every case */
    bool shared;           /* contexts that share the device, and no others */
    uint64_t max_pixels;  /* 0: any image */
    const char *tiers;     /* of SIMD, for the benchmark */
    const char *threads;
    uint64_t seed;
    bool list, quick, huge, verbose, self_test, bench;
    BenchOptions bench_options;
} Options;

static const char usage[] =
    "checkccl: every labelling method against the plain reference\n"
    "\n"
    "  --list              the methods, suites and devices, and nothing else\n"
    "  --backend=cpu|cuda  this backend only; cuda without a device ends with status 77\n"
    "  --algorithm=LIST    these methods only\n"
    "  --connectivity=4|8  this connectivity only\n"
    "  --suite=LIST        these suites only: labels, table, features, contour, blend, api, methods, volume, batch,\n"
    "                      crowd, repeat, cpus, pool, huge\n"
    "  --quick             some of the cases: seconds instead of a minute\n"
    "  --every=N           each method on one of N cases, another one's in turn\n"
    "  --pixels=N          no image of more pixels\n"
    "  --shared            only contexts that share the device (of CUDA); otherwise they have one case in 5\n"
    "  --huge              the suite huge as well: masks of 16384x16384, with some 12 GB of memory, for minutes\n"
    "  --verbose           which method a suite is at, or how long each part of it took\n"
    "  --seed=N            of the random images (default 1); 0: by the clock\n"
    "  --images=DIR        the PGM and PBM masks there as well\n"
    "  --self-test         plant faults in a method; each must be found\n"
    "The last line says `N passed, N failed`; the status is 0 when nothing failed.\n"
    "\n"
    "  --bench             compare with the reference, then time; with --backend, --algorithm, --seed and --images as\n"
    "                      above, --connectivity (default 8), and\n"
    "  --size=LIST         720p,1080p,4K,8K,all or WIDTHxHEIGHT (default 1080p)\n"
    "  --kinds=LIST        kinds of images (default all) by name or its beginning: video, noise_g1, noise_g4_d50;\n"
    "                      with numbers of one's own: mt_g3_d45, ridge_merging_l3_s5_p50, see docs/testing.md\n"
    "  --products=LIST     of provisional,table,labels+table,volume (default all)\n"
    "  --measures=LIST     of wall,processor,memory; gpu_hot,gpu_cold,... (default all), see docs/testing.md\n"
    "  --threads=LIST      CPU: numbers of threads (default 1)\n"
    "  --tiers=LIST        CPU: SIMD tiers: all,avx2,sse4.2,sse2,c (default all)\n"
    "  --frames=N          different frames of each kind (default 16 for the CPU, 4 for a GPU)\n"
    "  --rounds=N          measurements of each figure (default 11)\n"
    "  --min-area=N        keep components of so many pixels only; not with provisional labels\n"
    "  --write=DIR         only write the images there, as PGM\n"
    "  --slow=SECONDS      a method that takes longer for a frame is not timed (default 3)\n"
    "  --steps             the time of each step of a method as well\n"
    "  --json              one JSON object per line instead of text\n"
    "The reference is timed only by --algorithm=reference, or -3d. Methods for volumes take the frames of a\n"
    "kind for one volume.\n";

static const struct {
    const char *name;
    void (*run)(Session *session);
} suites[] = {
    { "labels", check_labels },
    { "table", check_table },
    { "features", check_features },
    { "contour", check_contour },
    { "blend", check_blend },
    { "api", check_api },
    { "methods", check_single_methods },
    { "volume", check_volume },
    { "batch", check_batch },
    { "crowd", check_crowd },
    { "repeat", check_repeat },
    { "cpus", check_cpus },
    { "pool", check_pool },
    { "huge", check_huge }, /* only when asked for */
};
enum { N_SUITES = sizeof suites / sizeof *suites };

/* ---------------------------------------------------------------- options */

static _Noreturn void wrong_usage(const char *argument)
{
    fprintf(stderr, "checkccl: cannot make sense of \"%s\"; --help says what there is\n", argument);
    exit(2);
}

static const char *value_of(const char *argument, const char *name)
{
    const size_t n = strlen(name);
    return !strncmp(argument, name, n) && argument[n] == '=' ? argument + n + 1 : NULL;
}

static bool named_in(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *item = list; item; item = strchr(item, ',') ? strchr(item, ',') + 1 : NULL)
        if (strcspn(item, ",") == length && !strncmp(item, name, length))
            return true;
    return false;
}

/* Is what stands before the next comma a suite? */
static bool is_suite(const char *item)
{
    for (unsigned i = 0; i < N_SUITES; i++)
        if (strlen(suites[i].name) == strcspn(item, ",") && !strncmp(suites[i].name, item, strcspn(item, ",")))
            return true;
    return false;
}

static uint64_t number_of(const char *argument, const char *value)
{
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(value, &end, 0);
    if (errno || end == value || *end)
        wrong_usage(argument);
    return number;
}

static Options parse(int argc, char **argv)
{
    Options options = { .seed = 1, .bench_options.slow_s = 3 };
    for (int i = 1; i < argc; i++) {
        const char *const a = argv[i], *value;
        if (!strcmp(a, "--help") || !strcmp(a, "-h")) {
            fputs(usage, stdout);
            exit(0);
        } else if (!strcmp(a, "--list")) {
            options.list = true;
        } else if (!strcmp(a, "--quick")) {
            options.quick = true;
        } else if (!strcmp(a, "--huge")) {
            options.huge = true;
        } else if (!strcmp(a, "--verbose")) {
            options.verbose = true;
        } else if (!strcmp(a, "--self-test")) {
            options.self_test = true;
        } else if (!strcmp(a, "--bench")) {
            options.bench = true;
        } else if (!strcmp(a, "--json")) {
            options.bench_options.json = true;
        } else if (!strcmp(a, "--steps")) {
            options.bench_options.steps = true;
        } else if (!strcmp(a, "--shared")) {
            options.shared = true;
        } else if ((value = value_of(a, "--size"))) {
            options.bench_options.sizes = value;
        } else if ((value = value_of(a, "--kinds"))) {
            options.bench_options.kinds = value;
        } else if ((value = value_of(a, "--write"))) {
            options.bench_options.write = value;
        } else if ((value = value_of(a, "--products"))) {
            options.bench_options.products = value;
        } else if ((value = value_of(a, "--measures"))) {
            options.bench_options.measures = value;
        } else if ((value = value_of(a, "--frames"))) {
            options.bench_options.n_frames = (unsigned)number_of(a, value);
        } else if ((value = value_of(a, "--rounds"))) {
            options.bench_options.n_rounds = (unsigned)number_of(a, value);
        } else if ((value = value_of(a, "--min-area"))) {
            options.bench_options.filter.min_area = (unsigned)number_of(a, value);
        } else if ((value = value_of(a, "--slow"))) {
            char *end;
            options.bench_options.slow_s = strtod(value, &end);
            if (end == value || *end)
                wrong_usage(a);
        } else if ((value = value_of(a, "--threads"))) {
            options.threads = value;
        } else if ((value = value_of(a, "--tiers"))) {
            options.tiers = value;
        } else if ((value = value_of(a, "--backend"))) {
            options.backend = value;
        } else if ((value = value_of(a, "--algorithm"))) {
            options.algorithm = value;
        } else if ((value = value_of(a, "--suite"))) {
            options.suite = value;
        } else if ((value = value_of(a, "--images"))) {
            options.images = value;
        } else if ((value = value_of(a, "--every"))) {
            options.every = (unsigned)number_of(a, value);
        } else if ((value = value_of(a, "--pixels"))) {
            options.max_pixels = number_of(a, value);
        } else if ((value = value_of(a, "--connectivity"))) {
            options.connectivity = (unsigned)number_of(a, value);
            if (options.connectivity != 4 && options.connectivity != 8)
                wrong_usage(a);
        } else if ((value = value_of(a, "--seed"))) {
            options.seed = number_of(a, value);
            if (!options.seed)
                options.seed = (uint64_t)time(NULL);
        } else {
            wrong_usage(a);
        }
    }
    for (const char *item = options.suite; item; item = strchr(item, ',') ? strchr(item, ',') + 1 : NULL)
        if (!is_suite(item))
            wrong_usage(options.suite);
    if (options.backend && strcmp(options.backend, "cpu") && strcmp(options.backend, "cuda"))
        wrong_usage(options.backend);
    options.bench_options.seed = options.seed;
    options.bench_options.images = options.images;
    return options;
}

/* ---------------------------------------------------------------- subjects */

typedef struct Variant {
    const char *name;
    uint32_t cpu_flags;
    unsigned threads;
    unsigned every, every_of_many; /* as in Subject: primes, to meet every kind */
    bool shared;
} Variant;

/* Every SIMD tier by itself, in the calling thread; then threads, whose waking takes longer than a small image. Tiers
 * this CPU lacks fall back to the next lower. */
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
/* A frame takes a GPU as long whether it has sixteen pixels or ten thousand. */
static const Variant cuda_variants[] = {
    { "", CCL_CPU_ALL, 1, 0, 13, false },
    { " 2 threads", CCL_CPU_ALL, 2, 7, 13, false }, /* masks packed on the CPU, where the method can */
    { " shared", CCL_CPU_ALL, 1, 5, 13, true },     /* through an engine: methods that take batches only */
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

/* In these methods a label travels a pixel, a tile or a line per iteration, and every iteration asks back from the device:
 * a spiral of a million pixels takes minutes. Smaller images show what they do as well. */
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

/* For the benchmark: every tier asked for with every number of threads asked for. */
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
    if (info->backend == CCL_BACKEND_CUDA || info->volume || reference) {
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
            add_subject(session, options, info, connectivity,
                        &(Variant){ name, tiers[t].cpu_flags, threads, 0, 0, false });
        }
}

static void choose_subjects(Session *session, const Options *options)
{
    const CclAlgorithmInfo *info;
    const bool device = device_count() > 0;
    session->subjects = calloc(MAX_SUBJECTS, sizeof *session->subjects);
    session->volumes = calloc(MAX_SUBJECTS, sizeof *session->volumes);
    for (unsigned i = 0; (info = ccl_algorithm(i)); i++)
        if (wanted(options, info) && (device || info->backend != CCL_BACKEND_CUDA))
            (options->bench ? add_bench_subjects : add_subjects)(session, options, info);
}

/* ---------------------------------------------------------------- running */

static void list(void)
{
    const CclAlgorithmInfo *info;
    printf("methods:\n");
    for (unsigned i = 0; (info = ccl_algorithm(i)); i++)
        printf("  %-4s %-12s %s%s  %s%s%s\n", info->backend == CCL_BACKEND_CUDA ? "cuda" : "cpu", info->name,
               info->connectivity & 4 ? "4" : " ", info->connectivity & 8 ? "8" : " ", info->title,
               info->paper ? "; " : "", info->paper ? info->paper : "");
    printf("suites:\n ");
    for (unsigned i = 0; i < N_SUITES; i++)
        printf(" %s", suites[i].name);
    printf("\nCUDA: %s, %d device(s)\n", ccl_backend_built(CCL_BACKEND_CUDA) ? "built" : "not built", device_count());
}

static void print_subject(const Subject *subject)
{
    if (!subject->passed && !subject->failed && !subject->dead)
        return; /* not in these suites */
    printf("%-28s %8lu passed, %lu failed%s\n", subject->name, subject->passed, subject->failed,
           subject->dead ? ", device lost" : "");
}

static void run_suites(Session *session, const Options *options)
{
    for (unsigned i = 0; i < N_SUITES; i++) {
        const bool named = named_in(options->suite, suites[i].name);
        if (options->suite ? !named : suites[i].run == check_huge && !options->huge)
            continue;
        const double start = seconds();
        const unsigned long passed = session->passed, failed = session->failed;
        for (unsigned s = 0; s < session->n_subjects; s++)
            session->subjects[s].muted = false;
        for (unsigned s = 0; s < session->n_volumes; s++)
            session->volumes[s].muted = false;
        session->random.state = session->seed;
        suites[i].run(session);
        printf("%-9s %8lu passed, %lu failed, %.1f s\n", suites[i].name, session->passed - passed,
               session->failed - failed, seconds() - start);
    }
    for (unsigned s = 0; s < session->n_subjects; s++)
        print_subject(&session->subjects[s]);
    for (unsigned s = 0; s < session->n_volumes; s++)
        print_subject(&session->volumes[s]);
}

static void close_session(Session *session)
{
    for (unsigned s = 0; s < session->n_subjects; s++)
        subject_close(&session->subjects[s]);
    for (unsigned s = 0; s < session->n_volumes; s++)
        subject_close(&session->volumes[s]);
    layout_close();
    judge_close();
    free(session->subjects);
    free(session->volumes);
}

int main(int argc, char **argv)
{
    Options options = parse(argc, argv);
    Session session = {
        .seed = options.seed, .quick = options.quick, .verbose = options.verbose, .images = options.images,
        .max_pixels = options.max_pixels,
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (options.list) {
        list();
        return 0;
    }
    if (options.backend && !strcmp(options.backend, "cuda") && !device_count()) {
        printf("skipped: %s\n", ccl_backend_built(CCL_BACKEND_CUDA) ? "no CUDA device" : "built without CUDA");
        return EXIT_SKIPPED;
    }
    layout_catch_faults();
    choose_subjects(&session, &options);
    if (!session.n_subjects && !session.n_volumes) {
        fprintf(stderr, "checkccl: no method of this build is called for; --list says what there is\n");
        return 2;
    }
    if (options.bench) {
        options.bench_options.volumes = session.volumes;
        options.bench_options.n_volumes = session.n_volumes;
        const bool right = bench_run(&options.bench_options, session.subjects, session.n_subjects);
        close_session(&session);
        return right ? 0 : 1;
    }
    printf("seed %llu%s\n", (unsigned long long)session.seed, session.quick ? ", quick" : "");
    if (session.cuda)
        printf("device: %s\n", device_description());
    if (options.self_test)
        check_faults(&session);
    else
        run_suites(&session, &options);

    close_session(&session);
    printf("%lu passed, %lu failed\n", session.passed, session.failed);
    return session.failed ? 1 : 0;
}
