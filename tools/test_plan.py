"""What ./test runs, as one table. To add a command, add a Check to CHECKS. A GoogleTest needs no
line: put a *_test.cc into a component of src/, or call perdure_test() under tests/. Nor does a fuzz
target: every perdure_fuzz() has its corpus run, and 5 s of new inputs.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Check:
    name: str                 # shown, counted, matched by --filter; may carry requirement ids
    command: list[str]        # run from the root of the repository
    build: str = "dev"        # the preset whose build must have succeeded
    long: bool = False        # left out by ./test --quick
    timeout_s: int = 300
    exit_code: int = 0        # what the command must exit with; a canary must fail
    output: str = ""          # a regular expression that the output must match, if any
    tap: bool = False         # prints `ok - name` and `not ok - name` lines, each counted alone,
                              # and `ok - name # SKIP why`, which is named and not counted
    covers: list[str] = field(default_factory=list)  # requirement ids that its name does not carry


@dataclass(frozen=True)
class Sanitized:
    preset: str               # test executables run again under this preset
    tests: list[str]
    timeout_s: int = 600


# Test executables that run again under sanitizers; all of these are long. GoogleTest suites whose
# names end in `Long` are left out there, and by ./test --quick.
SANITIZED = [
    Sanitized("asan", ["base_test", "core_session_test", "core_views_test", "core_rules_test",
                       "core_acp_test", "core_wire_test", "store_test", "store_sqlite_test",
                       "store_files_test", "net_test", "agentctl_supervisor_test",
                       "agentctl_workspace_test", "agentctl_test", "daemon_runtime_test",
                       "daemon_registry_test", "daemon_api_test", "outpost_test", "notify_test",
                       "lifecycle_test"]),
    # Threads meet in the engine (its writer's, and those that read and append), and in a daemon.
    Sanitized("tsan", ["store_queue_test", "store_sqlite_test", "lifecycle_test"]),
]

# Seconds for one GoogleTest executable; the default, then exceptions.
GTEST_TIMEOUT_S = 300
GTEST_TIMEOUTS_S: dict[str, int] = {"fault_sweep_test": 2400, "daemon_kill_test": 1500,
                                    "store_postgres_test": 900, "container_test": 900,
                                    "cluster_test": 900, "remote_test": 900}

FUZZ_SECONDS = 5

# What the simulator judges at every step or at rest (docs/invariants.md).
SIMULATED = ["J1", "J2", "J3", "J4", "ACK1", "ACK2", "ACK3", "ACK4", "RUN1", "RUN2", "RUN3", "RUN4",
             "RUN5", "PROC1", "PROC2", "PROC3", "PROC4", "PROC5", "PROC6", "STREAM1", "STREAM2",
             "STREAM3", "STREAM4", "STREAM5", "TOK1", "TOK3", "TOK4", "DISK1", "DISK2", "DISK3",
             "Q1", "Q2", "Q3", "Q5"]

CHECKS = [
    Check("tidy", ["python3", "tools/tidy.py"], tap=True, timeout_s=1500),
    Check("runner", ["python3", "tools/run_tests_selftest.py"], tap=True),
    Check("program.version_prints_its_version", ["build/dev/perdure", "version"],
          output=r"^perdure \d+\.\d+\.\d+$"),
    Check("program.an_unknown_verb_is_a_usage_error", ["build/dev/perdure", "fly"], exit_code=2,
          output=r"unknown verb 'fly'"),
    # As root these run with all the others; the boundary must hold for an ordinary user as well.
    Check("boundary.callers_and_namespaces_as_an_ordinary_user",
          ["tools/as_ordinary_user.sh", "build/dev/tests/env_posix_test",
           "--gtest_filter=Confine*:Caller*:*TcpCaller*:OwnFolders*:KillTree*:KeptProgram*"],
          covers=["TOK3", "PROC4"]),
    Check("boundary.attacks_from_inside_as_an_ordinary_user",
          ["tools/as_ordinary_user.sh", "build/dev/tests/security_test",
           "--gtest_filter=*HostileAgent*:SeesAll*:UnconfinedAgent*:Boundary*:ReusedNumber*:"
           "AgentsFiles*:DataFolders*:Restart*:Reach*:BoundShell*:ForeignGit*:OpenWay.TOK3*"],
          timeout_s=900, covers=["TOK3", "PROC4"]),
    Check("boundary.strangers_walks_and_redaction_as_an_ordinary_user",
          ["tools/as_ordinary_user.sh", "build/dev/tests/security_test",
           "--gtest_filter=Strangers*:FewDescriptors*:Walk*:Place*:*Redaction*"], timeout_s=900),
    Check("boundary.worktrees_of_containers_as_an_ordinary_user",
          ["tools/as_ordinary_user.sh", "build/dev/tests/daemon_setup_test",
           "--gtest_filter=GitMounts*:Config*"]),
    Check("boundary.observers_audit_and_launch_tokens_as_an_ordinary_user",
          ["tools/as_ordinary_user.sh", "build/dev/tests/e2e_test",
           "--gtest_filter=Recovery.H3*:Start.SEC14*:*AuditEnd*:Probe.SEC16*"]),
    Check("boundary.ends_with_everything_in_flight_as_an_ordinary_user",
          ["tools/as_ordinary_user.sh", "build/dev/tests/lifecycle_test",
           "--gtest_filter=Lifecycle*"]),
    # Before Linux 6.5 the kernel does not prove who called.
    *[Check(f"boundary.callers_on_an_old_kernel_{who}",
            [*become, "tools/old_kernel.py", "build/dev/tests/security_test",
             "--gtest_filter=*HostileAgent*:Boundary.*:ReusedNumber*"], timeout_s=600,
            covers=["TOK3"])
      for who, become in (("as_root", []),
                          ("as_an_ordinary_user", ["tools/as_ordinary_user.sh"]))],
    Check("boundary.callers_on_an_old_kernel_are_known",
          ["tools/old_kernel.py", "build/dev/tests/env_posix_test", "--gtest_filter=Caller.*"],
          covers=["TOK3"]),
    # SECURITY.md says what holds on each kind of machine; each is made here.
    *[Check(f"machine.{kind.replace('-', '_')}_holds_what_security_md_says",
            ["tools/on_machine.sh", kind, "build/dev/tests/security_test",
             "--gtest_filter=OnMachine.*:Shed.*:OpenWay.*:ForeignGit.*:AgentsFiles.SEC1_making*"],
            output=r"(?s)\A(?!.*SKIPPED).*PASSED", timeout_s=600, covers=["TOK3", "PROC4"])
      for kind in ("root", "user", "masked", "masked-group", "none", "none-group")],
    # Attacks by somebody who knew the documents only, and proof that they can succeed.
    Check("fresh_as_root", ["python3", "tests/security/fresh/run.py"], tap=True, covers=["TOK3"]),
    Check("fresh_as_an_ordinary_user", ["python3", "tests/security/fresh/run.py", "--ordinary"],
          tap=True, covers=["TOK3", "TOK6", "PROC4"]),
    Check("fresh_control", ["python3", "tests/security/fresh/run.py", "--ordinary", "--control"],
          tap=True),
    Check("docs", ["python3", "tools/check_docs.py", "build/dev/perdure"], tap=True),
    Check("acp_schema", ["node", "tools/check_acp_schema.mjs", "build/dev/perdure-acp-samples"],
          long=True, tap=True, timeout_s=300),
    Check("acp_clients", ["tools/node.sh", "tests/acp/run.mjs"], long=True, tap=True,
          timeout_s=900),
    Check("openapi", ["node", "tools/check_openapi.mjs", "build/dev/perdure-openapi-sample"],
          long=True, tap=True, timeout_s=300),
    Check("model_server", ["tools/node.sh", "tests/e2e/model-server/selftest.mjs"], tap=True),
    Check("real_agents", ["tools/node.sh", "tests/agents/run.mjs"], long=True, tap=True,
          timeout_s=1500),
    Check("web_unit", ["tools/node.sh", "tests/web/unit.mjs"], tap=True, timeout_s=600),
    Check("web_browser", ["tools/node.sh", "tests/web/run.mjs"], tap=True, timeout_s=900),
    Check("load.a_few_seconds_lose_nothing",
          ["build/dev/perdure-load", "l1", "--sessions", "4", "--rate", "10", "--clients", "2",
           "--seconds", "4"], timeout_s=300, output=r"lost 0  wrong 0  refused 0",
          covers=["STREAM1", "STREAM5"]),
    Check("sim.seeds_1_to_5000_without_a_violation_and_every_probe_hit",
          ["build/dev/perdure-sim", "--seeds", "1..5000", "--require-probes", "--jobs", "2"],
          long=True, timeout_s=1500, covers=SIMULATED),
    Check("sim.a_few_seeds", ["build/dev/perdure-sim", "--seeds", "10001..10200"], timeout_s=300),
    Check("sim.J5_equal_seeds_give_equal_traces",
          ["build/dev/perdure-sim", "--seeds", "1..100", "--twice"], long=True, timeout_s=300),
    Check("sim.seeds_on_sqlite_over_the_fault_vfs",
          ["build/dev/perdure-sim", "--store", "sqlite", "--seeds", "1..300"], long=True,
          timeout_s=600, covers=["J1", "J3", "ACK1", "ACK3", "DISK1", "DISK2", "DISK3"]),
    Check("sim.J5_equal_seeds_on_sqlite_give_equal_traces",
          ["build/dev/perdure-sim", "--store", "sqlite", "--seeds", "301..320", "--twice"],
          long=True, timeout_s=300),
    Check("sim.canary_is_found_within_1000_seeds",
          ["build/dev/perdure-sim-mutants", "--mutant", "canary", "--seeds", "1..1000", "--first"],
          long=True, timeout_s=300, exit_code=1, output=r"FAIL seed="),
    # 2,000 seeds are allowed; what is caught at all is caught by the first 105.
    Check("sim.nine_of_ten_mutants_are_caught",
          ["build/dev/perdure-sim-mutants", "--score", "--seeds", "1..105", "--jobs", "2",
           "--equivalent", "tools/mutants_equivalent.txt"],
          long=True, timeout_s=1500, output=r"mutation score: \d+ of \d+ caught"),
]
