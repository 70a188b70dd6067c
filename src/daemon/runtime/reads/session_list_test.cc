// The list of sessions: its contents, order and visibility; forks are listed only when complete.
#include "daemon/runtime/reads/session_list.h"

#include <gtest/gtest.h>

#include "base/json/fields_json.h"
#include "base/limits.h"
#include "daemon/runtime/fixture_for_test.h"

namespace perdure {
namespace {

// Creates a session with its own id and title and makes it the daemon's `session`.
SessionId make_session(Daemon& daemon, std::uint64_t number, const std::string& title,
                       TaskId task = {}) {
  IdSource ids({daemon.loop.now().wall.ms}, 900 + number);
  daemon.session = ids.next<SessionId>();
  const SessionCreated what{.session = daemon.session,
                            .task = task,
                            .title = title,
                            .agent = {.name = number % 2 == 0 ? "demo" : "other"},
                            .workspace = {.cwd = "/w" + std::to_string(number)}};
  EXPECT_TRUE(daemon.ask(CreateSession{what, std::nullopt, ""}).has_value());
  return daemon.session;
}

std::vector<std::string> titles(const SessionList::Page& page) {
  std::vector<std::string> out;
  for (const SessionRow* row : page.rows) out.push_back(row->summary.title);
  return out;
}

TEST(SessionList, U8_U16_sessions_known_only_from_disk_are_listed_newest_first) {
  Daemon daemon;
  for (std::uint64_t i = 0; i < 5; ++i) {
    daemon.settle(120'000);
    make_session(daemon, i, "s" + std::to_string(i));
  }
  daemon.crash();
  daemon.settle();
  const auto page = daemon.runtime->sessions().page({});
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(titles(*page), (std::vector<std::string>{"s4", "s3", "s2", "s1", "s0"}));
  EXPECT_EQ(page->next, "");
}

TEST(SessionList, U15_listing_loads_no_session) {
  Daemon daemon;
  for (std::uint64_t i = 0; i < 3; ++i) make_session(daemon, i, "s");
  daemon.crash();
  daemon.settle();
  const auto page = daemon.runtime->sessions().page({});
  ASSERT_EQ(page->rows.size(), 3U);
  for (const SessionRow* row : page->rows) {
    EXPECT_FALSE(row->in_memory);
    EXPECT_EQ(daemon.runtime->state_in_memory(row->session), nullptr);
  }
  ASSERT_TRUE(daemon.runtime->state(daemon.session).has_value());
  daemon.runtime->sessions().changed(daemon.session);
  EXPECT_TRUE((*daemon.runtime->sessions().find(daemon.session))->in_memory);
}

TEST(SessionList, L1_filters_by_task_agent_text_and_archived) {
  Daemon daemon;
  IdSource ids(daemon.loop.now().wall, 5);
  const TaskId task = ids.next<TaskId>();
  make_session(daemon, 0, "Alpha", task);
  make_session(daemon, 1, "beta", task);
  make_session(daemon, 2, "gamma");
  ASSERT_TRUE(daemon.ask(ArchiveSession{}).has_value());
  SessionList& list = daemon.runtime->sessions();
  EXPECT_EQ(list.page({.task = task})->rows.size(), 2U);
  EXPECT_EQ(titles(*list.page({.text = "ALPH"})), std::vector<std::string>{"Alpha"});
  EXPECT_EQ(titles(*list.page({.agent = "other"})), std::vector<std::string>{"beta"});
  EXPECT_EQ(titles(*list.page({.archived = ArchivedFilter::only})),
            std::vector<std::string>{"gamma"});
  EXPECT_EQ(list.page({.archived = ArchivedFilter::all})->rows.size(), 3U);
  EXPECT_EQ(list.page({.status = Status::running})->rows.size(), 0U);
  const SessionId hidden = daemon.session;
  const auto seen = list.page({.archived = ArchivedFilter::all,
                               .may_see = [&](SessionId session) { return session != hidden; }});
  EXPECT_EQ(seen->rows.size(), 2U);
}

TEST(SessionList, U8_pages_by_cursor_hold_each_session_once) {
  Daemon daemon;
  for (std::uint64_t i = 0; i < 23; ++i) {
    if (i % 4 == 0) daemon.settle(60'000);
    make_session(daemon, i, "s" + std::to_string(i));
  }
  SessionList& list = daemon.runtime->sessions();
  std::set<SessionId> seen;
  std::string cursor;
  int pages = 0;
  do {
    const auto page = list.page({.cursor = cursor, .limit = 5});
    ASSERT_TRUE(page.has_value());
    for (const SessionRow* row : page->rows) EXPECT_TRUE(seen.insert(row->session).second);
    cursor = page->next;
    pages += 1;
  } while (!cursor.empty());
  EXPECT_EQ(seen.size(), 23U);
  EXPECT_EQ(pages, 5);
  EXPECT_EQ(list.page({.cursor = "12-nonsense"}).error().code(), Code::invalid_argument);
}

TEST(SessionList, U8_rows_follow_the_sessions_state) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create("hello").has_value());
  SessionList& list = daemon.runtime->sessions();
  EXPECT_EQ(list.page({})->rows.at(0)->summary.state, SessionState::starting);
  daemon.agent_comes_up();
  EXPECT_EQ(list.page({})->rows.at(0)->summary.status, Status::running);
  daemon.frame(FramePermission{.request = "1", .title = "rm -rf?"});
  const SessionSummary& row = list.page({})->rows.at(0)->summary;
  EXPECT_EQ(row.pending, 1U);
  EXPECT_EQ(row.status, Status::waiting);
  const auto inbox = list.inbox({});
  ASSERT_EQ(inbox->size(), 1U);
  EXPECT_EQ(inbox->at(0).kind, InboxKind::permission);
  EXPECT_TRUE(list.inbox([](SessionId) { return false; })->empty());
}

TEST(SessionList, U8_a_list_that_could_not_be_read_whole_is_read_anew) {
  Daemon daemon;
  make_session(daemon, 0, "one");
  make_session(daemon, 1, "two");
  SessionList& list = daemon.runtime->sessions();
  daemon.store->set_away(MemoryStore::Away::when_paged);
  EXPECT_EQ(list.page({}).error().code(), Code::unavailable);
  daemon.settle(120'000);
  ASSERT_TRUE(daemon.ask(RenameSession{"later"}).has_value());
  daemon.store->set_away(MemoryStore::Away::no);
  EXPECT_EQ(titles(*list.page({})), (std::vector<std::string>{"later", "one"}));
  ASSERT_TRUE(daemon.runtime->erase(daemon.session).has_value());
  EXPECT_EQ(titles(*list.page({})), std::vector<std::string>{"one"});
}

TEST(SessionList, U8_rows_that_could_not_be_read_are_read_later) {
  Daemon daemon;
  std::vector<SessionId> sessions;
  for (std::uint64_t i = 0; i < 3; ++i) sessions.push_back(make_session(daemon, i, "old"));
  SessionList& list = daemon.runtime->sessions();
  ASSERT_EQ(list.page({})->rows.size(), 3U);
  for (const SessionId session : sessions) {
    daemon.session = session;
    ASSERT_TRUE(daemon.ask(RenameSession{"new"}).has_value());
  }
  daemon.store->set_away(MemoryStore::Away::when_paged);
  EXPECT_EQ(list.page({}).error().code(), Code::unavailable);
  daemon.store->set_away(MemoryStore::Away::no);
  EXPECT_EQ(titles(*list.page({})), (std::vector<std::string>{"new", "new", "new"}));
}

TEST(SessionList, resolves_ids_parts_of_ids_and_titles) {
  Daemon daemon;
  const SessionId first = make_session(daemon, 0, "one");
  daemon.settle(120'000);
  const SessionId second = make_session(daemon, 1, "two");
  daemon.settle(120'000);
  make_session(daemon, 2, "two");
  SessionList& list = daemon.runtime->sessions();
  EXPECT_EQ(list.resolve(first.text(), {}).value(), first);
  EXPECT_EQ(list.resolve("one", {}).value(), first);
  EXPECT_EQ(list.resolve(second.text().substr(second.text().size() - 8), {}).value(), second);
  EXPECT_EQ(list.resolve("two", {}).error().code(), Code::conflict);
  EXPECT_TRUE(list.resolve("two", {}).error().message().contains(second.text()));
  EXPECT_EQ(list.resolve("sess_", {}).error().code(), Code::conflict);
  EXPECT_EQ(list.resolve("three", {}).error().code(), Code::not_found);
  EXPECT_EQ(list.resolve(first.text(), [](SessionId) { return false; }).error().code(),
            Code::not_found);
}

TEST(SessionList, TOK6_a_title_never_wins_over_the_short_id_of_another_session) {
  Daemon daemon;
  const SessionId victim = make_session(daemon, 0, "work");
  daemon.settle(120'000);
  const std::string id = victim.text();
  const auto end = [&](std::size_t length) { return id.substr(id.size() - length); };
  SessionList& list = daemon.runtime->sessions();
  std::size_t made = 0;
  for (const std::string& title : {end(8), end(4), id.substr(0, id.size() - 1)}) {
    const SessionId liar = make_session(daemon, ++made, title);
    daemon.settle(120'000);
    const Error error = list.resolve(title, {}).error();
    EXPECT_EQ(error.code(), Code::conflict) << title;
    EXPECT_TRUE(error.message().contains(victim.text())) << error.message();
    EXPECT_TRUE(error.message().contains(liar.text())) << error.message();
    // If a reader sees only one of the two, the text refers to that one.
    EXPECT_EQ(list.resolve(title, [&](SessionId each) { return each == liar; }).value(), liar);
  }
  make_session(daemon, ++made, id);
  EXPECT_EQ(list.resolve(id, {}).value(), victim) << "a whole id is that session";
  daemon.settle(120'000);
  const SessionId brief = make_session(daemon, ++made, end(3));
  EXPECT_EQ(list.resolve(end(3), {}).value(), brief) << "three characters fit too many ids";
  // A session with its own id as its title is still one session.
  daemon.session = victim;
  ASSERT_TRUE(daemon.ask(RenameSession{end(7)}).has_value());
  EXPECT_EQ(list.resolve(end(7), {}).value(), victim);
}

TEST(SessionSummary, S10_summaries_of_older_versions_are_read) {
  const SessionSummary old =
      read_summary(R"({"title":"t","agent":"demo","status":"waiting","pending":2,)"
                   R"("created":"2026-01-02T03:04:05.006Z"})");
  EXPECT_EQ(old.title, "t");
  EXPECT_EQ(old.status, Status::waiting);
  EXPECT_EQ(old.pending, 2U);
  EXPECT_EQ(read_summary("not json"), SessionSummary{});
  EXPECT_EQ(read_summary(R"({"title":"t","from_the_future":1})").title, "t");
}

// A session with more records than one page, so that a fork of it takes several commits.
void make_long_session(Daemon& daemon) {
  ASSERT_TRUE(daemon.create("hello").has_value());
  daemon.agent_comes_up();
  const RunId run = daemon.state().run->id;
  for (std::size_t i = 0; i < page_records_max + 200; ++i) {
    daemon.frame(MessageAgent{.text = "x"}, run);
  }
}

TEST(Fork, X27_half_a_fork_is_no_session_and_is_gone_after_a_crash) {
  Daemon daemon;
  make_long_session(daemon);
  IdSource ids(daemon.loop.now().wall, 3);
  const SessionId to = ids.next<SessionId>();
  bool answered = false;
  daemon.runtime->fork(daemon.session, 0, to, "uid:1",
                       [&](const Result<Reply>&) { answered = true; });
  ASSERT_TRUE(daemon.store->step());  // the first of two commits
  EXPECT_GT(daemon.store->head(to)->seq, 0U);
  EXPECT_EQ(daemon.runtime->sessions().page({})->rows.size(), 1U);
  EXPECT_EQ(daemon.runtime->state(to).error().code(), Code::not_found);
  daemon.crash();
  daemon.settle();
  EXPECT_FALSE(answered);
  EXPECT_EQ(daemon.store->head(to).error().code(), Code::not_found);
  EXPECT_EQ(daemon.runtime->sessions().page({})->rows.size(), 1U);
}

TEST(Fork, X27_a_long_fork_that_ends_is_listed) {
  Daemon daemon;
  make_long_session(daemon);
  ASSERT_EQ(daemon.runtime->sessions().page({})->rows.size(), 1U);
  IdSource ids(daemon.loop.now().wall, 3);
  const SessionId to = ids.next<SessionId>();
  std::optional<Result<Reply>> answer;
  daemon.runtime->fork(daemon.session, 0, to, "uid:1", [&](Result<Reply> r) { answer = r; });
  daemon.run_now();
  ASSERT_TRUE(answer && answer->has_value());
  EXPECT_TRUE(daemon.store->outbox(to)->empty());
  EXPECT_EQ(daemon.runtime->sessions().page({})->rows.size(), 2U);
  daemon.crash();
  daemon.settle();
  EXPECT_EQ(daemon.runtime->sessions().page({})->rows.size(), 2U);
  EXPECT_TRUE(daemon.runtime->state(to).has_value());
}

TEST(Fork, a_fork_that_is_refused_half_way_leaves_nothing) {
  Daemon daemon;
  make_long_session(daemon);
  IdSource ids(daemon.loop.now().wall, 3);
  const SessionId to = ids.next<SessionId>();
  std::optional<Result<Reply>> answer;
  daemon.runtime->fork(daemon.session, 0, to, "uid:1", [&](Result<Reply> r) { answer = r; });
  ASSERT_TRUE(daemon.store->step());
  daemon.store->inject(CommitFault::disk_full);
  daemon.run_now();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->error().code(), Code::disk_full);
  EXPECT_EQ(daemon.store->head(to).error().code(), Code::not_found);
}

}  // namespace
}  // namespace perdure
