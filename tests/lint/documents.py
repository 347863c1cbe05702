# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The documents are true to the tree: links lead somewhere, paths exist, scripts in commands run and know their options,
every picture is shown and can be drawn again, made tables and plots are up to date.

usage: documents.py SOURCE_FOLDER
"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

import prose

# The first word of each picture's name, and the script that draws it; tests/elements/pictures.py draws the .png again.
DRAWN_BY = {"live": "tests/live/picture.py", "picture": "docs/picture.py", "tracks": "docs/tutorial.sh",
            "tutorial": "docs/tutorial.sh", "speed": "docs/plots.py", "zones": None}  # by hand
# A program of the tree in a command, and where its options are.
SCRIPT = re.compile(r"(?:\./)?((?:docs|examples|tests)/[\w./-]+\.(?:py|sh))")
CHECKCCL = re.compile(r"(?:build\S*/tests/(?:checkccl|emulate)/)?checkccl(?:-emulated)?")


def anchors(text):
    """The names that GitHub gives the headings."""
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def commands(text):
    """The lines of code blocks that a user may paste into a shell, without comments."""
    for line in text.replace("\\\n", " ").splitlines():
        if re.match(r" {4}\S", line):
            yield re.sub(r"\s#.*", "", line).strip()


def sources(script):
    """The text of a script, and of the package with its name."""
    paths = [top / script, *(top / script).with_suffix("").glob("*.py")]
    return "".join(path.read_text("utf-8") for path in paths)


def faults_of_command(command):
    """Scripts that are not there or cannot be executed, and options that a program does not have."""
    words = re.sub(r"^(?:\w+=\S+ )+", "", command).split()
    text = None
    for before, word in zip(["", *words], words):
        if text is None and (script := SCRIPT.fullmatch(word)):
            path = top / script[1]
            if not path.exists():
                yield f"{word} does not exist"
                return
            if before != "python3" and not os.access(path, os.X_OK):
                yield f"{word} cannot be executed"
            text = sources(script[1])
        elif CHECKCCL.fullmatch(word):
            text = "".join(path.read_text("utf-8") for path in (top / "tests" / "checkccl").glob("*.[ch]"))
        elif word in ("|", "&&", ">"):
            text = None
        elif (option := re.match(r"--[\w-]+", word)) and text is not None and option[0] not in text:
            yield f"{command.split()[0]} has no {option[0]}"


class Documents(unittest.TestCase):
    def documents(self):
        found = prose.documents(top)
        self.assertGreater(len(found), 3)
        return found

    def test_links(self):
        for document in self.documents():
            for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)]*)\)", document.read_text("utf-8")):
                if re.match(r"[a-z]+:", target):
                    continue
                path = document.parent / target if target else document
                with self.subTest(document=document.name, target=target, anchor=anchor):
                    self.assertTrue(path.exists())
                    if anchor:
                        self.assertIn(anchor, list(anchors(path.read_text("utf-8"))))

    def test_pictures(self):
        shown = {(document.parent / target).resolve() for document in self.documents()
                 for target in re.findall(r"!\[[^]]*\]\(([^)]+)\)", document.read_text("utf-8"))}
        for picture in [*(top / "docs").glob("**/*.png"), *(top / "docs").glob("**/*.svg")]:
            with self.subTest(picture=picture.name):
                self.assertIn(picture.resolve(), shown)
                script = DRAWN_BY[picture.stem.split("-")[0]]
                self.assertTrue(script is None or (top / script).exists())

    def test_commands(self):
        n_scripts = 0
        for document in self.documents():
            for command in commands(document.read_text("utf-8")):
                n_scripts += bool(SCRIPT.search(command))
                with self.subTest(document=document.name, command=command):
                    self.assertEqual(list(faults_of_command(command)), [])
        self.assertGreater(n_scripts, 10)

    def test_options_of_the_build(self):
        known = (top / "meson_options.txt").read_text("utf-8")
        for document in self.documents():
            for command in commands(document.read_text("utf-8")):
                for option in re.findall(r"-D([a-z-]+)=", command):
                    with self.subTest(document=document.name, option=option):
                        self.assertTrue(f"'{option}'" in known or option == "optimization")

    def test_faults_of_commands_are_found(self):
        self.assertEqual(len(list(faults_of_command("tests/lint/nothing.py --seed 1"))), 1)
        self.assertEqual(len(list(faults_of_command("tests/lint/prose.py"))), 1)
        self.assertEqual(len(list(faults_of_command("docs/plots.py --frobnicate"))), 1)
        self.assertEqual(len(list(faults_of_command("checkccl --bench --frobnicate=1"))), 1)
        self.assertEqual(list(faults_of_command("meson devenv -C build python3 tests/lint/prose.py")), [])

    def test_paths(self):
        """`kernels/ccl.h` and the like, in backquotes, exist; patterns with <, * or { are left alone."""
        for document in self.documents():
            if document.name in ("news.md", "decisions.md"):
                continue  # they name files of earlier versions
            text = document.read_text("utf-8")
            for path in re.findall(r"`((?:kernels|gst|tests|examples|docs|\.ci)/[\w./-]*)`", text):
                with self.subTest(document=document.name, path=path):
                    self.assertTrue((top / path).exists())

    def test_index(self):
        index = (top / "docs" / "README.md").read_text("utf-8")
        for document in (top / "docs").glob("**/*.md"):
            if document != top / "docs" / "README.md":
                with self.subTest(document=document.name):
                    self.assertIn(f"({document.relative_to(top / 'docs')})", index)

    def test_algorithms(self):
        self.check_made_by("algorithms.py")

    def test_plots(self):
        self.check_made_by("plots.py")

    def check_made_by(self, script):
        run = subprocess.run([sys.executable, top / "docs" / script, "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    top = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
