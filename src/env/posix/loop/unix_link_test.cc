// Links over real sockets: long folders, stale names, large and blocked sends, and links that end
// at difficult moments.
#include "env/posix/loop/unix_link.h"

#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "env/posix/fixture_for_test.h"
#include "env/posix/loop/unix_address.h"

namespace perdure {
namespace {

using posix_test::make_loop;
using posix_test::open_descriptors;
using posix_test::Scratch;

struct LinkRecorder final : LinkEvents {
  void on_bytes(std::string_view some) override {
    bytes += some;
    if (then) then();
  }
  void on_drained() override { ++drained; }
  void on_closed() override { ++closed; }

  std::string bytes;
  int drained = 0;
  int closed = 0;
  std::function<void()> then;
};

class UnixLinks : public testing::Test {
 protected:
  UnixLinks()
      : loop_(make_loop()), folder_(std::move(PosixFolder::create(scratch_.path("run"))).value()) {}

  bool until(const std::function<bool()>& condition) {
    return posix_test::until(*loop_, condition);
  }
  void listen(const std::string& name = "agent.sock") {
    listener_.reset();
    accepted_.clear();
    auto listener = UnixListener::listen(
        *loop_, *folder_, name, [this](auto link) { accepted_.push_back(std::move(link)); });
    ASSERT_TRUE(listener) << listener.error().message();
    listener_ = std::move(*listener);
  }
  // Both ends of one link, `near` connected, `far` accepted.
  void make_pair() {
    listen();
    near_ = std::move(UnixLink::connect(*loop_, *folder_, "agent.sock")).value();
    ASSERT_TRUE(until([&] { return !accepted_.empty(); }));
    far_ = std::move(accepted_.back());
    near_->set_events(near_events_);
    far_->set_events(far_events_);
  }

  Scratch scratch_;
  std::unique_ptr<EpollLoop> loop_;
  std::unique_ptr<PosixFolder> folder_;
  LinkRecorder near_events_;
  LinkRecorder far_events_;
  std::vector<std::unique_ptr<Link>> accepted_;
  std::unique_ptr<UnixListener> listener_;
  std::unique_ptr<UnixLink> near_;
  std::unique_ptr<Link> far_;
};

TEST_F(UnixLinks, SEC_a_symlink_to_a_socket_is_not_connected_to) {
  listen();
  ASSERT_EQ(symlink("agent.sock", scratch_.path("run/link.sock").c_str()), 0);
  const auto linked = UnixLink::connect(*loop_, *folder_, "link.sock");
  ASSERT_FALSE(linked);
  EXPECT_EQ(linked.error().code(), Code::unavailable) << linked.error().message();
  EXPECT_TRUE(UnixLink::connect(*loop_, *folder_, "agent.sock"));
}

TEST_F(UnixLinks, bytes_go_both_ways) {
  make_pair();
  near_->send("ping");
  EXPECT_EQ(near_events_.drained, 0);  // never from within the call
  ASSERT_TRUE(until([&] { return far_events_.bytes == "ping" && near_events_.drained == 1; }));
  far_->send("po");
  far_->send("ng");
  ASSERT_TRUE(until([&] { return near_events_.bytes == "pong"; }));
  EXPECT_EQ(near_->peer().pid, getpid());
  EXPECT_EQ(near_->peer().uid, geteuid());
}

// Sessions that start at once bind in one folder: different names do not conflict.
TEST_F(UnixLinks, D4_a_new_name_is_bound_while_somebody_replaces_another_in_the_folder) {
  const Fd turn(openat(folder_->descriptor().get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(flock(turn.get(), LOCK_EX | LOCK_NB), 0);
  const Result<Fd> bound = bind_unix_socket(*folder_, "fresh.sock");
  EXPECT_TRUE(bound) << bound.error().message();
  // The name exists now without a listener: replacing it needs the lock.
  const Result<Fd> again = bind_unix_socket(*folder_, "fresh.sock");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Code::conflict);
}

TEST_F(UnixLinks, a_socket_works_in_a_folder_of_150_characters) {
  const std::string deep = scratch_.path(std::string(150, 'd'));
  folder_ = std::move(PosixFolder::create(deep)).value();
  make_pair();
  near_->send("far away");
  EXPECT_TRUE(until([&] { return far_events_.bytes == "far away"; }));
  struct stat status{};
  ASSERT_EQ(stat((deep + "/agent.sock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  listener_.reset();
  EXPECT_NE(stat((deep + "/agent.sock").c_str(), &status), 0);
}

TEST_F(UnixLinks, what_does_not_fit_is_queued_and_told_when_it_left) {
  make_pair();
  far_->pause();
  std::string sent;
  for (int i = 0; i < 100; ++i) {
    std::string piece(50'000, static_cast<char>('a' + i % 26));
    sent += piece;
    near_->send(std::move(piece));
  }
  for (int i = 0; i < 5; ++i) loop_->pump_for_ms(1);
  EXPECT_GT(near_->unsent_bytes(), 3'000'000U);
  EXPECT_EQ(far_events_.bytes, "");
  const int drained = near_events_.drained;
  far_->resume();
  ASSERT_TRUE(until([&] { return far_events_.bytes.size() == sent.size(); }));
  EXPECT_EQ(far_events_.bytes, sent);
  ASSERT_TRUE(until([&] { return near_events_.drained > drained; }));
  EXPECT_EQ(near_->unsent_bytes(), 0U);
}

TEST_F(UnixLinks, the_last_bytes_come_before_the_end) {
  make_pair();
  near_->send("last words");
  near_.reset();
  ASSERT_TRUE(until([&] { return far_events_.closed == 1; }));
  EXPECT_EQ(far_events_.bytes, "last words");
  far_->send("nobody hears");
  EXPECT_EQ(far_->unsent_bytes(), 0U);
  for (int i = 0; i < 3; ++i) loop_->pump();
  EXPECT_EQ(far_events_.closed, 1);
  EXPECT_EQ(far_events_.drained, 0);
}

TEST_F(UnixLinks, a_broken_link_is_told_even_while_paused) {
  make_pair();
  far_->pause();
  near_.reset();
  for (int i = 0; i < 3; ++i) loop_->pump();
  EXPECT_EQ(far_events_.closed, 0);
  far_->send("x");
  EXPECT_EQ(far_events_.closed, 0);
  EXPECT_TRUE(until([&] { return far_events_.closed == 1; }));
}

TEST_F(UnixLinks, a_link_may_be_destroyed_by_its_own_event) {
  make_pair();
  far_events_.then = [&] { far_.reset(); };
  near_->send("bye");
  ASSERT_TRUE(until([&] { return near_events_.closed == 1; }));
  EXPECT_EQ(far_events_.closed, 0);
  // And with a pending event.
  make_pair();
  near_->send("x");
  near_.reset();
  for (int i = 0; i < 3; ++i) loop_->pump();
}

TEST_F(UnixLinks, nothing_is_received_before_somebody_listens) {
  listen();
  near_ = std::move(UnixLink::connect(*loop_, *folder_, "agent.sock")).value();
  near_->send("early");
  ASSERT_TRUE(until([&] { return !accepted_.empty(); }));
  for (int i = 0; i < 3; ++i) loop_->pump();
  accepted_[0]->set_events(far_events_);
  EXPECT_TRUE(until([&] { return far_events_.bytes == "early"; }));
}

TEST_F(UnixLinks, a_stale_socket_is_replaced_and_a_living_one_is_not) {
  // A killed process leaves a bound name without a listener.
  { const Fd left = std::move(bind_unix_socket(*folder_, "agent.sock")).value(); }
  EXPECT_EQ(UnixLink::connect(*loop_, *folder_, "agent.sock").error().code(), Code::unavailable);
  listen();
  const auto second = UnixListener::listen(*loop_, *folder_, "agent.sock", [](auto) {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::conflict);
  EXPECT_TRUE(UnixLink::connect(*loop_, *folder_, "agent.sock"));
}

TEST_F(UnixLinks, a_file_that_is_no_socket_is_never_replaced) {
  ASSERT_TRUE(folder_->append("agent.sock", "precious"));
  const auto refused = UnixListener::listen(*loop_, *folder_, "agent.sock", [](auto) {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::conflict);
  EXPECT_EQ(folder_->read("agent.sock", 0, 100), "precious");
}

TEST_F(UnixLinks, a_listener_takes_only_its_own_name_away) {
  listen();
  ASSERT_TRUE(folder_->remove("agent.sock"));
  auto first = std::move(listener_);
  listen();
  first.reset();
  EXPECT_TRUE(UnixLink::connect(*loop_, *folder_, "agent.sock"));
}

TEST_F(UnixLinks, a_folder_open_to_others_is_refused) {
  ASSERT_EQ(chmod(scratch_.path("run").c_str(), 0750), 0);
  const auto refused = UnixListener::listen(*loop_, *folder_, "agent.sock", [](auto) {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::denied);
}

TEST_F(UnixLinks, names_that_cannot_be_are_refused) {
  EXPECT_EQ(UnixLink::connect(*loop_, *folder_, "none").error().code(), Code::not_found);
  const std::string long_name(120, 'n');
  for (const std::string& name : {std::string("a/b"), std::string(".."), long_name}) {
    EXPECT_EQ(UnixLink::connect(*loop_, *folder_, name).error().code(), Code::invalid_argument);
    EXPECT_EQ(UnixListener::listen(*loop_, *folder_, name, [](auto) {}).error().code(),
              Code::invalid_argument);
  }
}

TEST_F(UnixLinks, the_backlog_is_bounded) {
  listen();
  std::vector<std::unique_ptr<UnixLink>> callers;
  while (callers.size() < 10UL * link_backlog_max) {
    auto caller = UnixLink::connect(*loop_, *folder_, "agent.sock");
    if (!caller) {
      EXPECT_EQ(caller.error().code(), Code::limit_reached);
      break;
    }
    callers.push_back(std::move(*caller));
  }
  EXPECT_LE(callers.size(), link_backlog_max + 1UL);
  // They are all served once the loop runs.
  EXPECT_TRUE(until([&] { return accepted_.size() == callers.size(); }));
}

// A separate process that has changed to another user. Needs root.
TEST_F(UnixLinks, a_caller_of_another_user_is_closed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  listen();
  const Fd folder = Fd(dup(folder_->descriptor().get()));
  chmod(scratch_.path("run").c_str(), 0755);
  chmod(scratch_.path("run/agent.sock").c_str(), 0777);
  const pid_t stranger = fork();
  if (stranger == 0) {
    // From inside the folder, because the ones above it may be closed to other users.
    if (fchdir(folder.get()) != 0 || setuid(65534) != 0) _exit(1);
    const Fd caller = Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{.sun_family = AF_UNIX};
    std::snprintf(address.sun_path, sizeof address.sun_path, "agent.sock");
    if (connect(caller.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) _exit(2);
    char byte = 0;
    _exit(read(caller.get(), &byte, 1) == 0 ? 0 : 3);  // the end, and no byte
  }
  int status = -1;
  ASSERT_TRUE(until([&] { return waitpid(stranger, &status, WNOHANG) == stranger; }));
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(accepted_.empty());
}

TEST_F(UnixLinks, links_leave_no_descriptor_behind) {
  listen();
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 50; ++i) {
    auto link = UnixLink::connect(*loop_, *folder_, "agent.sock");
    ASSERT_TRUE(link);
    ASSERT_TRUE(until([&] { return !accepted_.empty(); }));
    accepted_.clear();
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace perdure
