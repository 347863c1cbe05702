/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests of the tracker:
 *
 *   assignment.c            the assignment against an exhaustive reference
 *   filter.c match.c        the model of one track; gates, costs, groups and parts
 *   scenes.c                a few objects whose courses are known
 *   lone.c                  fast objects with nothing else near, and objects that are hidden in part
 *   fragments.c             pieces of one object, and two people
 *   leftovers.c             what an object leaves behind, and specks
 *   boxes.c                 boxes of a detector
 *   crowds.c stress.c       many objects, churn, invalid numbers
 */
#ifndef CHECKTRACK_H
#define CHECKTRACK_H

#include "analysis/track.h"

#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define CHECK(condition, ...)                                               \
    do {                                                                    \
        if (!(condition)) {                                                 \
            printf("%s:%d: not so: %s: ", __FILE__, __LINE__, #condition);  \
            printf(__VA_ARGS__);                                            \
            printf("\n");                                                   \
            exit(1);                                                        \
        }                                                                   \
    } while (0)

/* ---------------------------------------------------------------- random numbers */

void random_seed(uint64_t seed);
uint32_t random_below(uint32_t n);
double random_within(double low, double high);

/* ---------------------------------------------------------------- scenes */

typedef struct Scene {
    CclTracker *tracker;
    CclTrackerConfig config;
    CclDetection *detections; /* of the next frame */
    uint32_t n, capacity;
    uint64_t *ids; /* of the detections */
} Scene;

Scene new_scene(CclTrackerConfig config);
Scene default_scene(void);
void free_scene(Scene *scene);

CclDetection box(double x0, double y0, double w, double h);
void add(Scene *scene, CclDetection detection);
/* As a labelling method lists it: boxes that touch are one blob. */
void add_as_blob(Scene *scene, CclDetection detection);
void clear(Scene *scene);
void step(Scene *scene, double frames);

const CclTrack *find_track(const Scene *scene, uint64_t id);
uint32_t count_tracks(const Scene *scene);
CclTrackState state_of(const Scene *scene, uint64_t id);

/* ---------------------------------------------------------------- tests */

void test_assignment_is_optimal(void);
void test_assignment_of_a_crowd(void);
void test_limit_of_steps(void);
void test_filter_axis(void);
void test_filter_track(void);
void test_match_gate(void);
void test_match_costs(void);
void test_match_groups(void);
void test_match_small_member(void);
void test_match_old_group(void);
void test_settings(void);
void test_life(void);
void test_vanishing(void);
void test_crossing(void);
void test_splitting(void);
void test_parts(void);
void test_intervals(void);
void test_intervals_in_nanoseconds(void);
void test_gap_before_a_skipped_frame(void);
void test_types(void);
void test_iou_method(void);
void test_places_of_iou(void);
void test_box_model(void);
void test_box_cost(void);
void test_box_stages(void);
void test_box_crossing(void);
void test_box_noise(void);
void test_box_settings(void);
void test_lone_speed(void);
void test_lone_acceleration(void);
void test_lone_is_alone(void);
void test_lone_is_like(void);
void test_hidden_in_part(void);
void test_pieces(void);
void test_pieces_come_in(void);
void test_pieces_of_classes(void);
void test_parts_of_classes(void);
void test_small_piece(void);
void test_two_people(void);
void test_long_group(void);
void test_left_piece(void);
void test_speck_in_the_way(void);
void test_behind_a_post(void);
void test_crowds(void);
void test_churn(void);
void test_nonsense(void);
void test_small_boxes(void);
void test_repeatable(void);

#endif
