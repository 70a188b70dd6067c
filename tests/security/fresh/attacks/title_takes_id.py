"""Gives its session another session's short id as a title, or any other name by which that is
known.

Tries: titles that equal another session's id, its short end, and its title.
Would prove: what the owner types for one session reaches another one, which an agent controls.
Saw (before the fix): the title won over the short id, which `perdure ls` prints, without a word.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from wire import Api

CONTROL = ""


def attack(world):
    victim = world.session(title="victim")
    session = world.attacker()
    found = []
    for name in (victim, victim[-8:], victim[-12:], victim[:20], "victim"):
        output = world.inside(session, __file__, world.socket, session, name)
        status, answer = world.api.get(f"/api/sessions/{name}")
        if status == 200 and answer["session"]["id"] == session:
            found.append(f"{name!r} means the attacker's session: {output.strip()}")
    return found


def inside(path, own, title):
    print(Api(path).call("PATCH", f"/api/sessions/{own}", {"title": title})[0])


if __name__ == "__main__":
    inside(*sys.argv[1:])
