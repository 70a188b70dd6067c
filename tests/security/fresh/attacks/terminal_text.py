"""Writes to the owner's terminal through what the command line shows.

Tries: escape sequences, control characters of both kinds, direction marks, hidden and tag
characters in titles, messages, questions, options, paths, diffs and input; then every verb that
shows them, on a terminal and in a pipe, and the completion of names with command substitutions in
bash.
Would prove: an agent changes what the person sees, or runs a command when they press Tab.
Saw: each is shown by its code; `transcript --markdown` in a pipe is a document and has them as
they are.
"""
import re
import subprocess

from world import ask, lines, update

CONTROL = "by_hand"
EVIL = "\x1b]0;T\x07\x1b[2J\x9b2J\x85\0\x7f\b\b\u202e\u200b\u2066\U000e0041"
BAD = re.compile(rb"\x1b\][^\n]|\x1b\[2J|[\x00-\x06\x0b\x0e-\x1a\x7f]|\xc2[\x80-\x9f]"
                 rb"|\xe2\x80\xae|\xe2\x80\x8b|\xe2\x81\xa6|\xf3\xa0\x81\x81")
# Sequences that the command line itself sends: colours, the cursor, the screen of `attach`.
OURS = re.compile(rb"\x1b\[[0-9;?]*[ABCDGHJKhlmnsu]")
VERBS = ["show", "why", "transcript", "history", "logs", "events"]


def attack(world):
    titles = ["$(touch pwned1)", "`touch pwned2`", "$(touch${IFS}pwned3)", "<(touch pwned4)", "a;b"]
    for title in titles:
        world.session(title=title)
    session = world.session(cwd=str(world.work), title="m" + EVIL)
    options = [{"optionId": "y", "name": "Yes" + EVIL, "kind": "allow_once"},
               {"optionId": "n", "name": "No", "kind": "reject_once"}]
    world.prompt(session, lines(
        update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text",
                                                                    "text": "M" + EVIL}}),
        ask(7, {"toolCallId": "t" + EVIL, "title": "ls" + EVIL, "kind": "execute",
                "rawInput": {"command": "ls" + EVIL, "k" + EVIL: "v" + EVIL},
                "locations": [{"path": "/x" + EVIL}],
                "content": [{"type": "diff", "path": "/d" + EVIL, "oldText": "a" + EVIL,
                             "newText": "b" + EVIL}]}, options)), "wait")
    world.question(session)
    shown = {}
    if world.control == "by_hand":
        shown["document"] = world.cli("transcript", session, "--markdown").stdout
    for verb in () if world.control else (["ls"], ["inbox"], ["audit"], ["search", "M"],
                                          *([verb, session] for verb in VERBS)):
        answer = world.cli(*verb)
        shown["pipe " + verb[0]] = answer.stdout + answer.stderr
    if not world.control:
        for verb, keys in (("attach", [b"\x1d"]), ("approve", [b"\n", b"n\n"]), ("inbox", [])):
            arguments = [verb] if verb == "inbox" else [verb, session]
            shown["terminal " + verb] = OURS.sub(b"", world.on_terminal(*arguments, keys=keys,
                                                                        seconds=4))
    found = [f"{where}: {set(BAD.findall(text))}" for where,
             text in shown.items() if BAD.search(text)]
    return found + completion(world)


def completion(world):
    script = ("source <(perdure completion bash); for v in attach send approve show; do "
              "COMP_WORDS=(perdure $v ''); COMP_CWORD=2; _perdure; done")
    subprocess.run(["bash", "-c", script], cwd=world.work, env=world.environment,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [f"the completion ran a command: {path.name}" for path in world.work.glob("pwned*")]
