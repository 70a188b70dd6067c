// The read routes against the real runtime: what they answer, and to whom.
#include "daemon/api/routes/read_routes.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "daemon/api/fixture_for_test.h"
#include "daemon/runtime/care/removal.h"
#include "daemon/runtime/reads/journal_reader.h"

namespace perdure {
namespace {

class ReadDaemon : public ApiDaemon {
 public:
  ReadDaemon() { add_routes(); }
  void add_routes() {
    reads = std::make_unique<ReadRoutes>(*world, slots, [this](const Principal&) { return valid; });
    reads->add_to(router);
  }
  void restart() {
    reads.reset();
    crash();
    open_node();
    add_routes();
    settle();
  }
  ~ReadDaemon() { reads.reset(); }

  // A session with one complete turn: question, thought, tool, answer.
  void make_turn() {
    ASSERT_TRUE(create("what is here?").has_value());
    agent_comes_up();
    const RunId run = state().run->id;
    frame(MessageThought{.text = "I look."}, run);
    frame(ToolCall{.tool_call_id = "t1", .title = "ls", .tool_kind = "read", .input = {"\"ls\""}},
          run);
    frame(ToolUpdate{.tool_call_id = "t1", .status = "completed", .text = "a.txt"}, run);
    frame(MessageAgent{.text = "One "}, run);
    frame(MessageAgent{.text = "file."}, run);
    frame(FrameRunFinished{run, "end_turn"}, run);
  }
  // The same with agent and agentctl gone.
  void make_stopped_turn() {
    make_turn();
    ASSERT_TRUE(ask(StopSession{}).has_value());
    runtime->on_gone(exec(), "test");
    run_now();
  }
  JsonObject json(const std::shared_ptr<NotedExchange>& exchange) {
    kept.push_back(exchange);
    const Result<JsonObject> object = JsonObject::parse(exchange->body());
    EXPECT_TRUE(object.has_value()) << exchange->body();
    return object.value_or(JsonObject());
  }
  // All stored records of the session, as served.
  std::vector<std::string> served() {
    std::vector<std::string> out;
    const RecordPage page = *store->read(session, {.after = 0, .limit = 100'000});
    for (const std::string& bytes : page.records) out.push_back(*encode_served(session, bytes));
    return out;
  }

  StreamSlots slots;
  std::unique_ptr<ReadRoutes> reads;
  std::vector<std::shared_ptr<NotedExchange>> kept;
  bool valid = true;
};

std::vector<std::string> elements(std::string_view raw) {
  std::vector<std::string> out;
  for (const std::string_view one : json_elements(raw).value()) out.emplace_back(one);
  return out;
}

// One element, as a slice of the same text.
JsonObject element(std::string_view raw, std::size_t index) {
  return JsonObject::parse(json_elements(raw)->at(index)).value();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

TEST(ReadRoutes, U8_U16_sessions_known_only_from_disk_are_in_the_list) {
  ReadDaemon daemon;
  daemon.make_turn();
  daemon.ask(StopSession{});
  daemon.runtime->on_gone(daemon.exec(), "test");
  daemon.run_now();
  daemon.settle(10'000);
  daemon.restart();
  const JsonObject answer = daemon.json(daemon.get("/api/sessions"));
  ASSERT_EQ(elements(answer.find("sessions")).size(), 1U);
  const JsonObject row = element(answer.find("sessions"), 0);
  EXPECT_EQ(row.find("id"), "\"" + daemon.session.text() + "\"");
  EXPECT_EQ(row.find("in_memory"), "false");
  EXPECT_EQ(answer.find("next"), "null");
  EXPECT_EQ(daemon.get("/api/sessions?limit=x")->status(), 400);
}

TEST(ReadRoutes, U8_rows_name_the_daemon_that_has_them_by_one_look_at_those_not_ours) {
  ReadDaemon daemon;
  daemon.make_turn();
  std::vector<std::size_t> looks;
  const auto have_owners = [&] {
    daemon.world->owners = [&](std::span<const SessionId> sessions) {
      looks.push_back(sessions.size());
      return std::map<SessionId, std::string>{{daemon.session, "there"}};
    };
  };
  const auto node_of_row = [&] {
    const JsonObject answer = daemon.json(daemon.get("/api/sessions"));
    return std::string(element(answer.find("sessions"), 0).find("node"));
  };
  EXPECT_EQ(node_of_row(), "null");
  have_owners();
  EXPECT_EQ(node_of_row(), "null");
  EXPECT_TRUE(looks.empty()) << "it is in this daemon's hands";
  daemon.ask(StopSession{});
  daemon.runtime->on_gone(daemon.exec(), "test");
  daemon.run_now();
  daemon.settle(10'000);
  daemon.restart();
  have_owners();
  EXPECT_EQ(node_of_row(), "\"there\"");
  EXPECT_EQ(looks, std::vector<std::size_t>{1});
  daemon.world->owners = [](std::span<const SessionId>) {
    return Result<std::map<SessionId, std::string>>(fail(Code::unavailable, "away"));
  };
  EXPECT_EQ(node_of_row(), "null");
}

TEST(ReadRoutes, L7_L28_O30_a_session_has_every_field_of_the_contract) {
  ReadDaemon daemon;
  daemon.make_turn();
  const JsonObject session =
      *JsonObject::parse(daemon.json(daemon.get(daemon.at())).find("session"));
  for (const char* const key : {"status",
                                "state",
                                "executor_status",
                                "liveness",
                                "context",
                                "stop_reason",
                                "needs_resume",
                                "is_resumable",
                                "resume_reason",
                                "pending",
                                "queue",
                                "error_message",
                                "active",
                                "connections",
                                "active_runs",
                                "task_id",
                                "metadata",
                                "acp_caps",
                                "worktree_path",
                                "worktree_branch",
                                "is_agent_running",
                                "agent_execution_id",
                                "runtime",
                                "title",
                                "log_id"}) {
    EXPECT_FALSE(session.find(key).empty()) << key;
  }
  EXPECT_EQ(session.find("metadata"), R"({"resume_token":"agent-1"})");
  const JsonObject status = daemon.json(daemon.get(daemon.at("/status")));
  EXPECT_EQ(status.find("state"), "\"WAITING_FOR_INPUT\"");
  EXPECT_EQ(status.find("is_agent_running"), "true");
  EXPECT_EQ(status.find("task_id"), "null");
}

TEST(ReadRoutes, L29_the_reason_to_resume_is_the_sessions_own) {
  ReadDaemon daemon;
  daemon.make_turn();
  daemon.runtime->on_gone(daemon.exec(), "test");
  daemon.run_now();
  const JsonObject status = daemon.json(daemon.get(daemon.at("/status")));
  EXPECT_EQ(status.find("needs_resume"), "true");
  EXPECT_EQ(status.find("resume_reason"), "\"agent_not_running\"");
}

TEST(ReadRoutes, A18_events_are_served_in_pages_as_stored) {
  ReadDaemon daemon;
  daemon.make_turn();
  const std::vector<std::string> all = daemon.served();
  std::vector<std::string> paged;
  std::string after = "0";
  for (int i = 0; i < 100; ++i) {
    const JsonObject page = daemon.json(daemon.get(daemon.at("/events?limit=3&after=" + after)));
    for (const std::string& event : elements(page.find("events"))) paged.push_back(event);
    after = page.find("last");
    if (page.find("more") == "false") break;
  }
  EXPECT_EQ(paged, all);
  const JsonObject last = daemon.json(daemon.get(daemon.at("/events?last=4")));
  EXPECT_EQ(elements(last.find("events")), std::vector<std::string>(all.end() - 4, all.end()));
  const JsonObject users = daemon.json(daemon.get(daemon.at("/events?kind=message")));
  EXPECT_EQ(elements(users.find("events")).size(), 4U);
  EXPECT_EQ(daemon.get(daemon.at("/events?after=100000"))->status(), 409);
  EXPECT_EQ(daemon.get(daemon.at("/events?after=-1"))->status(), 400);
  EXPECT_EQ(daemon.get(daemon.at("/events?log_id=other"))->status(), 409);
}

TEST(ReadRoutes, A18_a_filtered_page_that_is_full_goes_on_where_it_ended) {
  ReadDaemon daemon;
  daemon.make_turn();
  std::vector<std::string> found;
  std::string after = "0";
  for (int i = 0; i < 20; ++i) {
    const JsonObject page =
        daemon.json(daemon.get(daemon.at("/events?limit=1&kind=message&after=" + after)));
    for (const std::string& event : elements(page.find("events"))) found.push_back(event);
    after = page.find("last");
    if (page.find("more") == "false") break;
  }
  EXPECT_EQ(found.size(), 4U);
}

TEST(ReadRoutes, A19_history_is_grouped_by_turn) {
  ReadDaemon daemon;
  daemon.make_turn();
  const JsonObject history = daemon.json(daemon.get(daemon.at("/history")));
  const std::vector<std::string> turns = elements(history.find("turns"));
  ASSERT_EQ(turns.size(), 1U);
  EXPECT_TRUE(turns.at(0).contains("\"prompt\":\"what is here?\"")) << turns.at(0);
  EXPECT_TRUE(turns.at(0).contains("\"end\":\"completed\""));
}

TEST(ReadRoutes, A19_history_pages_hold_each_turn_once) {
  ReadDaemon daemon;
  daemon.make_turn();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(daemon.ask(SubmitPrompt{.prompt = {.text = "q" + std::to_string(i)}}).has_value());
    const RunId run = daemon.state().run->id;
    daemon.frame(MessageAgent{.text = "a"}, run);
    daemon.frame(FrameRunFinished{run, "end_turn"}, run);
  }
  std::vector<std::string> prompts;
  std::string query = "/history?limit=2";
  for (int i = 0; i < 10; ++i) {
    const JsonObject page = daemon.json(daemon.get(daemon.at(query)));
    const std::vector<std::string> turns = elements(page.find("turns"));
    ASSERT_FALSE(turns.empty());
    std::vector<std::string> here;
    for (const std::string& turn : turns) {
      here.push_back(json_string(JsonObject::parse(turn)->find("prompt")).value());
    }
    prompts.insert(prompts.begin(), here.begin(), here.end());
    query = "/history?limit=2&before=" +
            std::string(JsonObject::parse(turns.front())->find("first_seq"));
    if (page.find("has_older") == "false") break;
  }
  EXPECT_EQ(prompts, (std::vector<std::string>{"what is here?", "q0", "q1", "q2", "q3"}));
}

TEST(ReadRoutes, K27_history_as_lines_has_the_four_kinds) {
  ReadDaemon daemon;
  daemon.make_turn();
  const auto answer = daemon.request(
      {.target = daemon.at("/history"), .headers = {{"Accept", "application/x-ndjson"}}});
  std::vector<std::string> kinds;
  for (const std::string& line : lines_of(answer->body())) {
    kinds.push_back(json_string(JsonObject::parse(line)->find("type")).value());
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"user_message", "tool_call", "tool_result",
                                             "agent_message"}));
}

TEST(ReadRoutes, A20_A21_A22_A23_A24_transcript_messages_and_hash) {
  ReadDaemon daemon;
  daemon.make_turn();
  const JsonObject whole = daemon.json(daemon.get(daemon.at("/transcript")));
  std::vector<std::string> roles;
  for (const std::string& message : elements(whole.find("messages"))) {
    const JsonObject read = *JsonObject::parse(message);
    EXPECT_FALSE(read.find("id").empty());
    EXPECT_FALSE(read.find("timestamp").empty());
    roles.push_back(json_string(read.find("role")).value());
  }
  EXPECT_EQ(roles, (std::vector<std::string>{"user", "assistant", "tool_call", "tool_result",
                                             "assistant"}));
  EXPECT_TRUE(whole.find("messages").contains("One file."));
  const JsonObject page = daemon.json(daemon.get(daemon.at("/transcript?limit=2")));
  EXPECT_EQ(elements(page.find("messages")).size(), 2U);
  EXPECT_EQ(page.find("has_older"), "true");
  EXPECT_EQ(page.find("hash"), whole.find("hash"));
  EXPECT_EQ(page.find("hash").size(), 66U);
}

TEST(ReadRoutes, transcript_as_a_document_keeps_fences_closed) {
  ReadDaemon daemon;
  daemon.make_turn();
  ASSERT_TRUE(daemon.ask(SubmitPrompt{.prompt = {.text = "again"}}).has_value());
  const RunId run = daemon.state().run->id;
  daemon.frame(ToolCall{.tool_call_id = "t2", .title = "cat\n# no heading", .text = "````\nx"},
               run);
  daemon.frame(ToolUpdate{.tool_call_id = "t2", .status = "completed", .text = "```` \nx"}, run);
  const auto answer = daemon.request(
      {.target = daemon.at("/transcript"), .headers = {{"Accept", "text/markdown"}}});
  EXPECT_TRUE(answer->header("Content-Type")->starts_with("text/markdown"));
  EXPECT_TRUE(answer->body().contains("## User"));
  EXPECT_TRUE(answer->body().contains("\n`````\n"));
  EXPECT_FALSE(answer->body().contains("\n# no heading"));
}

TEST(ReadRoutes, U14_rows_of_the_tail_before_and_around_are_slices_of_the_whole) {
  ReadDaemon daemon;
  daemon.make_turn();
  const JsonObject all = daemon.json(daemon.get(daemon.at("/rows?tail=400")));
  const std::vector<std::string> rows = elements(all.find("rows"));
  ASSERT_GE(rows.size(), 6U);
  EXPECT_EQ(all.find("as_of"), std::to_string(daemon.state().head));
  EXPECT_EQ(all.find("log_id"), "\"memory\"");
  EXPECT_EQ(all.find("total"), std::to_string(rows.size()));
  const JsonObject tail = daemon.json(daemon.get(daemon.at("/rows?tail=2")));
  const std::vector<std::string> last = elements(tail.find("rows"));
  EXPECT_EQ(tail.find("has_older"), "true");
  EXPECT_EQ(last.back(), rows.back());
  const JsonObject first = *JsonObject::parse(last.front());
  const JsonObject older = daemon.json(
      daemon.get(daemon.at("/rows?limit=400&before=" + std::string(first.find("seq")))));
  std::vector<std::string> joined = elements(older.find("rows"));
  joined.insert(joined.end(), last.begin(), last.end());
  EXPECT_EQ(joined, rows);
  const JsonObject around =
      daemon.json(daemon.get(daemon.at("/rows?limit=2&around=" + std::string(first.find("seq")))));
  EXPECT_TRUE(around.find("rows").contains("\"seq\":" + std::string(first.find("seq")) + ","));
}

TEST(ReadRoutes, L31_one_answer_has_all_that_a_page_starts_from) {
  ReadDaemon daemon;
  daemon.make_turn();
  const JsonObject page = daemon.json(daemon.get(daemon.at("/page?tail=2")));
  const JsonObject session = *JsonObject::parse(page.find("session"));
  EXPECT_EQ(session.find("as_of"), std::to_string(daemon.state().head));
  EXPECT_EQ(page.find("rows"), daemon.get(daemon.at("/rows?tail=2"))->body());
  EXPECT_EQ(page.find("task"), "null");
  EXPECT_EQ(JsonObject::parse(page.find("inbox"))->find("total"), "0");
  EXPECT_EQ(page.find("resume_on_open"), "\"active\"");
}

TEST(ReadRoutes, J4_rows_of_a_moment_end_with_it) {
  ReadDaemon daemon;
  daemon.make_turn();
  const JsonObject then = daemon.json(daemon.get(daemon.at("/rows?at=1&tail=80")));
  EXPECT_EQ(then.find("as_of"), "1");
  const JsonObject before = daemon.json(daemon.get(daemon.at("/rows?at=3&before=2&limit=80")));
  EXPECT_EQ(before.find("as_of"), "3");
  EXPECT_EQ(before.find("rows"), then.find("rows"));
}

TEST(ReadRoutes, J4_at_a_record_shows_what_was_there_then) {
  ReadDaemon daemon;
  daemon.make_turn();
  const JsonObject then = daemon.json(daemon.get(daemon.at("/at?seq=1")));
  const JsonObject session = *JsonObject::parse(then.find("session"));
  EXPECT_EQ(session.find("as_of"), "1");
  EXPECT_EQ(elements(JsonObject::parse(then.find("page"))->find("rows")).size(), 0U);
  const std::string head = std::to_string(daemon.state().head);
  const JsonObject now = daemon.json(daemon.get(daemon.at("/at?seq=" + head)));
  const JsonObject rows = daemon.json(daemon.get(daemon.at("/rows")));
  EXPECT_EQ(JsonObject::parse(now.find("page"))->find("rows"), rows.find("rows"));
  EXPECT_EQ(daemon.get(daemon.at("/at?seq=99999"))->status(), 409);
  EXPECT_EQ(daemon.get(daemon.at("/at"))->status(), 400);
}

TEST(ReadRoutes, density_counts_every_record_once_and_marks_prompts) {
  ReadDaemon daemon;
  daemon.make_turn();
  const JsonObject density = daemon.json(daemon.get(daemon.at("/density?buckets=7")));
  std::uint64_t records = 0;
  for (const std::string& bucket : elements(density.find("buckets"))) {
    records += json_uint(JsonObject::parse(bucket)->find("records")).value();
  }
  EXPECT_EQ(records, daemon.state().head);
  EXPECT_EQ(elements(density.find("buckets")).size(), 7U);
  EXPECT_TRUE(density.find("marks").contains("\"prompt\""));
  EXPECT_TRUE(density.find("marks").contains("\"boundary\""));
}

TEST(ReadRoutes, K30_C12_what_would_be_injected_can_be_read_before) {
  ReadDaemon daemon;
  daemon.make_turn();
  const JsonObject told = daemon.json(daemon.get(daemon.at("/resume-context")));
  EXPECT_EQ(told.find("turns"), "1");
  EXPECT_EQ(told.find("turns_of"), "1");
  const auto context = read_resume_context(daemon.runtime->store(), daemon.session,
                                           {.boundary = daemon.state().head, .turns_of = 1});
  EXPECT_EQ(json_string(told.find("text")).value(), context->text);
  EXPECT_FALSE(context->text.empty());
}

TEST(ReadRoutes, density_and_the_past_go_on_where_the_last_look_ended) {
  ReadDaemon daemon;
  daemon.make_turn();
  const Seq then = daemon.state().head;
  const std::string at = "/at?seq=" + std::to_string(then);
  const std::string before(daemon.json(daemon.get(daemon.at(at))).find("session"));
  daemon.get(daemon.at("/density"));
  daemon.make_turn();
  EXPECT_EQ(daemon.json(daemon.get(daemon.at(at))).find("session"), before);
  const JsonObject density = daemon.json(daemon.get(daemon.at("/density?buckets=3")));
  EXPECT_EQ(density.find("as_of"), std::to_string(daemon.state().head));
  std::uint64_t records = 0;
  for (const std::string& bucket : elements(density.find("buckets"))) {
    records += json_uint(JsonObject::parse(bucket)->find("records")).value();
  }
  EXPECT_EQ(records, daemon.state().head);
}

TEST(ReadRoutes, large_updates_are_read_as_blobs_of_their_own_session) {
  ReadDaemon daemon;
  daemon.make_turn();
  const SessionId other = daemon.session;
  ASSERT_TRUE(daemon.ask(SubmitPrompt{.prompt = {.text = "big"}}).has_value());
  const std::string big = "\"" + std::string(blob_threshold_bytes + 10, 'x') + "\"";
  daemon.frame(AgentUpdate{.update = {big}}, daemon.state().run->id);
  const std::string hash = sha256(big).hex();
  const auto answer = daemon.get(daemon.at("/blobs/" + hash));
  EXPECT_EQ(answer->status(), 200);
  EXPECT_EQ(answer->body(), big);
  EXPECT_EQ(daemon.get(daemon.at("/blobs/" + sha256("none").hex()))->status(), 404);
  EXPECT_EQ(daemon.get(daemon.at("/blobs/zz"))->status(), 400);
  const JsonObject preview = daemon.json(daemon.get(daemon.at("/delete-preview")));
  EXPECT_EQ(preview.find("blobs"), "1");
  EXPECT_EQ(preview.find("blob_bytes"), std::to_string(big.size()));
  IdSource ids(daemon.loop.now().wall, 99);
  daemon.session = ids.next<SessionId>();
  ASSERT_TRUE(
      daemon
          .ask(CreateSession{
              {.session = daemon.session, .agent = {.name = "demo"}, .workspace = {.cwd = "/w"}},
              std::nullopt,
              ""})
          .has_value());
  EXPECT_NE(daemon.session, other);
  EXPECT_EQ(daemon.get(daemon.at("/blobs/" + hash))->status(), 404);
}

TEST(ReadRoutes, TOK6_what_a_principal_may_not_see_is_not_found) {
  ReadDaemon daemon;
  daemon.make_turn();
  IdSource ids(daemon.loop.now().wall, 99);
  daemon.principal.sessions = {ids.next<SessionId>()};
  for (const char* const rest : {"", "/status", "/events", "/history", "/transcript", "/rows",
                                 "/at?seq=1", "/density", "/delete-preview"}) {
    EXPECT_EQ(daemon.get(daemon.at(rest))->status(), 404) << rest;
  }
  EXPECT_TRUE(daemon.get("/api/sessions")->body().contains("\"sessions\":[]"));
  EXPECT_TRUE(daemon.get("/api/search?q=file")->body().contains("\"hits\":[]"));
  EXPECT_TRUE(daemon.get("/api/executors")->body().contains("\"executors\":[]"));
}

TEST(ReadRoutes, L8_executors_with_their_fields) {
  ReadDaemon daemon;
  daemon.make_turn();
  const JsonObject answer = daemon.json(daemon.get("/api/executors"));
  ASSERT_EQ(elements(answer.find("executors")).size(), 1U);
  const JsonObject row = element(answer.find("executors"), 0);
  for (const char* const key :
       {"id", "session_id", "task_id", "runtime", "url", "port", "container_id", "pid", "status",
        "supports_session_resume", "supports_workspace_only", "resume_token", "workspace",
        "last_seen_at", "error_message"}) {
    EXPECT_FALSE(row.find(key).empty()) << key;
  }
  EXPECT_EQ(row.find("status"), "\"ready\"");
  EXPECT_EQ(row.find("pid"), "7");
  EXPECT_EQ(row.find("resume_token"), "\"agent-1\"");
}

TEST(ReadRoutes, search_finds_text_over_all_sessions) {
  ReadDaemon daemon;
  daemon.make_turn();
  const auto answer = daemon.get("/api/search?q=what%20is");
  EXPECT_TRUE(answer->body().contains(daemon.session.text())) << answer->body();
  EXPECT_EQ(daemon.get("/api/search")->status(), 400);
  EXPECT_EQ(daemon.get("/api/search?q=x&since=yesterday")->status(), 400);
  EXPECT_EQ(daemon.get("/api/search?q=x&task_id=nonsense")->status(), 400);
  const auto hits = [&](const std::string& filter) {
    const auto found = daemon.get("/api/search?q=what%20is" + filter);
    return found->body().contains(daemon.session.text());
  };
  EXPECT_FALSE(hits("&agent=nobody"));
  EXPECT_FALSE(hits("&task_id=" + TaskId(Ulid{1, 2}).text()));
  EXPECT_FALSE(hits("&since=2100-01-01T00:00:00.000Z"));
  EXPECT_TRUE(hits("&since=1970-01-01T00:00:00.000Z&until=2100-01-01T00:00:00.000Z"));
  EXPECT_FALSE(hits("&kind=tool.call"));
}

TEST(ReadRoutes, inbox_shows_what_waits_for_a_person) {
  ReadDaemon daemon;
  ASSERT_TRUE(daemon.create("hello").has_value());
  daemon.agent_comes_up();
  daemon.frame(
      FramePermission{.request = "1", .title = "rm?", .options = {{"y", "Yes", "allow_once"}}});
  const JsonObject inbox = daemon.json(daemon.get("/api/inbox"));
  EXPECT_TRUE(inbox.find("counts").contains("\"permission\":1"));
  ASSERT_EQ(elements(inbox.find("items")).size(), 1U);
  EXPECT_TRUE(inbox.find("items").contains("\"option_id\":\"y\""));
  const std::string digest = daemon.runtime->view(daemon.session)->pending.at(0).digest;
  EXPECT_EQ(digest.size(), 64U);
  EXPECT_TRUE(inbox.find("items").contains("\"digest\":\"" + digest + "\""));
}

TEST(ReadRoutes, U11_a_deletion_needs_to_be_confirmed_and_forced_while_it_runs) {
  ReadDaemon daemon;
  daemon.make_turn();
  const auto remove = [&](const std::string& query) {
    return daemon.request({.method = "DELETE", .target = daemon.at(query)});
  };
  const auto asked = remove("");
  EXPECT_EQ(asked->status(), 409);
  EXPECT_TRUE(asked->body().contains("\"records\":")) << asked->body();
  EXPECT_EQ(remove("?confirm=true")->status(), 409);
  EXPECT_EQ(daemon.get(daemon.at())->status(), 200);
  const auto forced = remove("?confirm=true&force=true");
  EXPECT_EQ(forced->status(), 0);  // waits until the agent has ended
  ASSERT_EQ(daemon.agentctls.stopped.size(), 1U);
  daemon.runtime->on_gone(daemon.exec(), "test");
  daemon.settle();
  EXPECT_EQ(forced->status(), 200) << forced->body();
  EXPECT_EQ(daemon.get(daemon.at())->status(), 404);
  EXPECT_EQ(daemon.store->head(daemon.session).error().code(), Code::not_found);
  EXPECT_TRUE(daemon.node->state().tombstones.contains(daemon.session));
  EXPECT_TRUE(daemon.get("/api/sessions")->body().contains("\"sessions\":[]"));
  const JsonObject gone = daemon.json(daemon.get(daemon.at("/page")));
  const Tombstone& left = daemon.node->state().tombstones.at(daemon.session);
  EXPECT_TRUE(gone.find("error").contains("\"code\":\"not_found\""));
  const JsonObject told = *JsonObject::parse(gone.find("tombstone"));
  EXPECT_EQ(json_string(told.find("title")).value(), left.title);
  EXPECT_EQ(json_string(told.find("deleted")).value(), format_timestamp(left.deleted));
  EXPECT_EQ(json_string(told.find("by")).value(), left.by);
}

TEST(ReadRoutes, U11_a_workspace_that_is_started_in_the_middle_of_a_deletion_is_stopped_too) {
  ReadDaemon daemon;
  daemon.make_turn();
  const auto forced =
      daemon.request({.method = "DELETE", .target = daemon.at("?confirm=true&force=true")});
  ASSERT_EQ(daemon.agentctls.stopped.size(), 1U);
  daemon.runtime->on_gone(daemon.exec(), "test");
  daemon.runtime->submit(daemon.session, {.by = "uid:0", .body = StartWorkspace{}},
                         [](const Result<Reply>&) {});
  daemon.settle();
  ASSERT_EQ(daemon.agentctls.stopped.size(), 2U);
  daemon.runtime->on_gone(daemon.exec(), "test");
  daemon.settle();
  EXPECT_EQ(forced->status(), 200) << forced->body();
  EXPECT_EQ(daemon.get(daemon.at())->status(), 404);
}

TEST(ReadRoutes, U11_a_deletion_cut_short_by_a_crash_is_finished_at_boot) {
  ReadDaemon daemon;
  daemon.make_stopped_turn();
  const RecordPage last =
      daemon.store->read(daemon.session, {.after = daemon.state().head - 1, .limit = 1}).value();
  NodeState node;
  node.tombstones[daemon.session] =
      Tombstone{.session = daemon.session, .last_hash = record_hash(last.records.front())};
  EXPECT_EQ(finish_removals(*daemon.store, node).value(), 1U);
  EXPECT_EQ(daemon.store->head(daemon.session).error().code(), Code::not_found);
  EXPECT_EQ(finish_removals(*daemon.store, node).value(), 0U);
}

TEST(ReadRoutes, U11_a_deletion_whose_tombstone_is_all_that_came_of_it_is_finished_at_boot) {
  ReadDaemon daemon;
  daemon.make_stopped_turn();
  remove_session(*daemon.runtime, *daemon.node, {.session = daemon.session},
                 [](const Result<>&) {});
  while (!daemon.node->state().tombstones.contains(daemon.session)) {
    ASSERT_TRUE(daemon.loop.run_posted() || daemon.store->step());
  }
  daemon.restart();
  ASSERT_TRUE(daemon.store->head(daemon.session).has_value());
  EXPECT_EQ(finish_removals(*daemon.store, daemon.node->state()).value(), 1U);
}

TEST(ReadRoutes, U11_a_session_whose_deletion_was_refused_is_there_after_the_next_start) {
  ReadDaemon daemon;
  daemon.make_stopped_turn();
  std::optional<Result<>> removed;
  remove_session(*daemon.runtime, *daemon.node, {.session = daemon.session},
                 [&](Result<> result) { removed = std::move(result); });
  // Arrives between the check of the session and its tombstone.
  ASSERT_TRUE(daemon.ask(SubmitPrompt{.prompt = {.text = "go on"}}).has_value());
  ASSERT_TRUE(removed && !*removed);
  EXPECT_EQ(removed->error().code(), Code::conflict);
  ASSERT_TRUE(daemon.node->state().tombstones.contains(daemon.session));
  daemon.restart();
  EXPECT_EQ(finish_removals(*daemon.store, daemon.node->state()).value(), 0U);
  EXPECT_TRUE(daemon.store->head(daemon.session).has_value());
}

TEST(ReadRoutes, U11_a_session_that_went_on_in_its_deletion_and_did_not_stop_is_not_deleted) {
  ReadDaemon daemon;
  daemon.make_stopped_turn();
  std::optional<Result<>> removed;
  remove_session(*daemon.runtime, *daemon.node,
                 {.session = daemon.session, .mode = RemovalMode::stop_first},
                 [&](Result<> result) { removed = std::move(result); });
  ASSERT_TRUE(daemon.ask(SubmitPrompt{.prompt = {.text = "go on"}}).has_value());
  ASSERT_TRUE(daemon.node->state().tombstones.contains(daemon.session));
  daemon.settle(removal_stop_ms + 1000);
  ASSERT_TRUE(removed && !*removed);
  EXPECT_EQ(removed->error().code(), Code::unavailable);
  EXPECT_EQ(finish_removals(*daemon.store, daemon.node->state()).value(), 0U);
}

TEST(ReadRoutes, U11_a_session_that_does_not_stop_is_not_deleted) {
  ReadDaemon daemon;
  daemon.make_turn();
  const auto forced =
      daemon.request({.method = "DELETE", .target = daemon.at("?confirm=true&force=1")});
  daemon.settle(removal_stop_ms + 1000);
  EXPECT_EQ(forced->status(), 503);
  EXPECT_FALSE(daemon.node->state().tombstones.contains(daemon.session));
}

TEST(ReadRoutes, J2_a_redacted_record_keeps_its_hash_and_loses_its_text) {
  ReadDaemon daemon;
  daemon.make_turn();
  std::string prompt_seq;
  for (const Record& record : daemon.records()) {
    if (holds_alternative<MessageAgent>(record.event.body)) prompt_seq = std::to_string(record.seq);
  }
  const State before = daemon.state();
  EXPECT_EQ(daemon.post(daemon.at("/redact"), "{}")->status(), 400);
  EXPECT_EQ(daemon.post(daemon.at("/redact"), R"({"seq":99999})")->status(), 404);
  for (const char* const body : {R"({"seqs":[]})", R"({"seqs":[1,"x"]})", R"({"seqs":7})",
                                 R"({"seq":-1})", R"({"seq":1,"seqs":[1]})"}) {
    EXPECT_EQ(daemon.post(daemon.at("/redact"), body)->status(), 400) << body;
  }
  EXPECT_EQ(daemon.post(daemon.at("/redact"), R"({"seqs":[1,0]})")->status(), 404);
  const auto done = daemon.post(daemon.at("/redact"), R"({"seq":)" + prompt_seq + "}");
  EXPECT_EQ(done->status(), 200) << done->body();
  EXPECT_EQ(daemon.post(daemon.at("/redact"), R"({"seq":)" + prompt_seq + "}")->status(), 200);
  EXPECT_FALSE(daemon.get(daemon.at("/events?limit=1000"))->body().contains("file."));
  const RecordPage page = *daemon.store->read(daemon.session, {.after = 0, .limit = 1000});
  EXPECT_TRUE(verify_chain(page.records).has_value());
  daemon.restart();
  State after = daemon.state();
  EXPECT_EQ(after.context, before.context);
  EXPECT_EQ(after.last_run, before.last_run);
}

// Everything stored for the session, including its entry in the list.
std::string all_stored(ReadDaemon& daemon) {
  std::string all;
  for (const std::string& bytes : daemon.store->read(daemon.session, {.limit = 1000})->records) {
    all += bytes + "\n";
  }
  for (const ListedSession& listed : *daemon.store->list({}, 100)) all += listed.listing.summary;
  for (const OutboxRow& row : *daemon.store->outbox(daemon.session)) all += row.payload;
  if (const auto snapshot = *daemon.store->snapshot(daemon.session)) all += snapshot->bytes;
  return all;
}

// The numbers of the records that contain the text, as a redaction's body.
std::string seqs_with(ReadDaemon& daemon, std::string_view text) {
  std::string seqs;
  Seq seq = 0;
  for (const std::string& bytes : daemon.store->read(daemon.session, {.limit = 1000})->records) {
    ++seq;
    if (bytes.contains(text)) seqs += (seqs.empty() ? "" : ",") + std::to_string(seq);
  }
  return R"({"seqs":[)" + seqs + "]}";
}

TEST(ReadRoutes, X21_SEC10_a_password_in_a_prompt_and_a_title_is_taken_back) {
  ReadDaemon daemon;
  daemon.make_turn();
  ASSERT_TRUE(daemon.ask(RenameSession{"what is here?"}).has_value());
  ASSERT_TRUE(all_stored(daemon).contains("what is here?"));
  const State before = daemon.state();
  daemon.runtime->on_commands_acted(daemon.exec(), 1'000'000'000);
  const auto done = daemon.post(daemon.at("/redact"), seqs_with(daemon, "what is here?"));
  ASSERT_EQ(done->status(), 200) << done->body();
  EXPECT_FALSE(all_stored(daemon).contains("what is here?")) << all_stored(daemon);
  EXPECT_EQ(daemon.state().title, "[redacted]");
  EXPECT_EQ(daemon.state().context, before.context);
  EXPECT_TRUE(daemon.get(daemon.at(""))->body().contains("[redacted]"));
  EXPECT_TRUE(daemon.get(daemon.at("/transcript"))->body().contains("[redacted]"));
  const RecordPage page = *daemon.store->read(daemon.session, {.after = 0, .limit = 1000});
  EXPECT_TRUE(verify_chain(page.records).has_value());
  const State redacted = daemon.state();
  daemon.restart();
  EXPECT_EQ(daemon.state().title, "[redacted]");
  EXPECT_EQ(daemon.state().context, redacted.context);
  EXPECT_EQ(daemon.state().runs, redacted.runs);
}

TEST(ReadRoutes, X21_SEC10_a_queued_prompt_is_taken_back_and_not_sent) {
  ReadDaemon daemon;
  ASSERT_TRUE(daemon.create("first").has_value());
  daemon.agent_comes_up();
  ASSERT_TRUE(daemon.ask(SubmitPrompt{.prompt = {.text = "the password"}}).has_value());
  ASSERT_TRUE(daemon.ask(SubmitPrompt{.prompt = {.text = "another one"}}).has_value());
  ASSERT_EQ(daemon.state().queue.size(), 2U);
  const auto done = daemon.post(daemon.at("/redact"), seqs_with(daemon, "the password"));
  ASSERT_EQ(done->status(), 200) << done->body();
  EXPECT_TRUE(done->body().contains(R"("left_queue":true)"));
  ASSERT_EQ(daemon.state().queue.size(), 1U);
  EXPECT_EQ(daemon.state().queue.front().prompt->text, "another one");
  EXPECT_FALSE(all_stored(daemon).contains("the password"));
  daemon.restart();
  EXPECT_EQ(daemon.state().queue.size(), 1U);
}

TEST(ReadRoutes, X21_SEC10_the_answer_names_each_record_that_still_holds_the_text) {
  ReadDaemon daemon;
  daemon.make_turn();
  std::string prompt;
  Seq seq = 0;
  for (const std::string& bytes : daemon.store->read(daemon.session, {.limit = 1000})->records) {
    ++seq;
    if (bytes.contains(R"("kind":"message.user")")) prompt = std::to_string(seq);
  }
  const auto done = daemon.post(daemon.at("/redact"), R"({"seq":)" + prompt + "}");
  ASSERT_EQ(done->status(), 200) << done->body();
  EXPECT_TRUE(done->body().contains("a command on its way to the agent")) << done->body();
  daemon.runtime->on_commands_acted(daemon.exec(), 1'000'000'000);
  EXPECT_TRUE(done->body().contains("(queue.added)")) << done->body();
  const JsonObject answer = daemon.json(done);
  std::string also;
  for (const std::string& one : elements(answer.find("also_in"))) {
    also += (also.empty() ? "" : ",") + one;
  }
  const auto rest = daemon.post(daemon.at("/redact"), R"({"seqs":[)" + also + "]}");
  EXPECT_EQ(rest->status(), 200) << rest->body();
  EXPECT_FALSE(all_stored(daemon).contains("what is here?")) << all_stored(daemon);
}

// The second case is an agentctl that was started by an older daemon.
TEST(ReadRoutes, X21_SEC10_the_spool_of_a_living_agent_is_cut_or_named) {
  ReadDaemon daemon;
  daemon.make_turn();
  const auto redact = [&] {
    const auto done = daemon.post(daemon.at("/redact"), seqs_with(daemon, "file."));
    EXPECT_EQ(done->status(), 200) << done->body();
    return done->body();
  };
  daemon.workspaces.cut_answer = fail(Code::not_found, "there is no such call");
  ASSERT_TRUE(daemon.ask(RenameSession{"another file."}).has_value());
  EXPECT_TRUE(redact().contains("the spool of the running agent"));
  daemon.workspaces.cut_answer = R"({"cut":true})";
  ASSERT_TRUE(daemon.ask(RenameSession{"one more file."}).has_value());
  EXPECT_TRUE(redact().contains(R"("left":[])"));
  EXPECT_EQ(daemon.workspaces.cuts, 2);
  daemon.ask(StopSession{});
  daemon.runtime->on_gone(daemon.exec(), "test");
  daemon.run_now();
  ASSERT_TRUE(daemon.ask(RenameSession{"the last file."}).has_value());
  EXPECT_TRUE(redact().contains(R"("left":[])"));
  EXPECT_EQ(daemon.workspaces.cuts, 2) << "nothing lives that could have a spool";
}

TEST(ReadRoutes, X21_a_record_without_text_and_an_open_question_are_not_redacted) {
  ReadDaemon daemon;
  ASSERT_TRUE(daemon.create("first").has_value());
  daemon.agent_comes_up();
  const RunId run = daemon.state().run->id;
  daemon.frame(FramePermission{.request = "r", .title = "a long command"}, run);
  const std::string before = all_stored(daemon);
  EXPECT_EQ(daemon.post(daemon.at("/redact"), seqs_with(daemon, "permission.requested"))->status(),
            409);
  EXPECT_EQ(daemon.post(daemon.at("/redact"), seqs_with(daemon, "run.started"))->status(), 409);
  EXPECT_EQ(all_stored(daemon), before);
}

TEST(ReadRoutes, J2_nothing_that_was_kept_of_the_past_outlives_a_redaction) {
  ReadDaemon daemon;
  daemon.make_turn();
  const Seq kept = 2048;  // a past state is kept there
  while (daemon.state().head + 1 < kept) {
    ASSERT_TRUE(daemon.ask(RenameSession{std::to_string(daemon.state().head)}).has_value());
  }
  ASSERT_TRUE(daemon.ask(RenameSession{"a secret"}).has_value());
  ASSERT_EQ(daemon.state().head, kept);
  ASSERT_TRUE(daemon.ask(RenameSession{"plain"}).has_value());
  const std::string then = daemon.at("/at?seq=" + std::to_string(kept));
  ASSERT_TRUE(daemon.get(then)->body().contains("a secret"));
  ASSERT_EQ(daemon.post(daemon.at("/redact"), R"({"seq":2048})")->status(), 200);
  EXPECT_FALSE(daemon.get(then)->body().contains("a secret"));
}

TEST(ReadRoutes, A28_stop_and_resume_give_one_history) {
  ReadDaemon daemon;
  daemon.make_turn();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(daemon.ask(StopSession{}).has_value());
    daemon.runtime->on_gone(daemon.exec(), "test");
    daemon.run_now();
    if (i == 0) {
      ASSERT_TRUE(daemon.ask(ResumeSession{}).has_value());
      daemon.agent_comes_up();
    }
  }
  const JsonObject page = daemon.json(daemon.get(daemon.at("/events?kind=session.stopped")));
  EXPECT_EQ(elements(page.find("events")).size(), 2U);
  EXPECT_TRUE(page.find("events").contains("\"type\":\"session_stopped\""));
}

}  // namespace
}  // namespace perdure
