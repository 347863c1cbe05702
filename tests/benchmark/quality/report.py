# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables in Markdown: each clip, each kind of scene, the mean, and leave-one-out."""


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell if isinstance(cell, str) else f"{cell:.3f}" for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def mean(values):
    return sum(values) / len(values)


def left_out(results, method, measure):
    """For each clip the score with the setting that has the best mean on all other clips; their mean. None for one clip or
    one setting."""
    if len(results) < 2 or len(next(iter(results.values()))[method]) < 2:
        return None
    scores = []
    for clip, result in results.items():
        others = [other[method] for name, other in results.items() if name != clip]
        best = max(result[method], key=lambda setting: mean([other[setting][measure] for other in others]))
        scores.append(result[method][best][measure])
    return mean(scores)


def by_clip(results, kinds, measure):
    """A row for each method: its score at its defaults on each clip, the mean of each kind of scene, of all, leave-one-out."""
    methods = list(next(iter(results.values())))
    groups = sorted({kind for kind in kinds.values() if sum(k == kind for k in kinds.values()) > 1})
    rows = []
    for method in methods:
        scores = {clip: result[method][None][measure] for clip, result in results.items()}
        out = left_out(results, method, measure)
        rows.append([method, *scores.values(), *(mean([scores[c] for c in scores if kinds[c] == group]) for group in groups),
                     mean(scores.values()), "" if out is None else out])
    return table([measure, *results, *(f"mean of {group}" for group in groups), "mean", "leave-one-out"], rows)


def defaults(results, measures):
    """A row for each clip and method."""
    return table(["clip", "method", *measures],
                 [[clip, method, *(str(v) if isinstance(v := settings[None][measure], int) else v for measure in measures)]
                  for clip, result in results.items() for method, settings in result.items()])


def counts(results):
    """The sum of both directions at each line, and how far from the truth in all, and in net at one line at most."""
    rows = []
    for clip, result in results.items():
        true = [sum(pair) for pair in result["truth"]]
        for method, pairs in result.items():
            gross = [sum(pair) for pair in pairs]
            error = sum(abs(a - b) for a, b in zip(gross, true))
            net = max(abs(a[0] - a[1] - b[0] + b[1]) for a, b in zip(pairs, result["truth"]))
            rows.append([clip, method, *map(str, gross), str(sum(gross)), str(error), str(net)])
    lines = len(next(iter(results.values()))["truth"])
    return table(["clip", "method", *(f"line {i + 1}" for i in range(lines)), "sum", "sum of errors", "largest net error"], rows)


def crossings(rows):
    return table(["clip", "line", "crossings", "matched", "extra"], [[*map(str, row)] for row in rows])
