// The numbers in SECURITY.md are those of the code: a change of one requires a change of the page.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "daemon_process.h"
#include "net/server/server.h"

namespace perdure {
namespace {

TEST(Numbers, those_on_the_page_are_those_of_the_code) {
  std::string page = read_text(PERDURE_SECURITY_PAGE);
  std::ranges::replace(page, '\n', ' ');
  const auto n = [](auto number) { return std::to_string(number); };
  const HttpServerLimits http;
  const std::string phrases[] = {
      "head " + n(http.head_bytes_max >> 10) + " KiB",
      "a head within " + n(http.head_ms / 1000) + " s; a body at " +
          n(http.body_bytes_per_second_min >> 10) + " KiB/s or more, within " +
          n(http.body_total_ms / 60'000) + " min",
      n(http.strangers_max) + " in all and " + n(http.strangers_per_source_max) +
          " from one address",
      "They have " + n(http.stranger_ms / 1000) + " s to show credentials",
      n(http.unix_reserved) +
          " connections are reserved for callers outside sessions at the unix socket, and " +
          n(descriptors_reserved) + " descriptors",
      n(http_insiders_per_session_max) + " connections to the unix socket per session, and " +
          n(http_insiders_max) + " in all",
      "at most " + n(descendants_live_max) + " have a live agent, and the last " +
          n(live_agents_reserved) + " places",
      "granted once in " + n(inside_restart_ms / 60'000) + " minutes",
      "with " + n(outpost_strangers_max) + " and " + n(outpost_strangers_per_source_max) +
          " connections",
      "| launch token | " + n(launch_token_ms / 60'000) + " minutes",
      "| cookie and key of a browser | " + n(browser_ms / (24 * 3600'000)) + " days",
      "| ticket of a WebSocket | " + n(ticket_ms / 1000) + " s",
      "held back, " + n(auth_delay_first_ms) + " ms first",
      "A TLS handshake has " + n(http.handshake_ms / 1000) + " s",
  };
  for (const std::string& phrase : phrases) {
    EXPECT_NE(page.find(phrase), std::string::npos) << "the page does not say: " << phrase;
  }
  EXPECT_EQ(auth_free_failures, 3) << "the page says: from the fourth on";
  EXPECT_EQ(auth_delay_max_ms, 1'000) << "the page says: at most a second";
}

}  // namespace
}  // namespace perdure
