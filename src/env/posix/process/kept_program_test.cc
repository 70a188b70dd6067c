// A kept program is what was installed when it was kept, whatever happens to that file later.
#include "env/posix/process/kept_program.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace perdure {
namespace {

namespace fs = std::filesystem;

class KeptProgramTest : public testing::Test {
 protected:
  KeptProgramTest() {
    std::string name = testing::TempDir() + "perdure-kept-XXXXXX";
    root_ = mkdtemp(name.data());
    program_ = {root_ + "/installed", root_ + "/own"};
    install("#!/bin/sh\nexit 3\n");
  }
  ~KeptProgramTest() override { fs::remove_all(root_); }

  void install(const std::string& text) const { std::ofstream(program_.from) << text; }
  std::string kept() const {
    std::ifstream file(program_.to);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  ino_t inode() const {
    struct stat status{};
    stat(program_.to.c_str(), &status);
    return status.st_ino;
  }

  std::string root_;
  KeptProgram program_;
};

TEST_F(KeptProgramTest, SEC15_it_stays_what_it_was_when_the_installed_file_is_written) {
  ASSERT_TRUE(keep_program(program_));
  const std::string before = kept();
  EXPECT_EQ(WEXITSTATUS(std::system(program_.to.c_str())), 3);
  install("#!/bin/sh\nexit 4\n");
  EXPECT_EQ(kept(), before);
  fs::remove(program_.from);
  EXPECT_EQ(keep_program(program_).error().code(), Code::not_found);
  EXPECT_EQ(kept(), before) << "an error changes nothing";
}

TEST_F(KeptProgramTest, another_version_replaces_it_and_the_same_one_does_not) {
  ASSERT_TRUE(keep_program(program_));
  const ino_t first = inode();
  ASSERT_TRUE(keep_program(program_));
  EXPECT_EQ(inode(), first);
  install("#!/bin/sh\nexit 4\n# longer\n");
  ASSERT_TRUE(keep_program(program_));
  EXPECT_NE(inode(), first) << "what runs keeps its own file";
  EXPECT_EQ(WEXITSTATUS(std::system(program_.to.c_str())), 4);
  EXPECT_FALSE(fs::exists(program_.to + ".new"));
  // One that a crash cut off.
  fs::resize_file(program_.to, 5);
  ASSERT_TRUE(keep_program(program_));
  EXPECT_EQ(kept(), "#!/bin/sh\nexit 4\n# longer\n");
}

TEST_F(KeptProgramTest, a_symlink_in_its_place_is_replaced_and_not_followed) {
  std::ofstream(root_ + "/victim") << "#!/bin/sh\nexit 3\n";
  fs::create_symlink(root_ + "/victim", program_.to);
  install("#!/bin/sh\nexit 5\n");
  ASSERT_TRUE(keep_program(program_));
  EXPECT_FALSE(fs::is_symlink(program_.to));
  EXPECT_EQ(WEXITSTATUS(std::system(program_.to.c_str())), 5);
}

}  // namespace
}  // namespace perdure
