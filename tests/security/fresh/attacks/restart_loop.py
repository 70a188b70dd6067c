"""Asks for a restart of the daemon again and again.

Tries: POST /api/restart from inside, as often as it is taken, for 6 s.
Would prove: an agent keeps the daemon from serving its owner, whose streams are cut at each.
Saw (before the fix): a restart every 1.1 s; `perdure ls` of the owner failed now and then with 5.
"""
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from wire import Api

CONTROL = "outside"
ALLOWED = 2


def attack(world):
    session = world.attacker()
    boots, end = set(), time.monotonic() + 7
    holder = world.starts_inside(session, __file__, world.socket)
    while time.monotonic() < end:
        try:
            boots.add(world.api.get("/api/daemon")[1]["boot_id"])
        except (OSError, ValueError, KeyError, TypeError):
            pass
        time.sleep(0.05)
    if holder:
        holder.wait()
    return [f"{len(boots) - 1} restarts in 7 s"] if len(boots) - 1 > ALLOWED else []


def inside(path):
    end = time.monotonic() + 6
    while time.monotonic() < end:
        try:
            Api(path, timeout=3).post("/api/restart")
        except (OSError, ValueError):
            pass
        time.sleep(0.05)


if __name__ == "__main__":
    inside(sys.argv[1])
