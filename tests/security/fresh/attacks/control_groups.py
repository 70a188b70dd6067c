"""Uses control groups that belong to the user, as they do under systemd with Delegate=yes.

Tries: as root the runner makes such a group and goes on in it as `nobody`. Inside a session it
opens for writing what joins a group, kills or freezes it, and sets its limits; also in mounts of
its own, which a user namespace with a cgroup namespace may make.
Would prove: an agent leaves its limits, changes those of other sessions, and ends or freezes the
daemon.
Saw (before the fix): every one could be opened, and `cgroup.kill` ended the daemon and all
sessions.
"""
import ctypes
import os
import subprocess
import sys
from pathlib import Path

CONTROL = "outside"
NOBODY = 65534
PYTHON = "/usr/bin/python3"  # root's own may be unreachable for the user nobody
CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUSER = 0x20000, 0x2000000, 0x10000000
FILES = {"cgroup.procs", "tasks", "cgroup.kill", "cgroup.freeze", "freezer.state", "pids.max",
         "memory.max", "memory.limit_in_bytes", "cgroup.threads", "cgroup.subtree_control"}


def trees():
    """Mounted control groups that we may change."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    return [Path(fields[1]) for fields in mounts if fields[2] in ("cgroup", "cgroup2")
            and os.access(f"{fields[1]}/cgroup.procs", os.W_OK)]


def missing():
    if os.getuid() != 0:
        return "" if writable("/sys/fs/cgroup") else "no control group is delegated to this user"
    if not trees():
        return "no control group can be made here"
    may = subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                          "test", "-r", __file__]).returncode == 0
    return "" if may else "nobody may not read this folder"


def prepare():
    """As root: a group that belongs to nobody, as whom a child goes on in it."""
    if os.getuid() != 0:
        return
    made = [tree / f"fresh_{os.getpid()}" for tree in trees()]
    for folder in made:
        folder.mkdir()
        for path in (folder, *folder.iterdir()):
            os.chown(path, NOBODY, NOBODY)
    child = os.fork()
    if child == 0:
        for folder in made:
            try:
                (folder / "cgroup.procs").write_text(str(os.getpid()))
            except OSError as error:
                print(folder, error)  # cpuset: a group without CPUs accepts no process
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        os.execv(PYTHON, [PYTHON, "-B", *sys.argv])
    status = os.waitpid(child, 0)[1]
    for folder in made:
        folder.rmdir()
    sys.stdout.flush()
    os._exit(os.waitstatus_to_exitcode(status))


def writable(folder):
    found = []
    for place, _, names in os.walk(folder):
        for name in FILES.intersection(names):
            try:
                os.close(os.open(f"{place}/{name}", os.O_WRONLY))
                found.append(f"{place}/{name}")
            except OSError:
                pass
    return found


def attack(world):
    from world import broken
    return broken(world.inside(world.attacker(), __file__))


def mounted_anew():
    """The same files in mounts of its own: a cgroup namespace begins where its maker is."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWCGROUP) != 0:
        return []
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"),
                       ("gid_map", f"0 {group} 1")):
        Path(f"/proc/self/{name}").write_text(text)
    found = []
    for kind, options in ((b"cgroup2", None), (b"cgroup", b"pids"), (b"cgroup", b"memory"),
                          (b"cgroup", b"freezer"), (b"cgroup", b"none,name=systemd")):
        at = f"{os.getcwd()}/{kind.decode()}_{(options or b'').decode()}"
        os.makedirs(at, exist_ok=True)
        if libc.mount(b"none", at.encode(), kind, 0, options) == 0:
            found += writable(at)
        else:
            print(f"BLUNT {at}: {os.strerror(ctypes.get_errno())}")
    return found


if __name__ == "__main__":
    for path in (*writable("/sys/fs/cgroup"), *mounted_anew()):
        print("BROKE", path, "can be written")
