#!/usr/bin/env python3
"""The tidy test: the rules of tools/tidy_rules.py, their self-tests, headers compiled alone, and
clang-format. Prints `ok - name` or `not ok - name` for each, its findings before it.

  tools/tidy.py            everything
  tools/tidy.py --list     the names only
  tools/tidy.py NAME…      some
"""

import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import format as formatter
from tidy_examples import BASE, EXAMPLES
from tidy_rules import RULES
from tidy_source import Tree

ROOT = Path(__file__).resolve().parent.parent
# An object and not -fsyntax-only, because ccache keeps objects only.
CLANG = ["ccache", "clang++-19", "-std=gnu++2b", "-c", "-O0", "-Isrc", "-Wall", "-Wextra",
         "-Werror",
         "-Wno-missing-field-initializers", "-Wno-missing-designated-field-initializers",
         "-Wno-unused-const-variable", "-Wno-unused-function", "-Wno-pragma-once-outside-header",
         "-xc++"]


# --- exceptions ---------------------------------------------------------------------------------


class AllowList:
    def __init__(self, text):
        self.lines = []
        self.used = set()
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip() and not line.startswith("#"):
                rule, where, reason = (line.split(None, 2) + ["", ""])[:3]
                path, _, name = where.partition(":")
                self.lines.append((number, rule, path, name, reason))

    def remaining(self, rule, findings):
        return [finding for finding in findings if not self.allows(rule, finding)]

    def allows(self, rule, finding):
        for number, its_rule, path, name, reason in self.lines:
            if rule == its_rule and finding.startswith(path + ":") and name in finding and reason:
                self.used.add(number)
                return True
        return False

    def unused(self):
        return [f"tools/tidy_allow.txt:{number}: {rule} {path} excuses nothing, or has no reason"
                for number, rule, path, _, _ in self.lines if number not in self.used]


# --- self-tests ---------------------------------------------------------------------------------


def findings_in_example(rule, files):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {**BASE, **files}.items():
            target = Path(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        return RULES[rule](Tree(folder, use_git=False))


def self_test(rule):
    if rule not in EXAMPLES:
        return [f"tools/tidy_examples.py:1: there is no example for {rule}"]
    found = []
    for files in EXAMPLES[rule][0]:
        if not findings_in_example(rule, files):
            found.append(f"tools/tidy_examples.py:1: {rule} does not see what is wrong in {files}")
    for files in EXAMPLES[rule][1]:
        for finding in findings_in_example(rule, files):
            found.append(f"tools/tidy_examples.py:1: {rule} objects to a good example: {finding}")
    return found


# --- headers ------------------------------------------------------------------------------------


def closure(tree, path, seen):
    """The header and every header of ours that it includes, directly or not."""
    if path in seen or not (tree.root / path).exists():
        return seen
    seen.add(path)
    for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', tree.text(path), re.M):
        closure(tree, f"src/{name}", seen)
    return seen


def header_key(tree, path):
    digest = hashlib.sha256(" ".join(CLANG).encode())
    for name in sorted(closure(tree, path, set())):
        digest.update(f"{name}\0{tree.text(name)}\0".encode())
    return digest.hexdigest()


def compile_alone(root, path):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*CLANG, path, "-o", f"{folder}/header.o"], cwd=root, text=True,
                              capture_output=True, env={**os.environ, "CCACHE_BASEDIR": str(root),
                                                        "CCACHE_NOHASHDIR": "1"})
    return "" if done.returncode == 0 else f"{path}:1: does not compile alone\n{done.stderr[:3000]}"


def headers_alone(tree, memory=None):
    """Compiles every header by itself; those that passed are remembered by a hash of their text and
    that of all they include."""
    known = set(json.loads(memory.read_text())) if memory and memory.exists() else set()
    headers = [path for path in tree.cpp("src/") if path.endswith(".h")]
    keys = {path: header_key(tree, path) for path in headers}
    fresh = [path for path in headers if keys[path] not in known]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        results = list(pool.map(lambda path: compile_alone(tree.root, path), fresh))
    passed = {keys[path] for path, problem in zip(fresh, results) if not problem}
    if memory:
        memory.parent.mkdir(parents=True, exist_ok=True)
        memory.write_text(json.dumps(sorted((known & set(keys.values())) | passed)))
    return [problem for problem in results if problem]


def headers_self_test():
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "src" / "base").mkdir(parents=True)
        bad = Path(folder) / "src" / "base" / "bad.h"
        bad.write_text("#pragma once\nstd::string name();\n")
        caught = headers_alone(Tree(folder, use_git=False))
        bad.write_text("#pragma once\n#include <string>\nstd::string name();\n")
        passed = not headers_alone(Tree(folder, use_git=False))
    return [] if caught and passed else ["tools/tidy.py:1: the check of headers sees nothing"]


# --- clang-format -------------------------------------------------------------------------------


def formatted(root, paths):
    lines = formatter.each(paths, lambda path: formatter.first_difference(root, path))
    return [f"{path}:{line}: tools/format.py would change this"
            for path, line in zip(paths, lines) if line]


def format_self_test():
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bad.cc").write_text("int  main( ){return 0 ;}\n")
        (Path(folder) / "good.cc").write_text(
            "struct Tag { int a; };  // stays\n\nint main() { return 0; }\n")
        good = formatted(folder, ["bad.cc"]) and not formatted(folder, ["good.cc"])
    return [] if good else ["tools/tidy.py:1: the check of the format sees nothing"]


# --- all of it ----------------------------------------------------------------------------------


def checks():
    tree = Tree(ROOT)
    allow = AllowList(tree.text("tools/tidy_allow.txt"))
    table = {}
    for name, function in RULES.items():
        table[name] = lambda name=name, function=function: allow.remaining(name, function(tree))
        table[f"{name}_can_fail"] = lambda name=name: self_test(name)
    table["headers_compile_alone"] = lambda: headers_alone(tree, ROOT / "build/tidy/headers.json")
    table["headers_compile_alone_can_fail"] = headers_self_test
    table["code_is_formatted"] = lambda: formatted(ROOT, tree.cpp())
    table["code_is_formatted_can_fail"] = format_self_test
    # Last: it asks which exceptions the rules above have used.
    table["every_exception_is_needed"] = allow.unused
    return table


def main():
    table = checks()
    if "--list" in sys.argv:
        print("\n".join(table))
        return 0
    wanted = [name for name in sys.argv[1:] if not name.startswith("-")] or list(table)
    if unknown := [name for name in wanted if name not in table]:
        print(f"there is no check named {unknown[0]}", file=sys.stderr)
        return 2
    failures = 0
    print(f"1..{len(wanted)}", flush=True)
    for name in wanted:
        started = time.monotonic()
        findings = table[name]()
        seconds = time.monotonic() - started
        for finding in findings[:50]:
            print(f"  {finding}")
        if len(findings) > 50:
            print(f"  … and {len(findings) - 50} more")
        failures += bool(findings)
        print(f"{'not ok' if findings else 'ok'} - {name} # {seconds:.2f} s", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
