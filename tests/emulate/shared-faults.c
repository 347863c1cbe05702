/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Contexts that share a device when the device fails: each call of CUDA's in turn, once or for good. Whatever happens, a
 * frame that comes back without an error has the right table, what concerns one stream concerns no other, all that fail
 * say why, everything is given back, and new contexts work. And streams that come and go leave nothing behind.
 *
 * usage: shared-faults [STEP [CYCLES]]: every STEPth call only
 */
#include "ccl.h"
#include "host/test_switches.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* emulate.h is C++. */
void emulate_fail(const char *call, unsigned n, int error, bool lost);
unsigned emulate_calls(void);
unsigned emulate_n_allocated(void);

enum { N = 5, ROUNDS = 3, WIDTH = 70, HEIGHT = 20, OUT_OF_MEMORY = 2, LAUNCH_FAILURE = 719 };

static unsigned n_checks, n_failed;

static bool check(bool passed, const char *what, const char *call, unsigned n, bool lost)
{
    n_checks++;
    if (passed)
        return true;
    n_failed++;
    printf("FAILED: %s; %s %u%s: \"%s\"\n", what, call, n, lost ? ", lost" : "", ccl_error_message());
    return false;
}

typedef struct Stream {
    uint8_t pixels[HEIGHT * WIDTH];
    CclComponent expected[WIDTH * HEIGHT];
    uint32_t n_expected;
    CclContext *context;
    void *memory;        /* the mask where the context reads it, when that is not `pixels` */
    uint32_t *labels;    /* pinned */
    bool waits;          /* a frame is in flight */
    bool failed;
} Stream;

/* Frames with labels have no cluster. A batch has completion flags only if all of its frames have clusters. */
static bool wants_labels(unsigned i)
{
    return i == 2 && !getenv("CCL_TEST_CLUSTERS");
}

static CclConfig config_of(unsigned i)
{
    CclConfig config = ccl_config_default();
    config.backend = CCL_BACKEND_CUDA;
    config.algorithm = "runs";
    config.max_width = WIDTH;
    config.max_height = HEIGHT;
    config.shared = true;
    config.threads = i == 1 ? 2 : 1;
    config.labels = wants_labels(i);
    return config;
}

static CclMask mask_of(const Stream *stream, uint32_t width)
{
    return (CclMask){ .data = stream->memory ? stream->memory : (const void *)stream->pixels, .stride = WIDTH,
                      .width = width, .height = HEIGHT,
                      .memory = stream->memory ? CCL_MEMORY_PINNED : CCL_MEMORY_HOST };
}

/* Different pictures and sizes, on ordinary and page-locked memory. */
static void prepare(Stream *streams)
{
    CclConfig config = ccl_config_default();
    CclContext *reference;
    CclTable table;
    uint32_t random = 1;

    config.max_width = WIDTH;
    config.max_height = HEIGHT;
    if (ccl_context_new(&config, &reference) != CCL_OK)
        abort();
    for (unsigned i = 0; i < N; i++) {
        Stream *const stream = &streams[i];
        for (unsigned p = 0; p < WIDTH * HEIGHT; p++)
            stream->pixels[p] = (random = random * 1103515245 + 12345) >> 30 == 0;
        const CclMask mask = mask_of(stream, WIDTH - 3 * i);
        if (ccl_analyze(reference, &mask, NULL, NULL, &table) != CCL_OK)
            abort();
        memcpy(stream->expected, table.components, table.n_components * sizeof *table.components);
        stream->n_expected = table.n_components;
        if (i == 3) {
            stream->memory = ccl_pinned_alloc(WIDTH * HEIGHT, 0);
            memcpy(stream->memory, stream->pixels, WIDTH * HEIGHT);
        }
        if (wants_labels(i))
            stream->labels = ccl_pinned_alloc(WIDTH * HEIGHT * sizeof(uint32_t), 0);
    }
    ccl_context_free(reference);
}

static unsigned note_failure(Stream *stream, char reason[512], const char *call, unsigned n, bool lost)
{
    stream->failed = true;
    if (!reason[0])
        snprintf(reason, 512, "%s", ccl_error_message());
    check(lost || !strcmp(reason, ccl_error_message()), "one stream's failure is another's", call, n, lost);
    return 1;
}

/* All streams together, some times. Returns how many failed. A fault that is over has one reason: a second stream fails
 * only where the fault was in what they share, and then gives the same. */
static unsigned run(Stream *streams, const char *call, unsigned n, bool lost)
{
    char reason[512] = "";
    unsigned n_streams = 0;
    for (unsigned i = 0; i < N; i++) {
        const CclConfig config = config_of(i);
        streams[i].failed = false;
        if (ccl_context_new(&config, &streams[i].context) != CCL_OK)
            n_streams += note_failure(&streams[i], reason, call, n, lost);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < N; i++) {
            Stream *const stream = &streams[i];
            const CclMask mask = mask_of(stream, WIDTH - 3 * i);
            const CclLabels labels = { .data = stream->labels, .stride = WIDTH * sizeof(uint32_t),
                                       .memory = CCL_MEMORY_PINNED };
            stream->waits =
                !stream->failed && ccl_submit(stream->context, &mask, NULL, stream->labels ? &labels : NULL) == CCL_OK;
            if (!stream->failed && !stream->waits)
                n_streams += note_failure(stream, reason, call, n, lost);
        }
        for (unsigned i = 0; i < N; i++) {
            Stream *const stream = &streams[i];
            CclTable table;
            if (!stream->waits || (round == ROUNDS - 1 && i == 0))
                continue; /* one is closed with a frame in flight */
            if (ccl_collect(stream->context, &table) == CCL_OK)
                check(table.n_components == stream->n_expected &&
                          !memcmp(table.components, stream->expected, stream->n_expected * sizeof *stream->expected),
                      "a wrong table", call, n, lost);
            else
                n_streams += note_failure(stream, reason, call, n, lost);
        }
    }
    for (unsigned i = 0; i < N; i++)
        ccl_context_free(streams[i].context);
    return n_streams;
}

static void check_call(Stream *streams, const char *call, unsigned n, int error, bool lost)
{
    const unsigned allocated = emulate_n_allocated();
    emulate_fail(call, n, error, lost);
    run(streams, call ? call : "call", n, lost);
    emulate_fail(NULL, 0, 0, false);
    check(emulate_n_allocated() == allocated, "not everything is given back", call ? call : "call", n, lost);
}

int main(int argc, char **argv)
{
    static Stream streams[N];
    const unsigned step = argc > 1 ? (unsigned)atoi(argv[1]) : 1, cycles = argc > 2 ? (unsigned)atoi(argv[2]) : 1000;

    prepare(streams);
    for (unsigned together = 1; together <= N; together += N - 1) {
        char text[8];
        snprintf(text, sizeof text, "%u", together);
        setenv("CCL_TEST_BATCH", text, 1);
        ccl_test_switches_reread();
        const unsigned allocated = emulate_n_allocated();

        emulate_fail(NULL, 0, 0, false);
        const unsigned n_wrong = run(streams, "nothing", 0, false);
        const unsigned n_calls = emulate_calls();
        check(n_wrong == 0, "something failed without a fault", "nothing", 0, false);
        check(emulate_n_allocated() == allocated, "not everything is given back", "nothing", 0, false);
        for (unsigned n = 1; n <= n_calls; n += step) {
            check_call(streams, NULL, n, LAUNCH_FAILURE, true);
            check_call(streams, NULL, n, OUT_OF_MEMORY, false);
        }
        for (unsigned n = 1; n <= 60; n += step)
            check_call(streams, "launch", n, LAUNCH_FAILURE, false);
        check(run(streams, "afterwards", 0, false) == 0, "new contexts do not work", "afterwards", 0, false);
    }

    /* Streams that come and go beside one that stays. */
    const unsigned allocated = emulate_n_allocated();
    CclContext *stays = NULL, *guest = NULL;
    const CclConfig config = config_of(0);
    bool ok = ccl_context_new(&config, &stays) == CCL_OK;
    const unsigned with_one = emulate_n_allocated();
    for (unsigned i = 0; i < cycles && ok; i++) {
        const CclMask mask = mask_of(&streams[0], WIDTH);
        CclConfig other = config_of(i % N);
        other.max_width = i % 3 ? WIDTH : 2 * WIDTH; /* the engine grows once */
        ok = ccl_context_new(&other, &guest) == CCL_OK;
        if (i % 2)
            ok = ok && ccl_submit(guest, &mask, NULL, NULL) == CCL_OK;
        ccl_context_free(guest);
    }
    check(ok, "a stream that comes and goes", "cycles", cycles, false);
    /* A lane and two places. */
    check(emulate_n_allocated() <= with_one + 3, "streams leave something behind", "cycles", cycles, false);
    ccl_context_free(stays);
    check(emulate_n_allocated() == allocated, "the last one leaves something behind", "cycles", cycles, false);
    for (unsigned i = 0; i < N; i++) {
        ccl_pinned_free(streams[i].memory);
        ccl_pinned_free(streams[i].labels);
    }
    printf("%u passed, %u failed\n", n_checks - n_failed, n_failed);
    return n_failed != 0;
}
