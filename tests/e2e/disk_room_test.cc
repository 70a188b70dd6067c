// Two disks that can be full separately: the agent's disk and the journal's. A full one rejects
// only the work that needs it, is named in the error, and does not affect the other.
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include "daemon_test.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

// A small disk, mounted for one folder; unmounted by the destructor.
class SmallDisk {
 public:
  SmallDisk(std::string folder, const char* options) : folder_(std::move(folder)) {
    fs::create_directories(folder_);
    mounted_ = mount("tmpfs", folder_.c_str(), "tmpfs", 0, options) == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool is_mounted() const { return mounted_; }
  // Takes all free space.
  void fill() const {
    const int file = open((folder_ + "/filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const std::string bytes(4096, 'x');
    while (write(file, bytes.data(), bytes.size()) > 0) {}
    close(file);
  }
  void free() const { fs::remove(folder_ + "/filler"); }

 private:
  std::string folder_;
  bool mounted_ = false;
};

class DiskRoom : public DaemonTest {
 protected:
  void TearDown() override {
    if (daemon_) {
      daemon_->kill_daemon();
      daemon_->kill_hosted();
    }
  }
  void serve() {
    const Result<> started = daemon_->start();
    ASSERT_TRUE(started) << started.error().message();
    client_ = std::make_unique<ApiClient>(daemon_->endpoint());
    const std::string cwd = daemon_->folder() + "/place";
    fs::create_directories(cwd);
    session_ = client_->create_session({.more = R"("cwd":")" + cwd + "\""});
    ASSERT_TRUE(client_->prompt({.session = session_, .text = "say 1"}).ok());
    ASSERT_TRUE(until_count(session_, "run.completed", 1));
  }
  ApiReply write_file(std::size_t bytes) {
    return client_->post("/api/sessions/" + session_ + "/fs/write",
                         R"({"path":"file","text":")" + std::string(bytes, 'w') + R"("})");
  }

  std::string session_;
};

TEST_F(DiskRoom, H4_a_full_workspace_refuses_its_own_writes_and_the_session_goes_on) {
  daemon_ = std::make_unique<DaemonProcess>();
  const SmallDisk disk(daemon_->folder() + "/place", "size=1m");
  if (!disk.is_mounted()) GTEST_SKIP() << "needs root to mount a small disk";
  serve();
  disk.fill();
  const ApiReply refused = write_file(100'000);
  EXPECT_EQ(refused.status, 507) << refused.body;
  EXPECT_EQ(refused.at("error.code"), "disk_full");
  EXPECT_NE(refused.at("error.message").find("workspace"), std::string::npos) << refused.body;
  EXPECT_FALSE(fs::exists(daemon_->folder() + "/place/file")) << "not half of it";
  ASSERT_TRUE(client_->prompt({.session = session_, .text = "say 2"}).ok());
  EXPECT_TRUE(until_count(session_, "run.completed", 2));
  disk.free();
  EXPECT_TRUE(write_file(100'000).ok());
}

TEST_F(DiskRoom, H4_S5_a_full_journal_disk_refuses_prompts_and_the_workspace_goes_on) {
  daemon_ = std::make_unique<DaemonProcess>();
  const SmallDisk disk(daemon_->home(), "size=64m,mode=0700");
  if (!disk.is_mounted()) GTEST_SKIP() << "needs root to mount a small disk";
  serve();
  disk.fill();
  ApiReply refused;
  EXPECT_TRUE(until([&] {
    refused = client_->prompt({.session = session_, .text = "say 1"});
    return refused.status == 507;
  }));
  EXPECT_EQ(refused.at("error.code"), "disk_full");
  EXPECT_EQ(refused.at("error.message").find("workspace"), std::string::npos) << refused.body;
  EXPECT_NE(refused.at("error.message").find("journal"), std::string::npos) << refused.body;
  const ApiReply written = write_file(100'000);
  EXPECT_TRUE(written.ok()) << written.body;
  EXPECT_EQ(fs::file_size(daemon_->folder() + "/place/file"), 100'000u);
  disk.free();
  EXPECT_TRUE(until([&] { return client_->prompt({.session = session_, .text = "say 1"}).ok(); }));
}

}  // namespace
}  // namespace perdure
