#!/usr/bin/env python3
"""Counts the markers of translated English per 10,000 words: in documents, in comments, and in the
strings that people read. A low count does not make a text good; a high one shows where to look.

  tools/prose.py                 the rates, and the files with most markers
  tools/prose.py --list [PART]   every marker with its line; PART: documents, comments or strings
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from tidy_source import NON_CODE, Tree

ROOT = Path(__file__).resolve().parent.parent
RATE_MAX = 15  # markers per 10,000 words

MARKERS = re.compile("|".join([
    r"\bwhoever\b", r"\bwhatever\b", r"\bany more\b", r"\bis no [a-z]+", r"\binside of\b",
    r"\banew\b", r"\bbesides\b", r"\bnobody\b", r"\bsomebody\b", r"\bfor ever\b", r"\bby itself\b",
    r"(?:^|(?<=[.:] ))what (?:was|is|comes|came|the|an?|has|lives)\b",
    r"\b(?:who|whom) [a-z]+s\b", r"\bbehind (?:it|them|this|that|the|its|a)\b",
    r"\ba (?:session|file|folder|line|test|record|daemon|run|turn|second|process)\b(?=[,.;)])",
    r"\bso (?:long|many|much)\b(?! as)", r"\b(?:meanwhile|just now)\b",
    r"\b(?:another|other) than\b", r"\b(?:is|are) told\b", r"\btold (?:of|to)\b",
]), re.I | re.M)
WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
SCRIPT = (".ts", ".svelte", ".mjs")
TEST = re.compile(r"_test\.cc$|_for_test\.h$|\.test\.(ts|mjs)$|^src/(sim|testing)/")


def document_lines(text):
    """The lines of a Markdown file with code, in blocks and in the line, left out."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`|\]\([^)]*\)", " ", line)


def comment_lines(text):
    """The comments of C++ and of scripts. Strings are recognised, so that none looks like one."""
    for match in NON_CODE.finditer(text):
        if match[0].startswith(("//", "/*")):
            first = text.count("\n", 0, match.start()) + 1
            for offset, line in enumerate(match[0].split("\n")):
                yield first + offset, line.strip(" /*")


def string_lines(text):
    """String literals that look like prose: two words or more with a space between them."""
    for match in NON_CODE.finditer(text):
        if match[0].startswith('"') and re.search(r"[a-z]{2} [a-z]{2}", match[0]):
            yield text.count("\n", 0, match.start()) + 1, match[0].strip('"')


def parts(tree):
    """Of each part: the files, and how its lines are read."""
    source = [path for path in tree.readable() if path.startswith(("src/", "bench/", "tests/"))
              and path.endswith((".h", ".cc"))]
    page = [path for path in tree.readable() if path.startswith(("web/src/", "tests/web/"))
            and path.endswith(SCRIPT)]
    product = [path for path in source if path.startswith("src/") and not TEST.search(path)]
    return {
        "documents": ([p for p in tree.readable() if p.endswith(".md")], document_lines),
        "comments": (source + page, comment_lines),
        "strings": (product, string_lines),
    }


def measure(tree, part):
    """Words, and the markers as (path, line, text)."""
    paths, lines_of = parts(tree)[part]
    words, found = 0, []
    for path in paths:
        for number, line in lines_of(tree.text(path)):
            words += len(WORD.findall(line))
            found += [(path, number, match[0].strip()) for match in MARKERS.finditer(line)]
    return words, found


def rate(words, found):
    return 10_000 * len(found) / words if words else 0.0


def main():
    tree = Tree(ROOT)
    if sys.argv[1:2] == ["--list"]:
        for part in sys.argv[2:] or parts(tree):
            for path, number, text in measure(tree, part)[1]:
                print(f"{path}:{number}: {text}")
        return 0
    for part in parts(tree):
        words, found = measure(tree, part)
        print(f"{part}: {rate(words, found):.0f} per 10,000 words "
              f"({len(found)} in {words}; at most {RATE_MAX})")
        counts = {}
        for path, _, _ in found:
            counts[path] = counts.get(path, 0) + 1
        for path in sorted(counts, key=counts.get, reverse=True)[:8]:
            print(f"  {counts[path]:4}  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
