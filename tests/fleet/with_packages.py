#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs tests of this folder with packages of PyPI, in a virtual environment that it makes; exit status 77 where it cannot.

usage: with_packages.py FOLDER [--ray] TEST [ARGUMENT...]     FOLDER keeps the environment for the next time
"""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
REQUIREMENTS = HERE.parents[1] / "examples" / "fleet" / "requirements.txt"
VALIDATOR = "kubernetes-validate>=1.31"


def wanted(with_ray: bool) -> list[str]:
    lines = [line for line in REQUIREMENTS.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return [line for line in lines if with_ray or not line.startswith("ray")] + [VALIDATOR]


def install(folder: pathlib.Path, packages: list[str]) -> pathlib.Path:
    """The environment's Python. What it ran with is in a file, so that a change is installed."""
    python, done = folder / "bin" / "python", folder / "installed"
    if not done.exists() or done.read_text("utf-8") != "\n".join(packages):
        for command in ([sys.executable, "-m", "venv", folder],
                        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]):
            run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
            if run.returncode:
                print(f"skipped: {(run.stderr or run.stdout).strip().splitlines()[-1]}")
                sys.exit(77)
        done.write_text("\n".join(packages), "utf-8")
    return python


def main() -> None:
    folder, *arguments = sys.argv[1:]
    with_ray = "--ray" in arguments
    arguments = [argument for argument in arguments if argument != "--ray"]
    python = install(pathlib.Path(folder), wanted(with_ray))
    os.execv(python, [str(python), str(HERE / arguments[0]), *arguments[1:]])


if __name__ == "__main__":
    main()
