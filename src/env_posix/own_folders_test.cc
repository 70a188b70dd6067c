// Where a session may work: never in Perdure's own folders, but for what was made for sessions.
#include "env_posix/own_folders.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "env_posix/fixture_for_test.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

constexpr const char* session_text = "sess_01ka3qq5rk0000000000000002";

class OwnFoldersTest : public testing::Test {
 protected:
  OwnFoldersTest() {
    for (const std::string& path : {made(), made() + "/src", tree(), data() + "/env", work()}) {
      fs::create_directories(path);
    }
  }
  std::string root() const { return real_path(scratch_.path("")); }
  std::string data() const { return root() + "/own/data"; }
  std::string work() const { return root() + "/work"; }
  std::string made() const { return data() + "/workspaces/session_" + session_text; }
  std::string tree() const { return data() + "/worktrees/" + session_text; }
  Result<SessionId> look(const std::string& cwd) const {
    return OwnFolders({data(), root() + "/none"}).session_of(cwd);
  }
  Code code(const std::string& cwd) const {
    const Result<SessionId> found = look(cwd);
    return found ? Code::internal : found.error().code();
  }
  posix_test::Scratch scratch_;
};

TEST_F(OwnFoldersTest, SEC3_a_folder_elsewhere_belongs_to_nobody) {
  EXPECT_EQ(look(work()).value(), SessionId());
  fs::create_directories(root() + "/own/data2");
  EXPECT_EQ(look(root() + "/own/data2").value(), SessionId()) << "alike is not below";
  EXPECT_EQ(code(root() + "/missing"), Code::workspace_missing);
}

TEST_F(OwnFoldersTest, SEC3_what_was_made_for_a_session_is_known_as_its_own) {
  const SessionId session = SessionId::parse(session_text).value();
  EXPECT_EQ(look(made()).value(), session);
  EXPECT_EQ(look(made() + "/").value(), session);
  EXPECT_EQ(look(made() + "/src").value(), session);
  EXPECT_EQ(look(tree()).value(), session);
}

TEST_F(OwnFoldersTest, SEC3_the_folder_what_is_in_it_and_what_contains_it_are_refused) {
  fs::create_directories(data() + "/workspaces/other");
  for (const std::string& cwd :
       {data(), data() + "/", data() + "/env", data() + "/workspaces", data() + "/worktrees",
        data() + "/workspaces/other", root() + "/own", root(), std::string("/"),
        made() + "/../../env", made() + "/.."}) {
    EXPECT_EQ(code(cwd), Code::invalid_argument) << cwd;
  }
}

TEST_F(OwnFoldersTest, SEC3_no_session_works_on_a_file_system_of_the_kernel) {
  fs::create_directory_symlink("/proc/self", work() + "/self");
  fs::create_directory_symlink("/sys", work() + "/sys");
  for (const std::string& cwd :
       {std::string("/proc"), std::string("/proc/self"), std::string("/proc/self/fd"),
        std::string("/dev/fd/"), std::string("/sys/kernel"), std::string("/dev/pts"),
        work() + "/self", work() + "/self/task", work() + "/sys"}) {
    if (real_path(cwd).empty()) continue;  // not every machine has it
    const Result<SessionId> found = look(cwd);
    ASSERT_FALSE(found) << cwd;
    EXPECT_EQ(found.error().code(), Code::invalid_argument) << cwd;
    EXPECT_NE(found.error().message().find("a file system of the kernel"), std::string::npos)
        << found.error().message();
  }
  EXPECT_TRUE(look("/dev/shm")) << "which holds files";
}

TEST_F(OwnFoldersTest, SEC3_no_symlink_leads_there_not_even_to_a_sessions_folder) {
  fs::create_directory_symlink(data(), work() + "/data");
  fs::create_directory_symlink(made(), work() + "/made");
  fs::create_directory_symlink(data() + "/env", made() + "/env");
  fs::create_directory_symlink(tree(), made() + "/tree");
  for (const std::string& cwd : {work() + "/data", work() + "/data/env", work() + "/made",
                                 made() + "/env", made() + "/tree"}) {
    EXPECT_EQ(code(cwd), Code::invalid_argument) << cwd;
  }
  // The data folder itself may be named by one.
  const OwnFolders linked({work() + "/data"});
  EXPECT_EQ(linked.session_of(work() + "/data/workspaces/session_" + session_text).value().text(),
            session_text);
  EXPECT_EQ(linked.session_of(data() + "/env").error().code(), Code::invalid_argument);
}

TEST(NamedSession, SEC20_a_folder_on_another_host_tells_its_session_by_its_name) {
  const std::string id = "sess_01ka3qq5rk0000000000000002";
  for (const std::string& cwd :
       {"/a/b/workspaces/session_" + id, "/a/worktrees/" + id + "/inner", "/worktrees/" + id}) {
    EXPECT_EQ(named_session(cwd).text(), id) << cwd;
  }
  for (const std::string& cwd : {std::string(), std::string("/"), "/a/" + id, "/a/workspaces/" + id,
                                 "/a/worktrees/" + id + "x"}) {
    EXPECT_FALSE(named_session(cwd)) << cwd;
  }
}

}  // namespace
}  // namespace perdure
