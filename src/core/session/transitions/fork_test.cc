// The titles of copies, so that a list distinguishes them from the original.
#include "core/session/transitions/fork.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace perdure {
namespace {

std::string title_of_copy(const std::string& title, CopyKind kind) {
  Forker forker({.from = SessionId(Ulid{1, 2}), .to = SessionId(Ulid{1, 3}), .kind = kind});
  Record created{.seq = 1};
  created.event.body = SessionCreated{.session = SessionId(Ulid{1, 2}), .title = title};
  forker.copy({&created, 1});
  forker.close();
  return forker.state().title;
}

TEST(Fork, a_copy_is_told_from_its_original_by_its_title) {
  EXPECT_EQ(title_of_copy("Fix it", CopyKind::forked), "Fix it (fork)");
  EXPECT_EQ(title_of_copy("Fix it (fork)", CopyKind::forked), "Fix it (fork 2)");
  EXPECT_EQ(title_of_copy("Fix it (fork 9)", CopyKind::forked), "Fix it (fork 10)");
  EXPECT_EQ(title_of_copy("Fix it (forked road)", CopyKind::forked), "Fix it (forked road) (fork)");
  EXPECT_EQ(title_of_copy("Fix it (fork)", CopyKind::imported), "Fix it (fork) (imported)");
  EXPECT_EQ(title_of_copy("", CopyKind::forked), "fork of 000002");
}

TEST(Fork, G8_a_long_title_is_cut_in_front_of_what_tells_it_apart) {
  const std::string title = title_of_copy(std::string(title_bytes_max, 'x'), CopyKind::forked);
  EXPECT_EQ(title.size(), title_bytes_max);
  EXPECT_TRUE(title.ends_with("x (fork)"));
}

TEST(Fork, SEC9_a_copy_has_the_session_of_its_maker_as_parent_whatever_the_original_had) {
  const SessionId maker(Ulid{8, 8});
  for (const CopyKind kind : {CopyKind::forked, CopyKind::imported, CopyKind::adopted}) {
    for (const SessionId expected : {SessionId(), maker}) {
      Forker forker({.from = SessionId(Ulid{1, 2}),
                     .to = SessionId(Ulid{1, 3}),
                     .by = expected ? "session:" + maker.text() : "uid:1000",
                     .kind = kind});
      Record created{.seq = 1};
      created.event.body =
          SessionCreated{.session = SessionId(Ulid{1, 2}), .parent = SessionId(Ulid{9, 9})};
      forker.copy({&created, 1});
      EXPECT_EQ(forker.state().parent, expected) << enum_text(kind);
    }
  }
}

// A session of "mallory", handed over to "eve", with requested and observed options.
std::vector<Record> with_reach() {
  const ContextBoundary handover{.how = BoundaryHow::handover, .agent_session_id = "hers"};
  const ResumeRequested asked{.with = AgentProfile{.name = "eve"}};
  SessionConfigured configured;
  configured.options = {{"model", "dear"}};
  std::vector<Record> out;
  for (EventBody body : {EventBody(SessionCreated{.session = SessionId(Ulid{1, 2}),
                                                  .title = "t",
                                                  .agent = {.name = "mallory", .steer = true},
                                                  .workspace = {.cwd = "/theirs"}}),
                         EventBody(asked), EventBody(handover), EventBody(configured),
                         EventBody(Mode{.value = "bypassPermissions"})}) {
    out.push_back({.seq = out.size() + 1, .event = {.body = std::move(body)}});
  }
  return out;
}

State copied(std::span<const Record> records, CopyKind kind, AdoptedBinding binding = {}) {
  Forker forker({.from = SessionId(Ulid{1, 2}),
                 .to = SessionId(Ulid{1, 3}),
                 .kind = kind,
                 .binding = std::move(binding)});
  forker.copy(records);
  forker.close();
  return forker.state();
}

TEST(Fork, C13_an_import_brings_neither_agent_nor_options_along_wherever_it_is_cut) {
  const std::vector<Record> records = with_reach();
  for (std::size_t length = 1; length <= records.size(); ++length) {
    const State state = copied(std::span(records).first(length), CopyKind::imported);
    EXPECT_EQ(state.agent, AgentProfile{}) << length;
    EXPECT_TRUE(state.options.empty()) << length;
    EXPECT_TRUE(state.requested.empty()) << length;
    EXPECT_EQ(state.workspace, Workspace{}) << length;
  }
  const State forked = copied(records, CopyKind::forked);
  EXPECT_EQ(forked.agent.name, "eve");
  EXPECT_EQ(forked.options.at("mode"), "bypassPermissions");
  EXPECT_EQ(forked.requested.at("model"), "dear");
}

TEST(Fork, C13_what_is_copied_of_an_import_brings_nothing_along_either) {
  Forker imported({.from = SessionId(Ulid{1, 2}), .kind = CopyKind::imported});
  std::vector<Record> records;
  for (Event& event : imported.copy(with_reach())) {
    records.push_back({.seq = records.size() + 1, .event = std::move(event)});
  }
  ASSERT_TRUE(holds_alternative<Mode>(records.back().event.body));  // history stays readable
  EXPECT_EQ(get<Mode>(records.back().event.body).value, "bypassPermissions");
  const State forked = copied(records, CopyKind::forked);
  EXPECT_EQ(forked.agent, AgentProfile{});
  EXPECT_TRUE(forked.options.empty());
}

// A person copies a session to continue it; that the original is archived does not matter.
TEST(Fork, C3_a_copy_of_an_archived_session_takes_work) {
  std::vector<Record> records = with_reach();
  records.push_back({.seq = records.size() + 1, .event = {.body = SessionStopped{}}});
  records.push_back({.seq = records.size() + 1, .event = {.body = SessionArchived{}}});
  for (const CopyKind kind : {CopyKind::forked, CopyKind::imported}) {
    EXPECT_FALSE(copied(records, kind).archived) << enum_text(kind);
  }
}

TEST(Fork, C13_an_adoption_is_bound_to_its_agent_whatever_the_file_says) {
  const State state =
      copied(with_reach(), CopyKind::adopted, {.agent = {.name = "claude"}, .cwd = "/w"});
  EXPECT_EQ(state.agent.name, "claude");
  EXPECT_EQ(state.workspace.cwd, "/w");
  EXPECT_TRUE(state.options.empty());
  EXPECT_TRUE(state.requested.empty());
}

}  // namespace
}  // namespace perdure
