"""Takes the daemon's socket away and sits in its place.

Tries: in `<data>/run`, from inside a session, to rename, remove or cover `perdure.sock`, to make a
file there, and to look at the folders of container sessions beside it.
Would prove: an agent can lock the owner's command line out, and play the daemon to it.
Saw (before the fix): all of it worked; `run` was a writable bind mount of the real folder.
"""
import os
import socket
import sys
from pathlib import Path

CONTROL = "outside"


def attack(world):
    from world import broken
    (Path(world.socket).parent / "containers" / "exec_secret").mkdir(parents=True)
    return broken(world.inside(world.attacker(), __file__, Path(world.socket).parent))


def inside(folder):
    real = f"{folder}/perdure.sock"
    try:
        open(f"{folder}/made", "w").close()
        os.unlink(f"{folder}/made")
        print("BROKE a file could be made beside the socket")
    except OSError as error:
        print("a file:", error)
    try:
        if os.listdir(f"{folder}/containers"):
            print("BROKE the folders of container sessions can be read")
    except OSError as error:
        print("containers:", error)
    try:
        os.rename(real, f"{folder}/moved.sock")
        print("BROKE the socket could be renamed")
    except OSError as error:
        print("rename:", error)
        return
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(real)
    print("BROKE another socket could be put in its place")
    os.rename(f"{folder}/moved.sock", real)  # so that the test itself can still connect


if __name__ == "__main__":
    inside(sys.argv[1])
