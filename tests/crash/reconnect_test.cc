// N1: a thousand connections to one session's stream, each cut by its client at some moment and
// reopened at some cursor, while the session grows. Their combined output is the journal.
#include <cstdint>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "api_client.h"
#include "daemon_process.h"
#include "event_reader.h"
#include "journal_check.h"

namespace perdure {
namespace {

constexpr std::uint64_t reconnects = 1'000;

TEST(ReconnectLong, N1_STREAM1_a_thousand_reconnects_show_the_journal_byte_for_byte) {
  DaemonProcess daemon;
  ASSERT_TRUE(daemon.start());
  ApiClient client(daemon.endpoint());
  const std::string session = client.create_session({});
  ASSERT_FALSE(session.empty());
  std::mt19937_64 dice(1);
  EventReader reader(client, session);
  std::uint64_t prompts = 0;
  while (reader.connections() < reconnects) {
    // Keeps a turn under way.
    if (reader.connections() % 20 == 0) {
      const std::string text = "chunks 40 200; sleep 20; tool 2; think 3; chunks 60 50";
      const ApiReply reply = client.prompt({.session = session, .text = text});
      prompts += reply.ok();
    }
    reader.open_behind(dice() % 3 == 0 ? dice() % (reader.last() + 1) : reader.last());
    // Cut at any point: after a number of portions, or at once.
    for (std::uint64_t portion = dice() % 4; portion > 0; --portion) client.io().run_for_ms(5);
    ASSERT_EQ(reader.wrong(), "");
  }
  ASSERT_TRUE(
      until([&] { return client.get("/api/sessions/" + session).at("session.status") == "idle"; }));
  const JudgedSession judged{session, client.records(session), {}};
  ASSERT_TRUE(until([&] {
    if (!reader.is_open()) reader.open();
    client.io().run_for_ms(20);
    return reader.last() >= judged.records.size();
  }));
  EXPECT_EQ(reader.wrong(), "");
  EXPECT_EQ(reader.records(), judged.records);
  for (const std::string& wrong : judge(judged, Rest::quiet)) ADD_FAILURE() << wrong;
  std::printf("%lu connections, %lu prompts, %zu records\n", reader.connections(), prompts,
              judged.records.size());
  EXPECT_GT(prompts, 20u);
}

}  // namespace
}  // namespace perdure
