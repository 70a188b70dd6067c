#!/usr/bin/env python3
"""Tests of the test runner: programs that pass, fail, crash, hang, skip or leak must be counted so.
Prints TAP lines; run by ./test.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import requirements
import run_tests
from test_plan import Check

# Behaves like a GoogleTest executable with two cases, A.one and A.two.
FAKE = """#!/usr/bin/env python3
import json, os, sys, time
how = {how!r}
report = [word.split(":", 1)[1] for word in sys.argv if word.startswith("--gtest_output=json:")][0]
def line(mark, name): print("[" + mark.center(10) + "] " + name, flush=True)
line(" RUN      ", "A.one"); line("       OK ", "A.one"); line(" RUN      ", "A.two")
if how == "crash": os.abort()
if how == "hang": time.sleep(60)
two = dict(name="two", status="RUN", result="COMPLETED", time="0.1s")
if how == "fail": two["failures"] = [dict(failure="two is wrong")]
if how == "skip": two["result"] = "SKIPPED"
cases = [dict(name="one", status="RUN", result="COMPLETED", time="0s")]
if how != "forget": cases.append(two)
open(report, "w").write(json.dumps(dict(testsuites=[dict(name="A", testsuite=cases)])))
sys.exit(dict(fail=1, leak=1, report_then_die=23).get(how, 0))
"""


def outcomes(how, timeout_s=30):
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "fake"
        program.write_text(FAKE.format(how=how))
        program.chmod(0o755)
        job = run_tests.Job("fake", [str(program)], timeout_s, cases=["A.one", "A.two"])
        return {case.name: case.outcome for case in run_tests.run_gtest(job)}


def check_outcome(code, **fields):
    check = Check("shell", ["bash", "-c", code], **fields)
    job = run_tests.Job(check.name, check.command, check.timeout_s, check)
    return {case.name: case.outcome for case in run_tests.run_check(job)}


ONE, TWO, EXIT = "fake.A.one", "fake.A.two", "fake.exit"
CASES = {
    "a_pass_is_a_pass": lambda: outcomes("pass") == {ONE: "passed", TWO: "passed"},
    "a_failure_is_a_failure": lambda: outcomes("fail") == {ONE: "passed", TWO: "failed"},
    "a_skip_is_neither": lambda: outcomes("skip") == {ONE: "passed", TWO: "skipped"},
    "a_crash_fails_the_case_that_ran": lambda: outcomes("crash") == {ONE: "passed", TWO: "failed"},
    "a_hang_fails_the_case_that_ran":
        lambda: outcomes("hang", timeout_s=1) == {ONE: "passed", TWO: "failed"},
    "a_case_missing_from_the_report_fails":
        lambda: outcomes("forget") == {ONE: "passed", TWO: "failed"},
    "a_leak_at_exit_fails": lambda: outcomes("leak")[EXIT] == "failed",
    "a_death_after_the_report_fails": lambda: "failed" in outcomes("report_then_die").values(),
    "a_command_passes_by_its_exit_code": lambda: check_outcome("exit 0") == {"shell": "passed"},
    "a_command_fails_by_its_exit_code": lambda: check_outcome("exit 3") == {"shell": "failed"},
    "a_command_may_have_to_fail":
        lambda: check_outcome("exit 3", exit_code=3) == {"shell": "passed"}
        and check_outcome("exit 0", exit_code=3) == {"shell": "failed"},
    "a_command_that_hangs_fails": lambda: check_outcome("sleep 60", timeout_s=1)
        == {"shell": "failed"},
    "an_output_is_looked_at": lambda: check_outcome("echo no", output="^yes$")
        == {"shell": "failed"},
    "a_command_that_cannot_run_here_is_skipped":
        lambda: check_outcome("echo '# SKIP no namespaces'") == {"shell": "skipped"}
        and check_outcome("echo '# SKIP no namespaces'; exit 1") == {"shell": "failed"},
    "tap_lines_are_counted": lambda: check_outcome(
        "echo 1..2; echo 'ok - a # 0.1 s'; echo why; echo 'not ok - b'; exit 1", tap=True)
        == {"shell.a": "passed", "shell.b": "failed"},
    "tap_skips_are_named_and_not_counted": lambda: check_outcome(
        "echo 'ok - a # SKIP it is not there'; echo 1..1", tap=True) == {"shell.a": "skipped"},
    "tap_with_fewer_lines_than_planned_fails": lambda: check_outcome(
        "echo 1..2; echo 'ok - a'", tap=True) == {"shell.a": "passed", "shell.plan": "failed"},
    "tap_without_a_plan_fails": lambda: check_outcome(
        "echo 'ok - a'", tap=True) == {"shell.a": "passed", "shell.plan": "failed"},
    "tap_without_lines_fails": lambda: check_outcome("exit 0", tap=True)
        == {"shell.exit": "failed"},
    "tap_that_dies_fails": lambda: check_outcome("echo 'ok - a'; exit 9", tap=True)["shell.exit"]
        == "failed",
    "a_skip_fails_in_ci_unless_it_is_allowed":
        lambda: [case.outcome for case in run_tests.without_skips(
            [run_tests.Case("a.one", "skipped"), run_tests.Case("a.two", "skipped")],
            [run_tests.re.compile("a.two")])] == ["failed", "skipped"],
    "ids_are_whole_words":
        lambda: requirements.ids_in("base_test.A.O12_O13_restart_no14_K2a/RUN1")
        == {"O12", "O13", "RUN1"},
    "tests_of_the_tools_for_testing_carry_no_ids":
        lambda: requirements.ids_in("testing_test.Agent.X2_a_crash") == set()
        and requirements.ids_in("asan:testing_test.Agent.X2_a_crash") == set()
        and requirements.ids_in("runtime_testing_test.Agent.X2_a_crash") == {"X2"},
    "a_long_suite_is_known_by_its_name":
        lambda: bool(run_tests.LONG.search("MachineLong.a")
                     and run_tests.LONG.search("All/StoreLong/0.a/1")
                     and not run_tests.LONG.search("Machine.a_long_name")),
}


def main():
    if "--list" in sys.argv:
        print("\n".join(CASES))
        return 0
    failures = 0
    print(f"1..{len(CASES)}")
    for name, holds in CASES.items():
        good = holds()
        failures += not good
        print(f"{'ok' if good else 'not ok'} - {name}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
