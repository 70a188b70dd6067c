// An exported session read back: completely, or rejected. The import itself is a fork of that file.
#include "daemon/runtime/care/transfer.h"

#include <set>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "daemon/runtime/care/redaction.h"
#include "daemon/runtime/fixture_for_test.h"

namespace perdure {
namespace {

std::string exported(Daemon& daemon, SessionId session, const SecretMask& mask = {}) {
  const State state = daemon.runtime->state(session).value();
  SessionExport file(*daemon.store,
                     {.session = session,
                      .title = state.title,
                      .records = state.head,
                      .log_id = daemon.store->log_id()},
                     mask);
  std::string out;
  while (true) {
    const std::string portion = file.next().value();
    if (portion.empty()) return out;
    out += portion;
  }
}

class Transfer : public ::testing::Test {
 protected:
  Transfer() {
    daemon_.settle();
    session_ = daemon_.create("hello").value().session;
    daemon_.settle();
  }
  Code code_of(const std::string& file) {
    const Result<ParsedExport> parsed = parse_export(file);
    return parsed ? Code::internal : parsed.error().code();
  }

  Daemon daemon_;
  SessionId session_;
};

TEST_F(Transfer, what_was_exported_is_read_back_byte_for_byte) {
  const ParsedExport parsed = parse_export(exported(daemon_, session_)).value();
  EXPECT_EQ(parsed.head.session, session_);
  const RecordPage page = daemon_.store->read(session_, {.after = 0, .limit = 1000}).value();
  EXPECT_EQ(parsed.records, page.records);
}

TEST_F(Transfer, X21_values_that_are_known_to_be_secret_are_in_no_export) {
  daemon_.agent_comes_up();
  const RunId run = daemon_.state().run->id;
  daemon_.frame(MessageAgent{.text = "it is \"open sesame\"",
                             .update = {R"({"content":{"text":"it is \"open sesame\""}})"}},
                run);
  const std::string large =
      R"({"x":"open sesame )" + std::string(blob_threshold_bytes, 'y') + "\"}";
  daemon_.frame(AgentUpdate{{large}}, run);
  daemon_.frame(FrameRunFinished{run, "end_turn"}, run);
  SecretMask mask;
  mask.add("API_KEY", "open sesame");
  const std::string all = exported(daemon_, session_);
  ASSERT_TRUE(all.contains("open sesame"));
  const std::string file = exported(daemon_, session_, mask);
  EXPECT_FALSE(file.contains("open sesame"));
  EXPECT_TRUE(file.contains(R"(it is \"***\")")) << "the rest of the text stays";
  const Result<ParsedExport> parsed = parse_export(file);
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message();
  EXPECT_TRUE(parsed->blobs.empty());
  const SessionId to(Ulid{9, 9});
  std::optional<Result<Reply>> reply;
  daemon_.runtime->import_session(*parsed, to, "uid:1",
                                  [&](Result<Reply> answer) { reply = std::move(answer); });
  daemon_.settle();
  EXPECT_TRUE(reply && reply->has_value());
  SecretMask nothing;
  nothing.add("API_KEY", "not in there");
  EXPECT_EQ(exported(daemon_, session_, nothing), all) << "byte for byte";
}

TEST_F(Transfer, C20_a_file_that_is_cut_or_changed_is_refused_at_every_byte) {
  const std::string file = exported(daemon_, session_);
  for (std::size_t cut = 0; cut < file.size(); ++cut) {
    EXPECT_NE(code_of(file.substr(0, cut)), Code::internal) << cut;
    std::string changed = file;
    changed[cut] = static_cast<char>(changed[cut] ^ 1);
    EXPECT_NE(code_of(changed), Code::internal) << cut;
  }
  EXPECT_EQ(code_of(file + "more\n"), Code::damaged);
}

TEST_F(Transfer, S10_a_later_version_is_refused_with_its_reason) {
  std::string file = exported(daemon_, session_);
  file.replace(0, std::string_view("{\"perdure_export\":1").size(), "{\"perdure_export\":2");
  EXPECT_EQ(code_of(file), Code::format_too_new);
  EXPECT_EQ(code_of("hello\n"), Code::invalid_argument);
}

TEST_F(Transfer, C13_an_imported_session_has_no_folder_and_runs_nothing) {
  const std::size_t started = daemon_.agentctls.started.size();
  const SessionId to(Ulid{9, 9});
  std::optional<Result<Reply>> reply;
  daemon_.runtime->import_session(parse_export(exported(daemon_, session_)).value(), to, "uid:1",
                                  [&](Result<Reply> answer) { reply = std::move(answer); });
  daemon_.settle();
  ASSERT_TRUE(reply && reply->has_value());
  const State state = daemon_.runtime->state(to).value();
  EXPECT_EQ(state.workspace, Workspace{});
  EXPECT_TRUE(state.mcp_servers.text.empty());
  EXPECT_FALSE(state.run.has_value());
  EXPECT_TRUE(state.queue.empty());
  EXPECT_EQ(state.stop_reason, "imported");
  EXPECT_EQ(daemon_.agentctls.started.size(), started);
  // A repeat gives the same session.
  std::optional<Result<Reply>> again;
  daemon_.runtime->import_session(parse_export(exported(daemon_, session_)).value(), to, "uid:1",
                                  [&](Result<Reply> answer) { again = std::move(answer); });
  daemon_.settle();
  EXPECT_EQ((*again)->session, to);
  EXPECT_EQ(daemon_.runtime->state(to)->head, state.head);
}

// A session with an update stored as a blob, and copies of it.
class LargeUpdate : public Transfer {
 protected:
  LargeUpdate() {
    daemon_.agent_comes_up();
    daemon_.settle();
    daemon_.frame(AgentUpdate{{huge_}}, daemon_.state().run->id);
    seq_ = daemon_.state().head;
  }
  void begin_fork(SessionId from, SessionId to) {
    answer_.reset();
    daemon_.runtime->fork(from, 0, to, "uid:1", [&](Result<Reply> r) { answer_ = std::move(r); });
  }
  void fork(SessionId from, SessionId to) {
    begin_fork(from, to);
    daemon_.settle();
    ASSERT_TRUE(answer_ && answer_->has_value());
  }

  const std::string huge_ = "{\"x\":\"" + std::string(blob_threshold_bytes, 'y') + "\"}";
  const Hash hash_ = sha256(huge_);
  const SessionId copy_{Ulid{9, 1}};
  Seq seq_ = 0;
  std::optional<Result<Reply>> answer_;
};

TEST_F(LargeUpdate, X27_a_copy_keeps_it_when_the_original_is_deleted) {
  fork(session_, copy_);
  ASSERT_TRUE(daemon_.store->remove(session_));
  const RecordPage page = daemon_.store->read(copy_, {.after = seq_ - 1, .limit = 1}).value();
  EXPECT_EQ(blob_of(page.records.at(0)), hash_);
  EXPECT_EQ(daemon_.store->blob(hash_), huge_);
  const ParsedExport parsed = parse_export(exported(daemon_, copy_)).value();
  ASSERT_EQ(parsed.blobs.size(), 1U);
  EXPECT_EQ(parsed.blobs[0].bytes, huge_);
  // The copy owns it now; it is deleted with the copy.
  ASSERT_TRUE(daemon_.store->remove(copy_));
  EXPECT_EQ(daemon_.store->blob(hash_).error().code(), Code::not_found);
}

TEST_F(LargeUpdate, X27_a_fork_whose_original_is_deleted_meanwhile_fails) {
  begin_fork(session_, copy_);
  ASSERT_TRUE(daemon_.store->remove(session_));  // its records are read but not yet written
  daemon_.settle();
  ASSERT_TRUE(answer_.has_value());
  EXPECT_EQ(answer_->error().code(), Code::not_found);
  EXPECT_EQ(daemon_.store->head(copy_).error().code(), Code::not_found);
}

// A redaction removes the bytes from every session. The others continue without them.
TEST_F(LargeUpdate, X27_a_redacted_one_is_in_no_copy_and_copies_can_be_copied) {
  fork(session_, copy_);
  std::optional<Result<RedactionReport>> redacted;
  redact_records(*daemon_.runtime, {.session = session_, .seqs = {seq_}, .by = "uid:1"},
                 [&](Result<RedactionReport> r) { redacted = std::move(r); });
  daemon_.settle();
  ASSERT_TRUE(redacted && redacted->has_value()) << redacted->error().message();
  EXPECT_EQ(daemon_.store->blob(hash_).error().code(), Code::not_found);
  const SessionId second(Ulid{9, 2});
  fork(copy_, second);
  EXPECT_EQ(daemon_.store->read(second, {.after = seq_ - 1, .limit = 1})->records.size(), 1U);
  for (const SessionId session : {session_, copy_, second}) {
    EXPECT_TRUE(parse_export(exported(daemon_, session)).value().blobs.empty());
  }
}

TEST_F(Transfer, C13_an_imported_session_goes_on_only_with_an_agent_that_is_named) {
  daemon_.agent_comes_up();
  daemon_.frame(Mode{.value = "bypassPermissions"});
  ASSERT_EQ(daemon_.state().options.at("mode"), "bypassPermissions");
  const SessionId to(Ulid{9, 9});
  daemon_.runtime->import_session(parse_export(exported(daemon_, session_)).value(), to, "uid:1",
                                  [](const Result<Reply>&) {});
  daemon_.settle();
  daemon_.session = to;
  ASSERT_TRUE(daemon_.ask(ConfigureSession{{.workspace = Workspace{.cwd = "/w"}}}).has_value());
  const std::size_t started = daemon_.agentctls.started.size();
  const Result<Reply> nobody = daemon_.ask(ResumeSession{});
  ASSERT_FALSE(nobody.has_value());
  EXPECT_EQ(nobody.error().code(), Code::agent_unknown);
  EXPECT_EQ(daemon_.agentctls.started.size(), started);
  ASSERT_TRUE(daemon_.ask(ResumeSession{.with = AgentProfile{.name = "demo"}}).has_value());
  daemon_.agent_comes_up();
  EXPECT_EQ(daemon_.agentctls.started.back().agent.name, "demo");
  EXPECT_EQ(daemon_.agentctls.commands<OpenSession>().back().options.size(), 0U);
  EXPECT_EQ(daemon_.state().agent.name, "demo");
}

class Redacted : public Transfer {
 protected:
  // One whole turn, whose answer is then redacted.
  Redacted() {
    daemon_.agent_comes_up();
    const RunId run = daemon_.state().run->id;
    daemon_.frame(MessageAgent{.text = "the secret"}, run);
    daemon_.frame(FrameRunFinished{run, "end_turn"}, run);
    for (const Record& record : daemon_.records()) {
      if (holds_alternative<MessageAgent>(record.event.body)) redacted_ = record.seq;
    }
    std::optional<Result<RedactionReport>> done;
    redact_records(*daemon_.runtime, {.session = session_, .seqs = {redacted_}, .by = "uid:1"},
                   [&](Result<RedactionReport> r) { done = std::move(r); });
    daemon_.settle();
    EXPECT_TRUE(done && done->has_value());
  }
  // The copy has a whole journal, which gives the state even without its snapshot.
  void expect_sound(SessionId copy) {
    const RecordPage page = daemon_.store->read(copy, {.after = 0, .limit = 1000}).value();
    const Result<> chain = verify_chain(page.records);
    EXPECT_TRUE(chain.has_value()) << (chain ? "" : chain.error().message());
    const DecodedRecord kept = decode_record(page.records.at(redacted_ - 1)).value();
    const RecordPage from = daemon_.store->read(session_, {.after = 0, .limit = 1000}).value();
    const DecodedRecord original = decode_record(from.records.at(redacted_ - 1)).value();
    EXPECT_TRUE(original.redacted.has_value());
    EXPECT_EQ(kept.record.event.body, original.record.event.body);
    for (const std::string& bytes : page.records) EXPECT_FALSE(bytes.contains("the secret"));
    const State state = daemon_.runtime->state(copy).value();
    ASSERT_TRUE(daemon_.disk.flip_snapshot_bit(copy));
    daemon_.crash();
    daemon_.settle();
    const Result<State> folded = daemon_.runtime->state(copy);
    ASSERT_TRUE(folded.has_value()) << folded.error().message();
    EXPECT_EQ(*folded, state);
  }

  template <class Copy>
  void expect_sound_copy(const Copy& copy) {
    const SessionId to(Ulid{9, 9});
    std::optional<Result<Reply>> reply;
    copy(to, [&](Result<Reply> answer) { reply = std::move(answer); });
    daemon_.settle();
    ASSERT_TRUE(reply && reply->has_value());
    expect_sound(to);
    EXPECT_TRUE(parse_export(exported(daemon_, to)).has_value()) << "a copy of the copy";
  }

  Seq redacted_ = 0;
};

TEST_F(Redacted, J2_a_fork_has_what_is_kept_in_a_sound_chain) {
  expect_sound_copy([&](SessionId to, ReplyFn done) {
    daemon_.runtime->fork(session_, 0, to, "uid:1", std::move(done));
  });
}

TEST_F(Redacted, J2_an_import_has_what_is_kept_in_a_sound_chain) {
  expect_sound_copy([&](SessionId to, ReplyFn done) {
    daemon_.runtime->import_session(parse_export(exported(daemon_, session_)).value(), to, "uid:1",
                                    std::move(done));
  });
}

// The file of a session in which a later version added a member to every record.
ParsedExport with_later_members(Daemon& daemon, SessionId session) {
  ParsedExport file = parse_export(exported(daemon, session)).value();
  Hash prev;
  for (std::string& bytes : file.records) {
    const Record record = decode_record(bytes).value().record;
    bytes = encode_record(record.seq, prev, record.event, RawJson{R"({"later":7})"});
    prev = record_hash(bytes);
  }
  return file;
}

TEST_F(Transfer, J6_C13_copies_keep_members_of_later_versions_but_for_those_that_could_bind) {
  const auto kinds_with_later = [&](SessionId copy, std::size_t count) {
    std::set<std::string> out;
    const RecordPage page = daemon_.store->read(copy, {.after = 0, .limit = count}).value();
    EXPECT_TRUE(verify_chain(page.records));
    for (const std::string& bytes : page.records) {
      const DecodedRecord decoded = decode_record(bytes).value();
      if (decoded.extra == RawJson{R"({"later":7})"}) out.emplace(event_kind(decoded.record.event));
    }
    return out;
  };
  const ParsedExport file = with_later_members(daemon_, session_);
  const SessionId imported(Ulid{9, 1});
  daemon_.runtime->import_session(file, imported, "uid:1", [](const Result<Reply>&) {});
  daemon_.settle();
  std::set<std::string> kinds;
  for (const Record& record : daemon_.records()) kinds.emplace(event_kind(record.event));
  std::set<std::string> harmless = kinds;
  ASSERT_EQ(harmless.erase("session.created"), 1U);
  ASSERT_EQ(harmless.erase("resume.requested"), 1U);
  ASSERT_FALSE(harmless.empty());
  EXPECT_EQ(kinds_with_later(imported, file.records.size()), harmless);

  const SessionId here(Ulid{9, 2});  // as the later version left it
  const std::uint64_t epoch = daemon_.store->own(here).value().epoch;
  daemon_.store->append({.session = here, .epoch = epoch, .records = file.records},
                        [](const Result<>& done) { EXPECT_TRUE(done); });
  daemon_.settle();
  const SessionId forked(Ulid{9, 3});
  daemon_.runtime->fork(here, 0, forked, "uid:1", [](const Result<Reply>&) {});
  daemon_.settle();
  EXPECT_EQ(kinds_with_later(forked, file.records.size()), kinds);
}

// docs/decisions/0007: the journal of a session that can be loaded is never empty.
TEST_F(Transfer, C10_a_session_without_a_turn_is_not_adopted) {
  const auto adopt = [&](SessionId to) {
    std::optional<Result<Reply>> reply;
    daemon_.runtime->adopt_session(parse_export(exported(daemon_, session_)).value(), to, "uid:1",
                                   {.agent = {.name = "claude"}, .agent_session_id = "native"},
                                   [&](Result<Reply> answer) { reply = std::move(answer); });
    daemon_.settle();
    return reply.value();
  };
  const Result<Reply> refused = adopt(SessionId(Ulid{9, 1}));  // its prompt was never sent
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), Code::invalid_argument);
  EXPECT_FALSE(daemon_.runtime->state(SessionId(Ulid{9, 1})).has_value());
  daemon_.agent_comes_up();
  daemon_.settle();
  EXPECT_TRUE(adopt(SessionId(Ulid{9, 2})).has_value());
}

}  // namespace
}  // namespace perdure
