# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""In the installed headers, the first sentence of a function's documentation stands above it.

usage: headers.py SOURCE_FOLDER [--write]      --write puts it there
"""
import pathlib
import re
import sys
import textwrap
import unittest

DOCUMENTED = re.compile(r"/\*\*\n \* (gst_\w+):.*?\n(.*?)\*/", re.DOTALL)
# The comment that touches it, and its name.
PROTOTYPE = re.compile(r"(/\*(?:(?!\*/).)*\*/\n)?GST_CCL_API\n[^(;]*?(\w+) \(", re.DOTALL)
TAGS = re.compile(r"@|Returns:|Since:|Rename to:")
PLAIN = re.compile(r"_get_type$|_quark$")  # their names say all
WIDTH = 100


def first_sentences():
    """Of the documentation of each function in the sources."""
    found = {}
    for source in folder.glob("*.c"):
        for name, body in DOCUMENTED.findall(source.read_text("utf-8")):
            text = re.sub(r"^ \* ?", "", body, flags=re.MULTILINE)
            described = [part for part in text.split("\n\n") if part.strip() and not TAGS.match(part.strip())]
            found[name] = re.split(r"(?<=\.) (?=[A-Z])", " ".join(described[0].split()))[0]
    return found


def documented(text, sentences):
    """A header with these sentences above its functions."""
    def above(found):
        if PLAIN.search(found[2]):
            return found[0]
        # The end of a comment stays in the line of the last word.
        comment = textwrap.fill(f"/* {sentences[found[2]]}\0*/", WIDTH, subsequent_indent=" * ").replace("\0", " ") + "\n"
        return comment + found[0][len(found[1] or ""):]

    return PROTOTYPE.sub(above, text)


class Headers(unittest.TestCase):
    def test_documented(self):
        sentences, n_functions = first_sentences(), 0
        for header in sorted(folder.glob("gst*.h")):
            text = header.read_text("utf-8")
            n_functions += len(PROTOTYPE.findall(text))
            self.assertEqual(text, documented(text, sentences), f"{header.name}: {__file__} SOURCE_FOLDER --write")
        self.assertGreater(n_functions, 80)


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv.pop(1)) / "gst/ccl"
    if "--write" in sys.argv:
        for path in folder.glob("gst*.h"):
            path.write_text(documented(path.read_text("utf-8"), first_sentences()), "utf-8")
    else:
        unittest.main(verbosity=2)
