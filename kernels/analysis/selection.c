/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strtod_l */
#endif

#include "selection.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(CCL_N_MEASURES <= 64, "CclSelection.measures has 64 bits");
/* Each open operator has one value below it on the stack of ccl_selection_keeps(), which has 64. */
_Static_assert(CCL_SELECTION_MAX_OPEN < 64, "one bit for each value");

typedef enum TokenKind {
    TOKEN_END,
    TOKEN_NUMBER,
    TOKEN_MEASURE,
    TOKEN_COMPARE,
    TOKEN_TRUE,
    TOKEN_FALSE,
    TOKEN_NOT, /* these three by how strongly they bind */
    TOKEN_AND,
    TOKEN_OR,
    TOKEN_OPEN,
    TOKEN_CLOSE,
} TokenKind;

typedef struct Token {
    TokenKind kind;
    const char *at;
    size_t length;
    double number;
    CclMeasure measure;
    CclSelectionOp op;
} Token;

/* An operator or parenthesis whose right side is not complete. */
typedef struct Open {
    TokenKind kind;
    const char *at;
} Open;

typedef struct Parser {
    const char *text;
    Token token; /* the next one */
    Open open[CCL_SELECTION_MAX_OPEN];
    unsigned n_open;
    CclSelection *selection;
} Parser;

/* ---------------------------------------------------------------- errors */

/* In characters of UTF-8, from 1. */
static unsigned position(const Parser *parser, const char *at)
{
    unsigned n = 1;
    for (const char *p = parser->text; p < at; p++)
        n += ((unsigned char)*p & 0xc0) != 0x80;
    return n;
}

/* "WHAT at 5", and a hint unless it is empty. */
__attribute__((format(printf, 4, 5))) static CclStatus fail_at(const Parser *parser, const char *at, const char *hint,
                                                               const char *format, ...)
{
    char what[160];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return ccl_fail(CCL_ERROR_ARGUMENT, "%s at %u%s%s", what, position(parser, at), *hint ? "; " : "", hint);
}

/* Of a word that messages repeat, at most this many bytes. */
static int word_length(const Token *token)
{
    return token->length < 40 ? (int)token->length : 40;
}

static CclStatus unknown_measure(const Parser *parser, const Token *token)
{
    char known[900] = "known are ";
    for (unsigned i = 0; i < CCL_N_MEASURES; i++) {
        const size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", ccl_measure_info((CclMeasure)i)->name);
    }
    return fail_at(parser, token->at, known, "unknown measure '%.*s'", word_length(token), token->at);
}

/* ---------------------------------------------------------------- tokens */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool begins_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_of_word(char c)
{
    return begins_word(c) || is_digit(c) || c == '-';
}

static CclStatus read_word(const Parser *parser, Token *token)
{
    static const struct {
        const char *word;
        TokenKind kind;
    } keywords[] = {
        { "true", TOKEN_TRUE }, { "false", TOKEN_FALSE }, { "not", TOKEN_NOT }, { "and", TOKEN_AND }, { "or", TOKEN_OR }
    };

    while (is_of_word(token->at[token->length]))
        token->length++;
    for (unsigned i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (token->length == strlen(keywords[i].word) && !strncmp(token->at, keywords[i].word, token->length)) {
            token->kind = keywords[i].kind;
            return CCL_OK;
        }
    token->kind = TOKEN_MEASURE;
    token->measure = ccl_measure_named(token->at, token->length);
    return token->measure < CCL_N_MEASURES ? CCL_OK : unknown_measure(parser, token);
}

static const char *skip_digits(const char *p)
{
    while (is_digit(*p))
        p++;
    return p;
}

/* The end of a decimal number; `at` itself: there is none. */
static const char *end_of_number(const char *at)
{
    const char *p = at + (*at == '-' || *at == '+');
    const char *const whole = p;
    p = skip_digits(p);
    size_t n_digits = (size_t)(p - whole);
    if (*p == '.') {
        const char *const fraction = p + 1;
        p = skip_digits(fraction);
        n_digits += (size_t)(p - fraction);
    }
    if (!n_digits)
        return at;
    if (*p == 'e' || *p == 'E') {
        const char *const exponent = p + 1 + (p[1] == '-' || p[1] == '+');
        p = is_digit(*exponent) ? skip_digits(exponent) : p;
    }
    return p;
}

/* A decimal point whatever the process's locale is. */
static CclStatus read_number(const Parser *parser, Token *token)
{
    token->kind = TOKEN_NUMBER;
    token->length = (size_t)(end_of_number(token->at) - token->at);
    if (is_of_word(token->at[token->length]) || token->at[token->length] == '.')
        return fail_at(parser, token->at, "numbers are decimal, as in 0.5 or 1e3", "this is no number");
    const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!plain)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
    token->number = strtod_l(token->at, NULL, plain);
    freelocale(plain);
    return isfinite(token->number) ? CCL_OK : fail_at(parser, token->at, "", "this number is too large");
}

static CclStatus read_symbol(const Parser *parser, Token *token)
{
    static const struct {
        const char *text;
        TokenKind kind;
        CclSelectionOp op;
    } symbols[] = {
        /* longer ones first */
        { "<=", TOKEN_COMPARE, CCL_SELECT_LESS_EQUAL },
        { ">=", TOKEN_COMPARE, CCL_SELECT_GREATER_EQUAL },
        { "==", TOKEN_COMPARE, CCL_SELECT_EQUAL },
        { "!=", TOKEN_COMPARE, CCL_SELECT_NOT_EQUAL },
        { "<", TOKEN_COMPARE, CCL_SELECT_LESS },
        { ">", TOKEN_COMPARE, CCL_SELECT_GREATER },
        { "(", TOKEN_OPEN, CCL_SELECT_AND },
        { ")", TOKEN_CLOSE, CCL_SELECT_AND },
    };
    const char c = *token->at;

    for (unsigned i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        token->length = strlen(symbols[i].text);
        if (!strncmp(token->at, symbols[i].text, token->length)) {
            token->kind = symbols[i].kind;
            token->op = symbols[i].op;
            return CCL_OK;
        }
    }
    if (c == '=')
        return fail_at(parser, token->at, "equal is ==", "unexpected '='");
    if (c == '&' || c == '|' || c == '!')
        return fail_at(parser, token->at, "write and, or, not, !=", "unexpected '%c'", c);
    if (c > ' ' && c <= '~')
        return fail_at(parser, token->at, "", "unexpected '%c'", c);
    return fail_at(parser, token->at, "", "unexpected character");
}

/* Reads the token behind `at`. */
static CclStatus read_token(Parser *parser, const char *at)
{
    Token *const token = &parser->token;
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')
        at++;
    *token = (Token){ .kind = TOKEN_END, .at = at };
    if (!*at)
        return CCL_OK;
    if (begins_word(*at))
        return read_word(parser, token);
    if (end_of_number(at) > at)
        return read_number(parser, token);
    return read_symbol(parser, token);
}

static CclStatus next_token(Parser *parser)
{
    return read_token(parser, parser->token.at + parser->token.length);
}

/* ---------------------------------------------------------------- steps */

static CclStatus add_step(Parser *parser, const char *at, CclSelectionStep step)
{
    CclSelection *const selection = parser->selection;
    if (selection->n_steps == CCL_SELECTION_MAX_STEPS)
        return fail_at(parser, at, "", "more than %u comparisons and operators", CCL_SELECTION_MAX_STEPS);
    selection->steps[selection->n_steps++] = step;
    return CCL_OK;
}

static CclStatus push_open(Parser *parser)
{
    if (parser->n_open == CCL_SELECTION_MAX_OPEN)
        return fail_at(parser, parser->token.at, "", "more than %u operators and parentheses are open", CCL_SELECTION_MAX_OPEN);
    parser->open[parser->n_open++] = (Open){ parser->token.kind, parser->token.at };
    return next_token(parser);
}

/* The value before is complete: adds the steps of the last open operators that bind at least as strongly as `weakest`. */
static CclStatus close_operators(Parser *parser, TokenKind weakest)
{
    while (parser->n_open && parser->open[parser->n_open - 1].kind <= weakest) {
        const Open open = parser->open[--parser->n_open];
        const CclSelectionOp op = open.kind == TOKEN_NOT   ? CCL_SELECT_NOT
                                  : open.kind == TOKEN_AND ? CCL_SELECT_AND
                                                           : CCL_SELECT_OR;
        CCL_TRY(add_step(parser, open.at, (CclSelectionStep){ .op = (uint8_t)op }));
    }
    return CCL_OK;
}

static uint8_t use_measure(Parser *parser, const Token *token)
{
    parser->selection->measures |= (uint64_t)1 << token->measure;
    parser->selection->features |= ccl_measure_info(token->measure)->feature;
    return (uint8_t)token->measure;
}

/* ---------------------------------------------------------------- values */

static bool is_flag(const Token *token)
{
    return token->kind == TOKEN_MEASURE && token->measure >= CCL_N_NUMBERS;
}

static bool is_number(const Token *token)
{
    return token->kind == TOKEN_NUMBER || (token->kind == TOKEN_MEASURE && !is_flag(token));
}

/* The same with the sides exchanged. */
static CclSelectionOp exchange(CclSelectionOp op)
{
    static const CclSelectionOp exchanged[] = {
        [CCL_SELECT_LESS] = CCL_SELECT_GREATER, [CCL_SELECT_LESS_EQUAL] = CCL_SELECT_GREATER_EQUAL,
        [CCL_SELECT_GREATER] = CCL_SELECT_LESS, [CCL_SELECT_GREATER_EQUAL] = CCL_SELECT_LESS_EQUAL,
        [CCL_SELECT_EQUAL] = CCL_SELECT_EQUAL,  [CCL_SELECT_NOT_EQUAL] = CCL_SELECT_NOT_EQUAL,
    };
    return exchanged[op];
}

static CclStatus parse_comparison(Parser *parser)
{
    const Token first = parser->token;
    CCL_TRY(next_token(parser));
    const Token op = parser->token;
    if (op.kind != TOKEN_COMPARE)
        return fail_at(parser, op.at, "", "'%.*s' is a number: a comparison such as > 0 is missing", word_length(&first),
                       first.at);
    CCL_TRY(next_token(parser));
    const Token second = parser->token;
    if (!is_number(&second))
        return fail_at(parser, second.at, "", "a number or the name of one is missing");
    if (first.kind == TOKEN_NUMBER && second.kind == TOKEN_NUMBER)
        return fail_at(parser, first.at, "", "two numbers are compared, no measure");

    const bool turned = first.kind == TOKEN_NUMBER;
    const Token *const left = turned ? &second : &first, *const right = turned ? &first : &second;
    CclSelectionStep step = { .op = (uint8_t)(turned ? exchange(op.op) : op.op), .right = CCL_N_MEASURES };
    step.left = use_measure(parser, left);
    if (right->kind == TOKEN_MEASURE)
        step.right = use_measure(parser, right);
    else
        step.number = right->number;
    CCL_TRY(add_step(parser, first.at, step));
    CCL_TRY(next_token(parser));
    if (parser->token.kind == TOKEN_COMPARE)
        return fail_at(parser, parser->token.at, "for a < b < c write a < b and b < c", "a comparison follows a comparison");
    return CCL_OK;
}

static CclStatus parse_flag(Parser *parser)
{
    const Token flag = parser->token;
    CclSelectionStep step = { .op = CCL_SELECT_FLAG };
    if (flag.kind == TOKEN_MEASURE)
        step.left = use_measure(parser, &flag);
    else
        step.op = flag.kind == TOKEN_TRUE ? CCL_SELECT_TRUE : CCL_SELECT_FALSE;
    CCL_TRY(add_step(parser, flag.at, step));
    CCL_TRY(next_token(parser));
    if (parser->token.kind == TOKEN_COMPARE)
        return fail_at(parser, parser->token.at, "write it alone, or with not", "'%.*s' is true or false, and compared",
                       word_length(&flag), flag.at);
    return CCL_OK;
}

/* A value with all that stands before it: not, (. */
static CclStatus parse_value(Parser *parser)
{
    while (parser->token.kind == TOKEN_NOT || parser->token.kind == TOKEN_OPEN)
        CCL_TRY(push_open(parser));
    const Token *const token = &parser->token;
    if (is_number(token))
        return parse_comparison(parser);
    if (is_flag(token) || token->kind == TOKEN_TRUE || token->kind == TOKEN_FALSE)
        return parse_flag(parser);
    return fail_at(parser, token->at, "", "a measure is missing");
}

/* Everything that may follow a value and belongs to it: ). */
static CclStatus close_parentheses(Parser *parser)
{
    CCL_TRY(close_operators(parser, TOKEN_NOT));
    while (parser->token.kind == TOKEN_CLOSE) {
        CCL_TRY(close_operators(parser, TOKEN_OR));
        if (!parser->n_open)
            return fail_at(parser, parser->token.at, "", "')' without '('");
        parser->n_open--;
        CCL_TRY(next_token(parser));
        CCL_TRY(close_operators(parser, TOKEN_NOT));
        if (parser->token.kind == TOKEN_COMPARE)
            return fail_at(parser, parser->token.at, "", "what is in parentheses is true or false, and compared");
    }
    return CCL_OK;
}

static CclStatus parse(Parser *parser)
{
    for (;;) {
        CCL_TRY(parse_value(parser));
        CCL_TRY(close_parentheses(parser));
        const TokenKind kind = parser->token.kind;
        if (kind == TOKEN_END)
            break;
        if (kind != TOKEN_AND && kind != TOKEN_OR)
            return fail_at(parser, parser->token.at, "", "and, or, ) or the end is missing");
        CCL_TRY(close_operators(parser, kind));
        CCL_TRY(push_open(parser));
    }
    CCL_TRY(close_operators(parser, TOKEN_OR));
    return parser->n_open ? fail_at(parser, parser->open[parser->n_open - 1].at, "", "'(' without ')'") : CCL_OK;
}

CclStatus ccl_selection_parse(const char *text, CclSelection *selection)
{
    Parser parser = { .text = text, .selection = selection };

    selection->n_steps = selection->features = 0;
    selection->measures = 0;
    selection->classes = NULL;
    if (strlen(text) > CCL_SELECTION_MAX_TEXT)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the expression has %zu bytes, more than %u", strlen(text), CCL_SELECTION_MAX_TEXT);
    CCL_TRY(read_token(&parser, text));
    return parser.token.kind == TOKEN_END ? CCL_OK : parse(&parser);
}

/* ---------------------------------------------------------------- evaluation */

static bool compare(const CclSelectionStep *step, CclMeasuring *measuring)
{
    const double a = ccl_measure_number(measuring, (CclMeasure)step->left);
    const double b = step->right < CCL_N_MEASURES ? ccl_measure_number(measuring, (CclMeasure)step->right) : step->number;
    switch (step->op) {
    case CCL_SELECT_LESS:
        return a < b;
    case CCL_SELECT_LESS_EQUAL:
        return a <= b;
    case CCL_SELECT_GREATER:
        return a > b;
    case CCL_SELECT_GREATER_EQUAL:
        return a >= b;
    case CCL_SELECT_EQUAL:
        return a == b;
    default: /* CCL_SELECT_NOT_EQUAL; != is true for NAN */
        return a < b || a > b;
    }
}

static bool evaluate(const CclSelection *selection, CclMeasuring *measuring)
{
    uint64_t stack = 1; /* one bit for each value, the last one lowest; blank: true */

    for (uint32_t i = 0; i < selection->n_steps; i++) {
        const CclSelectionStep *const step = &selection->steps[i];
        switch (step->op) {
        case CCL_SELECT_NOT:
            stack ^= 1;
            break;
        case CCL_SELECT_AND:
            stack = stack >> 1 & (~(uint64_t)1 | (stack & 1));
            break;
        case CCL_SELECT_OR:
            stack = stack >> 1 | (stack & 1);
            break;
        case CCL_SELECT_FLAG:
            stack = stack << 1 | ccl_measure_flag(measuring, (CclMeasure)step->left);
            break;
        case CCL_SELECT_TRUE:
        case CCL_SELECT_FALSE:
            stack = stack << 1 | (step->op == CCL_SELECT_TRUE);
            break;
        default:
            stack = stack << 1 | compare(step, measuring);
        }
    }
    return stack & 1;
}

bool ccl_selection_keeps(const CclSelection *selection, CclMeasuring *measuring)
{
    const uint16_t *const value = measuring->class_id;
    if (!selection->classes || !value)
        return evaluate(selection, measuring);
    measuring->class_id = &selection->classes[*value];
    const bool keeps = evaluate(selection, measuring);
    measuring->class_id = value;
    return keeps;
}
