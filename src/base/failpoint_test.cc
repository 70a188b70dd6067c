// Failpoints: inert until armed, and armed only by well-formed text. tests/crash shows on the real
// daemon that they end a process at their place.
#include "base/failpoint.h"

#include <csignal>

#include <gtest/gtest.h>

namespace perdure {
namespace {

TEST(Failpoint, a_text_of_another_form_arms_nothing) {
  for (const char* text : {"nowhere=1*kill", "commit.after", "commit.after=", "commit.after=kill",
                           "commit.after=0*kill", "commit.after=1*fly", "commit.after=-1*kill",
                           "commit.after=1*off;;"}) {
    const Result<> armed = arm_failpoints(text);
    ASSERT_FALSE(armed) << text;
    EXPECT_EQ(armed.error().code(), Code::invalid_argument) << text;
    EXPECT_EQ(failpoint_hook, nullptr);
  }
  FAILPOINT("commit.after");
}

TEST(Failpoint, the_hits_of_a_point_are_counted_and_others_pass) {
  const auto twice = [] {
    if (!arm_failpoints("commit.after=2*off->1*kill;checkpoint.before=9*off")) return;
    for (int i = 0; i < 9; ++i) FAILPOINT("checkpoint.before");
    for (int i = 0; i < 9; ++i) FAILPOINT("shutdown");
    for (int i = 0; i < 2; ++i) FAILPOINT("commit.after");
    fprintf(stderr, "passed two");
    FAILPOINT("commit.after");
    fprintf(stderr, "passed three");
  };
  EXPECT_EXIT(twice(), testing::KilledBySignal(SIGKILL), "passed two$");
}

}  // namespace
}  // namespace perdure
