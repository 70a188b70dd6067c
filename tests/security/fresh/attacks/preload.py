"""Has its library, its programs and its settings loaded by what the daemon starts for a session.

Tries: a session with `env` LD_PRELOAD, PATH, HOME, GIT_*, BASH_ENV, PYTHONSTARTUP, and names that
begin with PERDURE_; a worktree, git calls and a shell in it.
Would prove: something that still sees the data folder (agentctl before it hides it, git of the
worktree) runs the agent's code.
Saw: everything that loaded it was inside already; PERDURE_ names are refused.
"""
import os
import shutil
import subprocess

from world import HERE, compiled

CONTROL = "unconfined"


def missing():
    return "" if any(map(shutil.which, ("clang-19", "gcc", "cc"))) else "there is no C compiler"


def attack(world):
    library, log = world.work / "preload.so", world.work / "log"
    compiled(HERE / "preload.c", library, "-shared", "-fPIC")
    subprocess.run("git init -q; git config user.email a@b; git config user.name a; "
                   "git add config.c; git commit -q --allow-empty -m x", shell=True,
                   cwd=world.work, env=world.environment, stderr=subprocess.DEVNULL)
    programs = world.work / "programs"
    programs.mkdir()
    for name in ("git", "sh", "bash", "perdure-agentctl", "perdure"):
        (programs / name).write_text(f"#!/bin/dash\nexec /usr/bin/{name} \"$@\"\n")
        (programs / name).chmod(0o755)
    bad = {"LD_PRELOAD": str(library), "FRESH_LOG": str(log), "FRESH_TOKEN": str(world.token_file),
           "PATH": f"{programs}:/usr/bin:/bin", "HOME": str(world.work), "GIT_EXEC_PATH": "",
           "BASH_ENV": "/dev/null", "LD_LIBRARY_PATH": str(world.work)}
    bad.pop("GIT_EXEC_PATH")
    session = world.attacker(worktree={"branch": "b"}, env=bad, prompt="run true")
    world.ended(session)
    for call in ("status", "diff", "log", "worktrees"):
        world.api.get(f"/api/sessions/{session}/git/{call}")
    world.shell(session, ["/bin/true"])
    told = log.read_text().splitlines() if log.exists() else []
    if not told:
        raise RuntimeError("the library was loaded nowhere")
    found = sorted({line[5:] + " sees the token" for line in told if line.startswith("SEES")})
    for name in ("PERDURE_HOME", "PERDURE_SESSION_MARK", "PERDURE_CONFIG"):
        if world.api.post("/api/sessions", {"env": {name: "/tmp"}})[0] == 201:
            found.append(f"{name} may be set for an agent")
    return found + [f"{name} ran" for name in ("pwned",) if os.path.exists(world.work / name)]
