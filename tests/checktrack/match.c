/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Gates, costs, groups and parts, without a tracker. */
#include "checktrack.h"

#include "analysis/track_fragments.h"
#include "analysis/track_match.h"

#include <math.h>

static TrackItem confirmed(CclDetection detection)
{
    TrackItem item;
    track_begin(&item, &detection);
    item.track.state = CCL_TRACK_CONFIRMED;
    return item;
}

/* A long object: a step along it is nearer than the same step across. */
void test_match_gate(void)
{
    const TrackItem item = confirmed(box(100, 100, 80, 10));
    const CclDetection same = box(100, 100, 80, 10), along = box(110, 100, 80, 10), across = box(100, 110, 80, 10);
    CHECK(track_distance2(&item, &same) == 0, "%g", track_distance2(&item, &same));
    CHECK(track_distance2(&item, &along) < track_distance2(&item, &across), "%g along, %g across",
          track_distance2(&item, &along), track_distance2(&item, &across));

    CclDetection bad = same;
    CHECK(track_is_usable(&bad), "a box is passed over");
    bad.x1 = NAN;
    CHECK(!track_is_usable(&bad), "NaN is taken");
    bad.x1 = 2e6;
    CHECK(!track_is_usable(&bad), "a coordinate of 2e6 is taken");
    bad.x1 = bad.x0;
    CHECK(!track_is_usable(&bad), "an empty box is taken");
}

void test_match_costs(void)
{
    CclTrackerConfig config = ccl_tracker_config_default();
    TrackItem item = confirmed(box(100, 100, 20, 20));
    const CclDetection same = box(100, 100, 20, 20), near = box(104, 100, 20, 20), far = box(400, 100, 20, 20);
    CclDetection other = same;
    other.type = 1;

    const double cost = track_pair_cost(&config, &item, &near, INFINITY);
    CHECK(track_pair_cost(&config, &item, &same, INFINITY) == 0, "the same box costs something");
    CHECK(cost > 0 && cost < INFINITY, "a near box costs %g", cost);
    CHECK(track_pair_cost(&config, &item, &near, cost / 2) == INFINITY, "the limit is not kept");
    CHECK(track_pair_cost(&config, &item, &far, INFINITY) == INFINITY, "the gate reaches 300 pixels");
    CHECK(track_pair_cost(&config, &item, &other, INFINITY) == INFINITY, "another type is taken");
    config.single_class = true;
    CHECK(track_pair_cost(&config, &item, &other, INFINITY) == 0, "single_class: another type costs something");
    item.track.state = CCL_TRACK_TENTATIVE;
    CHECK(track_pair_cost(&config, &item, &near, INFINITY) > cost, "a tentative track costs no more");
}

static void match(TrackMatch *m, TrackItem *items, uint32_t n_items, const CclDetection *detections, uint32_t n)
{
    const CclTrackerConfig config = ccl_tracker_config_default();
    for (uint32_t i = 0; i < n_items; i++) {
        items[i].track.detection = items[i].group = items[i].container = TRACK_NONE;
        items[i].in_parts = false;
    }
    CHECK(track_match_reserve(m, n_items, n) == CCL_OK, "%s", ccl_error_message());
    track_match_detections(m, detections);
    track_match_assign(m, &config, items, n_items);
    track_match_join_groups(m, items, n_items);
    track_match_join_parts(m, items);
}

void test_match_groups(void)
{
    TrackMatch m = { 0 };
    TrackItem items[] = { confirmed(box(100, 100, 20, 60)), confirmed(box(130, 100, 20, 60)) };
    const CclDetection apart[] = { box(131, 100, 20, 60), box(99, 100, 20, 60) };
    const CclDetection group[] = { box(100, 100, 50, 60) };
    const CclDetection parts[] = { box(100, 100, 20, 35), box(130, 100, 20, 60), box(101, 140, 18, 20) };

    match(&m, items, 2, apart, 2);
    CHECK(items[0].track.detection == 1 && items[1].track.detection == 0, "%u, %u", items[0].track.detection,
          items[1].track.detection);
    CHECK(items[0].group == TRACK_NONE && !items[0].in_parts, "a blob of its own is a group or a part");

    match(&m, items, 2, group, 1);
    CHECK(items[0].group == 0 && items[1].group == 0, "groups %u, %u", items[0].group, items[1].group);

    match(&m, items, 2, parts, 3);
    CHECK(m.owner[0] == 0 && m.owner[1] == 1 && m.owner[2] == 0, "owners %u, %u, %u", m.owner[0], m.owner[1],
          m.owner[2]);
    CHECK(items[0].in_parts && items[0].seen.y1 == 160 && !items[1].in_parts, "the parts are not joined");
    track_match_free(&m);
}

/* A track of a tenth of the other's area merges with it in their common blob; a smaller one hides nothing. */
void test_match_small_member(void)
{
    for (unsigned side = 9; side <= 10; side++) {
        TrackMatch m = { 0 };
        TrackItem items[] = { confirmed(box(100, 100, 100, 10)), confirmed(box(140, 110, side, 10)) };
        const CclDetection both = box(100, 100, 100, 20);
        match(&m, items, 2, &both, 1);
        CHECK(items[0].track.detection == 0 && items[1].group == 0, "%u, %u", items[0].track.detection, items[1].group);
        CHECK((items[0].group == 0) == (side == 10), "side %u: group %u", side, items[0].group);
        track_match_free(&m);
    }
}

/* Of three tracks in one blob the last ends, for it was in there for too long. The blob stays that of its owner. */
void test_match_old_group(void)
{
    TrackMatch m = { 0 };
    TrackItem items[] = { confirmed(box(100, 100, 20, 60)), confirmed(box(130, 100, 40, 60)), confirmed(box(150, 100, 20, 60)) };
    const CclDetection all = box(100, 100, 70, 60);
    CHECK(track_match_reserve(&m, 3, 1) == CCL_OK, "%s", ccl_error_message());
    track_match_detections(&m, &all);
    for (unsigned i = 0; i < 3; i++) {
        items[i].track.id = i + 1;
        items[i].track.detection = TRACK_NONE;
        items[i].group = 0;
        items[i].merged_frames = i == 2 ? 100 : 10;
    }
    m.owner[0] = 1;
    track_match_join_fragments(&m, items, 3, 50);
    CHECK(items[2].track.state == CCL_TRACK_LOST && items[2].group == TRACK_NONE, "the third track lives");
    CHECK(items[0].group == 0 && items[1].group == 0 && m.owner[0] == 1, "groups %u, %u of %u", items[0].group, items[1].group,
          m.owner[0]);
    track_match_free(&m);
}
