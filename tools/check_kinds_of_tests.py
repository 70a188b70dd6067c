#!/usr/bin/env python3
"""O32: the kinds of tests that the recovery plan names are there. A kind is there when tests whose
names carry its requirements exist; which tests those are, ./test --list-requirements tells."""

import pathlib
import re
import sys

KINDS = {
    "projector_table": ["O9", "O10"],
    "token_edges": ["O20", "O27", "O28"],
    "atomicity_and_monotonic_seq": ["O7", "O21", "J3"],
    "crash_and_restart_integration": ["O26", "D1"],
    "wait_timeout": ["O16"],
}


def names(root):
    for folder in ("src", "tests"):
        for path in sorted((root / folder).rglob("*.cc")):
            text = path.read_text(encoding="utf-8")
            yield from re.findall(r"^(?:TEST|TEST_F|TEST_P|RC_GTEST_PROP)\(\w+,\s*(\w+)\)", text,
                                  re.MULTILINE)
            yield from re.findall(r"^    \{\"(\w+)\", \w+\},?$", text, re.MULTILINE)


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    words = set()
    for name in names(root):
        words.update(name.split("_"))
    failed = 0
    for kind, ids in KINDS.items():
        missing = [each for each in ids if each not in words]
        print(("not ok - " if missing else "ok - ") + f"O32_{kind}" +
              (f" has no test for {', '.join(missing)}" if missing else ""))
        failed += bool(missing)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
