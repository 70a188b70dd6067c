"""Reaches for the daemon and for agentctl by the kernel (kernel_reach.c).

Tries: the pidfd of the daemon that SO_PEERPIDFD gives whoever connects, with pidfd_send_signal,
pidfd_getfd, setns, process_madvise; ptrace, process_vm_readv, kcmp and /proc/1/* of agentctl;
descriptors that were left open, also by a restart; the daemon's number.
Would prove: the agent acts on processes outside, or as them.
Saw: nothing of it works for an ordinary user.
"""
import shutil

from world import HERE, broken, compiled, wait_until

CONTROL = "unconfined"
ORDINARY_ONLY = True


def missing():
    return "" if any(map(shutil.which, ("clang-19", "gcc", "cc"))) else "there is no C compiler"


def attack(world):
    program = world.work / "kernel_reach"
    compiled(HERE / "kernel_reach.c", program)
    found = broken(world.inside(world.attacker(), [program], world.socket, world.daemon.pid))
    # Agents must not get what a restart hands from one program to the next either.
    boot = world.api.get("/api/daemon")[1]["boot_id"]
    wait_until(lambda: world.api.post("/api/restart")[0] == 202, 10, "a restart is taken")
    wait_until(lambda: world.ready() and world.api.get("/api/daemon")[1]["boot_id"] != boot, 20,
               "the daemon starts again")
    session = world.session(cwd=str(world.work), title="after")
    return found + broken(world.inside(session, [program], world.socket, world.daemon.pid))
