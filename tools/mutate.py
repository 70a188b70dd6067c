#!/usr/bin/env python3
"""Makes copies of C++ sources with switches in them, for the mutation score of the simulator.

usage: mutate.py SOURCE_ROOT OUT_DIR COUNT FILE.cc ...

Candidates are conditions of `if`, named booleans, returns of boolean functions (each negated when
its switch is on) and single statements that matter (left out when it is on). COUNT of them are
chosen evenly (0: all). Writes OUT_DIR/<folders>__<name>.cc for every file and OUT_DIR/mutants.inc,
a table of what each number is. A canary, one planted bug, is put in beside them.
"""
import pathlib
import re
import sys

STATEMENTS = re.compile(
    r"^\s*(draft\.(add|effect|command)\(|close_waits\(|end_run\(|deliver_next\(|fail_resume\(|"
    r"request_cancel\(|interrupt_run\(|start_executor\(|ensure_agent\(|open_next\(|hold_queue\(|"
    r"ask_to_stop\(|refresh_held\(|close_token\(|"
    r"state\.\w+(\.\w+)*(\.reset\(|\.erase\(|\.clear\(| = | \+= )|"
    r"context\.\w+ = |exec\.\w+ = |"
    r"outbox_\.\w+\(|readers_\.publish\(|arm_timer\(|flush_later\(|schedule\(|answer\(|"
    r"shared_\.world\.(agentctls|notifier)\.|\(\*found\)->boot\(|become_ready\(|"
    r"resume_next_at_boot\(|"
    r"input\(|effects_done\.|done_\.|rows_\.|keys_\.|cursor = |inbox_\.push_front\()")

# The canary acks frames before their commit is durable (PROC5).
CANARY_FILE = "daemon/runtime/actor.cc"
CANARY_ANCHOR = re.compile(r"^  shared_\.world\.store\.append\($", re.M)
CANARY = """
  if (::perdure::canary_sings() && in_flight_->cursor && in_flight_->cursor != cursor_) {
    shared_.world.agentctls.ack({session_, in_flight_->cursor->exec, in_flight_->state.exec.gen},
                                in_flight_->cursor->frame);
  }
"""


def blank_comments_and_strings(text):
    """The same text, same length, with nothing in comments and literals."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    literal = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    return re.sub(literal, blank, text, flags=re.S)


def closing(text, at):
    """The place of the bracket that closes the one at `at`."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    stack = []
    for i in range(at, len(text)):
        if text[i] in pairs:
            stack.append(pairs[text[i]])
        elif stack and text[i] == stack[-1]:
            stack.pop()
            if not stack:
                return i
    raise ValueError("unbalanced")


def declares(condition):
    bare = re.sub(r"[=!<>]=|<=>", "  ", condition)
    depth = 0
    for c in bare:
        depth += c in "([{"
        depth -= c in ")]}"
        if depth == 0 and c in "=;":
            return True
    return False


def bool_functions(plain):
    """Spans of bodies of functions that return bool."""
    spans = []
    for match in re.finditer(r"\bbool\s+[\w:]+\s*\(", plain):
        end = closing(plain, match.end() - 1)
        brace = re.compile(r"\s*(const|override|noexcept|\s)*\{").match(plain, end + 1)
        if brace:
            spans.append((brace.end() - 1, closing(plain, brace.end() - 1)))
    return spans


def statement_end(plain, at):
    i = at
    while plain[i] != ";":
        if plain[i] in "([{":
            i = closing(plain, i)
        i += 1
    return i


def candidates(path, text):
    """(start, end, kind): spans of conditions, or of whole statements with their semicolon."""
    plain = blank_comments_and_strings(text)
    found = []
    for match in re.finditer(r"\bif\s*\(", plain):
        begin, end = match.end(), closing(plain, match.end() - 1)
        if not declares(plain[begin:end]):
            found.append((begin, end, "condition"))
    for match in re.finditer(r"\bconst bool \w+ =\s*", plain):
        found.append((match.end(), statement_end(plain, match.end()), "boolean"))
    for begin, end in bool_functions(plain):
        for match in re.finditer(r"\breturn\s+", plain[begin:end]):
            start = begin + match.end()
            stop = statement_end(plain, start)
            constant = plain[start:stop].strip() in ("true", "false")
            if stop < end and not constant and "[&]" not in plain[begin:start]:
                found.append((start, stop, "return"))
    for match in re.finditer(r"^.*$", plain, re.M):
        line = match.group(0)
        hit = STATEMENTS.match(line)
        if not hit or re.match(r"^\s*(return|if|else|for|while|const|auto|case)\b", line):
            continue
        begin = match.start() + len(line) - len(line.lstrip())
        # A statement begins where the one before ends.
        before = plain[:begin].rstrip()
        if before and before[-1] not in ";{}":
            continue
        try:
            found.append((begin, statement_end(plain, begin) + 1, "statement"))
        except (ValueError, IndexError):
            continue
    # Nothing inside of something that is chosen as a whole: keep the outer statement only by chance
    # of order, since overlapping edits would break the text.
    found.sort()
    kept, last = [], -1
    for span in found:
        if span[0] >= last:
            kept.append(span)
            last = span[1]
    return kept


def main():
    root, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    count = int(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    texts, everything = {}, []
    for name in sys.argv[4:]:
        path = pathlib.Path(name)
        texts[path] = path.read_text()
        everything += [(path, span) for span in candidates(path, texts[path])]
    count = min(count or len(everything), len(everything))
    chosen = {everything[i * len(everything) // count] for i in range(count)}
    table = []
    alike = {}
    edits = {path: [] for path in texts}
    for path, (begin, end, kind) in everything:
        text = texts[path]
        source = " ".join(text[begin:end].split())
        occurrence = alike[path, kind, source] = alike.get((path, kind, source), 0) + 1
        if (path, (begin, end, kind)) not in chosen:
            continue
        number = len(table) + 1
        line = text.count("\n", 0, begin) + 1
        table.append((number, path.relative_to(root), line, occurrence, kind, source))
        if kind == "statement":
            new = f"{{ if (!::perdure::mutant_skips({number})) {{ {text[begin:end]} }} }}"
        else:
            new = f"::perdure::mutant({number}, static_cast<bool>({text[begin:end]}))"
        edits[path].append((begin, end, new))
    canaries = 0
    for path, text in texts.items():
        for begin, end, new in reversed(edits[path]):
            text = text[:begin] + new + text[end:]
        if path.relative_to(root) == pathlib.Path(CANARY_FILE):
            text, canaries = CANARY_ANCHOR.subn(lambda m: CANARY + m.group(0), text)
        copy = '#include "base/mutant.h"\n#line 1 "%s"\n%s' % (path, text)
        (out / "__".join(path.relative_to(root).parts)).write_text(copy)
    if canaries != 1:
        sys.exit(f"mutate.py: the canary has lost its place in {CANARY_FILE}")
    with open(out / "mutants.inc", "w") as file:
        for number, name, line, occurrence, kind, source in table:
            escaped = source[:120].replace("\\", "\\\\").replace('"', '\\"')
            place = f'"{name}", {line}, {occurrence}'
            file.write(f'    {{{number}, {place}, "{kind}", "{escaped}"}},\n')


main()
