"""Leads the removal of its workspace out of it.

Tries: the owner deletes a session whose workspace has symlinks to the data folder, to another
session's workspace and to the home, while a child session in the same folder swaps folders for such
symlinks as fast as it can; then `gc`.
Would prove: the daemon, which sees everything, removes files for an agent.
Saw: only the workspace's own files went.
"""
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from wire import Api

CONTROL = ""
FILES = 30


def attack(world):
    victim, parent = world.session(title="victim"), world.session(title="parent")
    folder = world.show(parent)["cwd"]
    targets = [Path(world.show(victim)["cwd"]), world.data / "env", world.home]
    for target in targets:
        (target / "precious").mkdir()
        for n in range(FILES):
            (target / "precious" / f"f{n}").touch()
    print(world.inside(parent, __file__, "child", world.socket, folder, *targets))
    time.sleep(0.7)
    world.api.call("DELETE", f"/api/sessions/{parent}?confirm=true&force=true")
    world.api.post("/api/gc", {"dry_run": False})
    time.sleep(0.3)
    return [f"files of {target} are gone" for target in targets
            if not (target / "precious").is_dir() or len(os.listdir(target / "precious")) != FILES]


def child(path, folder, *targets):
    program = " ".join([sys.executable, "-B", __file__, "swap", folder, *targets])
    print(Api(path).post("/api/sessions", {"agent": "puppet", "cwd": folder,
                                           "prompt": f"run {program}"})[0])


def swap(folder, *targets):
    import ctypes
    libc = ctypes.CDLL(None)
    for n in range(60):
        os.makedirs(f"{folder}/d{n}/precious", exist_ok=True)
        for m in range(10):
            open(f"{folder}/d{n}/precious/f{m}", "w").close()
    links = []
    for n, target in enumerate(targets):
        links.append(f"{folder}/link{n}".encode())
        os.symlink(target, links[-1])
    end = time.monotonic() + 10
    while time.monotonic() < end:
        for n in range(60):
            for link in links:
                for _ in range(2):
                    libc.renameat2(-100, f"{folder}/d{n}".encode(), -100, link, 2)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
