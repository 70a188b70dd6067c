"""Plays a process of another session.

Tries: the other session's marks in its environment, alone, in new pid, mount and user namespaces,
and below an agentctl that it starts itself for the other session's id.
Would prove: who a caller is hangs on something that the caller writes.
Saw: it is always taken for its own session.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from wire import Api

CONTROL = "reach_all"
EXECUTION = "exec_01m7s0bma11e9ydvemadvsftvg"


def attack(world):
    victim = world.session(title="victim", prompt="run true")
    world.ended(victim)
    output = world.inside(world.attacker(), __file__, world.socket, victim,
                          world.programs / "perdure-agentctl", world.work)
    log = world.work / "who"
    output += log.read_text() if log.exists() else ""
    if "asked as" not in output:
        raise RuntimeError(f"it asked nothing: {output}")
    return [line for line in output.splitlines() if line.startswith("asked as") and victim in line]


def ask(path, how, work):
    status, answer = Api(path).get("/api/sessions?archived=all")
    seen = [row["id"] for row in answer["sessions"]] if status == 200 else answer
    with open(f"{work}/who", "a") as log:
        log.write(f"asked as {how}: {status} {seen}\n")


def inside(path, victim, agentctl, work):
    owner = os.environ.get("PERDURE_SESSION_MARK", "@x").split("@")[1]
    marks = {"PERDURE_SESSION": victim, "PERDURE_SESSION_MARK": f"{victim}@{owner}",
             "PERDURE_EXEC": EXECUTION, "PERDURE_EXEC_MARK": f"{EXECUTION}@{owner}"}
    environment = {**os.environ, **marks}
    again = [sys.executable, "-B", __file__, "ask", path]
    ask(path, "itself", work)
    for how, before in (("marked", []),
                        ("in a pid namespace", ["unshare", "-Urpf", "--mount-proc"]),
                        ("in all namespaces", ["unshare", "-Urmpif", "--mount-proc"])):
        subprocess.run([*before, *again, how, work], env=environment)
    bootstrap = {"v": 1, "session_id": victim, "exec_id": EXECUTION, "gen": 1, "secret": "x" * 64,
                 "owner": owner, "run_folder": f"{work}/run", "spool_folder": f"{work}/spool",
                 "cwd": work, "orphan_ms": 1000,
                 "agent": {"command": [*again, "an agent of its own agentctl", work],
                           "environment": {"PATH": "/usr/bin:/bin"}}}
    done = subprocess.run([agentctl, "start"], input=json.dumps(bootstrap).encode(),
                          env=environment, stdout=subprocess.PIPE)
    print(done.stdout.decode()[:300])


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        ask(*sys.argv[2:])
    else:
        inside(*sys.argv[1:])
