"""Holds SECURITY.md to its tests. tests/security/claims.txt has one entry for each sentence of the
page: an exact quote of its first words on a line of its own, and below it, indented, the names of
the tests that prove it, as ./test prints them without the parameters of a suite, or the word
`prose` for what claims no behaviour. Lines with # are comments.
"""

import re

import test_plan
from tidy_source import component_of, read_layers

TEST = re.compile(r"^(?:TYPED_TEST|TEST(?:_F|_P)?|RC_GTEST\w*_PROP)\(\s*(\w+),\s*(\w+)", re.M)


def blocks_of(page):
    """Paragraphs, list items and rows of tables, each on one line."""
    lines = page.split("\n") + [""]
    now = []
    for line, following in zip(lines, lines[1:] + [""]):
        is_row = line.startswith("|")
        if now and (is_row or not line.strip() or line.startswith(("#", "- "))):
            yield " ".join(now)
            now = []
        is_rule = re.compile(r"\|[-| ]+\|").fullmatch
        if is_row and not is_rule(line) and not is_rule(following):
            yield line.strip("| ")
        elif not is_row and line.strip() and not line.startswith("#"):
            now.append(line.removeprefix("- ").strip())


def sentences_of(page):
    return [sentence for block in blocks_of(page)
            for sentence in re.split(r"(?<=[.!?])\s|(?<=[.!?]\*\*)\s", block)]


def read(text):
    """[(quote, [names])] in the order of the file."""
    entries = []
    for line in text.split("\n"):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" ") and entries:
            entries[-1][1].extend(line.split())
        else:
            entries.append((line.strip(), []))
    return entries


def executables(folder):
    """{file: names of its test executables} by the folder's CMakeLists.txt."""
    text = (folder / "CMakeLists.txt").read_text()
    declared = re.findall(r"perdure_test\(([\w${}]+)\s([^)]*)\)", text)
    found = {}
    for file in folder.glob("*.cc"):
        named = [name for name, files in declared if file.name in files.split()]
        found[file] = named or [name for name, files in declared if "${" in files]
        found[file] = [file.stem if "${" in name else name for name in found[file]]
    return found


def words_of(title):
    return re.sub(r"[^A-Za-z0-9]+", "_", title).strip("_")


def tests_of(root):
    """The names of all tests that the sources have; a suite with parameters has each once."""
    names = {check.name for check in test_plan.CHECKS if not check.tap}
    layers = read_layers((root / "layers.txt").read_text())
    for file in root.glob("src/**/*_test.cc"):
        program = component_of(layers, str(file.relative_to(root))).replace("/", "_") + "_test"
        names |= {f"{program}.{suite}.{case}" for suite, case in TEST.findall(file.read_text())}
    for cmake in root.glob("tests/*/CMakeLists.txt"):
        for file, programs in executables(cmake.parent).items():
            cases = TEST.findall(file.read_text())
            names |= {f"{program}.{suite}.{case}" for program in programs for suite, case in cases}
    for tap, folder in (("web_browser", "web"), ("acp_clients", "acp")):
        for file in root.glob(f"tests/{folder}/*.test.mjs"):
            names |= {f"{tap}.{name}"
                      for name in re.findall(r"\btest\(\s*\"(\w+)\"", file.read_text())}
    for file in root.glob("web/src/**/*.test.ts"):
        stem = words_of(file.name.removesuffix(".test.ts"))
        titles = re.findall(r"^(?:test|it)\(\s*\"([^\"]+)\"", file.read_text(), re.M)
        names |= {f"web_unit.{stem}.{words_of(title)}" for title in titles}
    names |= {f"docs.{name}" for name in re.findall(
        r"report\(\"(\w+)\"", (root / "tools/check_docs.py").read_text())}
    targets = (root / "tests/fuzz/CMakeLists.txt").read_text()
    names |= {f"fuzz.{name}" for name in re.findall(r"perdure_fuzz\((\w+)", targets)}
    return names


def problems_of(page, claims, tests):
    sentences = sentences_of(page)
    entries = read(claims)
    problems = []
    proved = {sentence: 0 for sentence in sentences}
    for quote, names in entries:
        matches = [sentence for sentence in sentences if sentence.startswith(quote)]
        if len(matches) != 1:
            problems.append(f"{len(matches)} sentences begin with: {quote}")
        for sentence in matches:
            proved[sentence] += 1
        if names != ["prose"]:
            problems += [f"{quote}: there is no test {name}" for name in names
                         if name not in tests]
        if not names:
            problems.append(f"{quote}: names no test")
    problems += [f"in {count} entries: {sentence}" for sentence, count in proved.items()
                 if count != 1]
    return problems


def undetected(page, claims, tests):
    """Ways in which page, claims and tests can fall apart that problems_of() does not notice."""
    quote, names = next(entry for entry in read(claims) if entry[1] != ["prose"])
    broken = {
        "a new sentence": (page + "\nNobody proved this.\n", claims, tests),
        "a sentence that is gone": (page, claims + "\nThis is not there\n  prose\n", tests),
        "two entries for one sentence": (page, claims + f"\n{quote}\n  prose\n", tests),
        "a quote of two sentences": (page + f"\n{quote} again.\n", claims, tests),
        "a test that is gone": (page, claims, tests - {names[0]}),
        "an entry without a test": (page + "\nNew.\n", claims + "\nNew.\n", tests),
        "prose with a test":
            (page, claims.replace(f"{quote}\n", f"{quote}\n  prose\n", 1), tests),
    }
    return [f"{what} is not noticed" for what, each in broken.items() if not problems_of(*each)]
