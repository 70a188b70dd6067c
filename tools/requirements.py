"""The requirement ids of docs/requirements.txt, and which tests carry them in their names.

An id counts where it stands as a whole word between underscores, dots, colons or slashes:
`O12_O13_restart_appends_one_interruption` carries O12 and O13. Tests of the tools for testing
(`testing_test`, of src/testing) carry none: they show that a story can be played, not how it ends.
"""

import re
from pathlib import Path

OF_TOOLS = re.compile(r"(\w+:)?testing_test\.")
FILE = Path(__file__).resolve().parent.parent / "docs" / "requirements.txt"


def read(path=FILE):
    """The ids with their sentences, in order. Blank lines and # lines are passed over."""
    found = {}
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = re.fullmatch(r"([A-Z]+\d+) (\S.*)", line)
        if not match:
            raise ValueError(f"{path.name}:{number}: expected an id and a sentence: {line!r}")
        if match[1] in found:
            raise ValueError(f"{path.name}:{number}: {match[1]} is there twice")
        found[match[1]] = match[2]
    return found


def ids_in(name):
    if OF_TOOLS.match(name):
        return set()
    return {word for word in re.split(r"[^A-Za-z0-9]+|_", name) if re.fullmatch(r"[A-Z]+\d+", word)}


def print_table(tests):
    """`tests` maps each test's name to ids that it covers besides those in its name."""
    wanted = read()
    carriers = {requirement: [] for requirement in wanted}
    unknown = []
    for name in sorted(tests):
        for requirement in sorted(ids_in(name) | set(tests[name])):
            if requirement in carriers:
                carriers[requirement].append(name)
            elif re.fullmatch(r"(K|L|A|O|U|C|J|S|D|P|R|N|H|X|Q|ACK|RUN|PROC|STREAM|TOK|DISK)\d+",
                              requirement):
                unknown.append(f"{name} names {requirement}, which docs/requirements.txt has not")
    for requirement, sentence in wanted.items():
        names = carriers[requirement]
        print(f"{requirement:8} {'' if names else 'NO TEST: '}{sentence}")
        for name in names:
            print(f"           {name}")
    for line in unknown:
        print(f"unknown id: {line}")
    covered = sum(1 for names in carriers.values() if names)
    print(f"{covered} of {len(wanted)} requirements have a test")
    return 0
