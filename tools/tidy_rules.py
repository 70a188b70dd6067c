"""The rules of the tidy test. Each takes a Tree and gives its findings as `path:line: sentence`.

Every rule has a bad and a good example in tools/tidy_examples.py and is run on both each time, so
that none can be green because it sees nothing. Exceptions stand in tools/tidy_allow.txt, each with
its reason.
"""

import posixpath
import re

import prose
from tidy_source import component_of, functions, line_of, read_layers

RULES = {}

# Components without any input or output of their own.
PURE = ("core/session", "core/views", "core/rules", "core/acp", "core/auth", "core/wire")
# Engines below store/, and what they share.
ENGINES = ("store/queue", "store/sqlite", "store/files")
# Components whose code must do the same thing for the same input, every time.
DETERMINISTIC = PURE + ("store",) + ENGINES + (
    "daemon/runtime", "daemon/registry", "daemon/rules", "agentctl/supervisor",
    "agentctl/workspace")
TEST_FILE = re.compile(r"(_test\.cc|_for_test\.h)$")

LINE_COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 70


def rule(name):
    def register(function):
        RULES[name] = function
        return function
    return register


def layers_of(tree):
    return read_layers(tree.text("layers.txt"))


def search(tree, paths, pattern, sentence, text=None):
    """Findings for every match of a pattern in the code (or the given text) of the paths."""
    found = []
    for path in paths:
        content = (text or tree.code)(path)
        for match in re.finditer(pattern, content, re.M):
            found.append(f"{path}:{line_of(content, match.start())}: "
                         + sentence.format(match[0].strip()))
    return found


def production(tree, components):
    layers = layers_of(tree)
    return [path for path in tree.cpp("src/")
            if component_of(layers, path) in components and not path.endswith("_test.cc")]


# --- layers -------------------------------------------------------------------------------------


def includes(tree, layers):
    """(path, line, component, is a test, included name, its component) of each include of src/."""
    for path in tree.cpp("src/"):
        code = tree.code(path)
        for match in re.finditer(r'^\s*#\s*include\s+"([^"]+)"', code, re.M):
            if not re.fullmatch(r"\w+\.inc", match[1]):  # made by the build from this tree
                yield (path, line_of(code, match.start()), component_of(layers, path),
                       bool(TEST_FILE.search(path)), match[1], component_of(layers, match[1]))


@rule("layers_hold_for_every_include")
def layers_hold(tree):
    layers = layers_of(tree)
    found = [f"{path}:1: layers.txt has no component for this file" for path in tree.cpp("src/")
             if not component_of(layers, path)]
    for path, line, component, is_test, name, target in includes(tree, layers):
        code, tests = layers.get(component, (set(), set()))
        if target not in code | {component} | (tests if is_test else set()) or not target:
            found.append(f"{path}:{line}: {component}/ may not include \"{name}\" (layers.txt)")
    return found


@rule("layers_grant_only_what_is_used")
def grants_are_used(tree):
    layers, used = layers_of(tree), set()
    for _, _, component, is_test, _, target in includes(tree, layers):
        used.add((component, target, is_test))
    found = []
    for component, grants in layers.items():
        for is_test, names in enumerate(grants):
            found += [f"layers.txt:1: {component} never uses its grant of {name}"
                      for name in sorted(names) if (component, name, bool(is_test)) not in used]
    return found


@rule("layers_have_no_cycle")
def layers_have_no_cycle(tree):
    found, known = [], set()
    for component, (grants, _) in layers_of(tree).items():
        found += [f"layers.txt:1: {component} includes {name}, which does not stand above it"
                  for name in sorted(grants - known)]
        known.add(component)
    return found


# --- determinism --------------------------------------------------------------------------------

LOCKS = (r"std::(?:recursive_|shared_|timed_)*mutex\b|std::condition_variable(?:_any)?\b"
         r"|std::(?:lock_guard|unique_lock|scoped_lock|shared_lock)\b"
         r"|#\s*include\s*<(?:mutex|shared_mutex|condition_variable)>")
THREADS = (r"std::j?thread\b|std::async\b|std::(?:shared_)?future\b|std::promise\b"
           r"|std::this_thread\b|std::(?:counting|binary)_semaphore\b|std::latch\b|std::barrier\b"
           r"|std::call_once\b|\bpthread_\w+|\bthread_local\b"
           r"|#\s*include\s*<(?:thread|future|semaphore|latch|barrier|stop_token|pthread\.h)>")
CLOCKS = (r"\b(?:system|steady|high_resolution|utc|tai|gps|file)_clock\b|\bgettimeofday\b"
          r"|\bclock_gettime\b|\bstd::time\b|(?<![\w.>])time\s*\(\s*(?:NULL|nullptr|0|&\w+)\s*\)"
          r"|\b(?:localtime|gmtime|mktime)(?:_r)?\s*\(|\b(?:u|nano)?sleep(?:_for|_until)?\s*\("
          r"|#\s*include\s*<(?:ctime|time\.h|sys/time\.h)>")
RANDOMNESS = (r"(?<![\w.>])s?rand(?:_r)?\s*\(|\bstd::random_device\b|\bmt19937(?:_64)?\b"
              r"|\bdefault_random_engine\b|\bgetrandom\s*\(|\barc4random\w*"
              r"|\bRAND_(?:priv_)?bytes\b"
              r"|#\s*include\s*<(?:random|sys/random\.h|openssl/rand\.h)>")
SOCKETS = (r"#\s*include\s*<(?:sys/socket|sys/un|sys/epoll|poll|sys/select|netdb|arpa/\w+"
           r"|netinet/\w+)\.h>|#\s*include\s*<boost/(?:asio|beast)[./]")


@rule("deterministic_code_has_no_threads")
def no_threads(tree):
    sentence = "'{}' in a deterministic folder: a thread is made in daemon/"
    found = search(tree, production(tree, DETERMINISTIC), THREADS, sentence)
    # An engine's writer is stepped by one thread and fed by others: it may lock, and no more.
    unlocked = [folder for folder in DETERMINISTIC if folder not in ENGINES]
    return found + search(tree, production(tree, unlocked), LOCKS, sentence)


@rule("deterministic_code_reads_no_clock")
def no_clocks(tree):
    return search(tree, production(tree, DETERMINISTIC), CLOCKS,
                  "'{}' in a deterministic folder: time comes in with the input")


@rule("deterministic_code_has_no_randomness")
def no_randomness(tree):
    return search(tree, production(tree, DETERMINISTIC), RANDOMNESS,
                  "'{}' in a deterministic folder: ids and seeds come in with the input")


@rule("deterministic_code_reads_no_environment")
def no_environment(tree):
    return search(tree, production(tree, DETERMINISTIC),
                  r"\b(?:secure_)?getenv\b|\b(?:un)?setenv\b|\bputenv\b|\benviron\b",
                  "'{}' in a deterministic folder: the process passes settings in")


@rule("deterministic_code_opens_no_sockets")
def no_sockets(tree):
    return search(tree, production(tree, DETERMINISTIC), SOCKETS,
                  "'{}' in a deterministic folder: links come through env/")


@rule("deterministic_code_has_no_unordered_containers")
def no_unordered(tree):
    return search(tree, production(tree, DETERMINISTIC),
                  r"\bunordered_(?:flat_|node_)?(?:multi)?(?:map|set)\b|\bflat_hash_(?:map|set)\b",
                  "'{}' in a deterministic folder: its order differs from run to run")


@rule("deterministic_code_prints_nothing")
def no_iostream(tree):
    return search(tree, production(tree, DETERMINISTIC),
                  r"#\s*include\s*<iostream>|\bstd::(?:cout|cerr|clog|cin)\b"
                  r"|(?<![\w.>])(?:std::)?(?:f|v|vf)?printf\s*\(|\bstd::print(?:ln)?\s*\(",
                  "'{}' in a deterministic folder: errors are returned, logs belong to the edge")


@rule("pure_code_does_no_input_or_output")
def no_files(tree):
    return search(tree, production(tree, PURE),
                  r"#\s*include\s*<(?:fstream|filesystem|unistd\.h|fcntl\.h|sys/\w+\.h|sqlite3\.h)>"
                  r"|\bf?open\s*\(|\bfsync\b|\bfork\s*\(",
                  "'{}' in a pure folder: it sees values only")


@rule("O35_api_has_no_persistence_and_no_status_rules")
def api_is_a_facade(tree):
    paths = [path for path in tree.cpp("src/daemon/api/") if not path.endswith("_test.cc")]
    persistence = (r'#\s*include\s*(?:"store/|<(?:fstream|sqlite3\.h|libpq-fe\.h|fcntl\.h)>)'
                   r"|\bsqlite3_\w+|\bf(?:data)?sync\s*\(|\bfopen\s*\(|\bstd::ofstream\b"
                   r"|\bstore\w*(?:\.|->)append\s*\(")
    status = (r"\binterrupted_(?:startup|waiting)\b|\bStatus::\w+|\bderive_\w*stat(?:us|e)\b"
              r'|#\s*include\s*"core/session/status\.h"')
    return (search(tree, paths, persistence, "'{}' in api/: storage is the runtime's business")
            + search(tree, paths, status, "'{}' in api/: the projector alone derives status")
            + search(tree, paths, r'"interrupted_(?:startup|waiting)"',
                     "'{}' in api/: the projector alone derives status", tree.text))


# The glossary says where the work of each is done; here stand the names that must be found there,
# and the test that needs nothing but that part.
COMPONENTS = {
    "ExecutionCoordinator": [("src/daemon/runtime/actor.h", "class SessionActor"),
                             ("src/daemon/runtime/runtime.h", "submit("),
                             ("src/daemon/runtime/actor_test.cc", "TEST")],
    "RecoveryManager": [("src/daemon/runtime/runtime.h", "boot("),
                        ("src/core/session/transitions/lifecycle.cc", "Boot"),
                        ("src/daemon/runtime/recovery_test.cc", "TEST"),
                        ("src/core/session/transitions/lifecycle_test.cc", "TEST")],
    "RunStateProjector": [("src/core/session/status.h", "Status derive_status("),
                          ("src/core/session/status_test.cc", "TEST")],
    "MessageLogWriter": [("src/store/store.h", "append("),
                         ("src/store/memory_conformance_test.cc", "conformance")],
    "ResumeTokenService": [("src/core/session/token_index.h", "Result<> validate_wait"),
                           ("src/core/session/transitions/waits.cc", "TokenMinted"),
                           ("src/core/session/token_index_test.cc", "TEST"),
                           ("src/core/session/transitions/waits_test.cc", "TEST")],
}


@rule("O5_O24_each_component_stands_where_the_glossary_says_and_has_a_test_of_its_own")
def components_stand(tree):
    glossary, found = tree.text("docs/glossary.md"), []
    for name, places in COMPONENTS.items():
        row = re.search(rf"^\| {name} \|(.*)$", glossary, re.M)
        if not row:
            found.append(f"docs/glossary.md:1: {name} is missing")
            continue
        for path in re.findall(r"`([\w/]+\.(?:h|cc))`", row[1]):
            if f"src/{path}" not in tree.paths:
                found.append(f"docs/glossary.md:1: {name} is said to be in {path}: no such file")
        for path, text in places:
            if path not in tree.paths:
                found.append(f"{path}:1: {name} has no such file any more")
            elif text not in tree.text(path):
                found.append(f"{path}:1: '{text}' of {name} is not there")
    return found


@rule("O25_one_place_derives_status_and_storage_alone_syncs")
def one_projector_one_syncer(tree):
    layers = layers_of(tree)
    elsewhere = [path for path in tree.cpp("src/") if not path.endswith(("_test.cc", "_for_test.h"))
                 and not component_of(layers, path).startswith(("core/", "sim", "testing"))]
    syncing = ("env/", "store")
    rules = r"(?:[=!]=|\bcase|\?)\s*Status::\w+|\bStatus::\w+\s*(?:[=!]=|\?)"
    definition = r"^Status derive_\w+\([^;]*?\{"
    sessions = [path for path in tree.cpp("src/core/") if path != "src/core/session/status.cc"]
    return (search(tree, elsewhere, rules, "'{}' outside of core/: a rule of status")
            + search(tree, elsewhere + sessions, definition, "'{}': status.cc derives status")
            + search(tree, [path for path in elsewhere
                      if not component_of(layers, path).startswith(syncing)],
                     r"\bf(?:data)?sync\s*\(|\bsync_file_range\s*\(",
                     "'{}': storage alone knows what is on the disk"))


# --- the page -----------------------------------------------------------------------------------


def page_layers(tree):
    """{folder of web/src: the folders it may import}, in the order of web/layers.txt."""
    lines = [line.split("#")[0].partition(":") for line in tree.text("web/layers.txt").split("\n")]
    return {name.strip(): set(grants.split()) for name, colon, grants in lines if colon}


def page_imports(tree):
    """(path, line, folder, imported folder) for each import between folders of web/src."""
    pattern = r"\b(?:from|import)\s*\(?\s*[\"'](\.[^\"']+)[\"']"
    for path in tree.paths:
        parts = path.split("/")
        if parts[:2] != ["web", "src"] or len(parts) < 4 or not path.endswith((".ts", ".svelte")) \
                or path.endswith(".test.ts"):
            continue
        for match in re.finditer(pattern, tree.text(path)):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[1]))
            folder = target.split("/")[2] if target.startswith("web/src/") else ""
            if folder and folder != parts[2]:
                yield path, line_of(tree.text(path), match.start()), parts[2], folder


@rule("the_page_keeps_its_import_table")
def page_layers_hold(tree):
    if "web/layers.txt" not in tree.paths:
        return ["web/layers.txt:1: the import table of the page is missing"]
    layers, used, found, above = page_layers(tree), set(), [], set()
    for path, line, folder, target in page_imports(tree):
        used.add((folder, target))
        if target not in layers.get(folder, set()):
            found.append(f"{path}:{line}: {folder}/ may not import {target}/ (web/layers.txt)")
    for folder, grants in layers.items():
        found += [f"web/layers.txt:1: {folder} imports {name}, which does not stand above it"
                  for name in sorted(grants - above)]
        found += [f"web/layers.txt:1: {folder} never uses its grant of {name}"
                  for name in sorted(grants) if (folder, name) not in used]
        above.add(folder)
    return found


# --- files --------------------------------------------------------------------------------------


@rule("every_header_has_pragma_once")
def pragma_once(tree):
    return [f"{path}:1: the header has no #pragma once" for path in tree.cpp()
            if path.endswith(".h") and not re.search(r"^#pragma once$", tree.text(path), re.M)]


@rule("every_source_opens_with_what_it_is")
def opening_comment(tree):
    found = []
    for path in tree.paths:
        text = tree.text(path) if path.endswith((".h", ".cc", ".py", ".sh")) else ""
        if path.endswith((".h", ".cc")) and path.startswith(("src/", "tests/", "bench/")):
            # A .cc that opens with its own header is told there.
            own = re.match(r'#include "([^"]+)\.h"\n', text)
            good = re.match(r"// \S[^\n]{20,}", text) or (
                own and path == f"src/{own[1]}.cc" and f"src/{own[1]}.h" in tree.paths)
        elif path.endswith((".py", ".sh")):
            good = re.match(r'(#![^\n]*\n)?(# \S|"""\S)[^\n]{15,}', text)
        else:
            continue
        if not good:
            found.append(f"{path}:1: the file does not open with a comment that says what it is")
    return found


@rule("lines_are_at_most_100_columns")
def line_length(tree):
    found = []
    suffixes = (".h", ".cc", ".py", ".sh")
    for path in tree.paths:
        if not path.endswith(suffixes):
            continue
        for number, line in enumerate(tree.text(path).split("\n"), 1):
            if len(line) > LINE_COLUMNS_MAX and not line.startswith("#include"):
                found.append(f"{path}:{number}: {len(line)} columns")
    return found


@rule("functions_are_at_most_70_lines")
def function_length(tree):
    found = []
    for path in tree.cpp():
        for name, first, last in functions(tree.code(path)):
            if last - first + 1 > FUNCTION_LINES_MAX:
                found.append(f"{path}:{first}: {name} has {last - first + 1} lines")
    return found


@rule("a_type_has_one_definition")
def one_definition(tree):
    """Two types of one name link without a word, and one is destroyed by the other's destructor."""
    first, found = {}, []
    kind = re.compile(r"^(?:struct|class|enum class) (\w+)(?: final)?(?: :[^;{]*)?\s*\{")
    for path in tree.cpp("src/"):
        spaces = []
        for number, line in enumerate(tree.text(path).split("\n"), 1):
            if opened := re.match(r"namespace ?([\w:]*) ?\{", line):
                spaces.append(opened[1])
            elif re.match(r"\}  // namespace", line) and spaces:
                spaces.pop()
            elif (match := kind.match(line)) and spaces and "" not in spaces:
                name = "::".join(spaces + [match[1]])
                if name in first and first[name] != path:
                    found.append(f"{path}:{number}: {name} is defined in {first[name]} as well")
                first.setdefault(name, path)
    return found


@rule("file_names_say_what_is_inside")
def file_names(tree):
    banned = re.compile(r"(^|[_/.-])(utils?|helpers?|managers?|impl|misc|common)([_/.-]|$)")
    return [f"{path}:1: the name says nothing ('{match[2]}')" for path in tree.paths
            if (match := banned.search(path))]


@rule("nothing_is_left_to_do_in_the_text")
def no_todo(tree):
    # The first is a task's state as well: only what looks like a note to oneself counts.
    words = (r"(?://|#|\*)\s*TO" + r"DO\b(?!\s*[,;.])|\bTO" + r"DO\s*[:(]"
             + r"|\b(?:FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
    return search(tree, tree.readable(), words, "'{}': do it, or open an issue", tree.text)


@rule("no_path_of_somebody_s_machine")
def no_machine_paths(tree):
    pattern = r"(?<![\w.$}~-])/(?:work|home|Users)/\w"
    return search(tree, tree.readable(), pattern, "'{}…' is a path of one machine", tree.text)


@rule("no_package_registry_is_named")
def no_registries(tree):
    # Dependencies are named by package; where packages come from is the machine's business.
    pattern = (r"\b(?:registry|deb|packages?|crates|mirrors?|index)\.[a-z0-9-]+"
               r"\.(?:org|com|io|net)\b"
               r"|\b(?:npm" r"js|py" r"pi|python" r"hosted|gh" r"cr|qu" r"ay|crates)"
               r"\.(?:org|com|io)\b")
    return search(tree, tree.readable(), pattern, "'{}' names a package registry", tree.text)


@rule("the_documents_stand_alone")
def documents_stand_alone(tree):
    names = "|".join(("contract", "engineering", "acceptance", "scenarios", "design", "stack"))
    pattern = r"\.\./" + r"shared\b|(?<![\w/-])(?:" + names + r")\.md\b"
    return search(tree, tree.readable(), pattern, "'{}' is not in this repository", tree.text)


@rule("links_between_documents_lead_somewhere")
def links_lead_somewhere(tree):
    found = []
    for path in tree.paths:
        if not path.endswith(".md"):
            continue
        text = tree.text(path)
        for match in re.finditer(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" in match[1]:
                continue
            if not (tree.root / path).parent.joinpath(match[1]).exists():
                found.append(f"{path}:{line_of(text, match.start())}: {match[1]} does not exist")
    return found


# --- English ------------------------------------------------------------------------------------


@rule("texts_have_few_markers_of_translated_english")
def few_prose_markers(tree):
    found = []
    for part in prose.parts(tree):
        words, markers = prose.measure(tree, part)
        if prose.rate(words, markers) > prose.RATE_MAX:
            found.append(f"tools/prose.py:1: {part}: {prose.rate(words, markers):.0f} markers per "
                         f"10,000 words, at most {prose.RATE_MAX} are allowed")
            found += [f"{path}:{line}: '{text}'" for path, line, text in markers]
    return found


# --- documents that repeat the code -------------------------------------------------------------


EXIT_CODES = {"failed": 1, "usage": 2, "not_found": 3, "refused": 4, "unreachable": 5}


def error_rows(tree):
    """(code, HTTP status, exit code, actions) of each row of the table of error codes."""
    rows = re.findall(r"\bROW\((\w+), (\d+), (\w+), \"([^\"]*)\"\)",
                      tree.text("src/base/error_codes.h"))
    return [(code, status, EXIT_CODES[exit_code], actions.split())
            for code, status, exit_code, actions in rows]


@rule("every_error_code_has_its_page")
def error_pages(tree):
    pages = {path for path in tree.paths if re.fullmatch(r"docs/errors/[a-z_]+\.md", path)}
    found = []
    rows = error_rows(tree)
    for code, status, exit_code, actions in rows:
        path = f"docs/errors/{code}.md"
        if path not in pages:
            found.append(f"{path}:1: the error code {code} has no page")
            continue
        words = ", ".join(f"`{word}`" for word in actions)
        offered = f"actions {words}" if actions else "no actions"
        for line in (f"# {code}", f"HTTP status {status}, exit code {exit_code}, {offered}.",
                     "## What happened", "## What to do"):
            if not re.search(f"^{re.escape(line)}$", tree.text(path), re.M):
                found.append(f"{path}:1: '{line}' is missing")
    extra = pages - {f"docs/errors/{code}.md" for code, *_ in rows}
    return found + [f"{path}:1: there is no such error code" for path in sorted(extra)]


@rule("the_http_page_lists_each_error_code_with_its_status")
def error_statuses(tree):
    path = "docs/protocol/http.md"
    told = {code: status for status, codes in re.findall(
        r"^\| (\d{3}) \| (.*) \|$", tree.text(path) if path in tree.paths else "", re.M)
            for code in re.findall(r"`([a-z_]+)`", codes)}
    return [f"{path}:1: {code} is not listed with status {status}"
            for code, status, *_ in error_rows(tree) if told.get(code) != status]


@rule("every_limit_is_published")
def limits_published(tree):
    code, text = tree.code("src/base/limits.h"), tree.text("docs/limits.md")
    limits = re.findall(r"inline constexpr [\w:]+ (\w+) =", code)
    documented = re.findall(r"^\| `(\w+)` \|", text, re.M)
    found = [f"docs/limits.md:1: {name} of base/limits.h is missing"
             for name in limits if name not in documented]
    return found + [f"docs/limits.md:1: base/limits.h has no {name}"
                    for name in documented if name not in limits]


@rule("every_equivalent_mutant_stands_in_the_source")
def equivalent_mutants_exist(tree):
    path = "tools/mutants_equivalent.txt"
    found = []
    for number, line in enumerate(tree.text(path).split("\n") if path in tree.paths else [], 1):
        if not line or line.startswith("#"):
            continue
        file, _, rest = line.partition(" | ")
        source = rest.partition(" | ")[2].rpartition(" | ")[0]
        bare, _, occurrence = re.sub(r"\s+", " ", source).partition(" #")
        where = f"src/{file}"
        text = re.sub(r"\s+", " ", tree.text(where)) if where in tree.paths else ""
        if not source or text.count(bare) < int(occurrence or 1):
            found.append(f"{path}:{number}: {where} has no `{source}`")
    return found


REQUIREMENT_COUNTS = {"K": 43, "L": 38, "A": 31, "O": 37, "U": 18, "C": 23, "J": 6, "ACK": 4,
                      "RUN": 5, "PROC": 6, "STREAM": 5, "TOK": 6, "DISK": 3, "Q": 5}


@rule("the_list_of_requirements_is_whole")
def requirements_whole(tree):
    path = "docs/requirements.txt"
    lines = [line for line in tree.text(path).split("\n") if line and not line.startswith("#")]
    found = [f"{path}:1: not an id and a sentence: {line}" for line in lines
             if not re.fullmatch(r"[A-Z]+\d+ \S.*", line)]
    ids = [line.split(" ")[0] for line in lines]
    found += [f"{path}:1: {name} is there twice" for name in sorted(set(ids))
              if ids.count(name) > 1]
    for letter, count in REQUIREMENT_COUNTS.items():
        found += [f"{path}:1: {letter}{number} is missing" for number in range(1, count + 1)
                  if f"{letter}{number}" not in ids]
    return found


@rule("every_invariant_is_explained")
def invariants_explained(tree):
    text = tree.text("docs/invariants.md")
    ids = re.findall(r"^((?:J|ACK|RUN|PROC|STREAM|TOK|DISK|Q)\d+) ", tree.text(
        "docs/requirements.txt"), re.M)
    return [f"docs/invariants.md:1: {name} is missing" for name in ids
            if not re.search(rf"^\| {name} \|", text, re.M)]


@rule("scripts_stop_at_the_first_error")
def scripts_strict(tree):
    return [f"{path}:1: a bash script without `set -euo pipefail`" for path in tree.readable()
            if tree.text(path).startswith("#!/usr/bin/env bash")
            and not re.search(r"^set -euo pipefail$", tree.text(path), re.M)]


# Commits after this one follow the rules below.
COMMITS_CHECKED_AFTER = "9bf04a9"
SUBJECT_COLUMNS_MAX = 72
NOT_IMPERATIVE = re.compile(
    r"(?:an?|the|of|no|not|two|its?|this|that|these|some|each|every|what|who|where|when|how|if|in"
    r"|on|at|by|for|from|with|and|or|as|wip|\d\S*|\w+ing|\w+ed)$")


@rule("commits_have_an_imperative_subject_and_a_body")
def commits_say_what_they_do(tree):
    commits = tree.commits(COMMITS_CHECKED_AFTER)
    if commits is None:
        return [f"tools/tidy_rules.py:1: {COMMITS_CHECKED_AFTER} is not in this history"]
    found = []
    for subject, body in commits:
        match = re.fullmatch(r"[\w/., -]+: (\S+)( .*)?", subject)
        if len(subject) > SUBJECT_COLUMNS_MAX:
            found.append(f"commit:1: {len(subject)} columns: {subject}")
        if not match or NOT_IMPERATIVE.match(match[1]) or re.search(r"\bwip\b", subject, re.I):
            found.append(f"commit:1: not `area: imperative verb …`: {subject}")
        if len(body.split()) < 5:
            found.append(f"commit:1: no body that says why: {subject}")
    return found
