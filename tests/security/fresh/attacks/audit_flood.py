"""Floods the audit trail, so that something is missing in it or the owner is refused.

Tries: six processes that are refused in many different ways for 4 s, with wrong tokens, while the
owner makes 25 tokens.
Would prove: what was done cannot be told afterwards, or the owner cannot act.
Saw: every token of the owner is in the trail; the flood took a handful of entries.
"""
import os
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from wire import Api

CONTROL = ""
OWN, ENTRIES_MAX = 25, 120
TARGETS = ["/api/tokens", "/api/rules", "/api/launch", "/api/login", "/api/gc", "/api/audit",
           "/api/permissions/perm_{0}", "/api/tokens/tok_{0}", "/api/sessions/x/redact",
           "/api/waits/wt_{0}/secret", "/api/agents/a{0}/probe", "/api/peer/submit"]


def attack(world):
    world.starts_inside(world.attacker(), __file__, world.socket)
    found, slowest = [], 0.0
    for n in range(OWN):
        started = time.monotonic()
        status, answer = world.api.post("/api/tokens", {"name": f"own{n}", "scopes": ["observe"]})
        slowest = max(slowest, time.monotonic() - started)
        if status != 201:
            found.append(f"the owner was refused: {status} {answer}")
        time.sleep(0.12)
    entries = world.api.get("/api/audit?limit=1000&after=0")[1]["entries"]
    texts = [entry["text"] for entry in entries if entry["what"] == "token.create"]
    found += [f"own{n} is not in the trail" for n in range(OWN)
              if not any(f'"own{n}"' in text for text in texts)]
    refused = [entry for entry in entries if entry["what"].endswith(".refuse")]
    if not refused:
        raise RuntimeError("nothing was refused")
    if len(entries) - OWN > ENTRIES_MAX:
        found.append(f"the flood took {len(entries) - OWN} entries")
    if slowest > 5:
        found.append(f"the owner waited {slowest:.1f} s")
    return found


def inside(path):
    for _ in range(5):
        if os.fork() == 0:
            break
    end, n = time.monotonic() + 4, 0
    while time.monotonic() < end:
        n += 1
        token = {"Authorization": f"Bearer perdure_{n:064x}"} if n % 3 == 0 else {}
        try:
            Api(path, timeout=2).call(random.choice(["GET", "POST", "DELETE"]),
                                      random.choice(TARGETS).format(n), {"token": str(n)}, token)
        except (OSError, ValueError):
            pass


if __name__ == "__main__":
    inside(sys.argv[1])
