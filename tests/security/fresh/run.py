#!/usr/bin/env python3
"""Attacks on the boundary, each against a daemon of its own. Prints TAP: `ok - fresh.NAME held`.

  tests/security/fresh/run.py [NAME…]            every attack, or these
  tests/security/fresh/run.py --control [NAME…]  against a weakened boundary: each must work
  --ordinary                                     as `nobody` if this is root
  --programs FOLDER                              where perdure is (build/dev)

An attack runs in a process of its own, which takes over the orphans of everything it starts, so
that nothing stays behind. As root those are left out that SECURITY.md promises to ordinary users
only. All of them take 70 to 100 s.
"""

import argparse
import concurrent.futures
import importlib.util
import os
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
SECONDS = 60
SIDE_BY_SIDE = 2
BROKE = 3

sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import world  # noqa: E402


def names():
    return sorted(path.stem for path in (HERE / "attacks").glob("*.py"))


def load(name):
    spec = importlib.util.spec_from_file_location(name, HERE / "attacks" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_one(name, programs, control):
    """In the attack's own process: prints what broke; 0 held, 3 broke, else neither."""
    attack = load(name)
    world.adopt_orphans()
    if hasattr(attack, "prepare"):
        attack.prepare()
    place = world.World(programs, attack.CONTROL if control else "",
                        getattr(attack, "SETTINGS", ""))
    try:
        place.start(**getattr(attack, "START", {}))
        found = attack.attack(place)
        if not place.alive() and not getattr(attack, "ENDS_THE_DAEMON", False):
            found.append("the daemon ended")
        for line in found:
            print(f"BROKE {line}")
        return BROKE if found else 0
    except Exception:
        traceback.print_exc(file=sys.stdout)
        return 2
    finally:
        place.close()


def applies(name, control):
    """A control run needs something to weaken; some promises are for ordinary users only."""
    attack = load(name)
    if control:
        return bool(attack.CONTROL)
    return os.getuid() != 0 or not getattr(attack, "ORDINARY_ONLY", False)


def judge(name, arguments):
    attack = load(name)
    reason = attack.missing() if hasattr(attack, "missing") else ""
    if reason:
        return True, f"ok - fresh.{name} # SKIP {reason}"
    started = time.monotonic()
    command = [sys.executable, "-B", __file__, "--one", name, "--programs", arguments.programs]
    process = subprocess.Popen(command + (["--control"] if arguments.control else []),
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        output = process.communicate(timeout=SECONDS)[0].decode(errors="replace")
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)
        output = process.communicate()[0].decode(errors="replace") + "it did not end in time\n"
    broke = process.returncode == BROKE
    good = broke if arguments.control else process.returncode == 0
    what = "works where nothing stops it" if arguments.control else "held"
    lines = [f"{'ok' if good else 'not ok'} - fresh.{name} {what}"
             f" # {time.monotonic() - started:.1f} s"]
    if not good or arguments.verbose:
        lines += [f"#   {line}" for line in output.rstrip().split("\n")]
    return good, "\n".join(lines)


def become_ordinary(arguments):
    """As root: goes on as nobody. Says why not where nobody may not enter these folders."""
    become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    for path in (__file__, os.path.join(arguments.programs, "perdure")):
        if subprocess.run([*become, "test", "-r", path]).returncode != 0:
            print("1..1")
            print(f"ok - fresh.ordinary_user # SKIP nobody may not read {os.path.basename(path)}")
            return 0
    rest = [argument for argument in sys.argv[1:] if argument != "--ordinary"]
    os.execvp(become[0], [*become, world.PYTHON, "-B", __file__, *rest])


def stop(*_):
    raise TimeoutError("it did not end in time")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--programs", default=str(ROOT / "build" / "dev"))
    parser.add_argument("--control", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--ordinary", action="store_true")
    parser.add_argument("--one")
    arguments = parser.parse_args()
    if arguments.one:
        signal.signal(signal.SIGTERM, stop)
        return run_one(arguments.one, arguments.programs, arguments.control)
    if arguments.ordinary and os.getuid() == 0:
        return become_ordinary(arguments)
    chosen = arguments.names or [n for n in names() if applies(n, arguments.control)]
    good = True
    print(f"1..{len(chosen)}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        for held, text in pool.map(lambda name: judge(name, arguments), chosen):
            print(text, flush=True)
            good = good and held
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
