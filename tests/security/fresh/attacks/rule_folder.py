"""Gets a question answered by a rule that was not made for it.

Tries: an allow rule for one command and one for edits in the workspace, and questions whose folder
is a symlink, whose settings Perdure does not know, whose paths lead out, through `.git`, a
symlink, or `..`, in each place where an agent may name a path; the command twice in one object.
Would prove: what a person allowed for one folder and command runs elsewhere, or with another
input.
Saw (before the fix): `"cwd": "link"` with link -> /etc, and `"sandbox": false`, were allowed.
"""
import json
import os

from world import ask, lines, wait_until

CONTROL = "by_hand"


def commands():
    """What a question may add to the command that is allowed; none of it may pass."""
    return [{"cwd": "link"}, {"cwd": "/etc"}, {"cwd": "../"}, {"workdir": "link"},
            {"env": {"A": "b"}},
            {"environment": ["A=b"]}, {"stdin": "x"}, {"shell": "/tmp/evil"}, {"Command": "rm"},
            {"script": "rm"}, {"sandbox": False}, {"dangerouslyDisableSandbox": True},
            {"with_escalated_permissions": True}, {"input": {"command": "rm"}}, {"cmd": "other"},
            {"args": ["; other"]}]


def paths(work):
    return [f"{work}/link/x", f"{work}/../x", f"{work}/.git/config", f"{work}/.git", "../x",
            f"{work}/sub/.git/hooks/x", f"{work}/\u00e9", f"{work}/a\u200b", f"file://{work}/x",
            f"{work}/none/../link/x", f"{work}x", "/proc/self/cwd/x", "~/x", "$HOME/x",
            f"{work}/x\n",
            f"{work}/.GIT/config"]


def attack(world):
    (world.work / "sub").mkdir()
    os.symlink("/etc", world.work / "link")
    calls = [{"kind": "execute", "rawInput": {"command": "zz a", **more}} for more in commands()]
    calls += [{"kind": "execute", "rawInput": {"command": words}}
              for words in (["zz a"], ["zz", "a", ";", "b"])]
    for path in paths(world.work):
        calls += [{"kind": "edit", "locations": [{"path": path}]},
                  {"kind": "edit", "rawInput": {"file_path": path}},
                  {"kind": "edit", "content": [{"type": "diff", "path": path, "newText": "x"}]},
                  {"kind": "edit", "locations": [{"path": str(world.work / "ok")}],
                   "rawInput": {"target": path}}]
    good = [{"kind": "execute", "rawInput": {"command": "zz a"}},
            {"kind": "edit", "locations": [{"path": str(world.work / "ok")}]}]
    if world.control == "by_hand":
        rules = [{"title": "x", "option_kind": "allow_once"}]
    else:
        rules = [{"effect": "allow", "tools": ["execute"], "argv": ["zz", "a"]},
                 {"effect": "allow", "tools": ["edit"], "path": "workspace"}]
    for rule in rules:
        if world.api.post("/api/rules", rule)[0] != 201:
            raise RuntimeError(f"no rule: {rule}")
    return judge(world, calls, good)


def judge(world, calls, good):
    """Asks all of it at once; those of `good` must be allowed, and none of `calls`."""
    session = world.attacker()
    asked = [ask(n, {"toolCallId": f"t{n}", "title": "x", **call}, options(n))
             for n, call in enumerate(calls + good)]
    twice = json.dumps({"command": "CMD"}).replace('"CMD"', '"rm", "command": "zz a"')
    asked.append(ask(9000, {"toolCallId": "twice", "title": "x", "kind": "execute",
                            "rawInput": "TWICE"}, options(9000)).replace('"TWICE"', twice))
    world.prompt(session, lines(*asked), "wait")
    def all_asked():
        records = world.records(session)
        answered = {str(r.get("option_id")) for r in records if r["kind"] == "permission.resolved"}
        wanted = {f"y{len(calls) + n}" for n in range(len(good))}
        return wanted <= answered and sum(
            r["kind"] == "permission.requested" for r in records) >= len(asked) - 1
    wait_until(all_asked, 60, "all is asked and the good ones are allowed")
    allowed = [str(r.get("option_id")) for r in world.records(session)
               if r["kind"] == "permission.resolved"]
    found = [f"allowed: {json.dumps(call)}" for n, call in enumerate(calls) if f"y{n}" in allowed]
    return found + (["allowed: a command that was given twice"] if "y9000" in allowed else [])


def options(number):
    return [{"optionId": f"y{number}", "name": "Yes", "kind": "allow_once"},
            {"optionId": f"n{number}", "name": "No", "kind": "reject_once"}]
