// The daemon's settings and its data folder: what they refuse, and what a first start creates.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/agents/profiles.h"
#include "core/wire/journal/record.h"
#include "daemon/launch/agent_launch.h"
#include "daemon/launch/programs.h"
#include "daemon/setup/config.h"
#include "daemon/setup/data_folder.h"
#include "daemon/setup/log.h"
#include "daemon/setup/stop_daemon.h"
#include "daemon/setup/threads/store_thread.h"
#include "env/posix/files/fd.h"
#include "perdure/offline/local_verbs.h"
#include "store/sqlite/sqlite_store.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

std::string message_of(std::string_view text) {
  const Result<Config> config = parse_config(text, "config.toml");
  return config ? "" : config.error().message();
}

TEST(Config, an_empty_file_is_the_defaults) {
  EXPECT_EQ(parse_config("", "x").value(), Config{});
  EXPECT_EQ(read_config("/there/is/no/such/file").value(), Config{});
}

TEST(Config, every_setting_is_read) {
  const Config config = parse_config(R"(
listen = "127.0.0.1:8000"
public_urls = ["https://perdure.example.org"]
advertise = "https://a.example.org:7433"
executions = "/e"
lease = 2
default_agent = "mine"
[sessions]
resume = "on_boot"
inject = "ask"
survive = false
auto_continue = true
wait_ms = 1000
resume_on_open = "never"
resume_parallel = 3
confine = false
[limits]
live_agents = 5
memory_bytes = 1073741824
processes = 200
cpu_percent = 150
run_ms = 60000
[audit]
keep_days = 30
[notify]
command = ["notify-send", "Perdure"]
[agents.mine]
command = ["my-agent", "--acp"]
env = { MODE = "fast" }
env_pass = ["MY_KEY"]
native_session_resume = false
history_context_injection = true
)",
                                     "config.toml")
                            .value();
  EXPECT_TRUE(config.listen_given);
  EXPECT_EQ(config.policy.resume, ResumePolicy::on_boot);
  EXPECT_EQ(config.policy.inject, Inject::ask);
  EXPECT_FALSE(config.policy.survive);
  EXPECT_EQ(config.policy.wait_ms, 1000);
  EXPECT_EQ(config.resume_on_open, "never");
  EXPECT_EQ(config.resume_parallel, 3U);
  EXPECT_FALSE(config.confine);
  EXPECT_EQ(config.live_agents_max, 5U);
  EXPECT_EQ(config.limits, (AgentLimits{1L << 30, 200, 150, 60'000}));
  EXPECT_EQ(config.audit_keep_days, 30);
  ASSERT_EQ(config.agents.size(), 1U);
  EXPECT_EQ(config.agents[0].command, (std::vector<std::string>{"my-agent", "--acp"}));
  EXPECT_EQ(config.agents[0].env.at("MODE"), "fast");
  EXPECT_TRUE(config.agents[0].profile.history_context_injection);
}

TEST(Config, what_it_does_not_know_is_refused_with_its_line) {
  EXPECT_EQ(message_of("\nlistn = \"x\"\n"), "config.toml: line 2: unknown setting 'listn'");
  EXPECT_EQ(message_of("[sessions]\nresume = \"often\"\n"),
            "config.toml: line 2: sessions.resume must be one of on_demand on_boot manual");
  EXPECT_EQ(message_of("[limits]\nlive_agents = -1\n"),
            "config.toml: limits.live_agents: must not be negative");
  EXPECT_EQ(message_of("[limits]\nlive_agents = \"many\"\n"),
            "config.toml: line 2: limits.live_agents must be a number");
  EXPECT_EQ(message_of("[audit]\nkeep_days = 40000\n"),
            "config.toml: audit.keep_days must be between 0 (keep everything) and 36500");
  EXPECT_NE(message_of("[limits]\nmemory_bytes = 5\n").find("memory_bytes"), std::string::npos);
  EXPECT_EQ(message_of("[agents.x]\ntitle = \"X\"\n"), "config.toml: agents.x.command is missing");
  EXPECT_EQ(message_of("lease = 3601\n"), "config.toml: lease must be from 1 to 3600 seconds");
  EXPECT_NE(message_of("executions = \"e\"\n").find("whole path"), std::string::npos);
  EXPECT_NE(message_of("advertise = \"b:7433\"\n").find("advertise"), std::string::npos);
  EXPECT_NE(message_of("listen = [").find("config.toml: line 1: "), std::string::npos);
}

TEST(Config, X12_a_known_agent_is_changed_in_what_is_said_and_in_nothing_else) {
  const AgentDefinition gemini =
      parse_config("[agents.gemini]\nenv = { GEMINI_API_KEY = \"k\" }\n", "x").value().agents[0];
  EXPECT_EQ(gemini.command, known_agent("gemini")->command);
  EXPECT_EQ(gemini.npm, known_agent("gemini")->npm);
  EXPECT_EQ(gemini.quirks.load_slot_ms, 60'000);
  EXPECT_TRUE(gemini.measured);
  EXPECT_FALSE(gemini.built_in);
  const AgentDefinition own = parse_config(
                                  "[agents.gemini]\ncommand = [\"my-gemini\"]\n"
                                  "load_slot_ms = 0\nexits_on_eof = true\n",
                                  "x")
                                  .value()
                                  .agents[0];
  EXPECT_EQ(own.npm, "") << "no package stands in for another program";
  EXPECT_FALSE(own.measured);
  EXPECT_EQ(own.quirks.load_slot_ms, 0);
  EXPECT_TRUE(own.quirks.exits_on_eof);
  EXPECT_FALSE(own.quirks.fs);
}

TEST(Programs, a_name_is_looked_for_and_a_folder_is_no_program) {
  EXPECT_TRUE(has_program("sh", "/nowhere:/bin"));
  EXPECT_FALSE(has_program("sh", "/nowhere"));
  EXPECT_FALSE(has_program("sh", ""));
  EXPECT_TRUE(has_program("/bin/sh", ""));
  EXPECT_FALSE(has_program("/bin", ""));
  EXPECT_FALSE(has_program("", "/bin"));
}

TEST(Config, shown_it_can_be_read_again_and_holds_no_secret) {
  Config config;
  config.notify.webhook_secret = "hidden";
  const std::string text = show_config(config);
  EXPECT_EQ(text.find("hidden"), std::string::npos);
  config.notify.webhook_secret.clear();
  config.listen_given = true;
  EXPECT_EQ(parse_config(text, "x").value(), config);
}

TEST(Config, SEC14_a_webhook_is_shown_without_what_signs_in_there) {
  Config config;
  config.notify.webhook_url =
      "https://bot:opensesame@hooks.example/T1/abcDEF123456xyz?key=s3cret77";
  config.notify.command = {"curl", "-H", "Authorization: hidden-signature"};
  config.notify.webhook_secret = "hidden-signature";
  const std::string text = show_config(config);
  for (const char* const secret :
       {"opensesame", "abcDEF123456xyz", "s3cret77", "hidden-signature"}) {
    EXPECT_FALSE(text.contains(secret)) << text;
  }
  EXPECT_TRUE(text.contains("https://bot:***@hooks.example/T1/***?key=***")) << text;
}

TEST(Log, X21_values_that_are_known_to_be_secret_are_in_no_line) {
  char name[] = "/tmp/perdure-log-XXXXXX";
  const std::string folder = mkdtemp(name);
  {
    const auto log = Log::open({.file = folder + "/perdure.log"}).value();
    SecretMask secrets;
    secrets.add("API_KEY", "opensesame");
    log->hide(secrets);
    log->note("a opensesame");
    log->warn("b opensesame");
    log->error("c opensesame");
  }
  std::ifstream file(folder + "/perdure.log");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_FALSE(text.contains("opensesame")) << text;
  EXPECT_TRUE(text.contains("c ***")) << text;
  fs::remove_all(folder);
}

class Data : public ::testing::Test {
 protected:
  Data() {
    char name[] = "/tmp/perdure-data-XXXXXX";
    root_ = mkdtemp(name);
  }
  ~Data() override { fs::remove_all(root_); }
  std::string root_;
};

TEST_F(Data, a_first_start_makes_everything_private) {
  const auto data = DataFolder::open(root_ + "/a/b").value();
  EXPECT_FALSE(data->was_used());
  const std::string token = data->token().value();
  EXPECT_TRUE(token.starts_with("perdure_"));
  EXPECT_EQ(data->token().value(), token);
  const std::string key = data->key().value();
  EXPECT_EQ(key.size(), 64U);
  EXPECT_TRUE(data->was_used());
  for (const auto& entry : fs::recursive_directory_iterator(root_ + "/a/b")) {
    EXPECT_EQ(entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all),
              fs::perms::none)
        << entry.path();
  }
}

TEST_F(Data, D2_S8_one_daemon_has_it_by_a_lock_and_not_by_a_number) {
  const auto first = DataFolder::open(root_ + "/d").value();
  const auto second = DataFolder::open(root_ + "/d").value();
  std::ofstream(root_ + "/d/lock") << getpid();  // a stale number has no effect
  ASSERT_TRUE(first->lock().has_value());
  EXPECT_EQ(second->lock().error().code(), Code::conflict);
}

TEST_F(Data, N16_a_folder_that_others_may_read_is_refused) {
  fs::create_directory(root_ + "/d");
  chmod((root_ + "/d").c_str(), 0755);
  EXPECT_EQ(DataFolder::open(root_ + "/d").error().code(), Code::denied);
}

class Launch : public Data {
 protected:
  Launch() : data_(DataFolder::open(root_ + "/d").value()) {
    agents_.add(demo_agent_definition("/opt/perdure"));
    spec_.agent.name = "demo";
    spec_.session = SessionId(Ulid{1, 2});
    spec_.exec = ExecId(Ulid{1, 3});
    spec_.workspace.cwd = "/w";
  }
  Result<Bootstrap> make() {
    return make_launch({*data_, places_, agents_, config_, "key"}, spec_);
  }

  std::unique_ptr<DataFolder> data_;
  Places places_{.home = "/h/ada", .user = "ada"};
  AgentCatalog agents_;
  Config config_;
  LaunchSpec spec_;
};

TEST_F(Launch, C13_an_imported_session_starts_nowhere_until_it_is_bound) {
  spec_.workspace.cwd.clear();
  EXPECT_EQ(make().error().code(), Code::workspace_missing);
}

TEST_F(Launch, C13_an_imported_session_starts_nobody_until_an_agent_is_named) {
  spec_.agent.name.clear();
  const Result<Bootstrap> made = make();
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code(), Code::agent_unknown);
  EXPECT_TRUE(made.error().message().starts_with("no agent is named")) << made.error().message();
}

TEST_F(Launch, C13_the_workspace_of_an_imported_session_needs_no_agent) {
  spec_.agent.name.clear();
  spec_.wants_agent = false;
  const Result<Bootstrap> made = make();
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_TRUE(made->agent.command.empty());
  EXPECT_TRUE(made->agent.environment.contains("PATH"));
  spec_.agent.name = "gone";
  EXPECT_EQ(make().error().code(), Code::agent_unknown) << "one that is named is meant";
}

TEST_F(Launch, C19_an_execution_is_found_by_what_its_start_said_whatever_its_agent_is_now) {
  for (const char* const runtime : {"local_pc", "local_docker", "remote"}) {
    spec_.runtime = runtime;
    spec_.agent.name = "demo";
    const Bootstrap started = make().value();
    spec_.agent.name = "gone";
    const Bootstrap found = make_identity({*data_, places_, agents_, config_, "key"}, spec_);
    EXPECT_EQ(found.secret, started.secret);
    EXPECT_EQ(found.owner, started.owner);
    EXPECT_EQ(found.run_folder, started.run_folder);
    EXPECT_EQ(found.spool_folder, started.spool_folder);
  }
}

TEST_F(Launch, K19_values_come_from_the_data_folder_and_the_profile) {
  ASSERT_TRUE(keep_environment(*data_, spec_.session, {{"API_KEY", "s3cret"}}).has_value());
  const Bootstrap bootstrap = make().value();
  EXPECT_EQ(bootstrap.agent.environment.at("API_KEY"), "s3cret");
  EXPECT_EQ(bootstrap.agent.command, (std::vector<std::string>{"/opt/perdure", "demo-agent"}));
  EXPECT_EQ(make()->secret, bootstrap.secret) << "an agentctl is found again by it";
}

TEST_F(Launch, X31_D9_nothing_of_the_daemons_environment_leaks) {
  setenv("PERDURE_TOKEN", "t", 1);
  setenv("SOME_SECRET", "s", 1);
  const Bootstrap bootstrap = make().value();
  unsetenv("PERDURE_TOKEN");
  unsetenv("SOME_SECRET");
  EXPECT_FALSE(bootstrap.agent.environment.contains("PERDURE_TOKEN"));
  EXPECT_FALSE(bootstrap.agent.environment.contains("SOME_SECRET"));
  EXPECT_TRUE(bootstrap.agent.environment.contains("PATH"));
  EXPECT_TRUE(bootstrap.agent.environment.contains("HOME"));
}

TEST_F(Launch, K42_an_agent_resumed_by_flags_is_told_its_session_and_its_last_message) {
  agents_.add({.profile = {.name = "flags", .native_session_resume = true},
               .command = {"agent"},
               .resume_args = {"--resume", "{session}"},
               .resume_at_args = {"--resume-session-at={message}"}});
  spec_.agent.name = "flags";
  using Words = std::vector<std::string>;
  EXPECT_EQ(make()->agent.command, (Words{"agent"})) << "nothing to resume";
  spec_.agent_session_id = "s-1";
  EXPECT_EQ(make()->agent.command, (Words{"agent", "--resume", "s-1"}));
  spec_.last_message_id = "uuid-7";
  EXPECT_EQ(make()->agent.command,
            (Words{"agent", "--resume", "s-1", "--resume-session-at=uuid-7"}));
}

TEST_F(Launch, X31_a_pattern_passes_what_begins_so_and_stripped_ones_never_pass) {
  agents_.add({.profile = {.name = "env"},
               .command = {"/bin/sh"},
               .env_pass = {"MAKER_*", "PERDURE*"},
               .env_strip = {"MAKER_INSIDE"}});
  spec_.agent.name = "env";
  for (const char* name : {"MAKER_KEY", "MAKER_INSIDE", "PERDURE_TOKEN"}) setenv(name, "x", 1);
  const auto environment = make()->agent.environment;
  for (const char* name : {"MAKER_KEY", "MAKER_INSIDE", "PERDURE_TOKEN"}) unsetenv(name);
  EXPECT_TRUE(environment.contains("MAKER_KEY"));
  EXPECT_FALSE(environment.contains("MAKER_INSIDE"));
  EXPECT_FALSE(environment.contains("PERDURE_TOKEN"));
}

TEST_F(Launch, X12_quirks_become_times_and_npx_gets_time_to_fetch) {
  fs::create_directories(root_ + "/bin");
  std::ofstream(root_ + "/bin/npx") << "#!/bin/sh\n";
  fs::permissions(root_ + "/bin/npx", fs::perms::owner_all);
  AgentDefinition agent{.profile = {.name = "far"},
                        .command = {"far-agent", "--acp"},
                        .npm = "far@1.0.0",
                        .env = {{"PATH", root_ + "/bin"}},
                        .quirks = {.load_slot_ms = 60'000, .exits_on_eof = false}};
  agents_.add(agent);
  spec_.agent.name = "far";
  spec_.context_opened = Timestamp{1'780'000'030'000};
  const AgentLaunch launch = make()->agent;
  EXPECT_EQ(launch.command, (std::vector<std::string>{"npx", "-y", "far@1.0.0", "--acp"}));
  EXPECT_GT(launch.times.initialize_ms, AgentTimes{}.initialize_ms);
  EXPECT_EQ(launch.times.stop_grace_ms, 1);
  EXPECT_EQ(launch.times.load_not_before.ms, 1'780'000'081'000) << "the next minute, and a second";
  // A living agent is found again even if its program is gone.
  fs::remove(root_ + "/bin/npx");
  EXPECT_EQ(make()->agent.command, agent.command);
  EXPECT_EQ(make()->secret, make()->secret);
}

TEST_F(Launch, G8_limits_are_the_sessions_own_or_the_daemons) {
  const AgentLimits daemons{.memory_bytes = 1L << 30, .run_ms = 5000};
  const auto launch = [&] {
    return make_launch({*data_, places_, agents_, config_, "key", daemons}, spec_).value();
  };
  EXPECT_EQ(launch().limits, daemons);
  EXPECT_EQ(launch().agent.times.run_ms, 5000);
  spec_.limits = AgentLimits{.processes = 9};
  EXPECT_EQ(launch().limits.memory_bytes, 0);
  EXPECT_EQ(launch().limits.processes, 9);
  EXPECT_EQ(launch().agent.times.run_ms, 0);
}

TEST_F(Launch, X17_processes_are_marked_with_the_very_folder) {
  const std::unique_ptr<DataFolder> other = DataFolder::open(root_ + "/other").value();
  EXPECT_EQ(make()->owner, data_->identity());
  EXPECT_NE(data_->identity(), other->identity());
}

TEST_F(Data, G2_answers_that_expired_are_forgotten_and_those_for_ever_stay) {
  fs::create_directories(root_ + "/s");
  const std::unique_ptr<SqliteStore> store =
      SqliteStore::open({.path = root_ + "/s/perdure.db"}).value();
  const auto answer = [](const char* key, std::optional<Timestamp> expires) {
    return StoredAnswer{.key = key, .answer = "yes", .expires = expires};
  };
  bool is_durable = false;
  store->append({.session = SessionId(Ulid{1, 2}),
                 .epoch = store->epoch(),
                 .records = {"a"},
                 .answers = {answer("old", Timestamp{1000}), answer("young", Timestamp{9000}),
                             answer("prompt", std::nullopt)}},
                [&](Result<> done) { is_durable = done.has_value(); });
  ASSERT_TRUE(store->step());
  ASSERT_TRUE(is_durable);
  const auto has = [&](const char* key) { return store->answer(key)->has_value(); };
  {
    StoreThread thread(*store, {.now = [] { return Timestamp{5000}; }});
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (has("old") && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  }
  EXPECT_FALSE(has("old"));
  EXPECT_TRUE(has("young"));
  EXPECT_TRUE(has("prompt"));
}

// Each commit queues the next one: the thread is never idle.
TEST_F(Data, G2_answers_that_expired_are_forgotten_under_steady_load_too) {
  fs::create_directories(root_ + "/s");
  const std::unique_ptr<SqliteStore> store =
      SqliteStore::open({.path = root_ + "/s/perdure.db"}).value();
  std::atomic<bool> is_over = false;
  Seq head = 0;
  std::function<void(std::vector<StoredAnswer>)> feed = [&](std::vector<StoredAnswer> answers) {
    store->append({.session = SessionId(Ulid{1, 2}),
                   .epoch = store->epoch(),
                   .expected_head = head++,
                   .records = {"a"},
                   .answers = std::move(answers)},
                  [&](const Result<>& done) {
                    if (done && !is_over) feed({});
                  });
  };
  feed({StoredAnswer{.key = "old", .answer = "yes", .expires = Timestamp{1000}}});
  ASSERT_TRUE(store->step());
  {
    StoreThread thread(*store, {.now = [] { return Timestamp{5000}; }});
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (store->answer("old")->has_value() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    is_over = true;
  }
  EXPECT_FALSE(store->answer("old")->has_value());
}

TEST_F(Launch, A9_an_agent_that_is_gone_is_said_to_be) {
  spec_.agent.name = "gone";
  EXPECT_EQ(make().error().code(), Code::agent_unknown);
}

TEST_F(Launch, a_name_that_is_none_is_refused) {
  EXPECT_EQ(keep_environment(*data_, spec_.session, {{"A=B", "x"}}).error().code(),
            Code::invalid_argument);
  EXPECT_EQ(keep_environment(*data_, spec_.session, {{"PERDURE_SESSION", "x"}}).error().code(),
            Code::invalid_argument);
}

TEST(LocalVerbs, S13_a_restore_puts_the_journal_aside_and_leaves_the_folders) {
  std::string home = testing::TempDir() + "perdure-restore-XXXXXX";
  ASSERT_NE(mkdtemp(home.data()), nullptr);
  ASSERT_EQ(setenv("PERDURE_HOME", home.c_str(), 1), 0);
  ASSERT_TRUE(DataFolder::open(home));
  {
    const auto store = SqliteStore::open({.path = home + "/perdure.db", .create = true}).value();
    ASSERT_TRUE(store->shut_down());
  }
  const cli::LocalVerbs verbs = local_verbs("/nowhere/perdure");
  const std::string backup = home + "/saved";
  ASSERT_TRUE(verbs.backup(backup));
  fs::create_directories(home + "/workspaces/session_x");
  std::ofstream(home + "/broken") << "this is no journal";

  EXPECT_EQ(verbs.restore({.file = backup}).error().code(), Code::conflict);
  EXPECT_EQ(verbs.restore({.file = home + "/none", .replace = true}).error().code(),
            Code::not_found);
  EXPECT_FALSE(verbs.restore({.file = home + "/broken", .replace = true}));
  EXPECT_FALSE(fs::exists(home + "/archive"));
  EXPECT_FALSE(fs::exists(home + "/perdure.db.restoring"));
  ASSERT_TRUE(fs::exists(home + "/perdure.db"));

  const auto restored = verbs.restore({.file = backup, .replace = true});
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_EQ(restored->sessions, 0U);
  EXPECT_TRUE(fs::exists(home + "/workspaces/session_x"));
  EXPECT_TRUE(verbs.verify(""));
  const fs::path kept = fs::directory_iterator(home + "/archive")->path();
  EXPECT_TRUE(fs::exists(kept / "perdure.db"));
  EXPECT_FALSE(fs::exists(kept / "workspaces"));
  unsetenv("PERDURE_HOME");
  fs::remove_all(home);
}

// A session with an open run, whose execution is gone or may live.
std::string write_open_run(SqliteStore& store, bool is_gone) {
  IdSource ids(Timestamp{1'700'000'000'000}, is_gone ? 1 : 2);
  const auto session = ids.next<SessionId>();
  const Origin origin{.run = ids.next<RunId>(), .exec = ids.next<ExecId>(), .gen = 1};
  std::vector<Event> events = {
      {.body = SessionCreated{.session = session, .agent = {.name = "demo"}}},
      {.origin = {.exec = origin.exec, .gen = 1}, .body = ExecutorStarting{}},
      {.origin = origin, .body = RunStarted{.trigger = "prompt"}},
      {.origin = origin, .body = ToolCall{.tool_call_id = "t1", .title = "make"}}};
  if (is_gone) events.push_back({.origin = origin, .body = ExecutorStopped{.reason = "lost"}});
  Append append{.session = session, .epoch = store.epoch()};
  Hash prev;
  for (std::uint64_t seq = 0; const Event& event : events) {
    append.records.push_back(encode_record(++seq, prev, event));
    prev = record_hash(append.records.back());
  }
  store.append(std::move(append), [](const Result<>& result) { ASSERT_TRUE(result); });
  while (store.step()) {}
  return session.text();
}

TEST(LocalVerbs, A14_without_a_daemon_a_dry_repair_says_what_would_be_written_and_writes_nothing) {
  std::string home = testing::TempDir() + "perdure-repair-XXXXXX";
  ASSERT_NE(mkdtemp(home.data()), nullptr);
  ASSERT_EQ(setenv("PERDURE_HOME", home.c_str(), 1), 0);
  ASSERT_TRUE(DataFolder::open(home));
  std::string gone;
  std::string living;
  {
    const auto store = SqliteStore::open({.path = home + "/perdure.db", .create = true}).value();
    gone = write_open_run(*store, true);
    living = write_open_run(*store, false);
    ASSERT_TRUE(store->shut_down());
  }
  const cli::LocalVerbs verbs = local_verbs("/nowhere/perdure");
  const auto plan = verbs.repair({.session = gone, .dry_run = true});
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->steps, (std::vector<std::string>{gone + ": add repair.closed_tool t1",
                                                   gone + ": add run.interrupted",
                                                   gone + ": add status.derived"}));
  EXPECT_EQ(verbs.repair({.session = gone, .dry_run = true})->steps, plan->steps);
  const auto other = verbs.repair({.session = living, .dry_run = true});
  ASSERT_EQ(other->steps.size(), 1U);
  EXPECT_TRUE(other->steps[0].contains("still runs")) << other->steps[0];
  EXPECT_EQ(verbs.repair({.session = gone}).error().code(), Code::unavailable);
  unsetenv("PERDURE_HOME");
  fs::remove_all(home);
}

// A process that listens like a daemon until it is stopped.
pid_t spawn_listener(const std::string& folder) {
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = folder + "/perdure.sock";
  std::memcpy(static_cast<void*>(address.sun_path), path.data(), path.size());
  Pipe ready = make_pipe().value();
  const pid_t child = fork();
  if (child == 0) {
    const bool listens =
        bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        listen(socket.get(), 8) == 0 && write(ready.write.get(), "x", 1) == 1;
    while (listens) pause();
    _exit(1);
  }
  char byte = 0;
  ready.write.reset();
  EXPECT_EQ(read(ready.read.get(), &byte, 1), 1);
  return child;
}

TEST(StopDaemon, who_listens_is_told_and_nobody_else) {
  std::string folder = testing::TempDir() + "perdure-stop-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  EXPECT_EQ(stop_daemon(folder + "/none").error().code(), Code::not_found);
  EXPECT_EQ(stop_daemon(folder).error().code(), Code::not_found);
  const pid_t child = spawn_listener(folder);
  EXPECT_TRUE(stop_daemon(folder));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  // The socket's file still exists, but no process listens.
  EXPECT_EQ(stop_daemon(folder).error().code(), Code::not_found);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace perdure
