"""Offers two answers with one id, so that a "no" is a "yes".

Tries: options [{z, "Allow", allow_once}, {z, "Reject", reject_once}]; the owner denies. Also a
rule.
Would prove: a person approves something else than what they saw, and the audit trail says so.
Saw (before the fix): `perdure deny` sent z; the entry read `question.answer ok allow_once`.
"""
from world import ask, lines, wait_until

CONTROL = ""
TWINS = [{"optionId": "z", "name": "Allow", "kind": "allow_once"},
         {"optionId": "z", "name": "Reject", "kind": "reject_once"}]


def attack(world):
    found = []
    session = world.attacker()
    world.prompt(session, lines(ask(7, {"toolCallId": "t", "title": "twins"}, TWINS),
                                ask(8, {"toolCallId": "u", "title": "plain"})), "wait", "wait")
    question = next((q for q in (world.question(session), *world.show(session)["pending"])
                     if q.get("title") == "twins"), None)
    if question is not None:
        world.cli("deny", question["perm_id"], "--yes", "--json")
        for entry in world.api.get("/api/audit?last=20")[1]["entries"]:
            if entry["what"] == "question.answer" and "allow" in entry["text"]:
                found.append(f"the owner denied, the audit trail says {entry['text']!r}")
    rule = {"title": "ruled", "option_kind": "allow_once"}
    world.api.post("/api/rules", rule)
    other = world.session(title="other")
    plain = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, TWINS[1]]
    world.prompt(other, lines(ask(9, {"toolCallId": "v", "title": "ruled"}, TWINS),
                              ask(10, {"toolCallId": "w", "title": "ruled"}, plain)),
                 "wait", "wait")
    wait_until(lambda: "yes" in chosen(world, other), 10, "the rule answers the plain question")
    if "z" in chosen(world, other):
        found.append("a rule answered a question with two answers of one id")
    return found


def chosen(world, session):
    return [record.get("option_id") for record in world.records(session)
            if record["kind"] == "permission.resolved"]
