// Q4, PROC6: everything that a session had on the machine is removed with it: processes, sockets,
// locks, spools, temporary files, values of its environment.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "daemon_test.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

class Ownership : public DaemonTest {
 protected:
  // A session whose agent has started processes inside and outside its process group.
  std::string busy_session() {
    const std::string session = client_->create_session({.more = R"("env":{"CANARY":"bird"})"});
    const ApiReply sent = client_->prompt(
        {.session = session, .text = "spawn_child setsid; spawn_child child; say 1"});
    EXPECT_TRUE(sent.ok()) << sent.body;
    EXPECT_TRUE(until_count(session, "run.completed", 1));
    EXPECT_TRUE(until([&] { return processes_of(session) >= 4; }));
    EXPECT_GE(files_of(session).size(), 2u) << "what is looked for can be found";
    return session;
  }
  std::size_t processes_of(const std::string& session) const {
    return static_cast<std::size_t>(
        std::ranges::count(daemon_->processes(), session, &MarkedProcess::session));
  }
  // All files in the data folder named after the session or one of its executions, except the
  // workspace and the store.
  std::vector<std::string> files_of(const std::string& session) {
    std::vector<std::string> names = {session};
    for (const std::string& record : client_->records(session)) {
      if (const std::string exec = json_at(record, "exec_id"); !exec.empty()) {
        if (std::ranges::find(names, exec) == names.end()) names.push_back(exec);
      }
    }
    std::ranges::copy(names, std::inserter(known_[session], known_[session].end()));
    return files_named(session);
  }
  std::vector<std::string> files_named(const std::string& session) {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(daemon_->home())) {
      const std::string path = entry.path().string();
      if (path.find("/workspaces/") != std::string::npos) continue;
      for (const std::string& name : known_[session]) {
        if (path.find(name) != std::string::npos) found.push_back(path);
      }
    }
    return found;
  }

  static bool is_free(const std::string& lock) {
    const int file = open(lock.c_str(), O_RDWR | O_CLOEXEC);
    const bool is_free = file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0;
    if (file >= 0) close(file);
    return is_free;
  }

  std::map<std::string, std::set<std::string>> known_;
};

TEST_F(Ownership, Q4_PROC6_a_session_that_was_stopped_and_archived_owns_nothing_that_runs) {
  begin();
  const std::string session = busy_session();
  ASSERT_TRUE(client_->post("/api/sessions/" + session + "/stop").ok());
  ASSERT_TRUE(client_->post("/api/sessions/" + session + "/archive").ok());
  EXPECT_TRUE(until([&] { return processes_of(session) == 0; }));
  std::vector<std::string> left;
  const auto owns_nothing = [&] {
    left = files_of(session);
    // It may be restored: its environment's values are kept for that, and so is its lock file,
    // which is not locked.
    std::erase_if(left, [](const std::string& path) {
      return path.contains("/env/") || (path.ends_with(".lock") && is_free(path));
    });
    return left.empty();
  };
  EXPECT_TRUE(until(owns_nothing, 20'000)) << testing::PrintToString(left);
}

TEST_F(Ownership, Q4_PROC6_a_deleted_session_leaves_no_file_and_no_process) {
  begin();
  const std::string session = busy_session();
  const ApiReply deleted = client_->call(
      {.method = "DELETE", .path = "/api/sessions/" + session + "?confirm=true&force=1"});
  ASSERT_TRUE(deleted.ok()) << deleted.body;
  EXPECT_TRUE(until([&] { return processes_of(session) == 0; }));
  EXPECT_TRUE(until([&] { return files_named(session).empty(); }, 20'000))
      << testing::PrintToString(files_named(session));
}

}  // namespace
}  // namespace perdure
