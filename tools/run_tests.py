#!/usr/bin/env python3
"""Builds and runs the tests of tools/test_plan.py; the last line is `N passed, N failed`.

In CI (CI=true) a skipped case fails unless tools/skips_allowed.txt names it. Elsewhere a full run
also explores fresh seeds of the simulator, of property tests and of the fuzzers (--explore
MINUTES), and prints them, so that a failure can be repeated.

Counted are the single cases of GoogleTest executables, the lines of TAP commands, and every other
command as one. A case that crashed, timed out or never ran is a failure; a skipped one is neither,
and is named.
"""

import argparse
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import requirements
import test_plan
from test_plan import Check

ROOT = Path(__file__).resolve().parent.parent
LONG = re.compile(r"Long(/\w+)*\.")  # a suite whose name ends in Long
OUTPUT_LINES_SHOWN = 200


@dataclass
class Case:
    name: str
    outcome: str              # passed, failed, skipped
    seconds: float = 0.0
    detail: str = ""


@dataclass
class Job:
    name: str
    command: list[str]
    timeout_s: int
    check: Check | None = None           # a plain command
    cases: list[str] = field(default_factory=list)  # GoogleTest cases to run
    label: str = ""                      # put before the names of cases, e.g. "asan:"


@dataclass
class Finished:
    code: int | None          # None: it was stopped at its timeout
    output: str
    seconds: float


say_lock = threading.Lock()


def say(text):
    """One line at a time, whoever speaks."""
    with say_lock:
        print(text, flush=True)


def run_command(command, timeout_s, env=None):
    """Runs a command in a process group of its own, so that a timeout ends its children too."""
    started = time.monotonic()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.STDOUT, start_new_session=True,
                                   env={**os.environ, **(env or {})})
        try:
            code = process.wait(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            code = None
        except BaseException:
            end_group(process)
            raise
        end_group(process)
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    return Finished(code, text, time.monotonic() - started)


def end_group(process):
    """Ends what is left of the command's own process group, which start_new_session made."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def tail(text):
    lines = text.rstrip().split("\n")
    if len(lines) <= OUTPUT_LINES_SHOWN:
        return "\n".join(lines)
    return f"… {len(lines) - OUTPUT_LINES_SHOWN} lines above\n" + "\n".join(
        lines[-OUTPUT_LINES_SHOWN:])


# --- building -----------------------------------------------------------------------------------


def configure(preset):
    if (ROOT / "build" / preset / "build.ninja").exists():
        return None  # ninja configures again by itself when a CMake file changed
    done = run_command(["cmake", "--preset", preset], 300)
    return None if done.code == 0 else done.output


def build(preset, targets):
    """Builds the targets of a preset; gives the failure's text, or None."""
    started = time.monotonic()
    say(f"build {preset}: started")
    problem = configure(preset)
    if problem is None:
        # Through cmake, not ninja alone: the preset's environment makes ccache work across clones.
        wanted = ["--target", *targets] if targets else []
        jobs = ["-j", str(os.cpu_count() or 2)]
        done = run_command(["cmake", "--build", "--preset", preset, *jobs, *wanted], 3600)
        problem = None if done.code == 0 else done.output
    seconds = time.monotonic() - started
    say(f"build {preset}: {'done' if problem is None else 'FAILED'} in {seconds:.1f} s")
    return problem


def declared_tests(preset):
    """The test executables that CMake knows, by name; never a leftover file of an old build."""
    done = run_command(["ctest", "--test-dir", f"build/{preset}", "--show-only=json-v1"], 60)
    if done.code != 0:
        raise RuntimeError(f"ctest: {done.output}")
    tests = json.loads(done.output[done.output.index("{"):]).get("tests", [])
    # ctest leaves the command out while the executable is not built.
    return {test["name"]: test.get("command", [None])[0] for test in tests}


def declared_targets(preset):
    done = run_command(["ninja", "-C", f"build/{preset}", "-t", "targets", "all"], 60)
    return {line.split(":")[0] for line in done.output.split("\n") if ":" in line}


# --- GoogleTest ---------------------------------------------------------------------------------


def list_cases(executable):
    done = run_command([executable, "--gtest_list_tests"], 60)
    if done.code != 0:
        raise RuntimeError(f"{executable} --gtest_list_tests failed:\n{done.output}")
    cases, suite = [], ""
    for line in done.output.split("\n"):
        text = line.split("  #")[0].rstrip()
        if not text or text.startswith("Running main()"):
            continue
        if not line.startswith(" "):
            suite = text
        elif "DISABLED_" not in suite + text:
            cases.append(suite + text.strip())
    return cases


def run_gtest(job):
    with tempfile.TemporaryDirectory() as folder:
        # Tests that start something as another user (a database server) keep its files in here.
        os.chmod(folder, 0o711)
        flags = Path(folder) / "flags"
        flags.write_text("--gtest_filter=" + ":".join(job.cases) + "\n")
        report = Path(folder) / "report.json"
        done = run_command(
            [*job.command, f"--gtest_flagfile={flags}", f"--gtest_output=json:{report}",
             "--gtest_color=no"], job.timeout_s, {"TMPDIR": folder})
        if report.exists() and done.code in (0, 1):
            cases = cases_of_report(job, json.loads(report.read_text()), done)
        else:
            cases = cases_of_broken_run(job, done)
    return cases


def case_name(job, gtest_name):
    return f"{job.label}{job.name}.{gtest_name}"


def cases_of_report(job, report, done):
    cases, seen = [], set()
    for suite in report.get("testsuites", []):
        for test in suite.get("testsuite", []):
            full = f"{suite['name']}.{test['name']}"
            if test.get("status") == "NOTRUN":
                continue
            seen.add(full)
            seconds = float(test.get("time", "0s").rstrip("s"))
            detail = "\n".join(f.get("failure", "") for f in test.get("failures", []))
            outcome = "failed" if test.get("failures") else "passed"
            if test.get("result") == "SKIPPED":
                outcome = "skipped"
            if outcome != "passed":
                detail = detail or output_of_case(done.output, full)
            cases.append(Case(case_name(job, full), outcome, seconds, detail))
    for missing in set(job.cases) - seen:
        cases.append(Case(case_name(job, missing), "failed", 0, "it is missing from the report"))
    if done.code != 0 and all(case.outcome != "failed" for case in cases):
        # A leak found at exit, for one: every case passed, the process did not.
        cases.append(Case(case_name(job, "exit"), "failed", 0, tail(done.output)))
    return cases


def output_of_case(output, full):
    start = output.find(f"[ RUN      ] {full}")
    return tail(output[start:start + 20000].split("\n[ RUN      ]")[0]) if start >= 0 else ""


def cases_of_broken_run(job, done):
    """The process died or was stopped: what had passed has, all else has failed."""
    passed = set(re.findall(r"^\[       OK \] (\S+)", done.output, re.M))
    skipped = set(re.findall(r"^\[  SKIPPED \] (\S+)", done.output, re.M))
    begun = set(re.findall(r"^\[ RUN      \] (\S+)", done.output, re.M))
    how = f"stopped after {job.timeout_s} s" if done.code is None else f"exit code {done.code}"
    cases, told = [], False
    for name in job.cases:
        if name in passed or name in skipped:
            cases.append(Case(case_name(job, name), "passed" if name in passed else "skipped"))
        elif name in begun:
            cases.append(Case(case_name(job, name), "failed", done.seconds,
                              f"{how}\n{output_of_case(done.output, name)}"))
            told = True
        else:
            cases.append(Case(case_name(job, name), "failed", 0, f"never ran: {how}"))
    if not told:
        cases.append(Case(case_name(job, "exit"), "failed", 0, f"{how}\n{tail(done.output)}"))
    return cases


# --- other commands -----------------------------------------------------------------------------


def run_check(job):
    check = job.check
    done = run_command(job.command, job.timeout_s)
    if check.tap:
        return cases_of_tap(check, done)
    if done.code == 0 and (skipped := re.search(r"^# SKIP (.+)$", done.output, re.M)):
        return [Case(check.name, "skipped", done.seconds, skipped[1])]
    problem = ""
    if done.code is None:
        problem = f"stopped after {job.timeout_s} s"
    elif done.code != check.exit_code:
        problem = f"exit code {done.code}, expected {check.exit_code}"
    elif check.output and not re.search(check.output, done.output, re.M):
        problem = f"the output does not match /{check.output}/"
    detail = f"$ {' '.join(job.command)}\n{tail(done.output)}\n{problem}" if problem else ""
    return [Case(check.name, "failed" if problem else "passed", done.seconds, detail)]


def cases_of_tap(check, done):
    cases, lines = [], []
    for line in done.output.split("\n"):
        match = re.match(r"(ok|not ok) - (\S+)(?: # ([\d.]+) s)?", line)
        if not match and line.startswith("#") and cases and cases[-1].outcome == "failed":
            cases[-1].detail += "\n" + line  # some programs explain a failure after its line
            continue
        if not match:
            lines.append(line)
            continue
        outcome = "passed" if match[1] == "ok" else "failed"
        detail = "\n".join(lines).strip() if outcome == "failed" else ""
        if skip := re.search(r" # SKIP (.+)", line):
            outcome, detail = "skipped", skip[1]
        cases.append(Case(f"{check.name}.{match[2]}", outcome, float(match[3] or 0), detail))
        lines = []
    plan = re.search(r"^1\.\.(\d+)$", done.output, re.M)
    broke = done.code is None or (done.code != 0 and all(c.outcome != "failed" for c in cases))
    if broke or not cases:
        cases.append(Case(f"{check.name}.exit", "failed", done.seconds,
                          f"exit code {done.code}\n{tail(done.output)}"))
    elif not plan or len(cases) < int(plan[1]):
        expected = plan[1] if plan else "a number that it does not say (no line 1..N)"
        cases.append(Case(f"{check.name}.plan", "failed", 0,
                          f"{len(cases)} results, expected {expected}\n{tail(done.output)}"))
    return cases


# --- the plan -----------------------------------------------------------------------------------


class Plan:
    """Builds what the options ask for and gathers the jobs."""

    def __init__(self, options):
        self.options = options
        self.pattern = re.compile(options.filter) if options.filter else None
        self.jobs = []
        self.broken = []      # failed builds, as cases

    def wants(self, name, is_long):
        if self.options.quick and is_long:
            return False
        return self.pattern is None or self.pattern.search(name) is not None

    def wants_preset(self, preset):
        """Repeats under another preset are long; a filter takes them only when it names them."""
        if self.options.quick or self.options.list_requirements:
            return False
        return self.pattern is None or preset in self.options.filter

    def build(self, preset, targets):
        problem = build(preset, targets)
        if problem is not None:
            self.broken.append(Case(f"build.{preset}", "failed", 0, tail(problem)))
        return problem is None

    def add_gtest(self, name, executable, timeout_s, label=""):
        cases = [case for case in list_cases(executable)
                 if self.wants(f"{label}{name}.{case}", bool(LONG.search(case)))
                 and not (label and LONG.search(case))]
        if cases:
            self.jobs.append(Job(name, [executable], timeout_s, cases=cases, label=label))

    def gather(self):
        built = {"dev"} if self.build("dev", []) else set()
        if built:
            for name, executable in sorted(declared_tests("dev").items()):
                timeout_s = test_plan.GTEST_TIMEOUTS_S.get(name, test_plan.GTEST_TIMEOUT_S)
                self.add_gtest(name, executable, timeout_s)
        for repeat in test_plan.SANITIZED:
            if self.wants_preset(repeat.preset):
                self.gather_sanitized(repeat)
        if self.wants_preset("fuzz"):
            self.gather_fuzzers()
        for check in test_plan.CHECKS:
            if check.build in built and (check.tap or self.wants(check.name, check.long)):
                self.jobs.append(Job(check.name, check.command, check.timeout_s, check))
        # The longest first, so that the last core does not wait for one late starter.
        self.jobs.sort(key=lambda job: (-job.timeout_s, job.name))

    def gather_sanitized(self, repeat):
        if (problem := configure(repeat.preset)) is not None:
            self.broken.append(Case(f"build.{repeat.preset}", "failed", 0, tail(problem)))
            return
        declared = declared_tests(repeat.preset)
        present = [name for name in repeat.tests if name in declared]
        for name in sorted(set(repeat.tests) - set(present)):
            self.broken.append(Case(f"{repeat.preset}:{name}", "failed", 0,
                                    "tools/test_plan.py names it, and no such test is built"))
        if present and self.build(repeat.preset, present):
            declared = declared_tests(repeat.preset)
            for name in present:
                self.add_gtest(name, declared[name], repeat.timeout_s, f"{repeat.preset}:")

    def gather_fuzzers(self):
        if not self.build("fuzz", ["perdure_fuzzers"]):
            return
        for target in sorted(declared_targets("fuzz")):
            if re.fullmatch(r"fuzz_\w+", target):
                check = fuzz_check(target.removeprefix("fuzz_"))
                if self.wants(check.name, True):
                    self.jobs.append(Job(check.name, check.command, check.timeout_s, check))


def fuzz_check(name, label="fuzz.", seconds=test_plan.FUZZ_SECONDS, seed=None):
    """The seed corpus, then new inputs; those go to the build folder. `canary` has to be caught."""
    fresh = ROOT / "build" / "fuzz" / "corpus" / name
    if name != "canary":
        fresh.mkdir(parents=True, exist_ok=True)
    command = [f"build/fuzz/fuzzers/fuzz_{name}", f"-max_total_time={seconds}",
               "-timeout=5", "-rss_limit_mb=1024", "-malloc_limit_mb=64", "-print_final_stats=1",
               f"-artifact_prefix=build/fuzz/{name}-"]
    corpus = ROOT / "tests" / "fuzz" / "corpus" / name
    if name == "canary":
        return Check("fuzz.canary_is_caught", [*command, "-seed=1", "-max_total_time=60"],
                     exit_code=77, output="deadly signal", timeout_s=120)
    if not any(corpus.iterdir()):
        raise RuntimeError(f"{corpus} has no seed input")
    seeded = [] if seed is None else [f"-seed={seed}"]
    return Check(label + name, [*command, *seeded, str(fresh), str(corpus)],
                 timeout_s=seconds + 120, output=r"stat::number_of_executed_units")


def run_job(job):
    cases = run_check(job) if job.check else run_gtest(job)
    counts = {outcome: sum(case.outcome == outcome for case in cases)
              for outcome in ("passed", "failed", "skipped")}
    words = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    say(f"{job.label}{job.name}: {words} in {sum(case.seconds for case in cases):.1f} s")
    return cases


def run_jobs(jobs, workers):
    cases = []
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for finished in concurrent.futures.as_completed([pool.submit(run_job, j) for j in jobs]):
            cases.extend(finished.result())
    return cases


def allowed_skips():
    """Patterns of tools/skips_allowed.txt: `pattern  reason`."""
    lines = (ROOT / "tools" / "skips_allowed.txt").read_text().split("\n")
    return [re.compile(line.split()[0]) for line in lines if line and not line.startswith("#")]


def without_skips(cases, allowed):
    """In CI a skip fails unless it is on the list: otherwise a machine without podman, root or
    namespaces would be green without having tested them."""
    for case in cases:
        if case.outcome == "skipped" and not any(each.fullmatch(case.name) for each in allowed):
            case.outcome = "failed"
            case.detail = f"skipped, and tools/skips_allowed.txt does not name it\n{case.detail}"
    return cases


SIM_SEEDS_PER_SECOND = 12  # with two jobs, roughly; it only sets how long an exploration takes


def property_suites():
    """Suites of property tests: those made by RC_GTEST_PROP, and those named so."""
    texts = [path.read_text() for path in (ROOT / "src").rglob("*_test.cc")]
    made = {name for text in texts for name in re.findall(r"^RC_GTEST_PROP\((\w+)", text, re.M)}
    return [f"{name}.*" for name in sorted(made)] + ["*Property*"]


def explorations(seconds, seed):
    """Commands that try what no run has tried before; each repeats exactly with the same seed."""
    first = seed % 1_000_000_000
    last = first + seconds * SIM_SEEDS_PER_SECOND
    yield Check("explore.sim", ["build/dev/perdure-sim", "--seeds", f"{first}..{last}",
                                "--jobs", "2"], timeout_s=10 * seconds + 300)
    suites = ":".join(property_suites())
    for path in sorted((ROOT / "build/dev/tests").glob("*_test")):
        listed = run_command([str(path), "--gtest_list_tests", f"--gtest_filter={suites}"], 60)
        if "\n  " in listed.output:
            yield Check(f"explore.{path.name}", ["env", f"RC_PARAMS=seed={seed}", str(path),
                                                 f"--gtest_filter={suites}"], timeout_s=600)
    fuzzers = sorted(path for path in (ROOT / "build/fuzz/fuzzers").glob("fuzz_*")
                     if path.name != "fuzz_canary")
    for path in fuzzers:
        yield fuzz_check(path.name.removeprefix("fuzz_"), "explore.fuzz.",
                         max(2, 2 * seconds // len(fuzzers)), seed % (1 << 31))


def explore(minutes, seed):
    """Tries fresh seeds for about so many minutes; a failure shows the command that repeats it."""
    say(f"explore: {minutes:g} minutes from seed {seed}; repeat with --explore-seed {seed}")
    checks = explorations(max(10, int(minutes * 60 / 3)), seed)
    return run_jobs([Job(each.name, each.command, each.timeout_s, each) for each in checks], 2)


def report(cases, started):
    skipped = sorted((case for case in cases if case.outcome == "skipped"), key=lambda c: c.name)
    failed = sorted((case for case in cases if case.outcome == "failed"), key=lambda c: c.name)
    slowest = sorted(cases, key=lambda case: -case.seconds)[:5]
    print("\nslowest:")
    for case in slowest:
        print(f"  {case.seconds:7.2f} s  {case.name}")
    for case in skipped:
        print(f"skipped: {case.name}\n{case.detail}".rstrip())
    for case in failed:
        print(f"\nFAILED: {case.name}\n{case.detail}".rstrip())
    print(f"\ntotal time: {time.monotonic() - started:.1f} s")
    passed = sum(case.outcome == "passed" for case in cases)
    print(f"{passed} passed, {len(failed)} failed", flush=True)
    return 1 if failed or passed == 0 else 0


def names_with_covers(plan):
    """Every test that there is, with the ids its plan line adds."""
    names = {}
    for job in plan.jobs:
        for case in job.cases:
            names[case_name(job, case)] = []
        if job.check and job.check.tap:
            listed = run_command([*job.command, "--list"], 60).output.split()
            names.update({f"{job.name}.{name}": [] for name in listed})
    for check in test_plan.CHECKS:
        if not check.tap:
            names[check.name] = check.covers
    names["requirements.O32_each_has_a_test"] = []
    return names


def requirements_case(plan):
    """O32: every requirement has a test, and no test names one that does not exist."""
    problems = requirements.table(names_with_covers(plan))[1]
    return Case("requirements.O32_each_has_a_test", "failed" if problems else "passed", 0,
                "\n".join(problems))


def parse_options():
    parser = argparse.ArgumentParser(prog="./test", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="leave out the long tests")
    parser.add_argument("--filter", metavar="REGEX", help="only tests whose name matches")
    parser.add_argument("--list-requirements", action="store_true",
                        help="print each requirement with the tests that carry its id")
    parser.add_argument("--explore", type=float, metavar="MINUTES",
                        default=0 if os.environ.get("CI") else 3,
                        help="explore fresh seeds for so long (0 in CI, otherwise 3)")
    parser.add_argument("--explore-seed", type=int, metavar="SEED",
                        default=int.from_bytes(os.urandom(5)), help="start from this seed")
    parser.add_argument("--jobs", type=int, default=max(2, min(os.cpu_count() or 2, 8)),
                        help="tests run at the same time")
    return parser.parse_args()


def main():
    started = time.monotonic()
    options = parse_options()
    # Property tests draw the same cases in every run, unless the caller says otherwise.
    os.environ.setdefault("RC_PARAMS", "seed=1")
    os.environ.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    for variable in ("ASAN_SYMBOLIZER_PATH", "UBSAN_SYMBOLIZER_PATH"):
        os.environ.setdefault(variable, "/usr/bin/llvm-symbolizer-19")
    plan = Plan(options)
    plan.gather()
    if options.list_requirements:
        if plan.broken:
            print(plan.broken[0].detail)
            return 1
        lines, problems = requirements.table(names_with_covers(plan))
        print("\n".join(problems + lines))
        return 1 if problems else 0
    cases = plan.broken + run_jobs(plan.jobs, options.jobs)
    is_whole = not options.quick and not options.filter
    if is_whole and not plan.broken:
        cases.append(requirements_case(plan))
    if is_whole and options.explore:
        cases += explore(options.explore, options.explore_seed)
    if os.environ.get("CI"):
        cases = without_skips(cases, allowed_skips())
    if options.filter:
        cases = [case for case in cases if case in plan.broken or plan.pattern.search(case.name)]
    return report(cases, started)


if __name__ == "__main__":
    sys.exit(main())
