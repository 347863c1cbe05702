/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Filter expressions and orders by measures: the parser alone, then the tables of all methods. */
#include "checkccl.h"
#include "expression.h"
#include "patterns.h"
#include "pictures.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- errors */

#define KNOWN                                                                                                  \
    "; known are area, x, y, width, height, centroid-x, centroid-y, cov-xx, cov-xy, cov-yy, orientation, "     \
    "axis-major-length, axis-minor-length, eccentricity, equivalent-diameter, extent, euler-number, n-holes, " \
    "perimeter-crack, perimeter-crofton, circularity, compactness, area-convex, solidity, perimeter-convex, "  \
    "convexity, feret-diameter-max, min-feret, rect-x, rect-y, rect-length, rect-width, rect-angle, "          \
    "equivalent-rect-length, equivalent-rect-width, class-id, area-filled, intensity-min, "                    \
    "intensity-max, intensity-sum, intensity-mean, intensity-std, centroid-weighted-x, centroid-weighted-y, "  \
    "cov-weighted-xx, cov-weighted-xy, cov-weighted-yy, cb-mean, cr-mean, touches-border, touches-left, "      \
    "touches-top, touches-right, touches-bottom"

#define EVERY_FEATURE (CCL_FEATURE_SHAPE | CCL_FEATURE_HULL | CCL_FEATURE_HOLES | CCL_FEATURE_INTENSITY)

static const struct {
    const char *text, *message;
} errors[] = {
    { "aera > 5", "unknown measure 'aera' at 1" KNOWN },
    { "area > 5 and\t areas > 5", "unknown measure 'areas' at 15" KNOWN },
    { "area-5 > 1", "unknown measure 'area-5' at 1" KNOWN },
    { "AREA > 5", "unknown measure 'AREA' at 1" KNOWN },
    { "area > inf", "unknown measure 'inf' at 8" KNOWN },
    { "area > 5 or x", "'x' is a number: a comparison such as > 0 is missing at 14" },
    { "area", "'area' is a number: a comparison such as > 0 is missing at 5" },
    { "not area and true", "'area' is a number: a comparison such as > 0 is missing at 10" },
    { "5", "'5' is a number: a comparison such as > 0 is missing at 2" },
    { "area >", "a number or the name of one is missing at 7" },
    { "area > (5)", "a number or the name of one is missing at 8" },
    { "area > touches-border", "a number or the name of one is missing at 8" },
    { "area > not true", "a number or the name of one is missing at 8" },
    { "3 > 2", "two numbers are compared, no measure at 1" },
    { "1 < area < 5", "a comparison follows a comparison at 10; for a < b < c write a < b and b < c" },
    { "area == 1 == 1", "a comparison follows a comparison at 11; for a < b < c write a < b and b < c" },
    { "touches-border == 1", "'touches-border' is true or false, and compared at 16; write it alone, or with not" },
    { "true != false", "'true' is true or false, and compared at 6; write it alone, or with not" },
    { "(area > 1) > 0", "what is in parentheses is true or false, and compared at 12" },
    { "(area > 1", "'(' without ')' at 1" },
    { "area > 1 or ((x < 1) and true", "'(' without ')' at 13" },
    { "area > 1)", "')' without '(' at 9" },
    { ") or true", "a measure is missing at 1" },
    { "()", "a measure is missing at 2" },
    { "true and", "a measure is missing at 9" },
    { "and true", "a measure is missing at 1" },
    { "true or or true", "a measure is missing at 9" },
    { "not", "a measure is missing at 4" },
    { "< 5", "a measure is missing at 1" },
    { "true false", "and, or, ) or the end is missing at 6" },
    { "area > 1 area < 5", "and, or, ) or the end is missing at 10" },
    { "true not true", "and, or, ) or the end is missing at 6" },
    { "true (true)", "and, or, ) or the end is missing at 6" },
    { "area = 5", "unexpected '=' at 6; equal is ==" },
    { "area => 5", "unexpected '=' at 6; equal is ==" },
    { "area > 5 && true", "unexpected '&' at 10; write and, or, not, !=" },
    { "!true", "unexpected '!' at 1; write and, or, not, !=" },
    { "area > 5 | true", "unexpected '|' at 10; write and, or, not, !=" },
    { "area + x > 5", "unexpected '+' at 6" },
    { "area <> 5", "a number or the name of one is missing at 7" },
    { "area * 2 > 5", "unexpected '*' at 6" },
    { "area > -", "unexpected '-' at 8" },
    { "area > .", "unexpected '.' at 8" },
    { "area > 5px", "this is no number at 8; numbers are decimal, as in 0.5 or 1e3" },
    { "area > 0x10", "this is no number at 8; numbers are decimal, as in 0.5 or 1e3" },
    { "area > 1.2.3", "this is no number at 8; numbers are decimal, as in 0.5 or 1e3" },
    { "area > 1e", "this is no number at 8; numbers are decimal, as in 0.5 or 1e3" },
    { "area > 1,5", "unexpected ',' at 9" },
    { "area > -1e999", "this number is too large at 8" },
    { "\303\244rea > 5", "unexpected character at 1" },
    { "true and \303\244", "unexpected character at 10" },
    { "true \1", "unexpected character at 6" },
    { "true and true or \xff\xfe", "unexpected character at 18" },
};

static void check_errors(Session *session)
{
    CclSelection selection;
    for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++) {
        const CclStatus status = ccl_selection_parse(errors[i].text, &selection);
        check(session, status == CCL_ERROR_ARGUMENT, "\"%s\" is taken for an expression", errors[i].text);
        check(session, status == CCL_OK || !strcmp(ccl_error_message(), errors[i].message), "\"%s\": \"%s\", not \"%s\"",
              errors[i].text, ccl_error_message(), errors[i].message);
    }
}

static char *repeat(const char *head, const char *part, unsigned n, const char *tail)
{
    char *const text = malloc(strlen(head) + n * strlen(part) + strlen(tail) + 1);
    char *end = stpcpy(text, head);
    for (unsigned i = 0; i < n; i++)
        end = stpcpy(end, part);
    strcpy(end, tail);
    return text;
}

/* Each limit is met exactly, and missed by one. message NULL: no error. */
static void check_bound(Session *session, char *text, const char *message)
{
    CclSelection *const selection = malloc(sizeof *selection);
    const CclStatus status = ccl_selection_parse(text, selection);
    check(session, message ? status == CCL_ERROR_ARGUMENT && !strcmp(ccl_error_message(), message) : status == CCL_OK,
          "\"%.40s...\", %zu bytes: \"%s\", not \"%s\"", text, strlen(text), status ? ccl_error_message() : "no error",
          message ? message : "no error");
    free(selection);
    free(text);
}

static void check_bounds(Session *session)
{
    char *const closed = repeat("true", ")", 60, "");
    check_bound(session, repeat("", " ", 4092, "true"), NULL);
    check_bound(session, repeat("", " ", 4093, "true"), "the expression has 4097 bytes, more than 4096");
    check_bound(session, repeat("", "(", 1000000, "true"), "the expression has 1000004 bytes, more than 4096");
    check_bound(session, repeat("", "(", 60, closed), NULL);
    free(closed);
    check_bound(session, repeat("", "(", 61, "true"), "more than 60 operators and parentheses are open at 61");
    check_bound(session, repeat("", "not ", 60, "true"), NULL);
    check_bound(session, repeat("", "not(", 1000, "true"), "more than 60 operators and parentheses are open at 121");
    check_bound(session, repeat("", "true and(", 31, "true"), "more than 60 operators and parentheses are open at 276");
    check_bound(session, repeat("", "true or ", 256, "not true"), "more than 512 comparisons and operators at 2049");
    check_bound(session, repeat("", "true or ", 255, "not true"), NULL);
}

/* ---------------------------------------------------------------- one component */

/* Values of numbers, and blank texts; the component is 4 pixels in a row, at (3, 0) of 10x5. */
static void check_examples(Session *session)
{
    static const struct {
        const char *text;
        bool passes;
    } examples[] = {
        { "", true },
        { " \t\r\n", true },
        { "area==4", true },
        { "area>=4.0 and area<=+4e0 and 40E-1==area and area > 3.99999999999999 and area < .4e1", false },
        { "area>=4.0 and area<=+4e0 and 40E-1==area and area > 3.99999999999999 and area < 4.00000000000001", true },
        { "area == 4.0000000000000001", true }, /* the nearest double */
        { "extent > 0.1 and extent < 1.1", true },
        { "x == 3 and y == 0 and width == 4 and height == 1 and extent == 1", true },
        { "centroid-x == 4.5 and centroid_y == 0 and cov_xx == 1.25", true },
        { "width > height and not height > width and area == width", true },
        { "touches-border and touches_top and not (touches-left or touches-right or touches-bottom)", true },
        { "true or false and false", true },
        { "(true or false) and false", false },
        { "not false and false", false },
        { "not (false and false)", true },
        { "not true or true", true },
        { "not not not false", true },
        { "not area > 5 and area == 4", true },
        { "axis-minor-length >= 0 or axis-minor-length < 0 or axis-minor-length != 7 or axis-minor-length == 0", false },
        { "not axis-minor-length > 1", true },
        { "axis-minor-length == axis-minor-length or axis-minor-length < area", false },
        { "axis-major-length > 4 and eccentricity == 1 and orientation > 1.57", true },
    };
    static const CclComponent row = { .moments = { 4, 18, 0, 86, 0, 0 }, .x0 = 3, .x1 = 7, .y1 = 1, .first_x = 3 };
    CclSelection selection;

    for (unsigned i = 0; i < sizeof examples / sizeof *examples; i++) {
        CclMeasuring measuring = { .component = &row, .width = 10, .height = 5 };
        const CclStatus status = ccl_selection_parse(examples[i].text, &selection);
        check(session, status == CCL_OK, "\"%s\": %s", examples[i].text, status ? ccl_error_message() : "");
        check(session, status != CCL_OK || ccl_selection_keeps(&selection, &measuring) == examples[i].passes, "\"%s\" is %s",
              examples[i].text, examples[i].passes ? "false" : "true");
    }
}

/* Classes take the place of values, only while the selection is asked. */
static void check_classes(Session *session)
{
    static const uint16_t classes[] = { 0, 7, 7, 40000 }, values[] = { 1, 2, 3 };
    static const CclComponent pixel = { .moments = { 1, 0, 0, 0, 0, 0 }, .x1 = 1, .y1 = 1 };
    CclSelection selection;

    for (unsigned with = 0; with < 2; with++) {
        check(session, ccl_selection_parse("class_id == 7 or class-id > area and class-id != 3", &selection) == CCL_OK,
              "class_id: %s", ccl_error_message());
        selection.classes = with ? classes : NULL;
        for (unsigned i = 0; i < 3; i++) {
            CclMeasuring measuring = { .component = &pixel, .class_id = &values[i], .width = 1, .height = 1 };
            const bool expected = with || values[i] == 2;
            check(session, ccl_selection_keeps(&selection, &measuring) == expected && measuring.class_id == &values[i],
                  "value %u %s classes", values[i], with ? "with" : "without");
        }
    }
}

/* Few machines have the locale, most can make it. */
static bool use_german_locale(const char *folder)
{
    char command[120];
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
        snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
        setenv("LOCPATH", folder, 1);
        if (system(command) == -1 || !setlocale(LC_NUMERIC, "de_DE.UTF-8"))
            return false;
    }
    return !strcmp(localeconv()->decimal_point, ",");
}

/* The decimal comma of a locale changes no number. */
static void check_locale(Session *session)
{
    char folder[] = "/tmp/ccl-locale-XXXXXX", command[40];
    CclSelection selection;
    if (mkdtemp(folder) && use_german_locale(folder))
        check(session, ccl_selection_parse("area > 2.5", &selection) == CCL_OK && selection.steps[0].number == 2.5,
              "with a decimal comma: 2.5 is %g", selection.steps[0].number);
    else if (!session->quiet)
        printf("skipped: there is no locale de_DE.UTF-8 here, and none could be made\n");
    setlocale(LC_NUMERIC, "C");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    check(session, system(command) == 0, "%s stays", folder);
}

/* Whatever the text: no crash, and an error has a message. Most are expressions with a byte changed. */
static void check_hostile(Session *session)
{
    static const char bytes[] = "()<>=!&|+-.,_ \n019eEaxy\303\244\377";
    Expression expression;
    CclSelection selection;
    unsigned n_errors = 0;
    const unsigned n = session->quick ? 2000 : 100000;

    for (unsigned i = 0; i < n; i++) {
        expression_make(&expression, EVERY_FEATURE, &session->random);
        const uint32_t length = (uint32_t)strlen(expression.text), at = random_below(&session->random, length);
        expression.text[at] = i % 3 ? bytes[random_below(&session->random, sizeof bytes)] : '\0';
        n_errors += ccl_selection_parse(expression.text, &selection) != CCL_OK;
    }
    check(session, n_errors > n / 4 && n_errors < n, "%u of %u broken expressions are errors", n_errors, n);
}

/* ---------------------------------------------------------------- tables */

static void judge_expression(Session *session, const Image *image, const char *name, unsigned features, unsigned i)
{
    Expression expression;
    static CclSelection selection;
    Case c = case_new(image, i % 2 ? PRODUCT_LABELS : PRODUCT_TABLE, "%s, expression %u", name, i);

    expression_make(&expression, features, &session->random);
    if (!check(session, ccl_selection_parse(expression.text, &selection) == CCL_OK, "\"%s\": %s", expression.text,
               ccl_error_message()))
        return;
    c.filter.selection = &selection;
    c.expression = &expression;
    c.features = features;
    c.picture = i % N_PICTURES;
    c.filter.min_area = i % 5 == 0 ? 3 : 0;
    c.filter.border = (CclBorder)(i % 3);
    c.max_components = i % 4 == 3 ? 5 : 0;
    while (i % 4 == 2 && (c.order == CCL_ORDER_RASTER || ccl_measure_info(ccl_order_number(c.order))->feature & ~features))
        c.order = (CclOrder)(1 + random_below(&session->random, CCL_N_ORDERS - 1));
    judge(session, &c, 1);
}

static void judge_orders(Session *session, const Image *image, const char *name)
{
    for (unsigned order = 1; order < CCL_N_ORDERS; order += session->quick ? 5 : 1)
        for (unsigned cap = 0; cap < 20; cap += 9) {
            Case c = case_new(image, PRODUCT_LABELS, "%s by %s%s, %u rows", name,
                              ccl_measure_info(ccl_order_number((CclOrder)order))->name,
                              ccl_order_is_descending((CclOrder)order) ? ", largest first" : "", cap);
            c.order = (CclOrder)order;
            c.max_components = cap;
            c.features = ccl_order_feature(c.order);
            judge(session, &c, 1);
        }
}

/* Several frames in flight, each with a selection of its own or none. */
static void judge_in_flight(Session *session, const Image *image)
{
    static const char *const texts[CCL_MAX_DEPTH] = { "area > 3", NULL, "not touches-border", "width == height" };
    static CclSelection selections[CCL_MAX_DEPTH];
    static Expression expressions[CCL_MAX_DEPTH];
    Case cases[CCL_MAX_DEPTH];

    for (unsigned i = 0; i < CCL_MAX_DEPTH; i++) {
        cases[i] = case_new(image, i % 2 ? PRODUCT_LABELS : PRODUCT_TABLE, "selection %u in flight", i);
        cases[i].selects = true;
        if (!texts[i])
            continue;
        check(session, ccl_selection_parse(texts[i], &selections[i]) == CCL_OK, "\"%s\"", texts[i]);
        Expression *const e = &expressions[i];
        *e = (Expression){ .n = 1 };
        e->nodes[0] = (Node){ .kind = NODE_COMPARE,
                              .op = i ? 4 : 2,
                              .left = i ? CCL_MEASURE_WIDTH : CCL_MEASURE_AREA,
                              .right = i ? CCL_MEASURE_HEIGHT : CCL_N_MEASURES,
                              .number = 3 };
        if (i == 2) {
            e->nodes[0] = (Node){ .kind = NODE_FLAG, .left = CCL_MEASURE_TOUCHES_BORDER };
            e->nodes[e->n++] = (Node){ .kind = NODE_NOT, .a = 0 };
        }
        cases[i].filter.selection = &selections[i];
        cases[i].expression = e;
    }
    judge(session, cases, CCL_MAX_DEPTH);
}

static void judge_tables(Session *session)
{
    for (unsigned i = 0; i < (session->quick ? 3 : 60); i++) {
        Image image = image_noise(20 + random_below(&session->random, 120), 10 + random_below(&session->random, 60),
                                  10 + random_below(&session->random, 70), 1 + i % 3, &session->random);
        for (unsigned k = 0; k < 4; k++)
            judge_expression(session, &image, "noise", k % 2 ? EVERY_FEATURE : 0, 4 * i + k);
        if (i % 16 == 0) {
            judge_orders(session, &image, "noise");
            judge_in_flight(session, &image);
        }
        image_free(&image);
    }
}

void check_selection(Session *session)
{
    check_errors(session);
    check_bounds(session);
    check_examples(session);
    check_classes(session);
    check_locale(session);
    check_hostile(session);
    judge_tables(session);
}
