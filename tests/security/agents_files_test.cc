// The daemon never acts on files that an agent wrote: creating a worktree runs no program of a
// repository, no session works in the data folder, and a restart requested from inside runs the
// same program again.
#include <filesystem>
#include <fstream>

#include <sys/stat.h>

#include "env/posix/confine/confine.h"
#include "inside.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

class AgentsFiles : public InsideTest {
 protected:
  std::string home() const { return daemon_->process.home(); }
  ProgramRun sh(const std::string& command) const {
    return run_program({"/bin/sh", "-c", command}, daemon_->process.environment());
  }
  // A program that creates a file when it runs.
  std::string planted() const { return folder("loot") + "/program"; }
  bool has_run() const { return fs::exists(folder("loot") + "/ran"); }
  // A repository that names a program wherever git could run one when it creates a worktree.
  std::string hostile_repository() {
    const std::string repo = folder("repo");
    write_file(planted(), "#!/bin/sh\necho \"$0 $*\" >> " + folder("loot") + "/ran\ncat\n");
    fs::permissions(planted(), fs::perms::owner_all);
    const ProgramRun made =
        sh("cd " + repo +
           " && git init -q -b main && git config user.name a && "
           "git config user.email a@b && echo '* filter=evil diff=evil' > .gitattributes && "
           "echo content > file.txt && git add . && git commit -q -m one");
    EXPECT_EQ(made.exit_code, 0) << made.output;
    for (const char* hook : {"post-checkout", "reference-transaction", "post-index-change",
                             "pre-commit", "fsmonitor-watchman"}) {
      fs::copy_file(planted(), repo + "/.git/hooks/" + std::string(hook),
                    fs::copy_options::overwrite_existing);
    }
    fs::create_directories(repo + "/.git/info");
    write_file(repo + "/.git/info/attributes", "* filter=evil\n");
    const std::string evil = "[filter \"evil\"]\n\tsmudge = " + planted() +
                             "\n\tclean = " + planted() + "\n\tprocess = " + planted() +
                             "\n\trequired = false\n";
    write_file(repo + "/.git/evil.config", evil);
    std::ofstream(repo + "/.git/config", std::ios::app)
        << evil << "[core]\n\tfsmonitor = " << planted() << "\n\tpager = " << planted()
        << "\n\thooksPath = " << repo << "/.git/hooks\n\tsshCommand = " << planted()
        << "\n\talternateRefsCommand = " << planted() << "\n\taskPass = " << planted()
        << "\n[include]\n\tpath = " << repo << "/.git/evil.config\n"
        << "[includeIf \"onbranch:**\"]\n\tpath = " << repo << "/.git/evil.config\n"
        << "[diff]\n\texternal = " << planted() << "\n[diff \"evil\"]\n\tcommand = " << planted()
        << "\n\ttextconv = " << planted() << "\n[gpg]\n\tprogram = " << planted()
        << "\n[credential]\n\thelper = " << planted() << "\n";
    return repo;
  }
};

TEST_F(AgentsFiles, SEC1_making_a_worktree_runs_no_program_of_the_repository) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string repo = hostile_repository();
  // The trap works: plain git runs the program.
  sh("cd " + repo + " && git worktree add -q -b trap ../trap");
  ASSERT_TRUE(has_run());
  fs::remove(folder("loot") + "/ran");
  const ApiReply made = client().post(
      "/api/sessions", R"({"agent":"test","cwd":")" + repo + R"(","worktree":{"branch":""}})");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string path = made.at("session.worktree_path");
  EXPECT_EQ(read_text(path + "/file.txt"), "content\n");
  EXPECT_EQ(read_text(path + "/.gitattributes"), "* filter=evil diff=evil\n");
  const ApiReply forked =
      client().post("/api/sessions/" + made.at("session_id") + "/fork", R"({"branch":"two"})");
  EXPECT_EQ(forked.status, 201) << forked.body;
  EXPECT_FALSE(has_run()) << read_text(folder("loot") + "/ran");
  // It is a normal worktree.
  const ProgramRun status = sh("cd " + path +
                               " && git -c core.fsmonitor=false "
                               "-c filter.evil.clean=cat -c filter.evil.process= "
                               "status --porcelain && git branch --show-current");
  EXPECT_NE(status.output.find("perdure/" + made.at("session_id")), std::string::npos)
      << status.output;
  EXPECT_EQ(status.output.find("file.txt"), std::string::npos) << status.output;
  // The journal's facts about it, for containers.
  EXPECT_NE(client()
                .records(made.at("session_id"))
                .front()
                .find(R"("worktree_repository":")" + fs::canonical(repo).string() + "/.git\""),
            std::string::npos);
}

TEST_F(AgentsFiles, SEC1_from_inside_a_worktree_gives_nobody_the_token) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string agent = hostile_session();
  const std::string repo = hostile_repository();
  write_file(planted(), "#!/bin/sh\ncat " + home() + "/token >> " + folder("loot") + "/ran\n");
  const InsideAnswer made =
      ask_one(agent, {"POST", "/api/sessions",
                      R"({"agent":"test","cwd":")" + repo + R"(","worktree":{"branch":""}})"});
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_FALSE(has_run()) << read_text(folder("loot") + "/ran");
}

TEST_F(AgentsFiles, SEC1_a_branch_that_exists_is_taken_and_one_that_is_in_use_is_refused) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string repo = folder("plain");
  ASSERT_EQ(sh("cd " + repo +
               " && git init -q -b main && git -c user.name=a -c user.email=a@b "
               "commit -q --allow-empty -m one && git branch topic")
                .exit_code,
            0);
  const auto make = [&](const std::string& branch) {
    return client().post("/api/sessions", R"({"agent":"test","cwd":")" + repo +
                                              R"(","worktree":{"branch":")" + branch + "\"}}");
  };
  const ApiReply taken = make("topic");
  EXPECT_EQ(taken.status, 201) << taken.body;
  EXPECT_EQ(taken.at("session.worktree_branch"), "topic");
  const ApiReply refused = make("main");
  EXPECT_EQ(refused.status, 409) << refused.body;
  EXPECT_NE(refused.at("error.message").find("git: "), std::string::npos) << refused.body;
  // git would run `git branch -D HEAD`.
  ASSERT_EQ(sh("cd " + repo + " && git update-ref refs/heads/HEAD main").exit_code, 0);
  EXPECT_EQ(make("-D").status, 400);
  EXPECT_EQ(sh("cd " + repo + " && git show-ref --verify refs/heads/HEAD").exit_code, 0);
  std::size_t folders = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(home() + "/worktrees"))
    ++folders;
  EXPECT_EQ(folders, 1u) << "nothing is left of the one that was refused";
  EXPECT_EQ(client()
                .post("/api/sessions", R"({"agent":"test","cwd":")" + folder("empty") +
                                           R"(","worktree":{"branch":""}})")
                .status,
            409);
}

TEST_F(AgentsFiles, SEC1_git_for_a_worktree_does_not_see_the_data_folder) {
  if (const Confinement here = try_namespaces(); here.level == ConfinementLevel::none) {
    GTEST_SKIP() << here.reason;
  }
  ASSERT_NO_FATAL_FAILURE(start());
  // A repository whose .git points into another session's workspace.
  const std::string victim = client().create_session({});
  const std::string workspace = home() + "/workspaces/session_" + victim;
  ASSERT_EQ(sh("cd " + workspace +
               " && git init -q -b main && echo secret > s && git add s && "
               "git -c user.name=a -c user.email=a@b commit -q -m one")
                .exit_code,
            0);
  const std::string repo = folder("linked");
  write_file(repo + "/.git", "gitdir: " + workspace + "/.git\n");
  const ApiReply refused = client().post(
      "/api/sessions", R"({"agent":"test","cwd":")" + repo + R"(","worktree":{"branch":""}})");
  EXPECT_EQ(refused.status, 409) << refused.body;
}

class DataFolders : public AgentsFiles {
 protected:
  // Folders in which no session may work.
  std::vector<std::string> forbidden(const std::string& victim) {
    const std::string outside = folder("links");
    std::error_code ignored;
    fs::create_directory_symlink(home(), outside + "/data", ignored);
    fs::create_directory_symlink(home() + "/env", outside + "/env", ignored);
    fs::create_directory_symlink(home() + "/workspaces/session_" + victim, outside + "/other",
                                 ignored);
    fs::create_directory_symlink("/proc/self", outside + "/kernel", ignored);
    return {home(),
            home() + "/",
            home() + "/env",
            home() + "/spool",
            home() + "/remotes",
            home() + "/log",
            home() + "/run",
            home() + "/workspaces",
            home() + "/worktrees",
            home() + "/workspaces/../env",
            fs::path(home()).parent_path().string(),
            "/",
            outside + "/data",
            outside + "/env",
            outside + "/data/env",
            outside + "/other",
            "/proc",
            "/proc/self",
            "/dev/fd/",
            "/sys",
            outside + "/kernel"};
  }
  static std::string in_cwd(const std::string& cwd) {
    return R"({"agent":"test","cwd":")" + cwd + "\"}";
  }
};

TEST_F(DataFolders, SEC3_no_session_is_made_or_moved_into_the_data_folder_or_around_it) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string victim = client().create_session({});
  const std::string session = client().create_session({});
  const std::string agent = hostile_session();
  std::vector<InsideRequest> inside;
  for (const std::string& cwd : forbidden(victim)) {
    const ApiReply made = client().post("/api/sessions", in_cwd(cwd));
    EXPECT_EQ(made.status, 400) << cwd << " " << made.body;
    const ApiReply moved = client().call({.method = "PATCH",
                                          .path = "/api/sessions/" + session,
                                          .body = R"({"cwd":")" + cwd + "\"}"});
    EXPECT_EQ(moved.status, 400) << cwd << " " << moved.body;
    const ApiReply tree = client().post(
        "/api/sessions", R"({"agent":"test","worktree":{"branch":""},"cwd":")" + cwd + "\"}");
    EXPECT_EQ(tree.status, 400) << cwd << " " << tree.body;
    inside.push_back({"POST", "/api/sessions", in_cwd(cwd)});
    inside.push_back({"PATCH", "/api/sessions/" + agent, R"({"cwd":")" + cwd + "\"}"});
  }
  const std::string others = home() + "/workspaces/session_" + victim;
  inside.push_back({"POST", "/api/sessions", in_cwd(others)});
  const std::vector<InsideAnswer> answers = ask_inside(agent, inside);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    EXPECT_EQ(answers[i].status, 400) << inside[i].body << " " << answers[i].body;
  }
}

TEST_F(DataFolders, SEC3_a_session_works_in_its_own_workspace_and_in_a_copy_of_it) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string session = client().create_session({});
  const std::string own = home() + "/workspaces/session_" + session;
  ASSERT_TRUE(client().prompt({.session = session, .text = "say 1"}).ok());
  ASSERT_TRUE(until([&] { return client().count(session, "run.completed") == 1; }));
  const ApiReply copy =
      client().post("/api/sessions/" + session + "/fork", R"({"share_cwd":true})");
  ASSERT_EQ(copy.status, 201) << copy.body;
  ASSERT_TRUE(client().prompt({.session = copy.at("session.id"), .text = "say 1"}).ok());
  EXPECT_TRUE(until([&] { return client().count(copy.at("session.id"), "run.completed") == 2; }));
  ASSERT_TRUE(client().post("/api/sessions/" + session + "/stop").ok());
  ASSERT_TRUE(until([&] { return client().count(session, "executor.stopped") == 1; }));
  const ApiReply moved = client().call(
      {.method = "PATCH", .path = "/api/sessions/" + session, .body = R"({"cwd":")" + own + "\"}"});
  EXPECT_TRUE(moved.ok()) << moved.body;
}

TEST_F(DataFolders, SEC20_nobody_makes_a_session_that_works_in_the_folder_of_another) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string victim = client().create_session({});
  const std::string session = client().create_session({});
  const std::string theirs = home() + "/workspaces/session_" + victim;
  for (const std::string& cwd : {theirs, theirs + "/inner"}) {
    fs::create_directories(cwd);
    const std::string body = R"("cwd":")" + cwd + "\"}";
    for (const ApiReply& reply :
         {client().post("/api/sessions", R"({"agent":"test",)" + body),
          client().post("/api/sessions", R"({"agent":"test","worktree":{"branch":""},)" + body),
          client().call(
              {.method = "PATCH", .path = "/api/sessions/" + session, .body = "{" + body}),
          client().post("/api/import?agent=test&agent_session_id=a&cwd=" + cwd,
                        client().get("/api/sessions/" + victim + "/export").body)}) {
      EXPECT_EQ(reply.status, 400) << cwd << " " << reply.body;
      EXPECT_NE(reply.at("error.message").find("was made for the session " + victim),
                std::string::npos)
          << reply.body;
    }
  }
}

TEST_F(DataFolders, SEC20_a_session_shares_its_own_folder_and_not_that_of_one_it_made) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string agent = hostile_session();
  const auto own = [&](const std::string& session) {
    return home() + "/workspaces/session_" + session;
  };
  const std::vector<InsideAnswer> made =
      ask_inside(agent, {{"POST", "/api/sessions", in_cwd(own(agent))},
                         {"POST", "/api/sessions", R"({"agent":"test"})"},
                         {"POST", "/api/sessions/" + agent + "/fork", R"({"share_cwd":true})"}});
  for (const InsideAnswer& each : made) ASSERT_EQ(each.status, 201) << each.body;
  const std::string child = made[0].at("session_id");
  ASSERT_TRUE(client().prompt({.session = child, .text = "say 1"}).ok());
  EXPECT_TRUE(until([&] { return client().count(child, "run.completed") == 1; }))
      << client().get("/api/sessions/" + child).body;
  const std::string other = made[1].at("session_id");
  EXPECT_EQ(ask_one(agent, {"POST", "/api/sessions", in_cwd(own(other))}).status, 400);
}

// A folder that was not there when the session was bound to it.
TEST_F(DataFolders, SEC20_no_agent_starts_in_the_folder_of_another_session) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string victim = client().create_session({});
  const std::string theirs = home() + "/workspaces/session_" + victim;
  ASSERT_TRUE(client().prompt({.session = victim, .text = "say 1"}).ok());
  ASSERT_TRUE(until([&] { return client().count(victim, "run.completed") == 1; }));
  ASSERT_TRUE(client().post("/api/sessions/" + victim + "/stop").ok());
  ASSERT_TRUE(until([&] { return client().count(victim, "executor.stopped") == 1; }));
  fs::rename(theirs, folder("away") + "/moved");
  const ApiReply adopted = client().post("/api/import?agent=test&agent_session_id=a&cwd=" + theirs,
                                         client().get("/api/sessions/" + victim + "/export").body);
  ASSERT_EQ(adopted.status, 201) << adopted.body;
  fs::rename(folder("away") + "/moved", theirs);
  const std::string session = adopted.at("session_id");
  const std::size_t before = client().count(session, "agent.started");
  client().prompt({.session = session, .text = "say 1"});
  EXPECT_TRUE(until([&] {
    return client().get("/api/sessions/" + session).body.find("was made for the session") !=
           std::string::npos;
  })) << client().get("/api/sessions/" + session).body;
  EXPECT_EQ(client().count(session, "agent.started"), before);
}

TEST_F(DataFolders, SEC3_a_symlink_that_is_swapped_afterwards_starts_no_agent_there) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::pair<std::string, std::string> swaps[] = {
      {home() + "/env", "Perdure's own files"}, {"/proc/self", "a file system of the kernel"}};
  for (const auto& [target, reason] : swaps) {
    const std::string place = folder("place");
    const std::string session = client().create_session({.more = R"("cwd":")" + place + "\""});
    ASSERT_FALSE(session.empty());
    fs::remove_all(place);
    fs::create_directory_symlink(target, place);
    client().prompt({.session = session, .text = "say 1"});
    EXPECT_TRUE(until([&] {
      return client().get("/api/sessions/" + session).at("session.error_message").find(reason) !=
             std::string::npos;
    })) << client().get("/api/sessions/" + session).body;
    EXPECT_EQ(client().get("/api/sessions/" + session + "/fs/list").status, 400);
    EXPECT_EQ(client().count(session, "agent.started"), 0u);
    fs::remove(place);
  }
}

// The daemon checks when it starts an agentctl; this tests the agentctl's own check, for changes
// between the two.
TEST_F(DataFolders, SEC3_agentctl_itself_starts_nothing_in_the_data_folder) {
  ASSERT_NO_FATAL_FAILURE(start());
  const auto start_in = [&](const std::string& cwd) {
    const std::string bootstrap =
        R"({"v":1,"session_id":"sess_01ka3qq5rk0000000000000002",)"
        R"("exec_id":"exec_01ka3qq5rk0000000000000001","gen":1,"secret":"s","owner":"1.1",)"
        R"("run_folder":")" +
        folder("run") + R"(","spool_folder":")" + folder("spool") + R"(","cwd":")" + cwd +
        R"(","hide":")" + home() + R"(","survive":true,"agent":{"command":["true"]}})";
    write_file(folder("links") + "/bootstrap.json", bootstrap);
    return sh(std::string(PERDURE_AGENTCTL) + " start < " + folder("links") + "/bootstrap.json");
  };
  const std::string link = folder("links") + "/late";
  fs::create_directory_symlink(home() + "/env", link);
  const ProgramRun started = start_in(link);
  EXPECT_NE(started.output.find("Perdure's own files"), std::string::npos) << started.output;
  EXPECT_EQ(started.exit_code, 1);
  const ProgramRun in_itself = start_in("/proc/self");
  EXPECT_NE(in_itself.output.find("a file system of the kernel"), std::string::npos)
      << in_itself.output;
  EXPECT_EQ(in_itself.exit_code, 1);
}

class Restart : public AgentsFiles {
 protected:
  void begin() {
    DaemonSetup setup;
    const std::string bin = testing::TempDir() + "perdure-restart-" + std::to_string(getpid());
    fs::remove_all(bin);
    fs::create_directories(bin);
    for (const char* program : {PERDURE_PROGRAM, PERDURE_AGENTCTL}) fs::copy(program, bin);
    setup.program = bin + "/perdure";
    bin_ = bin;
    ASSERT_NO_FATAL_FAILURE(start("", setup));
  }
  void TearDown() override {
    daemon_.reset();
    if (!bin_.empty()) fs::remove_all(bin_);
  }
  std::string boot() const { return client().get("/api/daemon").at("boot_id"); }
  std::string bin_;
};

TEST_F(Restart, SEC14_a_restart_from_inside_runs_the_program_that_runs_already) {
  ASSERT_NO_FATAL_FAILURE(begin());
  const std::string agent = hostile_session();
  struct stat running{};
  const std::string exe = "/proc/" + std::to_string(daemon_->process.pid()) + "/exe";
  ASSERT_EQ(stat(exe.c_str(), &running), 0);
  // The agent replaces the daemon's program and configuration with its own.
  write_file(bin_ + "/perdure.new", "#!/bin/sh\ntouch " + folder("loot") + "/ran\nsleep 1\n");
  fs::permissions(bin_ + "/perdure.new", fs::perms::owner_all);
  fs::rename(bin_ + "/perdure.new", bin_ + "/perdure");
  std::ofstream(daemon_->process.config_file(), std::ios::app) << "\nno = 'configuration'\n";
  const std::string before = boot();
  int status = 0;
  ASSERT_TRUE(until([&] {
    status = ask_one(agent, {"POST", "/api/restart", "{}"}).status;
    return status != 429;
  }));
  EXPECT_EQ(status, 202);
  ASSERT_TRUE(until([&] {
    const std::string now = boot();
    return !now.empty() && now != before;
  }));
  EXPECT_FALSE(has_run());
  struct stat now{};
  ASSERT_EQ(stat(exe.c_str(), &now), 0);
  EXPECT_EQ(now.st_ino, running.st_ino);
  EXPECT_EQ(ask_one(agent, {"GET", "/api/sessions/" + agent}).status, 200);
  // Otherwise an agent could cut every stream once per second, indefinitely.
  ASSERT_TRUE(until([&] {
    return ask_one(agent, {"POST", "/api/restart", "{}"}).body.contains("once in 10 minutes");
  }));
}

// The agent puts a program of its own in the place of the one that starts agents, by a new file or
// in the file that is there.
TEST_F(Restart, SEC15_an_agentctl_that_an_agent_replaces_is_started_by_nobody) {
  ASSERT_NO_FATAL_FAILURE(begin());
  const std::string program = bin_ + "/perdure-agentctl";
  const std::string repo = folder("repository");
  ASSERT_EQ(sh("git init -q -b main " + repo + " && git -C " + repo +
               " -c user.name=a -c user.email=a@b commit -q --allow-empty -m one")
                .exit_code,
            0);
  write_file(planted(), "#!/bin/sh\necho $* >> " + folder("loot") + "/ran\nexec " +
                            PERDURE_AGENTCTL + " \"$@\"\n");
  fs::permissions(planted(), fs::perms::all);
  const auto work = [&] {
    const std::string session = client().create_session({});
    EXPECT_TRUE(client().prompt({.session = session, .text = "say 1"}).ok());
    EXPECT_TRUE(until([&] { return client().count(session, "run.completed") == 1; }))
        << client().get("/api/sessions/" + session).body;
    const ApiReply tree = client().post(
        "/api/sessions", R"({"agent":"test","cwd":")" + repo + R"(","worktree":{"branch":""}})");
    EXPECT_EQ(tree.status, 201) << tree.body;
  };
  const std::string agent = hostile_session();
  run_inside(agent, "cp " + planted() + " " + program + ".new; mv " + program + ".new " + program);
  work();
  run_inside(agent, "cat " + planted() + " > " + program);
  work();
  EXPECT_FALSE(has_run()) << read_text(folder("loot") + "/ran");
  // Nor after a restart that the agent asked for.
  const std::string before = boot();
  ASSERT_TRUE(until([&] { return ask_one(agent, {"POST", "/api/restart", "{}"}).status == 202; }));
  ASSERT_TRUE(until([&] { return !boot().empty() && boot() != before; }));
  work();
  EXPECT_FALSE(has_run()) << read_text(folder("loot") + "/ran");
  // A restart by a person takes what was installed, as after an upgrade.
  const std::string again = boot();
  ASSERT_TRUE(until([&] { return client().post("/api/restart", "{}").status == 202; }));
  ASSERT_TRUE(until([&] { return !boot().empty() && boot() != again; }));
  work();
  EXPECT_TRUE(has_run());
}

TEST_F(Restart, SEC14_a_token_bound_to_a_session_restarts_nothing) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string session = client().create_session({});
  for (const char* scope : {"operate", "admin"}) {
    const std::string token =
        daemon_->make_token(R"({"name":"bound","scopes":[")" + std::string(scope) +
                            R"("],"sessions":[")" + session + R"("]})");
    ASSERT_FALSE(token.empty());
    EXPECT_EQ(daemon_->with_token(token, {.method = "POST", .target = "/api/restart", .body = "{}"})
                  .status,
              403)
        << scope;
  }
}

}  // namespace
}  // namespace perdure
