"""Looks for a command that a rule allows and some shell reads otherwise.

Tries: an allow rule for `zz a`, and 1,200 commands drawn from quotes, variables, globs, braces,
substitutions, here-documents, aliases, line ends, look-alikes and control characters. Each that is
allowed is run by five shells, with a program `zz` that writes down its words.
Would prove: "one simple command with exactly these words" is not what runs.
Saw: every allowed command ran once, with the same words, in each shell (7,200 tried by hand).
"""
import os
import random
import subprocess

from world import ask, lines, wait_until

CONTROL = "by_hand"
COMMANDS, AT_ONCE = 1200, 200
PIECES = ["zz", "a", "zz a", " ", " ", "\t", "\n", "\r", "'", '"', "\\", "$", "$IFS", "${IFS}", "`",
          "$(id)", ";", "&", "|", "<", ">", "(", ")", "{", "}", "{a,b}", "[a]", "*", "?", "~",
          "~/x", "#", " #", "!", "!!", "^", "%", "=", "--", "-x", "A=b ", "env ", "then", "time ",
          "\x0b", "\x0c", "\x00", "\x1b", "\x7f", "\u00e9", "\u00a0", "\u2028", "\u200b",
          "\ufeff", "&&", "||", ">>x", "<<E", "<<<x", "2>&1", "$'a'", '$"a"', "@(a)", "+(a)",
          "a[0]", "=ls", "..", "a{1..3}", "b", "\\\n", "%1", "[[", "]]", "~+", "a=~", "x:~", "a,b",
          "--f=~/x", "\U0001d68a"]
SHELLS = [["bash", "-c"], ["dash", "-c"], ["bash", "--posix", "-c"],
          ["bash", "-O", "extglob", "-O", "nullglob", "-c"], ["bash", "-ic"]]
PROGRAM = ("#!/usr/bin/python3\nimport os, sys\n"
           "open(os.environ['OUT'], 'a').write(repr(sys.argv[1:]) + '\\n')\n")


def drawn():
    """The same commands in each run."""
    draw, found = random.Random(7), set()
    while len(found) < COMMANDS:
        text = "zz a " if draw.random() < 0.9 else "zz a"
        text += "".join(draw.choice(PIECES) for _ in range(draw.randint(0, 2)))
        if draw.random() < 0.15:
            at = draw.randrange(len(text) + 1)
            text = text[:at] + draw.choice(PIECES) + text[at:]
        found.add(text)
    return sorted(found)


def attack(world):
    commands = drawn()
    if world.control == "by_hand":
        allowed = [text for text in commands if text.startswith("zz a ")]
        random.Random(7).shuffle(allowed)
        allowed = allowed[:40]
    else:
        rule = {"effect": "allow", "tools": ["execute"], "argv": ["zz", "a"]}
        if world.api.post("/api/rules", rule)[0] != 201:
            raise RuntimeError("no rule")
        allowed = [text for at in range(0, len(commands), AT_ONCE)
                   for text in by_rule(world, commands[at:at + AT_ONCE])]
        if len(allowed) < 20:
            raise RuntimeError(f"only {len(allowed)} were allowed: this shows nothing")
    programs = world.root / "programs"
    programs.mkdir()
    (programs / "zz").write_text(PROGRAM)
    (programs / "zz").chmod(0o755)
    for name in ("a", "b", "ab"):
        (world.work / name).touch()
    return [text for command in allowed for text in differs(world, command)]


def by_rule(world, commands):
    """Those that the rule answers, asked all at once."""
    session = world.attacker()
    world.prompt(session, lines(*(
        ask(n, {"toolCallId": f"t{n}", "title": "x", "kind": "execute",
                "rawInput": {"command": command}},
            [{"optionId": f"y{n}", "name": "Y", "kind": "allow_once"},
             {"optionId": f"n{n}", "name": "N", "kind": "reject_once"}])
        for n, command in enumerate(commands)),
        ask(9999, {"toolCallId": "last", "title": "last", "kind": "execute",
                   "rawInput": {"command": "zz a"}},
            [{"optionId": "ylast", "name": "Y", "kind": "allow_once"},
             {"optionId": "nlast", "name": "N", "kind": "reject_once"}])),
        *["wait"] * (len(commands) + 1))
    def chosen():
        records = world.records(session)
        options = {r.get("option_id") for r in records if r["kind"] == "permission.resolved"}
        asked = sum(r["kind"] == "permission.requested" for r in records)
        return options if "ylast" in options and asked >= len(commands) else None
    options = wait_until(chosen, 20, "all are asked")
    world.api.call("DELETE", f"/api/sessions/{session}?confirm=true&force=true")
    return [command for n, command in enumerate(commands) if f"y{n}" in options]


def differs(world, command):
    """How the shells disagree about it, or that it was not one call that begins with `a`."""
    out, told = world.root / "out", {}
    for shell in SHELLS:
        out.write_text("")
        try:
            subprocess.run([*shell, command], cwd=world.work, timeout=10, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           start_new_session=True,
                           env={"PATH": f"{world.root}/programs:/usr/bin:/bin", "OUT": str(out),
                                "HOME": str(world.home)})
            told[" ".join(shell)] = out.read_text()
        except (ValueError, subprocess.TimeoutExpired) as error:
            told[" ".join(shell)] = repr(error)
    words = set(told.values())
    made = set(os.listdir(world.work)) - {"a", "b", "ab"}
    one = len(words) == 1 and list(words)[0].startswith("['a'") and list(words)[0].count("\n") == 1
    return [] if one and not made else [f"{command!r}: {told}, made {made}"]
