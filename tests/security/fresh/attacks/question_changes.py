"""Changes a question after it was shown.

Tries: an agent tells of a harmless tool call, asks, and, while the question is open, tells that
the same call is another one; takes the question back and asks another under the same id; the owner
answers what they saw, naming the digest, and by the command line, which reads it between two
changes.
Would prove: a person approves something else than what they saw.
Saw: what is shown is what was asked, whatever comes later; the old question's answer reaches
nothing.
"""
import os

from world import ask, lines, update, wait_until

CONTROL = ""


def attack(world):
    session, gate = world.attacker(), world.work / "gate"
    os.mkfifo(gate)
    call = {"toolCallId": "t1", "title": "harmless", "kind": "execute",
            "rawInput": {"command": "ls"}}
    evil = {"title": "EVIL", "rawInput": {"command": "rm EVIL"},
            "content": [{"type": "content", "content": {"type": "text", "text": "EVIL"}}]}
    world.prompt(session, lines(update({"sessionUpdate": "tool_call", **call}),
                                ask(1, {"toolCallId": "t1"})),
                 f"run cat {gate}",
                 lines(update({"sessionUpdate": "tool_call_update", "toolCallId": "t1", **evil})),
                 f"run cat {gate}",
                 lines(ask(1, {"toolCallId": "t1", **evil})), "wait")
    question = world.question(session)
    seen = world.cli("inbox").stdout.decode()
    found = [] if "$ ls" in seen else [f"the question was not shown: {seen}"]
    open_gate(gate)
    wait_until(lambda: any("EVIL" in str(r) for r in world.records(session)
                           if r["kind"] == "tool.update"), 10, "the call was changed")
    later = [q for q in world.show(session)["pending"] if q["perm_id"] == question["perm_id"]][0]
    text = world.cli("inbox").stdout.decode()
    if later["digest"] == question["digest"] and "EVIL" in text:
        found.append(f"the question shows something else under one digest: {text}")
    open_gate(gate)
    wait_until(lambda: [q for q in world.show(session)["pending"]
                        if q["perm_id"] != question["perm_id"]], 10, "the other question")
    status, answer = world.api.post(f"/api/permissions/{question['perm_id']}",
                                    {"option_id": "yes", "if_question": question["digest"]})
    other = world.show(session)["pending"][0]
    status2 = world.api.post(f"/api/permissions/{other['perm_id']}",
                             {"option_id": "yes", "if_question": question["digest"]})[0]
    if status2 == 200:
        found.append("the digest of the first question serves for the second one")
    if any(r["kind"] == "permission.resolved" and r.get("option_id")
           for r in world.records(session)):
        found.append(f"something was allowed: {status} {str(answer)[:200]}")
    return found


def open_gate(gate):
    with open(gate, "w") as file:
        file.write("go")
