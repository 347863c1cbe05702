# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The documents of the tree, and their text without code."""
import re

DEVELOPERS = {"CONTRIBUTING.md", "docs/adding-an-algorithm.md", "docs/decisions.md", "docs/design.md", "docs/glossary.md",
              "docs/motion-model.md", "docs/testing.md", "docs/tracking.md", "tests/emulate/README.md"}
GENERATED = re.compile(r"<!-- table:.*?<!-- end of table -->", re.DOTALL)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?: {4}.*\n+)+", re.MULTILINE)
# A list item, a row of a table and a heading begin a paragraph of their own.
PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) ?)")
SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*(\"\[])|\s*\|\s*")


def documents(top):
    """Paths of all documents, for users and for developers."""
    others = ["README.md", "CONTRIBUTING.md", "examples/launch.md", "tests/emulate/README.md"]
    return [*(top / name for name in others), *sorted((top / "docs").glob("**/*.md"))]


def without_code(text):
    """The text without code blocks and without generated tables."""
    return INDENTED.sub("", FENCED.sub("", GENERATED.sub("", text)))


def count_words(text):
    return sum(bool(re.search(r"\w", word)) for word in without_code(text).split())


def sentences(text):
    """Sentences and cells of tables; code in a line is one word, a link is its text."""
    text = re.sub(r"`[^`]*`", "X", without_code(text))
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    for paragraph in PARAGRAPH.split(text):
        for sentence in SENTENCE.split(" ".join(paragraph.split())):
            if not sentence.startswith("#") and len(sentence.split()) > 3:
                yield sentence
