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


# Requirements that no test here can carry, each with the reason.
WITHOUT_TEST = {"R2": "the agent's own file before a load belongs to the agent's vendor"}


def table(tests):
    """`tests` maps each test's name to further ids that it covers. Returns the lines of the table,
    and the problems: requirements without a test, and tests that name an id that does not exist."""
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
    lines = []
    for requirement, sentence in wanted.items():
        names = carriers[requirement]
        why = f"NO TEST ({WITHOUT_TEST.get(requirement, 'missing')}): "
        lines.append(f"{requirement:8} {'' if names else why}{sentence}")
        lines += [f"           {name}" for name in names]
    missing = [f"{name} has no test" for name in wanted
               if not carriers[name] and name not in WITHOUT_TEST]
    covered = sum(1 for names in carriers.values() if names)
    lines.append(f"{covered} of {len(wanted)} requirements have a test")
    return lines, missing + unknown
