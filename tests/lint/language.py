# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The documents are short and plain: a bound for all words, for long sentences, and for words that the glossary replaces.

usage: language.py SOURCE_FOLDER
"""
import pathlib
import re
import sys
import unittest

import prose

# Of the documents for users, and of those for developers, without code and generated tables. Measures and
# installation came later.
MAX_WORDS = 10800
MAX_SENTENCE = 25
MAX_LONG = 0.10  # share of longer sentences in a document
ONE_IS_ALLOWED = 1

# Without a noun the reader has to guess who acts.
PRONOUNS = re.compile(r"(?:^|[.;:,] )[Ww]ho (?!else)\w+|\b(?:of|than|from|by|for) whom?\b")


def replaced_words(glossary):
    """The first column of the table "Words to avoid", one entry for each word."""
    section = glossary.split("## Words to avoid", 1)[1].split("\n## ", 1)[0]
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


class Language(unittest.TestCase):
    def setUp(self):
        self.documents = {str(path.relative_to(top)): path.read_text("utf-8") for path in prose.documents(top)}
        self.avoided = replaced_words(self.documents["docs/glossary.md"])
        self.assertGreater(len(self.avoided), 5)

    def test_words(self):
        for readers, of_developers in ("users", False), ("developers", True):
            n = sum(prose.count_words(text) for name, text in self.documents.items()
                    if (name in prose.DEVELOPERS) == of_developers)
            self.assertLessEqual(n, MAX_WORDS, f"words for {readers}")

    def test_long_sentences(self):
        for name, text in self.documents.items():
            with self.subTest(document=name):
                self.assertEqual(long_sentences(text), [])

    def test_words_to_avoid(self):
        for name, text in self.documents.items():
            with self.subTest(document=name):
                self.assertEqual(words_to_avoid(text.split("## Words to avoid")[0], self.avoided), [])

    def test_faults_are_found(self):
        long = "The thread " + "waits and " * 12 + "ends."
        self.assertEqual(long_sentences(f"{long} {long}"), [long, long])
        self.assertEqual([word for word, _ in words_to_avoid("It waits in vain. Here is `in vain`.", self.avoided)],
                         ["in vain"])
        self.assertTrue(words_to_avoid("A frame waits: who has it goes on.", self.avoided))
        self.assertEqual(prose.count_words("One two.\n\n    code code\n\n```c\nmore\n```\n\n| a | b |\n"), 4)


if __name__ == "__main__":
    top = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
