"""Reading the tree for the tidy test: which files there are, and C++ text reduced to its code."""

import re
import subprocess
from pathlib import Path

CPP_SUFFIXES = (".h", ".cc")
CPP_FOLDERS = ("src/", "tests/", "bench/")


class Tree:
    """The files of a repository, or of a folder that looks like one (for the self-tests)."""

    def __init__(self, root, use_git=True):
        self.root = Path(root)
        git = use_git and (self.root / ".git").exists()
        self.paths = sorted(self.from_git() if git else self.from_disk())
        self.texts = {}
        self.codes = {}

    def from_git(self):
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=self.root, check=True, capture_output=True)
        names = listed.stdout.decode().split("\0")
        return [name for name in names if name and (self.root / name).is_file()]

    def from_disk(self):
        names = [str(path.relative_to(self.root)) for path in self.root.rglob("*")
                 if path.is_file()]
        return [name for name in names if not name.startswith(("build/", "tools/__pycache__/"))]

    def commits(self, base):
        """(subject, body) of each commit after base, merges left out; None if base is unknown. A
        folder that only looks like a repository has them in the file commits.txt."""
        example = self.root / "commits.txt"
        if example.exists():
            text = example.read_text()
        elif not (self.root / ".git").exists():
            text = ""
        else:
            done = subprocess.run(
                ["git", "log", "--no-merges", "--format=%s%n%b%x00", f"{base}..HEAD"],
                cwd=self.root, capture_output=True, text=True)
            if done.returncode != 0:
                return None
            text = done.stdout
        entries = [entry.strip().partition("\n") for entry in text.split("\0") if entry.strip()]
        return [(subject, body.strip()) for subject, _, body in entries]

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = (self.root / path).read_bytes().decode("utf-8", "replace")
        return self.texts[path]

    def code(self, path):
        """The text with comments, strings and characters blanked; lines stay where they are."""
        if path not in self.codes:
            self.codes[path] = blank_non_code(self.text(path))
        return self.codes[path]

    def cpp(self, *folders):
        folders = folders or CPP_FOLDERS
        return [path for path in self.paths
                if path.endswith(CPP_SUFFIXES) and path.startswith(folders)]

    def readable(self):
        """Everything a person wrote: no seed inputs of fuzzers, no licence."""
        return [path for path in self.paths
                if not path.startswith("tests/fuzz/corpus/") and path != "LICENSE"
                and "/golden/" not in path]


NON_CODE = re.compile(
    r'//(?:[^\n\\]|\\.|\\\n)*'
    r'|/\*.*?\*/'
    r'|R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+'",
    re.S)


def blank_non_code(text):
    def blank(match):
        whole = match[0]
        line_start = text.rfind("\n", 0, match.start()) + 1
        if whole.startswith('"') and re.match(r"\s*#\s*include", text[line_start:match.start()]):
            return whole  # the name of an include is code
        return re.sub(r"[^\n]", " ", whole)
    return NON_CODE.sub(blank, text)


def read_layers(text):
    """{component: (components its code may include, those its tests may include as well)}."""
    layers = {}
    for line in text.split("\n"):
        name, colon, grants = line.split("#")[0].partition(":")
        if colon:
            code, _, tests = grants.partition("|")
            layers[name.strip()] = (set(code.split()), set(tests.split()))
    return layers


def component_of(layers, path):
    """The component with the longest path that holds this one, or ""; src/ is optional."""
    inside = [name for name in layers if path.removeprefix("src/").startswith(name + "/")]
    return max(inside, key=len, default="")


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def functions(code):
    """(name, first line, last line) of every outermost function body, found by braces."""
    found = []
    position = 0
    while (opening := code.find("{", position)) >= 0:
        start = max(code.rfind(mark, 0, opening) for mark in ";{}") + 1
        head = re.sub(r"^\s*#(?:[^\\\n]|\\\n|\\.)*", "", code[start:opening], flags=re.M)
        if not is_function_head(head):
            position = opening + 1
            continue
        end = matching_brace(code, opening)
        start += len(code[start:opening]) - len(code[start:opening].lstrip())
        name = re.search(r"([\w~:]+|operator\S+)\s*\(", head)
        found.append((name[1] if name else "?", line_of(code, start), line_of(code, end)))
        position = end + 1
    return found


def is_function_head(head):
    words = head.strip()
    if "(" not in words or re.search(r"[=,(]$", words):
        return False
    return not re.match(r"(namespace|class|struct|union|enum|extern|return)\b", words)


def matching_brace(code, opening):
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, opening):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return len(code) - 1
