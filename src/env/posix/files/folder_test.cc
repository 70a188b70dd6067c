// Folders and locks on a real file system: appends are complete or absent, names are plain, and
// only one process holds a lock.
#include "env/posix/files/folder.h"

#include <csignal>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env/posix/files/file_lock.h"
#include "env/posix/fixture_for_test.h"

namespace perdure {
namespace {

using posix_test::open_descriptors;
using posix_test::Scratch;

class FolderTest : public testing::Test {
 protected:
  FolderTest() : folder_(std::move(PosixFolder::create(scratch_.path("spool"))).value()) {}
  std::string file(const std::string& name) const { return scratch_.path("spool/" + name); }

  Scratch scratch_;
  std::unique_ptr<PosixFolder> folder_;
};

mode_t mode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(stat(path.c_str(), &status), 0);
  return status.st_mode & 0777;
}

// A container can write to some of these folders.
TEST_F(FolderTest, SEC_a_fifo_in_place_of_a_file_stops_nobody_who_reads_it) {
  ASSERT_EQ(mkfifo(file("pipe").c_str(), 0600), 0);
  ASSERT_EQ(mkdir(file("folder").c_str(), 0700), 0);
  for (const char* name : {"pipe", "folder"}) {
    EXPECT_EQ(folder_->read(name, 0, 100).error().code(), Code::damaged) << name;
    EXPECT_EQ(folder_->size(name).error().code(), Code::damaged) << name;
  }
}

TEST_F(FolderTest, what_is_appended_can_be_read_anywhere) {
  ASSERT_TRUE(folder_->append("a", "hello "));
  ASSERT_TRUE(folder_->append("b", "other"));
  ASSERT_TRUE(folder_->append("a", "world"));
  EXPECT_EQ(folder_->read("a", 0, 100), "hello world");
  EXPECT_EQ(folder_->read("a", 6, 3), "wor");
  EXPECT_EQ(folder_->read("b", 0, 100), "other");
  EXPECT_EQ(folder_->read("a", 11, 10), "");
  EXPECT_EQ(folder_->read("a", 5000, ~0UL), "");
  EXPECT_EQ(folder_->size("a"), 11U);
  EXPECT_EQ(mode_of(file("a")), 0600U);
  EXPECT_EQ(mode_of(scratch_.path("spool")), 0700U);
  const auto again = std::move(PosixFolder::open(scratch_.path("spool"))).value();
  EXPECT_EQ(again->read("a", 0, 100), "hello world");
}

TEST_F(FolderTest, it_lists_plain_files_sorted) {
  for (const char* name : {"c", "a", "b"}) ASSERT_TRUE(folder_->append(name, ""));
  mkdir(file("folder").c_str(), 0700);
  symlink("a", file("link").c_str());
  EXPECT_EQ(folder_->list(), (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_TRUE(folder_->remove("b"));
  EXPECT_EQ(folder_->list(), (std::vector<std::string>{"a", "c"}));
}

TEST_F(FolderTest, truncating_and_removing_the_open_file_leave_it_usable) {
  ASSERT_TRUE(folder_->append("a", "0123456789"));
  ASSERT_TRUE(folder_->truncate("a", 4));
  ASSERT_TRUE(folder_->append("a", "X"));
  EXPECT_EQ(folder_->read("a", 0, 100), "0123X");
  ASSERT_TRUE(folder_->remove("a"));
  ASSERT_TRUE(folder_->remove("a"));
  EXPECT_EQ(folder_->read("a", 0, 1).error().code(), Code::not_found);
  EXPECT_EQ(folder_->size("a").error().code(), Code::not_found);
  EXPECT_EQ(folder_->truncate("a", 0).error().code(), Code::not_found);
  ASSERT_TRUE(folder_->append("a", "new"));
  unlink(file("a").c_str());  // removed by another process
  ASSERT_TRUE(folder_->append("a", "newer"));
  EXPECT_EQ(folder_->read("a", 0, 100), "newer");
}

TEST_F(FolderTest, a_file_is_replaced_whole) {
  ASSERT_TRUE(folder_->append("a", "old"));
  ASSERT_TRUE(folder_->append("a.new", "left by a crash"));
  ASSERT_TRUE(folder_->replace("a", "new"));
  EXPECT_EQ(folder_->read("a", 0, 100), "new");
  ASSERT_TRUE(folder_->append("a", "er"));
  EXPECT_EQ(folder_->read("a", 0, 100), "newer");
  EXPECT_EQ(*folder_->list(), std::vector<std::string>{"a"});
  struct stat status{};
  ASSERT_EQ(stat(file("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(folder_->replace("../a", "x").error().code(), Code::invalid_argument);
}

TEST_F(FolderTest, DISK2_a_replacement_that_does_not_fit_leaves_what_was) {
  ASSERT_TRUE(folder_->replace("a", "old"));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto refused = folder_->replace("a", std::string(5000, 'b'));
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_FALSE(refused);
  EXPECT_EQ(folder_->read("a", 0, 100), "old");
  EXPECT_EQ(*folder_->list(), std::vector<std::string>{"a"});
}

// A container can replace a file: opening a pipe for reading would block indefinitely.
TEST_F(FolderTest, a_pipe_in_place_of_a_file_stops_nobody) {
  ASSERT_EQ(mkfifo(file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(folder_->read("pipe", 0, 1).error().code(), Code::damaged);
  EXPECT_EQ(folder_->size("pipe").error().code(), Code::damaged);
  EXPECT_FALSE(folder_->truncate("pipe", 0));
}

TEST_F(FolderTest, a_name_leads_nowhere_else) {
  std::ofstream(scratch_.path("outside")) << "secret";
  symlink(scratch_.path("outside").c_str(), file("link").c_str());
  for (const std::string name : {"", ".", "..", "../outside", "a/b", "/etc/passwd"}) {
    EXPECT_EQ(folder_->append(name, "x").error().code(), Code::invalid_argument) << name;
    EXPECT_EQ(folder_->read(name, 0, 1).error().code(), Code::invalid_argument) << name;
    EXPECT_EQ(folder_->remove(name).error().code(), Code::invalid_argument) << name;
  }
  EXPECT_EQ(folder_->append("link", "x").error().code(), Code::invalid_argument);
  EXPECT_EQ(folder_->read("link", 0, 10).error().code(), Code::invalid_argument);
  EXPECT_EQ(PosixFolder::open(scratch_.path("none")).error().code(), Code::not_found);
}

// A limit on file sizes simulates the full disk: in both cases the kernel writes what fits and
// refuses the rest.
TEST_F(FolderTest, DISK2_an_append_that_does_not_fit_leaves_nothing) {
  ASSERT_TRUE(folder_->append("a", std::string(1000, 'a')));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto refused = folder_->append("a", std::string(5000, 'b'));
  const auto refused_new = folder_->append("b", std::string(5000, 'b'));
  const auto fits = folder_->append("a", std::string(3096, 'c'));
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::disk_full);
  EXPECT_EQ(refused_new.error().code(), Code::disk_full);
  ASSERT_TRUE(fits);
  EXPECT_EQ(folder_->read("a", 0, 10'000), std::string(1000, 'a') + std::string(3096, 'c'));
  EXPECT_EQ(folder_->list(), (std::vector<std::string>{"a"}));
}

TEST_F(FolderTest, the_folder_stays_the_same_when_it_is_renamed) {
  ASSERT_EQ(rename(scratch_.path("spool").c_str(), scratch_.path("moved").c_str()), 0);
  ASSERT_TRUE(folder_->append("a", "x"));
  EXPECT_TRUE(std::filesystem::exists(scratch_.path("moved/a")));
}

TEST_F(FolderTest, many_files_need_few_descriptors) {
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(folder_->append("file" + std::to_string(i), "x"));
    ASSERT_TRUE(folder_->read("file0", 0, 1));
  }
  EXPECT_EQ(folder_->list()->size(), 50U);
  EXPECT_LE(open_descriptors(), before + 1);
}

TEST_F(FolderTest, X16_a_lock_is_held_by_one) {
  auto held = FileLock::try_acquire(*folder_, "lock");
  ASSERT_TRUE(held);
  const auto other = std::move(PosixFolder::open(scratch_.path("spool"))).value();
  EXPECT_EQ(FileLock::try_acquire(*other, "lock").error().code(), Code::conflict);
  EXPECT_TRUE(FileLock::try_acquire(*other, "another"));
  // Renaming the folder has no effect on it.
  ASSERT_EQ(rename(scratch_.path("spool").c_str(), scratch_.path("moved").c_str()), 0);
  EXPECT_EQ(FileLock::try_acquire(*other, "lock").error().code(), Code::conflict);
  { const FileLock released = std::move(*held); }
  EXPECT_TRUE(FileLock::try_acquire(*other, "lock"));
  EXPECT_EQ(FileLock::try_acquire(*other, "../lock").error().code(), Code::invalid_argument);
}

class LockAcrossProcesses : public posix_test::ProcessTest {};

TEST_F(LockAcrossProcesses, X16_children_do_not_inherit_it) {
  const Scratch scratch;
  const auto folder = std::move(PosixFolder::create(scratch.path("run"))).value();
  auto held = FileLock::try_acquire(*folder, "lock");
  ASSERT_TRUE(held);
  const auto process = spawn({"idle"});
  ASSERT_TRUE(until_output("ready"));
  { const FileLock released = std::move(*held); }
  EXPECT_TRUE(FileLock::try_acquire(*folder, "lock"));
}

}  // namespace
}  // namespace perdure
