// The statements of SECURITY.md about each kind of machine. tools/on_machine.sh creates the kinds
// and names the current one in PERDURE_MACHINE; otherwise it is the machine that runs ./test.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>

#include <unistd.h>

#include "env/posix/confine/cgroup.h"
#include "env/posix/confine/confine.h"
#include "hostile_test.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

struct Machine {
  std::string_view name;
  std::string_view level;
  std::string_view reason;  // its beginning
  bool hides_data = true;
  bool has_process_namespace = false;
  bool has_group = false;
};

constexpr Machine machines[] = {
    {"user", "full", "", true, true, false},
    {"root", "partial", "agents run as root, which can undo it", true, true, false},
    {"masked", "partial", "no process namespace: a /proc of its own: ", true, false, false},
    {"masked-group", "partial", "no process namespace: a /proc of its own: ", true, false, true},
    {"none", "none", "user namespaces: ", false, false, false},
    {"none-group", "none", "user namespaces: ", false, false, true},
};

class OnMachine : public HostileAgent {
 protected:
  void SetUp() override {
    const char* const named = std::getenv("PERDURE_MACHINE");
    const std::string_view name = named ? named : geteuid() == 0 ? "root" : "user";
    for (const Machine& each : machines) {
      if (each.name == name) machine_ = each;
    }
    ASSERT_FALSE(machine_.name.empty()) << name;
    const Confinement here = try_namespaces();
    if (!named && confinement_name(here.level) != machine_.level) GTEST_SKIP() << here.reason;
    HostileAgent::SetUp();
    home_ = daemon_->process.home();
  }
  bool is(std::string_view kind) const { return machine_.name.starts_with(kind); }
  static std::string script(const std::string& words) {
    return "/usr/bin/python3 " + std::string(attacks) + "/attacks.py " + words;
  }
  std::string daemon_pid() const { return std::to_string(daemon_->process.pid()); }
  // Yama may prevent processes of one user from tracing each other.
  static bool may_trace_others() {
    const std::string scope = read_text("/proc/sys/kernel/yama/ptrace_scope");
    return scope.empty() || scope == "0\n";
  }
  pid_t agentctl_of(const std::string& session) {
    for (const MarkedProcess& process : daemon_->process.processes()) {
      if (process.kind == ProcessKind::agentctl && process.session == session) return process.pid;
    }
    return 0;
  }
  bool executor_has_ended() {
    return client().count(attacker_, "executor.stopped") +
               client().count(attacker_, "executor.error") >
           0;
  }
  // Starts a turn of the attacker that runs until it is stopped.
  void begin_attack(const std::string& command) {
    if (attacker_.empty()) attacker_ = client().create_session({.agent = "hostile"});
    EXPECT_TRUE(client().prompt({.session = attacker_, .text = command}).ok());
  }

  Machine machine_;
  std::string home_;
};

TEST_F(OnMachine, the_same_level_and_reason_are_shown_everywhere) {
  const std::string said = attack("true");
  std::string ready;
  for (const std::string& record : client().records(attacker_)) {
    if (json_at(record, "kind") == "executor.ready") ready = record;
  }
  const std::string level(machine_.level);
  const std::string reason = json_at(ready, "confinement_reason");
  EXPECT_EQ(json_at(ready, "confinement"), level) << ready;
  EXPECT_TRUE(reason.starts_with(machine_.reason)) << reason;
  EXPECT_EQ(reason.empty(), level == "full") << reason;
  const auto shown_by = [&](const std::string& json) {
    const std::string why = json_at(json, "confinement_reason");
    return json_at(json, "confinement") + ":" + (why == "null" ? "" : why);
  };
  const std::string session = client().get("/api/sessions/" + attacker_).at("session");
  EXPECT_EQ(shown_by(session), level + ":" + reason) << session;
  const std::string program = daemon_->process.setup().program;
  const ProgramRun show =
      run_program({program, "show", attacker_, "--json"}, daemon_->process.environment());
  EXPECT_EQ(shown_by(json_at(show.output, "session")), level + ":" + reason) << show.output;
  const ProgramRun doctor = run_program({program, "doctor"}, daemon_->process.environment());
  const std::string words = level + ": " + reason;
  EXPECT_TRUE(has(doctor.output, words)) << doctor.output << "\nexpected " << words;
}

TEST_F(OnMachine, the_data_folder_is_hidden_where_namespaces_are_allowed) {
  const std::string saw = attack("cat " + home_ + "/token; ls -A " + home_ + "; touch " + home_ +
                                 "/forged; echo mine > own && cat own");
  EXPECT_EQ(!has(saw, daemon_->process.admin_token()), machine_.hides_data) << saw;
  EXPECT_EQ(!has(saw, "perdure.db"), machine_.hides_data) << saw;
  EXPECT_EQ(has(saw, "Read-only file system"), machine_.hides_data) << saw;
  EXPECT_EQ(!fs::exists(home_ + "/forged"), machine_.hides_data);
  EXPECT_TRUE(has(saw, "mine\n")) << "its own workspace is there\n" << saw;
}

TEST_F(OnMachine, a_session_has_namespaces_of_its_own_as_far_as_the_machine_allows) {
  const auto own = [](const std::string& space) {
    return fs::read_symlink("/proc/self/ns/" + space).string();
  };
  const std::string saw = attack("readlink /proc/self/ns/*");
  EXPECT_EQ(!has(saw, own("mnt")), machine_.hides_data) << saw;
  EXPECT_EQ(!has(saw, own("pid")), machine_.has_process_namespace) << saw;
  EXPECT_EQ(!has(saw, own("user")), machine_.hides_data && !is("root")) << saw;
  EXPECT_TRUE(has(saw, own("net"))) << saw;
}

// Signals reach a process of the same user in any user namespace, traces do not.
TEST_F(OnMachine, other_processes_are_seen_signalled_and_traced_only_where_the_page_says_so) {
  const std::string proc = "/proc/" + daemon_pid();
  const std::string saw =
      attack("ls -d " + proc + "; kill -0 " + daemon_pid() + " && echo signalled; cat " + proc +
             "/environ | tr '\\0' '\\n'; ls " + proc + "/root/etc; readlink " + proc + "/fd/*; " +
             script("trace " + daemon_pid()));
  const bool none = is("none");
  EXPECT_EQ(has(saw, proc + "\n"), !machine_.has_process_namespace) << saw;
  EXPECT_EQ(has(saw, "signalled"), !machine_.has_process_namespace) << saw;
  EXPECT_EQ(has(saw, "PERDURE_HOME=" + home_), none) << saw;
  EXPECT_EQ(has(saw, "passwd\n"), none) << saw;
  EXPECT_EQ(has(saw, "perdure.db"), none) << saw;
  EXPECT_EQ(has(saw, "traced"), none && may_trace_others()) << saw;
  EXPECT_EQ(kill(daemon_->process.pid(), 0), 0);
}

TEST_F(OnMachine, its_agentctl_is_traced_by_root_and_without_namespaces) {
  attack("true");
  const std::string pid =
      machine_.has_process_namespace ? "1" : std::to_string(agentctl_of(attacker_));
  const std::string saw = attack(script("trace " + pid));
  EXPECT_EQ(has(saw, "traced"), is("root") || (is("none") && may_trace_others())) << saw;
}

TEST_F(OnMachine, root_uncovers_the_data_folder_and_the_processes_and_nobody_else_does) {
  const std::string saw =
      attack("umount -l " + home_ + "; cat " + home_ + "/token; umount -l /proc; cat /proc/" +
             daemon_pid() + "/environ | tr '\\0' '\\n'");
  EXPECT_EQ(has(saw, daemon_->process.admin_token()), is("root") || is("none")) << saw;
  EXPECT_EQ(has(saw, "PERDURE_HOME=" + home_), is("root") || is("none")) << saw;
}

TEST_F(OnMachine, TOK3_a_caller_below_its_agentctl_is_recognised) {
  ask();
  for (const char* how : {"", " '' orphan"}) {
    const std::string saw = request(daemon_->socket() + " " + grant() + how);
    EXPECT_TRUE(has(saw, "status=403")) << how << "\n" << saw;
    EXPECT_TRUE(has(saw, "inside a session")) << how << "\n" << saw;
  }
  expect_open();
}

// A process that cleared its environment and tries to end the agentctl above it.
class Shed : public OnMachine {
 protected:
  std::string report() const { return daemon_->process.folder() + "/report"; }
  std::size_t tokens() { return json_list(client().get("/api/tokens").body, "tokens").size(); }
};

TEST_F(Shed, TOK3_it_mints_only_without_namespaces_and_control_groups) {
  const std::size_t before = tokens();
  begin_attack(script("shed " + daemon_->socket() + " " + report()));
  if (machine_.has_group) {
    // The group ended it, or its call was denied before.
    ASSERT_TRUE(until([&] { return executor_has_ended(); }));
    EXPECT_FALSE(has(read_text(report()), "status=2")) << read_text(report());
  } else {
    ASSERT_TRUE(until([&] { return fs::exists(report()); }));
    EXPECT_EQ(read_text(report()), is("none") ? "status=201" : "status=403");
  }
  EXPECT_EQ(tokens(), before + (is("none") && !machine_.has_group ? 1 : 0));
}

TEST_F(Shed, TOK3_after_leaving_its_control_group_it_mints_only_without_namespaces) {
  const std::size_t before = tokens();
  begin_attack(script("shed " + daemon_->socket() + " " + report() + " leave"));
  if (machine_.has_group && !is("none")) {
    // With separate mounts it cannot escape, and ends with the group.
    ASSERT_TRUE(until([&] { return executor_has_ended(); }));
    EXPECT_FALSE(has(read_text(report()), "status=2")) << read_text(report());
  } else {
    ASSERT_TRUE(until([&] { return fs::exists(report()); }));
    EXPECT_EQ(read_text(report()), is("none") ? "status=201" : "status=403");
  }
  EXPECT_EQ(tokens(), before + (is("none") ? 1 : 0));
}

TEST_F(OnMachine, PROC4_what_outlives_its_agentctl_is_ended_where_the_page_says_so) {
  const std::string shed = "6" + std::to_string(getpid());
  const std::string marked = "7" + std::to_string(getpid());
  const EndedWithTest sleepers[] = {{"sleep " + shed}, {"sleep " + marked}};
  attack(script("survive " + shed) + "; setsid sleep " + marked + " >/dev/null 2>&1 &");
  ASSERT_TRUE(until([&] { return processes_named("sleep " + marked).size() == 1; }));
  ASSERT_TRUE(until([&] { return processes_named("sleep " + shed).size() == 1; }));
  const std::string exec =
      client().get("/api/sessions/" + attacker_).at("session.agent_execution_id");
  ASSERT_TRUE(exec.starts_with("exec_")) << exec;
  const std::string group = own_cgroups().unified + "/" + std::string(session_group_prefix) + exec;
  EXPECT_EQ(fs::exists(group), machine_.has_group);
  kill(agentctl_of(attacker_), SIGKILL);
  EXPECT_TRUE(until([&] { return processes_named("sleep " + marked).empty(); }, 20'000));
  ASSERT_TRUE(until([&] { return executor_has_ended(); }));
  const std::vector<pid_t> left = processes_named("sleep " + shed);
  EXPECT_EQ(left.empty(), machine_.has_process_namespace || machine_.has_group);
  EXPECT_TRUE(until([&] { return !fs::exists(group); }, 20'000)) << "the group is still there";
}

TEST_F(OnMachine, TOK3_a_signal_to_the_daemon_loses_nothing_and_answers_no_question) {
  ask();
  const std::vector<std::string> before = client().records(session_);
  begin_attack("kill -9 " + daemon_pid() + " && echo signalled");
  if (machine_.has_process_namespace) {
    ASSERT_TRUE(until([&] { return client().count(attacker_, "run.completed") > 0; }));
    EXPECT_EQ(kill(daemon_->process.pid(), 0), 0);
  } else {
    EXPECT_EQ(daemon_->process.until_exit(), 128 + SIGKILL);
    ASSERT_EQ(daemon_->start(), "");
  }
  const std::vector<std::string> after = client().records(session_);
  ASSERT_GE(after.size(), before.size());
  EXPECT_TRUE(std::ranges::equal(before, std::span(after).first(before.size())));
  expect_open();
}

}  // namespace
}  // namespace perdure
