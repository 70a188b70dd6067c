#!/usr/bin/env python3
"""Formats C++ files in place by clang-format-19, and leaves a struct that stands on one line there,
for which clang-format has no option.

  tools/format.py            every file of src/, tests/ and bench/
  tools/format.py FILE…      some
"""

import concurrent.futures
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OFF, ON = "// clang-format off: one line", "// clang-format on: one line"
ONE_LINE_STRUCT = re.compile(r"^[ ]*struct \w+ \{ [^{}\n]*; \};(?:  //.*)?$", re.M)
WRAPPED = re.compile(rf"^[ ]*{OFF}\n(.*)\n[ ]*{ON}$", re.M)


def format_text(text, path):
    """The text as it should be. The path tells clang-format which include is the file's own."""
    wrapped = ONE_LINE_STRUCT.sub(lambda match: f"{OFF}\n{match[0]}\n{ON}", text)
    done = subprocess.run(
        ["clang-format-19", f"--style=file:{ROOT}/.clang-format", f"--assume-filename={path}"],
        input=wrapped, capture_output=True, text=True, check=True)
    return WRAPPED.sub(lambda match: match[1], done.stdout)


def each(paths, function):
    """function(path) for every path, on all cores; the results in order."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        return list(pool.map(function, paths))


def first_difference(root, path):
    """The number of the first line that would change, or 0."""
    text = (Path(root) / path).read_text()
    formatted = format_text(text, path)
    if text == formatted:
        return 0
    pairs = zip(text.split("\n") + [""], formatted.split("\n") + [""])
    return next((number for number, (old, new) in enumerate(pairs, 1) if old != new), 1)


def format_file(path):
    text = path.read_text()
    formatted = format_text(text, path)
    if formatted != text:
        path.write_text(formatted)
        print(f"formatted {path}")


def main():
    from tidy_source import Tree
    names = sys.argv[1:] or [str(ROOT / path) for path in Tree(ROOT).cpp()]
    each([Path(name) for name in names], format_file)


if __name__ == "__main__":
    main()
