"""Takes all live agents that the daemon allows, so that the owner can start none.

Tries: sessions with a prompt from inside until no more start (the daemon allows eight); then the
owner runs one; then the owner deletes the attacker's session, and looks what goes on.
Would prove: an agent locks the owner out of new work, and lives on in sessions that it made.
Saw (before the fix): the owner got limit_reached; the children lived on.
"""
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from wire import Api

CONTROL = "outside"
SETTINGS = "[limits]\nlive_agents = 8\n"


def attack(world):
    session = world.attacker()
    world.inside(session, __file__, world.socket)
    time.sleep(1)
    mine = world.session(title="owner's", prompt="run echo fine")
    state = world.ended(mine)
    return [f"the owner's session: {state['error_code']}"] if state["error_code"] else []


def inside(path):
    for n in range(12):
        print(Api(path).post("/api/sessions", {"agent": "puppet", "prompt": "run sleep 30"})[0])


if __name__ == "__main__":
    inside(sys.argv[1])
