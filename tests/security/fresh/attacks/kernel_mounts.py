"""Looks under the cover of the data folder with mounts of its own (kernel_mounts.c).

Tries: in a user and mount namespace of its own, and in another one below it, to unmount, move or
remount the cover; bind mounts and trees of the parent; overlays over it; file handles, also
guessed.
Would prove: the cover can be lifted, as overlays once could (CVE-2021-3732).
Saw: the kernel refuses all of it, since mounts of an outer namespace are locked.
"""
import shutil

from world import HERE, broken, compiled

CONTROL = "unconfined"
ORDINARY_ONLY = True


def missing():
    return "" if any(map(shutil.which, ("clang-19", "gcc", "cc"))) else "there is no C compiler"


def attack(world):
    program = world.work / "kernel_mounts"
    compiled(HERE / "kernel_mounts.c", program)
    return broken(world.inside(world.attacker(), [program], world.data, world.work))
