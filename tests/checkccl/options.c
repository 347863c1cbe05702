/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "checkccl: every labelling method against the plain reference\n"
    "\n"
    "  --list              the methods, suites and devices, and nothing else\n"
    "  --backend=cpu|cuda  this backend only; cuda without a device ends with status 77\n"
    "  --algorithm=LIST    these methods only\n"
    "  --connectivity=4|8  this connectivity only\n"
    "  --suite=LIST        these suites only: labels, table, features, shape, hull, holes, intensity, selection, maps,\n"
    "                      contour, blend, api, methods, volume, batch, crowd, repeat, cpus, pool, huge\n"
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
    "  --features=LIST     methods once more with shape, hull, holes, intensity, all; as label maps: equal,\n"
    "                      equal-shape, equal-hull, equal-holes, equal-all\n"
    "  --frames=N          different frames of each kind (default 16 for the CPU, 4 for a GPU)\n"
    "  --rounds=N          measurements of each figure (default 11)\n"
    "  --min-area=N        keep components of at least N pixels; not with provisional labels\n"
    "  --write=DIR         only write the images there, as PGM\n"
    "  --slow=SECONDS      a method that takes longer for a frame is not timed (default 3)\n"
    "  --steps             the time of each step of a method as well\n"
    "  --json              one JSON object per line instead of text\n"
    "The reference is timed only by --algorithm=reference, or -3d. Methods for volumes take the frames of a\n"
    "kind for one volume.\n";

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

bool named_in(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *item = list; item; item = strchr(item, ',') ? strchr(item, ',') + 1 : NULL)
        if (strcspn(item, ",") == length && !strncmp(item, name, length))
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

typedef enum OptionKind {
    FLAG,     /* bool, without a value */
    TEXT,     /* const char * */
    UNSIGNED, /* unsigned */
    CONNECTIVITY, /* unsigned, 4 or 8 */
    NUMBER,   /* uint64_t */
    REAL,     /* double */
} OptionKind;

static const struct {
    const char *name;
    OptionKind kind;
    size_t offset; /* in Options */
} table[] = {
    { "--algorithm", TEXT, offsetof(Options, algorithm) },
    { "--backend", TEXT, offsetof(Options, backend) },
    { "--bench", FLAG, offsetof(Options, bench) },
    { "--connectivity", CONNECTIVITY, offsetof(Options, connectivity) },
    { "--every", UNSIGNED, offsetof(Options, every) },
    { "--features", TEXT, offsetof(Options, features) },
    { "--frames", UNSIGNED, offsetof(Options, bench_options.n_frames) },
    { "--huge", FLAG, offsetof(Options, huge) },
    { "--images", TEXT, offsetof(Options, images) },
    { "--json", FLAG, offsetof(Options, bench_options.json) },
    { "--kinds", TEXT, offsetof(Options, bench_options.kinds) },
    { "--list", FLAG, offsetof(Options, list) },
    { "--measures", TEXT, offsetof(Options, bench_options.measures) },
    { "--min-area", NUMBER, offsetof(Options, bench_options.filter.min_area) },
    { "--pixels", NUMBER, offsetof(Options, max_pixels) },
    { "--products", TEXT, offsetof(Options, bench_options.products) },
    { "--quick", FLAG, offsetof(Options, quick) },
    { "--rounds", UNSIGNED, offsetof(Options, bench_options.n_rounds) },
    { "--seed", NUMBER, offsetof(Options, seed) },
    { "--self-test", FLAG, offsetof(Options, self_test) },
    { "--shared", FLAG, offsetof(Options, shared) },
    { "--size", TEXT, offsetof(Options, bench_options.sizes) },
    { "--slow", REAL, offsetof(Options, bench_options.slow_s) },
    { "--steps", FLAG, offsetof(Options, bench_options.steps) },
    { "--suite", TEXT, offsetof(Options, suite) },
    { "--threads", TEXT, offsetof(Options, threads) },
    { "--tiers", TEXT, offsetof(Options, tiers) },
    { "--verbose", FLAG, offsetof(Options, verbose) },
    { "--write", TEXT, offsetof(Options, bench_options.write) },
};
enum { N_OPTIONS = sizeof table / sizeof *table };

static double real_of(const char *argument, const char *value)
{
    char *end;
    const double number = strtod(value, &end);
    if (end == value || *end)
        wrong_usage(argument);
    return number;
}

static void store(OptionKind kind, void *option, const char *argument, const char *value)
{
    switch (kind) {
    case FLAG:
        *(bool *)option = true;
        break;
    case TEXT:
        *(const char **)option = value;
        break;
    case UNSIGNED:
        *(unsigned *)option = (unsigned)number_of(argument, value);
        break;
    case CONNECTIVITY:
        *(unsigned *)option = (unsigned)number_of(argument, value);
        if (*(unsigned *)option != 4 && *(unsigned *)option != 8)
            wrong_usage(argument);
        break;
    case NUMBER:
        *(uint64_t *)option = number_of(argument, value);
        break;
    case REAL:
        *(double *)option = real_of(argument, value);
        break;
    }
}

static void parse_argument(Options *options, const char *argument)
{
    for (unsigned i = 0; i < N_OPTIONS; i++) {
        const char *const value = value_of(argument, table[i].name);
        if (table[i].kind == FLAG ? strcmp(argument, table[i].name) != 0 : !value)
            continue;
        store(table[i].kind, (char *)options + table[i].offset, argument, value);
        return;
    }
    wrong_usage(argument);
}

static void check_options(const Options *options, bool (*is_suite)(const char *text))
{
    for (const char *item = options->suite; item; item = strchr(item, ',') ? strchr(item, ',') + 1 : NULL)
        if (!is_suite(item))
            wrong_usage(options->suite);
    if (options->backend && strcmp(options->backend, "cpu") && strcmp(options->backend, "cuda"))
        wrong_usage(options->backend);
}

Options options_parse(int argc, char **argv, bool (*is_suite)(const char *text))
{
    Options options = { .seed = 1, .bench_options.slow_s = 3 };
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(usage, stdout);
            exit(0);
        }
        parse_argument(&options, argv[i]);
    }
    check_options(&options, is_suite);
    if (!options.seed)
        options.seed = (uint64_t)time(NULL);
    options.bench_options.seed = options.seed;
    options.bench_options.images = options.images;
    return options;
}
