/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs at build time. Writes the decision tree of c-bbdt and the decision graph of c-drag, as statements to include.
 *
 *     decide TREE GRAPH
 *
 * A 2x2 block X has to unite with the blocks of P, Q, R and S that it touches, but with only one of several that touch each
 * other:
 *
 *     a b | c d | e f        P touches X: h and o        P touches Q: b or h, and c or i
 *     g h | i j | k l        Q touches X: i or j, and    Q touches R: d or j, and e or k
 *     ----+-----+----           o or p                   P touches S: g or h, and m or n
 *     m n | o p              R touches X: k and p        Q touches S: i and n
 *     q r | s t              S touches X: n or r, and
 *                               o or s
 *
 * The tree reads the pixels that matter, 15 of them, in the order that needs the fewest on average when all images are equally
 * likely (Grana, Borghesani, Cucchiara, IEEE TIP 2010; Grana, Montangero, Borghesani, PRL 2012). It is found by dynamic
 * programming. A state of knowledge has each pixel known as 0, known as 1, or unknown. For each of these 3^15 states, either
 * one decision is right for all values of the unknown pixels, or one pixel is the best to read next.
 *
 * The graph is the tree with equal subtrees merged: those that read the same pixels and decide the same (Bolelli, Baraldi,
 * Cancilla, Grana, ICPR 2018). If several decisions are right for a leaf, the paper chooses the one that makes the graph
 * smaller: 91 reads instead of 101 here. But then blocks inside solid areas unite with S instead of Q. This makes chains as
 * long as rows, and a white image takes twice as long.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_PIXELS = 15, N_STATES = 14348907 /* 3^15 */, UNKNOWN = 2, MAX_NODES = 4096 };

/* Positions of the pixels, relative to o. If two pixels are equally good, the first in this order is read. */
enum { O, P, S, N, R, H, I, J, K, G, M, C, B, D, E };
static const int PLACES[N_PIXELS][2] = {
    { 0, 0 }, { 1, 0 }, { 0, 1 }, { -1, 0 }, { -1, 1 }, { -1, -1 }, { 0, -1 }, { 1, -1 },
    { 2, -1 }, { -2, -1 }, { -2, 0 }, { 0, -2 }, { -1, -2 }, { 1, -2 }, { 2, -2 },
};

/* A decision is a set of blocks to unite with: bits 0 to 3 for P, Q, R, S. Of those that are right: bit d for decision d. */
enum { BLOCK_P = 1, BLOCK_Q = 2, BLOCK_R = 4, BLOCK_S = 8 };

static unsigned right_decisions(const uint8_t *is)
{
    const unsigned touched = (is[H] && is[O] ? BLOCK_P : 0) | ((is[I] || is[J]) && (is[O] || is[P]) ? BLOCK_Q : 0) |
                             (is[K] && is[P] ? BLOCK_R : 0) | ((is[N] || is[R]) && (is[O] || is[S]) ? BLOCK_S : 0);
    const unsigned pairs[4] = {
        (is[B] || is[H]) && (is[C] || is[I]) ? BLOCK_P | BLOCK_Q : 0,
        (is[D] || is[J]) && (is[E] || is[K]) ? BLOCK_Q | BLOCK_R : 0,
        (is[G] || is[H]) && (is[M] || is[N]) ? BLOCK_P | BLOCK_S : 0,
        is[I] && is[N] ? BLOCK_Q | BLOCK_S : 0,
    };
    unsigned groups[4]; /* for each block: the blocks it is connected to */
    for (unsigned i = 0; i < 4; i++)
        groups[i] = 1u << i;
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < 4; i++)
            for (unsigned j = 0; j < 4; j++)
                groups[i] |= groups[i] & pairs[j] ? pairs[j] : 0;

    unsigned right = 0;
    for (unsigned decision = 0; decision < 16; decision++) {
        bool good = (decision & ~touched) == 0;
        for (unsigned i = 0; i < 4; i++) {
            const unsigned chosen = decision & groups[i];
            good &= !(touched >> i & 1) || (chosen && !(chosen & (chosen - 1))); /* exactly one of each group */
        }
        right |= good ? 1u << decision : 0;
    }
    return right;
}

static uint32_t powers[N_PIXELS]; /* of 3: a state is a number with a base-3 digit per pixel */
static uint16_t *right;           /* by state: decisions that are right for all values of the unknown pixels */
static uint32_t *reads;           /* by state: reads still to come, summed over the unknown pixels' values */

/* The sum of reads if `pixel`, which is unknown, is read next. */
static uint32_t reads_after(uint32_t state, unsigned pixel)
{
    return reads[state - powers[pixel]] + reads[state - 2 * powers[pixel]];
}

static void solve(void)
{
    uint8_t digits[N_PIXELS] = { 0 };
    for (uint32_t state = 0; state < N_STATES; state++) {
        unsigned unknown = 0, n_unknown = 0;
        uint32_t fewest = UINT32_MAX;
        for (unsigned i = 0; i < N_PIXELS; i++)
            if (digits[i] == UNKNOWN) {
                const uint32_t sum = reads_after(state, i);
                fewest = sum < fewest ? sum : fewest;
                unknown = i;
                n_unknown++;
            }
        right[state] = n_unknown ? right[state - powers[unknown]] & right[state - 2 * powers[unknown]]
                                 : (uint16_t)right_decisions(digits);
        reads[state] = right[state] ? 0 : fewest + (1u << n_unknown);
        for (unsigned i = 0; i < N_PIXELS && ++digits[i] > UNKNOWN; i++)
            digits[i] = 0;
    }
}

/* ---------------------------------------------------------------- tree and graph */

typedef struct Node {
    int pixel;               /* to read; -1 for a leaf */
    unsigned next[2];        /* node by its value */
    unsigned right;          /* leaf: decisions that are right */
    unsigned same_as;        /* graph: the node that replaces this one, or itself */
    bool ordered, jumped_to; /* write_graph() */
} Node;

static Node nodes[MAX_NODES];
static unsigned n_nodes;

static unsigned grow(uint32_t state, const uint8_t *digits)
{
    if (n_nodes == MAX_NODES)
        abort();
    const unsigned at = n_nodes++;
    nodes[at] = (Node){ .pixel = -1, .right = right[state], .same_as = at };
    if (right[state])
        return at;
    unsigned best = N_PIXELS;
    for (unsigned i = 0; i < N_PIXELS; i++)
        if (digits[i] == UNKNOWN && (best == N_PIXELS || reads_after(state, i) < reads_after(state, best)))
            best = i;
    nodes[at].pixel = (int)best;
    for (unsigned value = 0; value < 2; value++) {
        uint8_t known[N_PIXELS];
        for (unsigned i = 0; i < N_PIXELS; i++)
            known[i] = i == best ? (uint8_t)value : digits[i];
        nodes[at].next[value] = grow(state - (2 - value) * powers[best], known);
    }
    return at;
}

static unsigned resolve(unsigned node)
{
    while (nodes[node].same_as != node)
        node = nodes[node].same_as;
    return node;
}

/* The decision of a leaf: the first that is right. */
static unsigned decision_of(const Node *leaf)
{
    unsigned decision = 0;
    while (!(leaf->right >> decision & 1))
        decision++;
    return decision;
}

/* Replaces b by a and returns true, if both read and decide the same. Otherwise `same_as` is left half changed. */
static bool merge(unsigned a, unsigned b)
{
    a = resolve(a);
    b = resolve(b);
    if (a == b)
        return true;
    if (nodes[a].pixel != nodes[b].pixel)
        return false;
    if (nodes[a].pixel < 0 && decision_of(&nodes[a]) != decision_of(&nodes[b]))
        return false;
    for (unsigned value = 0; value < 2 && nodes[a].pixel >= 0; value++)
        if (!merge(nodes[a].next[value], nodes[b].next[value]))
            return false;
    nodes[b].same_as = a;
    return true;
}

static unsigned size_of(unsigned node)
{
    return nodes[node].pixel < 0 ? 1 : 1 + size_of(nodes[node].next[0]) + size_of(nodes[node].next[1]);
}

/* Large subtrees first: merging two also merges their subtrees. */
static void make_graph(void)
{
    static Node saved[MAX_NODES];
    unsigned sizes[MAX_NODES];

    for (unsigned i = 0; i < n_nodes; i++)
        sizes[i] = size_of(i);
    for (unsigned size = n_nodes; size; size--)
        for (unsigned b = 0; b < n_nodes; b++)
            for (unsigned a = 0; a < b && sizes[b] == size && resolve(b) == b; a++) {
                if (sizes[a] != size || resolve(a) != a)
                    continue;
                memcpy(saved, nodes, n_nodes * sizeof *nodes);
                if (!merge(a, b))
                    memcpy(nodes, saved, n_nodes * sizeof *nodes);
            }
}

/* Checks that the decision is right for every image. */
static void check(const char *what)
{
    for (unsigned image = 0; image < 1u << N_PIXELS; image++) {
        uint8_t pixels[N_PIXELS];
        for (unsigned i = 0; i < N_PIXELS; i++)
            pixels[i] = image >> i & 1;
        unsigned at = resolve(0);
        while (nodes[at].pixel >= 0)
            at = resolve(nodes[at].next[pixels[nodes[at].pixel]]);
        if (!(right_decisions(pixels) >> decision_of(&nodes[at]) & 1)) {
            fprintf(stderr, "decide: the %s is wrong for image %#x\n", what, image);
            exit(1);
        }
    }
}

static void write_tree(FILE *file, unsigned at, int indent)
{
    const Node *const node = &nodes[at];
    if (node->pixel < 0) {
        fprintf(file, "%*sunites = %u;\n", indent, "", decision_of(node));
        return;
    }
    fprintf(file, "%*sif (SEES(%d, %d)) {\n", indent, "", PLACES[node->pixel][0], PLACES[node->pixel][1]);
    write_tree(file, node->next[1], indent + 1);
    fprintf(file, "%*s} else {\n", indent, "");
    write_tree(file, node->next[0], indent + 1);
    fprintf(file, "%*s}\n", indent, "");
}

/* The order in which the graph is written: the node for value 0 follows its parent, unless it is written already. */
static unsigned order[MAX_NODES], n_ordered;

static void put_in_order(unsigned at)
{
    if (nodes[at].ordered)
        return;
    nodes[at].ordered = true;
    order[n_ordered++] = at;
    if (nodes[at].pixel < 0)
        return;
    const unsigned no = resolve(nodes[at].next[0]), yes = resolve(nodes[at].next[1]);
    nodes[no].jumped_to |= nodes[no].ordered;
    nodes[yes].jumped_to = true;
    put_in_order(no);
    put_in_order(yes);
}

static void write_graph(FILE *file)
{
    put_in_order(resolve(0));
    for (unsigned i = 0; i < n_ordered; i++) {
        const Node *const node = &nodes[order[i]];
        if (node->jumped_to)
            fprintf(file, "node%u:\n", order[i]);
        if (node->pixel < 0) {
            fprintf(file, " unites = %u;\n goto decided;\n", decision_of(node));
            continue;
        }
        const unsigned no = resolve(node->next[0]), yes = resolve(node->next[1]);
        fprintf(file, " if (SEES(%d, %d))\n  goto node%u;\n", PLACES[node->pixel][0], PLACES[node->pixel][1], yes);
        if (i + 1 == n_ordered || order[i + 1] != no)
            fprintf(file, " goto node%u;\n", no);
    }
    fprintf(file, "decided:;\n");
}

static void count(unsigned *n_reads, unsigned *n_leaves)
{
    *n_reads = *n_leaves = 0;
    for (unsigned i = 0; i < n_nodes; i++)
        if (resolve(i) == i)
            ++*(nodes[i].pixel < 0 ? n_leaves : n_reads);
}

static void write_file(const char *name, const char *what, bool graph)
{
    FILE *const file = fopen(name, "w");
    unsigned n_reads, n_leaves;
    if (!file) {
        perror(name);
        exit(1);
    }
    count(&n_reads, &n_leaves);
    fprintf(file, "/* Made by kernels/cuda/published/decide.c: %s, %u reads and %u decisions; %.3f reads on average. */\n", what,
            n_reads, n_leaves, reads[N_STATES - 1] / (double)(1u << N_PIXELS));
    if (graph) {
        write_graph(file);
    } else {
        write_tree(file, 0, 0);
    }
    if (fclose(file) != 0) {
        perror(name);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    uint8_t unknown[N_PIXELS];
    uint32_t power = 1;

    if (argc != 3) {
        fprintf(stderr, "usage: decide TREE GRAPH\n");
        return 2;
    }
    right = malloc(N_STATES * sizeof *right);
    reads = malloc(N_STATES * sizeof *reads);
    if (!right || !reads) {
        fprintf(stderr, "decide: no memory, 86 MB are needed\n");
        return 1;
    }
    for (unsigned i = 0; i < N_PIXELS; i++) {
        powers[i] = power;
        power *= 3;
        unknown[i] = UNKNOWN;
    }
    solve();
    grow(N_STATES - 1, unknown);
    check("tree");
    write_file(argv[1], "tree", false);
    make_graph();
    check("graph");
    write_file(argv[2], "graph", true);
    return 0;
}
