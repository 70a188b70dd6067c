"""Names branches that git takes for options.

Tries: a session in a worktree whose branch is `-D`, `-f`, `--edit-description`, with a branch that
is called HEAD, so that the argument behind it exists; the same by `git.worktree_add` and for
commits.
Would prove: who may make a session may give git any option.
Saw (before the fix): `"branch": "-D"` deleted the branch HEAD.
"""
import subprocess

CONTROL = ""
BRANCHES = ["-D", "-d", "-f", "-m", "--edit-description", "--list", "--unset-upstream"]
COMMITS = ["show?commit=--output={0}", "log?from=--output={0}", "diff?of=since&commit=--output={0}"]


def git(world, text):
    return subprocess.run(["sh", "-c", text], cwd=world.work, env=world.environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode()


def attack(world):
    found = []
    git(world, "git init -q; git config user.email a@b; git config user.name a; echo 1 > f; "
               "git add f; git commit -qm x; git branch other; "
               "git update-ref refs/heads/HEAD HEAD; "
               f"git config core.editor 'touch {world.root}/ran'")
    before = git(world, "git for-each-ref --format='%(refname)'")
    session = world.attacker()
    for branch in BRANCHES:
        status, answer = world.api.post("/api/sessions", {
            "agent": "puppet", "cwd": str(world.work), "worktree": {"branch": branch}})
        message = str(answer.get("error", {}).get("message", ""))
        if status == 201 or "usage:" in message or "option" in message:
            found.append(f"{branch} as a branch: {status} {message[:100]}")
        world.api.post(f"/api/sessions/{session}/git/worktree_add",
                       {"path": "tree", "branch": branch, "base": "HEAD"})
        after = git(world, "git for-each-ref --format='%(refname)'")
        if after != before:
            found.append(f"{branch}: {before.split()} became {after.split()}")
            before = after
    for query in COMMITS:
        world.api.get(f"/api/sessions/{session}/git/" + query.format(world.root / "written"))
    found += [f"{name} was made" for name in ("ran", "written") if (world.root / name).exists()]
    return found
