# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The documents are short and plain: a bound for all words, for long sentences, and for words that the glossary replaces.
It replaces words in the names of kernels/ and gst/, too.

usage: language.py SOURCE_FOLDER
"""
import pathlib
import re
import sys
import unittest

import prose
import tree

# Of the documents for users, and of those for developers, without code and generated tables. Measures and
# their peers, installation, delivery, metrics, many machines and the live page came later.
MAX_WORDS = {"users": 14770, "developers": 11975}
MAX_SENTENCE = 25
MAX_LONG = 0.10  # share of longer sentences in a document
ONE_IS_ALLOWED = 1

# Without a noun the reader has to guess who acts.
PRONOUNS = re.compile(r"(?:^|[.;:,] )[Ww]ho (?!else)\w+|\b(?:of|than|from|by|for) whom?\b")


# Comments and texts are no names.
NOT_NAMES = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|^ *# *(?:include|error|pragma).*?$", re.DOTALL | re.MULTILINE)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def replaced_words(glossary, in_names=False):
    """The first column of a table of "Words to avoid", one entry for each word."""
    section = glossary.split("## Words to avoid", 1)[1].split("The lint reports these words in names.")[in_names]
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", section, re.MULTILINE)[1:]
    return [word.strip(" `") for row in rows if not row.startswith("-") for word in row.split(",")]


def long_sentences(text):
    found = [sentence for sentence in prose.sentences(text) if len(sentence.split()) > MAX_SENTENCE]
    allowed = max(ONE_IS_ALLOWED, MAX_LONG * sum(1 for _ in prose.sentences(text)))
    return found if len(found) > allowed else []


def words_to_avoid(text, avoided):
    pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, avoided)) + r")\b", re.IGNORECASE)
    return [(match[0], sentence) for sentence in prose.sentences(text)
            for match in [pattern.search(sentence) or PRONOUNS.search(sentence)] if match]


def names_to_avoid(code, avoided):
    """Names with a word of the list; a word that ends with _ counts only where a name begins with it."""
    names = set(re.findall(r"[A-Za-z_]\w*", NOT_NAMES.sub(" ", code)))
    return sorted(name for name in names if avoided & {word.lower() for word in WORD.findall(name)}
                  or name.lower().startswith(tuple(word for word in avoided if word.endswith("_"))))


class Language(unittest.TestCase):
    def setUp(self):
        self.documents = {str(path.relative_to(top)): path.read_text("utf-8") for path in prose.documents(top)}
        self.avoided = replaced_words(self.documents["docs/glossary.md"])
        self.assertGreater(len(self.avoided), 5)

    def test_words(self):
        for readers, of_developers in ("users", False), ("developers", True):
            n = sum(prose.count_words(text) for name, text in self.documents.items()
                    if (name in prose.DEVELOPERS) == of_developers)
            self.assertLessEqual(n, MAX_WORDS[readers], f"words for {readers}")

    def test_long_sentences(self):
        for name, text in self.documents.items():
            with self.subTest(document=name):
                self.assertEqual(long_sentences(text), [])

    def test_words_to_avoid(self):
        for name, text in self.documents.items():
            with self.subTest(document=name):
                self.assertEqual(words_to_avoid(text.split("## Words to avoid")[0], self.avoided), [])

    def test_names(self):
        avoided = set(replaced_words(self.documents["docs/glossary.md"], in_names=True))
        self.assertGreater(len(avoided), 5)
        tree.set_top(top)
        for path in tree.files(".c .h .cu .cuh", "kernels/") + tree.files(".c .h", "gst/"):
            with self.subTest(path=path):
                self.assertEqual(names_to_avoid(tree.text(path), avoided), [])

    def test_faults_are_found(self):
        long = "The thread " + "waits and " * 12 + "ends."
        self.assertEqual(long_sentences(f"{long} {long}"), [long, long])
        self.assertEqual([word for word, _ in words_to_avoid("It waits in vain. Here is `in vain`.", self.avoided)],
                         ["in vain"])
        self.assertEqual(names_to_avoid('/* room */ int mushroom, half_room, most_bytes, utmost; RoomList "vain" x;',
                                        {"room", "vain", "most_"}), ["RoomList", "half_room", "most_bytes"])
        self.assertTrue(words_to_avoid("A frame waits: who has it goes on.", self.avoided))
        self.assertEqual(prose.count_words("One two.\n\n    code code\n\n```c\nmore\n```\n\n| a | b |\n"), 4)


if __name__ == "__main__":
    top = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
