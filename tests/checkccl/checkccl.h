/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * checkccl: every method of every backend against the plain reference.
 *
 *   main.c options.c subjects.c    the program, its command line, which methods
 *   image.c patterns.c             the images
 *   pictures.c                     the pictures that CCL_FEATURE_INTENSITY measures
 *   layout.c                       an image as a mask in some memory: strides, alignment, values, guard bytes and pages
 *   judge.c                        runs cases on every method
 *   expected.c actual.c compare.c  the expected result, a method's result, and their comparison
 *   shrink.c report.c              a smaller image that fails, and the message
 *   labels.c table.c ...           the suites, named for what they judge
 *   faults.c                       wrong methods that the suites must find (--self-test)
 *   bench*.c                       --bench
 */
#ifndef CHECKCCL_H
#define CHECKCCL_H

#include "ccl.h"
#include "image.h"

/* ---------------------------------------------------------------- an image in memory */

typedef enum Values {
    VALUES_01,  /* 0 and 1, or the values just below and above the threshold */
    VALUES_0_255,  /* the smallest and the largest value */
    VALUES_ANY, /* any on the right side of the threshold */
} Values;

typedef struct Layout {
    const char *name;
    CclMemory mask_memory, labels_memory; /* a CPU method gets host memory whatever this says */
    Values values;
    unsigned threshold;
    bool invert;
    unsigned pixel_size;  /* 1 or 2 */
    uint32_t mask_pad;    /* bytes between rows */
    uint32_t labels_pad;  /* labels between rows */
    bool at_start; /* on the host the guard page is right before the first byte, else right behind the last one */
    uint32_t offset;      /* bytes from that page: unaligned masks; labels: four times as many */
} Layout;

/* ---------------------------------------------------------------- a case and its result */

typedef enum Product {
    PRODUCT_TABLE,       /* the table alone */
    PRODUCT_LABELS,      /* the table and the label image */
    PRODUCT_PROVISIONAL, /* the method's own labels */
} Product;

typedef struct Case {
    char name[80];
    const Image *image;
    Layout layout;
    Product product;
    CclFilter filter;        /* all 0: none */
    CclOrder order;
    uint32_t max_components;             /* 0: as many as there are */
    unsigned features;                   /* CCL_FEATURE_..., of CPU methods */
    unsigned picture;                    /* with CCL_FEATURE_INTENSITY: of picture_kinds[] */
    const struct Expression *expression; /* the tree of filter.selection, for the expected result */
    bool selects;                        /* a context for selections even if this case has none */
    bool exact;                          /* a context of exactly this size; else one that fits, used before and after */
    bool twice;                          /* run it again: same bytes */
    bool one_of_many;                    /* one of some 100000 small images: see Subject.every_of_many */
} Case;

/* The result of one frame, copied to where it can be compared. */
typedef struct Outcome {
    CclTable table;       /* .components points at rows */
    CclComponent *rows;
    size_t rows_size;
    CclShapeCounts *shape; /* .shape of the table points here */
    size_t shape_size;
    CclHullCounts *hull; /* the same */
    size_t hull_size;
    CclHoleCounts *holes; /* the same */
    size_t holes_size;
    CclHole *hole_rows; /* all of them */
    size_t hole_rows_size;
    CclIntensityCounts *intensity; /* as shape */
    size_t intensity_size;
    uint32_t *labels;     /* tight */
    size_t labels_size;
    char error[400];      /* empty, or what went wrong: a failed call, a guard byte overwritten */
} Outcome;

struct Subject;

/* A wrong method for the self-test: the right one with a fault. One of: */
typedef struct Fault {
    const char *name;
    void (*spoil)(const Case *c, Outcome *outcome);                     /* changes the result */
    void (*trespass)(const CclMask *mask, const CclLabels *labels); /* writes or reads outside, on the host */
    bool crashes;                                                       /* trespass() ends the process */
} Fault;

/* One method of one backend at one connectivity (and SIMD tier, number of threads). */
typedef struct Subject {
    char name[64];
    CclConfig config;     /* method, tier, threads; sizes and depth come with the case */
    unsigned features_counted; /* CCL_FEATURE_... that its method has */
    unsigned map_features;     /* the same of label maps, and CCL_FEATURE_TABLE if it labels them */
    const Fault *fault;
    unsigned every,         /* judged on one of this many cases; 0: all */
        every_of_many;      /* the same for Case.one_of_many */
    uint32_t max_pixels; /* judged on no larger image; 0: on all */
    unsigned turn;
    bool muted;           /* failed in this suite: not judged again in it */
    bool dead;            /* its device is gone */
    unsigned long passed, failed;
    CclContext *context;  /* of the last case; kept while it fits */
    CclConfig made;       /* its configuration */
} Subject;

typedef struct Session {
    Subject *subjects;
    unsigned n_subjects;
    Subject *volumes;     /* methods for volumes, for the suite volume */
    unsigned n_volumes;
    unsigned long passed, failed;
    uint64_t seed;
    bool quick;
    uint64_t max_pixels; /* of an image that judge() takes; 0: no limit */
    bool verbose;         /* print progress and durations */
    bool quiet;           /* self-test: count, print nothing */
    bool cuda;            /* a CUDA subject is among them */
    const char *images;   /* directory, or NULL */
    Random random;
} Session;

/* ---------------------------------------------------------------- judge.c */

/* Runs up to CCL_MAX_DEPTH cases, all in flight at the same time, on every subject that is not muted, and compares each result
 * with the reference's. */
void judge(Session *session, const Case *cases, unsigned n);
/* A case with the image's name and nothing special. */
Case case_new(const Image *image, Product product, const char *name, ...) __attribute__((format(printf, 3, 4)));

/* The method of a configuration that names one. */
const struct CclAlgorithm *method_of(const CclConfig *config);

/* The expected result: the reference's unfiltered table with the rules of ccl.h applied to it. The caller owns it:
 * outcome_free(). */
Outcome expected_outcome(const Case *c, CclConnectivity connectivity);
/* The result of one subject. */
Outcome actual_outcome(Subject *subject, const Case *c);
/* The same, for a table of at least `rows` components. */
Outcome actual_outcome_for(Subject *subject, const Case *c, uint32_t rows);
void outcome_free(Outcome *outcome);
/* Whether the results agree in everything that the product has; else `why` names the first difference. */
bool same_outcome(const Case *c, const Outcome *expected, const Outcome *got, char why[400]);

/* Replaces the image by the smallest one found in 8 seconds for which the case fails; `why` says how. False when the case does
 * not fail on its own. */
bool shrink(Subject *subject, Case *c, Image *image, char why[400]);

/* One more check outside judge(): counts it, and prints the sentence when it failed. */
bool check(Session *session, bool passed, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Of a monotonic clock. */
double seconds(void);

bool subjects_active(const Session *session);
/* Whether the image has more pixels than the session or the subject is judged on. */
bool too_large(const Session *session, const Subject *subject, const Image *image);
void subject_close(Subject *subject);
void judge_close(void);

/* ---------------------------------------------------------------- layout.c */

#define N_SLOTS 64

/* Builds the case's mask and label image for this subject in slot 0..N_SLOTS-1. `labels` is all 0 when the case has none. */
void layout_prepare(unsigned slot, const Case *c, CclBackendKind backend, CclMask *mask, CclLabels *labels);
/* Fetches the label image and checks the guard bytes; outcome->error says when one was overwritten. */
void layout_finish(unsigned slot, Outcome *outcome);
void layout_close(void);
/* Turns a read or write outside the masks and label images into a failure that names the case. */
void layout_catch_faults(void);
void layout_now_running(const Subject *subject, const Case *c);

extern const Layout plain_layout;
/* Many, for both memories; ends with a NULL name. Some can hold only an empty mask (`threshold` too large), or with `invert` a
 * full one: layout_fits(). */
extern const Layout layouts[];
bool layout_fits(const Layout *layout, const Image *image);

/* ---------------------------------------------------------------- suites */

void check_labels(Session *session);
void check_huge(Session *session); /* masks of the largest size: minutes, gigabytes */
void check_table(Session *session);
void check_features(Session *session);
void check_shape(Session *session);
void check_hull(Session *session);
void check_holes(Session *session);
void check_intensity(Session *session);
void check_selection(Session *session);
void check_maps(Session *session);
void check_short_maps(Session *session);  /* part of it */
void check_volume_maps(Session *session); /* part of it */
void check_contour(Session *session);
void check_blend(Session *session);
void check_api(Session *session);
void check_single_methods(Session *session);
void check_volume(Session *session);
void check_batch(Session *session);
void check_crowd(Session *session);
void check_repeat(Session *session);
void check_cpus(Session *session);
void check_pool(Session *session);
void check_scheduler(Session *session); /* part of it */
/* Runs the suites with each fault planted; counts a fault found as passed. */
void check_faults(Session *session);
void check_volume_faults(Session *session);

#endif
