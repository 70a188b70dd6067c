"""Sends requests from inside that nobody would send.

Tries: for 8 s every route of /openapi.json, drawn at random, with parameters and bodies of other
types, sizes and ends of their ranges.
Would prove: a request ends the daemon, or is answered with 500.
Saw: 35,000 requests by hand; nothing ended, no 500.
"""
import json
import random
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from wire import Api

CONTROL = ""
SECONDS = 8
WORDS = ["0", "-1", "1", "18446744073709551615", "18446744073709551616", "9223372036854775807",
         "-9223372036854775808", "4294967296", "1e5", "NaN", "", "%00", "0x10", "%F0%9F%92%A9",
         "a" * 3000, "../../token", "%2e%2e%2f", "true", "null", "[]"]
VALUES = [None, True, 0, -1, 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, -2**63, 1.5, 1e308, "", "x",
          "\0", "\ud800", "a" * 9000, [], {}, ["x"], [0], {"a": 1}, [[[[]]]], "/", "/etc", "..",
          ".git", "HEAD", "--x"]
NAMES = ("after before last limit kind run log_id tail around at seq buckets q cursor status path "
         "offset bytes as max of commit from skip paths name content regex shell untracked since "
         "until force").split()
MEMBERS = ("text content when title cwd worktree prompt env limits resume inject survive "
           "wait_ms mcp_servers task_id how strict with wait declare_dead at branch share_cwd "
           "seq seqs mode path base64 expected parents recursive from to replace paths message "
           "amend base command columns rows shell environment option_id cancel secret answer "
           "argv").split()
# Requests that wait, end the test, or belong to another attack.
NOT = ("restart", "/stream", "/lend", "/archive", "/stop", "/probe", "/ws", "/acp", "/shell")


def attack(world):
    from world import broken
    session = world.attacker(prompt="run true")
    world.ended(session)
    output = world.inside(session, __file__, world.socket, session, seconds=SECONDS + 20)
    if "requests" not in output:
        raise RuntimeError(output[-2000:])
    return broken(output)


def inside(path, own):
    draw, api, count = random.Random(5), Api(path, timeout=5), 0
    paths = api.get("/openapi.json")[1]["paths"].items()
    routes = [(method.upper(), target) for target, methods in paths for method in methods
              if not target.endswith(NOT)]
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        method, target = draw.choice(routes)
        target = target.replace("{id}", own if draw.random() < 0.85 else draw.choice(WORDS))
        target = re.sub(r"\{\w+\}", lambda _: draw.choice(["x", "0" * 64, "..%2f", "demo"]), target)
        query = "&".join(f"{draw.choice(NAMES)}={draw.choice(WORDS)}"
                         for _ in range(draw.randint(0, 4)))
        body = None if method == "GET" else {draw.choice(MEMBERS): draw.choice(VALUES)
                                             for _ in range(draw.randint(0, 4))}
        try:
            status, answer = api.call(method, f"{target}?{query}" if query else target, body)
            count += 1
            if status in (500, 501, 502):
                print(f"BROKE {method} {target}?{query} {json.dumps(body)[:200]}: "
                      f"{str(answer)[:200]}")
        except OSError as error:
            print("no answer:", method, target, error)
    print(count, "requests")


if __name__ == "__main__":
    inside(*sys.argv[1:])
