#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Static analysis of gst/ and kernels/ (C that runs on the host): gcc -fanalyzer, clang-tidy and cppcheck.

usage: check.py [--tool NAME] BUILD_FOLDER

BUILD_FOLDER is one that meson has set up; nothing has to be compiled. Findings that suppressions.txt lists with a reason are
left out. The results are in BUILD_FOLDER/static.json and static.txt, as those of `meson test` are. A tool that is missing, or
has another version than the one the list was made with, is skipped.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
SUPPRESSIONS = pathlib.Path(__file__).with_name("suppressions.txt")

# The version of each tool that the suppressions are for, and how it says which one it is.
VERSIONS = {
    "gcc": ("12", ["gcc", "-dumpversion"]),
    "clang-tidy": ("14", ["clang-tidy", "--version"]),
    "cppcheck": ("2.10", ["cppcheck", "--version"]),
}
CHECKS = ",".join([
    "-*", "bugprone-*", "clang-analyzer-*", "concurrency-*",
    "-bugprone-easily-swappable-parameters",          # most functions of graphics take numbers in a row
    "-bugprone-implicit-widening-of-multiplication-result",  # indices of at most 65535 points and 32767 columns
    "-bugprone-narrowing-conversions",                # pixels are bytes, sums are doubles
    "-bugprone-reserved-identifier",                  # _GNU_SOURCE
    "-bugprone-sizeof-expression",                    # inside g_clear_pointer()
    "-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling",  # wants memcpy_s(), which glibc lacks
])
# gcc's analyzer takes minutes for vector code, which neither allocates nor frees.
VECTORS = re.compile(r"/tier/|blend_areas\.c$")
FINDING = re.compile(r"^(?P<path>[^:\s]+):(?P<line>\d+)(?::\d+)?: (?:warning|fatal error|error|portability|style): (?P<text>.*)$",
                     re.MULTILINE)
OF_GCC = ("-fno-split-paths",)  # options that clang refuses
# Not C files of ours that users run.
LEFT_OUT = re.compile(r"/tier/(?!plain)|make_byte_table|/decide\.c")


def commands(folder):
    """(path from the top, compiler's arguments without an output) of each C file; of SIMD tiers, the plain one."""
    found = {}
    for entry in json.loads((folder / "compile_commands.json").read_text("utf-8")):
        file = pathlib.Path(os.path.normpath(folder / entry["file"]))
        arguments = shlex.split(entry["command"])
        if file.suffix != ".c" or not file.is_relative_to(TOP) or not file.exists() or LEFT_OUT.search(str(file)):
            continue
        for option, n in (("-o", 2), ("-MQ", 2), ("-MF", 2), ("-MD", 1)):
            if option in arguments:
                at = arguments.index(option)
                del arguments[at:at + n]
        while arguments[0] in ("ccache", "gcc", "cc", "clang"):
            arguments.pop(0)
        found.setdefault(str(file.relative_to(TOP)), arguments)
    return found


def output_of(arguments, folder):
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    # A tool that could not do its work has found nothing.
    if done.returncode and not FINDING.search(output):
        source = next((str(word) for word in arguments if str(word).endswith(".c")), arguments[-1])
        output += f"\n{source}:0: error: {arguments[0]} ended with {done.returncode}\n"
    return output


def run_all(jobs, folder):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return "".join(pool.map(lambda job: output_of(job, folder), jobs))


def run_gcc(folder):
    return run_all([["gcc", *arguments, "-fanalyzer", "-fdiagnostics-plain-output", "-fdiagnostics-path-format=none",
                     "-o", "/dev/null"] for path, arguments in commands(folder).items() if not VECTORS.search(path)], folder)


def run_clang_tidy(folder):
    return run_all([["clang-tidy", "--quiet", f"--checks={CHECKS}", TOP / path, "--",
                     *(word for word in arguments if word not in OF_GCC), "-Wno-everything"]
                    for path, arguments in commands(folder).items()], folder)


def run_cppcheck(folder):
    database = folder / "host.json"
    entries = json.loads((folder / "compile_commands.json").read_text("utf-8"))
    entries = [entry for entry in entries if entry["file"].endswith(".c") and (folder / entry["file"]).exists()]
    database.write_text(json.dumps(entries), "utf-8")
    return output_of(["cppcheck", f"--project={database}", "--enable=warning,portability", "--quiet",
                      f"-j{os.cpu_count()}", "--suppress=missingIncludeSystem",
                      "--suppress=preprocessorErrorDirective:/usr/include/*",
                      "--template={file}:{line}: {severity}: {message} [{id}]"], folder)


def findings(output, folder):
    """(check, path, line, text) of each finding once."""
    found = set()
    for line in output.splitlines():
        if match := FINDING.match(line):
            path = pathlib.Path(os.path.normpath(folder / match["path"]))
            check = re.search(r"\[(?:-W)?([\w.,-]+)\]$", match["text"])
            path = str(path.relative_to(TOP)) if path.is_relative_to(TOP) else str(path)
            found.add((check[1] if check else "error", path, int(match["line"]), match["text"]))
    return sorted(found)


def suppressions():
    """{(check, path): reason}."""
    entries = {}
    for number, line in enumerate(SUPPRESSIONS.read_text("utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            fields = line.split(None, 2)
            if len(fields) < 3:
                sys.exit(f"{SUPPRESSIONS}:{number}: not CHECK PATH REASON")
            entries[fields[0], fields[1]] = fields[2]
    return entries


def missing(tool):
    """Why the tool cannot run; None: it can."""
    wanted, command = VERSIONS[tool]
    if not shutil.which(command[0]):
        return f"{tool} is not installed"
    version = re.search(r"\d+(?:\.\d+)*", output_of(command, "."))
    if not version or not (version[0] + ".").startswith(wanted + "."):
        return f"{tool} is version {version[0] if version else 'unknown'}; the suppressions are for {wanted}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", choices=list(VERSIONS))
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    reasons, used, results = suppressions(), set(), []
    for tool, run in (("gcc", run_gcc), ("clang-tidy", run_clang_tidy), ("cppcheck", run_cppcheck)):
        if arguments.tool in (None, tool):
            why = missing(tool)
            found = [] if why else findings(run(folder), folder)
            used |= {entry[:2] for entry in found}
            lines = [f"{path}:{line}: {text}" for check, path, line, text in found if (check, path) not in reasons]
            results.append({"name": f"static / {tool}", "result": "SKIP" if why else "FAIL" if lines else "OK",
                            "stdout": "\n".join([why] if why else lines)})
            print(f"{tool}: {why or len(lines)} {'' if why else 'findings'}", *lines, sep="\n", flush=True)
    (folder / "static.json").write_text("".join(json.dumps(result) + "\n" for result in results), "utf-8")
    (folder / "static.txt").write_text("\n".join(f"{result['name']}\n{result['stdout']}" for result in results), "utf-8")
    if not arguments.tool and not any(result["result"] == "SKIP" for result in results):
        for entry in sorted(set(reasons) - used):
            print("no longer found, so not to be suppressed:", *entry)
    sys.exit(any(result["result"] == "FAIL" for result in results))


if __name__ == "__main__":
    main()
