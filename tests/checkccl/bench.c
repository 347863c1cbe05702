/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The benchmark. For each size and kind of image it draws some different frames, compares every method with the reference
 * on each of them, and times the methods that are right. All figures are microseconds per frame. Each is the median of
 * some rounds, with the 10th and 90th percentile. In a round every method runs once, so that other work on the machine
 * disturbs all methods alike.
 *
 *   CPU   wall       all frames in turn, one after the other (one frame over and over would train the branch predictor)
 *         processor  the processor time of all threads for the same; more reliable on a machine with other work
 *   CUDA  gpu_hot    GPU time by events around many frames, CCL_MAX_DEPTH in flight, from the start of the first to the
 *                    end of the last: one mask in device memory over and over, CCL_MAX_DEPTH label images
 *         gpu_cold   the same with masks in turn that together exceed the cache
 *         lane_hot, lane_cold  the same, but on the GPU one frame after the other; lane_hot with one label image
 *         wall_cold  the host's clock around the same frames
 *         latency    host's clock from submit to the end of collect, one frame at a time, mask in device memory
 *         host_latency, host_wall      mask in ordinary memory: one at a time, CCL_MAX_DEPTH in flight
 *         pinned_latency, pinned_wall  mask in page-locked memory
 *         packed_latency, packed_wall  mask in ordinary memory, packed to bits by as many threads as there are CPUs
 *         host_rest, packed_rest       host_latency and packed_latency without packing: upload of bits, kernels, table
 *         shared_latency               mask in page-locked memory, packed to bits by them and by the GPU
 *
 *         plain_cold as lane_cold, every kernel launched by itself instead of by a graph
 *
 * Besides: device_memory and host_memory, the bytes of a context after some frames. own_memory is the method's own part; the
 * rest is the same for all methods that only label.
 *
 * The method "null" does the least that a method can do: it reads the mask, and sets the label image to 0.
 */
#include "bench_state.h"
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

/* ---------------------------------------------------------------- one image */

static void print_heading(const Bench *bench)
{
    printf("%s %ux%u, %.2f %% foreground, %u different frames", bench->kind, bench->width, bench->height,
           bench->foreground, bench->n_frames);
    for (unsigned k = 0; k < 2; k++)
        if (bench->checked[k])
            printf(", %u components (%u-connected, first frame)", bench->n_components[k], k ? 8 : 4);
    printf("\n");
}

static void bench_frames(Bench *bench, Subject *subjects, unsigned n)
{
    size_t lit = 0;
    for (size_t i = 0; i < mask_size(bench); i++)
        lit += bench->frames[0].pixels[i];
    bench->foreground = 100.0 * (double)lit / (double)mask_size(bench);
    bench->n_components[0] = bench->n_components[1] = 0;
    for (unsigned s = 0; s < n; s++)
        subjects[s].muted = false;

    fprintf(stderr, "%s %ux%u: checking %u frames\n", bench->kind, bench->width, bench->height, bench->n_frames);
    check_subjects(bench, subjects, n);
    if (!bench->options->json)
        print_heading(bench);
    fprintf(stderr, "%s %ux%u: timing\n", bench->kind, bench->width, bench->height);
    bench_cpu(bench, subjects, n);
    bench_cuda(bench, subjects, n);
    if (kind_wanted(bench->options->products, "volume"))
        bench_volumes(bench);
    for (unsigned s = 0; s < n && bench->options->steps; s++)
        for (unsigned p = 0; p < N_PRODUCTS && !subjects[s].muted; p++)
            if (product_wanted(bench, products[p]))
                bench_steps(bench, &subjects[s], products[p]);
    for (unsigned f = 0; f < bench->n_frames; f++)
        image_free(&bench->frames[f]);
}

static unsigned frames_wanted(const BenchOptions *options, const Subject *subjects, unsigned n)
{
    unsigned wanted = options->n_frames;
    for (unsigned s = 0; s < n && !options->n_frames; s++) {
        const unsigned min_frames = subjects[s].config.backend == CCL_BACKEND_CPU ? 16 : 4;
        wanted = min_frames > wanted ? min_frames : wanted;
    }
    if (!options->n_frames && options->n_volumes && wanted < 16)
        wanted = 16;
    return wanted < 64 ? wanted : 64;
}

/* For what times the same images elsewhere. */
static void write_frames(Bench *bench)
{
    for (unsigned f = 0; f < bench->n_frames; f++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s-%ux%u-%02u.pgm", bench->options->write, bench->kind, bench->width,
                 bench->height, f);
        if (!image_save(&bench->frames[f], path)) {
            fprintf(stderr, "checkccl: %s cannot be written\n", path);
            exit(2);
        }
        image_free(&bench->frames[f]);
    }
}

static void bench_size(Bench *bench, uint32_t width, uint32_t height, Subject *subjects, unsigned n)
{
    unsigned n_kinds;
    Kind *const kinds = kinds_named(bench->options->kinds, &n_kinds);
    bench->width = width, bench->height = height;
    for (const Kind *kind = kinds; kind < kinds + n_kinds; kind++) {
        Random random = { bench->options->seed };
        snprintf(bench->kind, sizeof bench->kind, "%s", kind->name);
        bench->n_frames = frames_wanted(bench->options, subjects, n);
        for (unsigned f = 0; f < bench->n_frames; f++)
            bench->frames[f] = kind->draw(kind, width, height, &random);
        if (bench->options->write)
            write_frames(bench);
        else
            bench_frames(bench, subjects, n);
    }
    free(kinds);
}

/* A mask of the user and its mirror images. */
static void bench_picture(void *data, const char *name, Image *image, const char *why)
{
    Bench *const bench = data;
    if (!image) {
        fprintf(stderr, "checkccl: %s\n", why);
        bench->all_right = false;
        return;
    }
    snprintf(bench->kind, sizeof bench->kind, "%.70s", name);
    for (char *c = bench->kind; *c; c++) /* goes into JSON as it is */
        *c = *c == '"' || *c == '\\' || (unsigned char)*c < ' ' ? '_' : *c;
    bench->width = image->width, bench->height = image->height;
    bench->n_frames = 4;
    bench->frames[0] = *image;
    bench->frames[1] = image_flip_x(image);
    bench->frames[2] = image_flip_y(image);
    bench->frames[3] = image_flip_x(&bench->frames[2]);
    bench_frames(bench, bench->subjects, bench->n_subjects);
}

/* ---------------------------------------------------------------- all images */

/* The next size of the list; false at its end. */
static bool next_size(const char **list, uint32_t *width, uint32_t *height)
{
    static const struct {
        const char *name;
        uint32_t width, height;
    } names[] = { { "720p", 1280, 720 }, { "1080p", 1920, 1080 }, { "4K", 3840, 2160 }, { "8K", 7680, 4320 } };
    const size_t n = strcspn(*list, ",");
    if (!**list)
        return false;
    *width = *height = 0;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == n && !strncmp(*list, names[i].name, n))
            *width = names[i].width, *height = names[i].height;
    if (!*width && sscanf(*list, "%ux%u", width, height) != 2)
        *width = 0;
    if (*width < 1 || *height < 1 || *width > CCL_MAX_SIZE || *height > CCL_MAX_SIZE) {
        fprintf(stderr, "checkccl: \"%s\" is no size: 720p, 1080p, 4K, 8K, all or WIDTHxHEIGHT\n", *list);
        exit(2);
    }
    *list += n;
    *list += **list == ',';
    return true;
}

static void cpu_name(char name[128])
{
    char line[256];
    FILE *const file = fopen("/proc/cpuinfo", "r");
    snprintf(name, 128, "unknown CPU");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "model name", 10) && strchr(line, ':')) {
            snprintf(name, 128, "%.120s", strchr(line, ':') + 2);
            name[strcspn(name, "\n\"\\")] = '\0';
            break;
        }
    if (file)
        fclose(file);
}

static void print_machine(const Bench *bench, bool cuda)
{
    char cpu[128], date[40];
    struct utsname host;
    const time_t now = time(NULL);
    struct tm utc;
    cpu_name(cpu);
    uname(&host);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    const char *const gpu = cuda ? device_description() : "not used";
    if (bench->options->json)
        printf("{\"schema\":\"checkccl-bench-1\",\"date\":\"%s\",\"cpu\":\"%s\",\"machine\":\"%s\",\"gpu\":\"%s\","
               "\"seed\":%llu,\"rounds\":%u}\n",
               date, cpu, host.machine, gpu, (unsigned long long)bench->options->seed, bench->n_rounds);
    else
        printf("%s; %s, %s; GPU: %s; seed %llu\nmicroseconds per frame, median [10th, 90th percentile] of %u rounds\n",
               date, cpu, host.machine, gpu, (unsigned long long)bench->options->seed, bench->n_rounds);
}

bool bench_run(const BenchOptions *options, Subject *subjects, unsigned n)
{
    Bench bench = { .options = options,
                    .subjects = subjects,
                    .n_subjects = n,
                    .n_rounds = options->n_rounds ? options->n_rounds : 11,
                    .all_right = true };
    const char *sizes = !options->sizes                  ? "1080p"
                        : !strcmp(options->sizes, "all") ? "720p,1080p,4K,8K"
                                                         : options->sizes;
    uint32_t width, height;
    bool cuda = false;
    if (bench.n_rounds > MAX_ROUNDS)
        bench.n_rounds = MAX_ROUNDS;
    for (unsigned s = 0; s < n; s++)
        cuda |= subjects[s].config.backend == CCL_BACKEND_CUDA;
    print_machine(&bench, cuda);
    if (options->images && !image_load_all(options->images, bench_picture, &bench)) {
        fprintf(stderr, "checkccl: --images=%s: no .pgm or .pbm file there\n", options->images);
        return false;
    }
    if (!options->images)
        while (next_size(&sizes, &width, &height))
            bench_size(&bench, width, height, subjects, n);
    return bench.all_right;
}
