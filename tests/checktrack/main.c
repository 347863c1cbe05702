/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "checktrack.h"

static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {
    { "assignment is optimal", test_assignment_is_optimal },
    { "assignment of a crowd", test_assignment_of_a_crowd },
    { "limit of steps", test_limit_of_steps },
    { "filter of one axis", test_filter_axis },
    { "model of a track", test_filter_track },
    { "gate", test_match_gate },
    { "costs", test_match_costs },
    { "groups and parts", test_match_groups },
    { "small member of a group", test_match_small_member },
    { "a group for too long", test_match_old_group },
    { "settings", test_settings },
    { "life", test_life },
    { "vanishing", test_vanishing },
    { "crossing", test_crossing },
    { "splitting", test_splitting },
    { "parts", test_parts },
    { "intervals", test_intervals },
    { "intervals in nanoseconds", test_intervals_in_nanoseconds },
    { "gap before a skipped frame", test_gap_before_a_skipped_frame },
    { "types", test_types },
    { "method iou", test_iou_method },
    { "places of iou", test_places_of_iou },
    { "model of a box", test_box_model },
    { "cost of a box", test_box_cost },
    { "stages of boxes", test_box_stages },
    { "boxes cross", test_box_crossing },
    { "boxes with noise", test_box_noise },
    { "settings for boxes", test_box_settings },
    { "speed of a lone blob", test_lone_speed },
    { "acceleration of a lone blob", test_lone_acceleration },
    { "a lone blob is alone", test_lone_is_alone },
    { "a lone blob is alike", test_lone_is_like },
    { "hidden in part", test_hidden_in_part },
    { "pieces", test_pieces },
    { "pieces come in", test_pieces_come_in },
    { "pieces of classes", test_pieces_of_classes },
    { "parts of classes", test_parts_of_classes },
    { "small piece", test_small_piece },
    { "two people", test_two_people },
    { "long group", test_long_group },
    { "left piece", test_left_piece },
    { "speck in the way", test_speck_in_the_way },
    { "behind a post", test_behind_a_post },
    { "crowds", test_crowds },
    { "churn", test_churn },
    { "nonsense", test_nonsense },
    { "small boxes", test_small_boxes },
    { "repeatable", test_repeatable },
};

int main(void)
{
    for (size_t i = 0; i < COUNT(tests); i++) {
        printf("%s\n", tests[i].name);
        fflush(stdout);
        tests[i].run();
    }
    return 0;
}
