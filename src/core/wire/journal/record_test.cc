// Journal records: every kind decodes to what was encoded, unknown members are kept, newer records
// are not misread, and no stored byte can be changed undetected.
#include "core/wire/journal/record.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/json/fields_json.h"
#include "base/limits.h"
#include "core/session/redacted.h"
#include "testing/random_fields.h"

namespace perdure {
namespace {

const SessionId session{Ulid{1, 2}};

DecodedRecord decode(std::string_view bytes) {
  auto decoded = decode_record(bytes);
  EXPECT_TRUE(decoded.has_value()) << bytes << "\n" << (decoded ? "" : decoded.error().message());
  return decoded ? *decoded : DecodedRecord{};
}

Error error_of(std::string_view bytes) {
  const auto decoded = decode_record(bytes);
  EXPECT_FALSE(decoded.has_value()) << bytes;
  return decoded ? Error(Code::internal, "decoded") : decoded.error();
}

Event event_of(EventBody body, RunId run = {}) {
  return Event{Timestamp{1'763'209'615'123}, Origin{.run = run}, std::move(body)};
}

// A whole journal with one record of every kind, including an unknown one.
std::vector<std::string> journal(std::uint64_t seed) {
  std::vector<std::string> records;
  Hash prev;
  for (std::size_t kind = 0; kind < EventBody::size; ++kind) {
    const Event event = RandomFields(seed + kind).make_event(kind);
    records.push_back(encode_record(records.size() + 1, prev, event));
    prev = record_hash(records.back());
  }
  return records;
}

std::vector<std::string> keys_of(std::string_view bytes) {
  std::vector<std::string> keys;
  for (const auto& member : JsonObject::parse(bytes)->members()) keys.push_back(member.first);
  return keys;
}

TEST(Record, every_kind_reads_back_as_it_was_written) {
  for (std::size_t kind = 0; kind < EventBody::size; ++kind) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      RandomFields random(seed,
                          seed % 2 == 0 ? RandomFields::Fill::full : RandomFields::Fill::some);
      const Event event = random.make_event(kind);
      const Hash prev = random.make<Hash>();
      const std::string bytes = encode_record(7, prev, event);
      const DecodedRecord decoded = decode(bytes);
      ASSERT_EQ(decoded.record.event, event) << bytes;
      ASSERT_EQ(decoded.record.seq, 7U);
      ASSERT_EQ(decoded.prev, prev);
      ASSERT_EQ(decoded.version, record_version);
      ASSERT_TRUE(decoded.extra.text.empty()) << decoded.extra.text;
      const RecordGlance glance = glance_at_record(bytes).value();
      ASSERT_EQ(glance.at, event.at);
      ASSERT_EQ(glance.kind, event_kind(event));
      ASSERT_EQ(encode_record(7, decoded.prev, decoded.record.event, decoded.extra), bytes);
    }
  }
}

TEST(Record, O7_has_the_envelope_first_and_in_order) {
  RandomFields random(1);
  Event event = random.make_event(0);
  event.body = StatusDerived{"idle"};
  const auto keys = keys_of(encode_record(1, Hash{}, event));
  EXPECT_EQ(keys, (std::vector<std::string>{"v", "seq", "ts", "kind", "prev", "run_id", "exec_id",
                                            "gen", "frame", "after_run", "origin", "status"}));
}

TEST(Record, O36_golden_records_have_exactly_their_keys) {
  const RunId run{Ulid{1, 1}};
  const MessageId message{Ulid{1, 2}};
  const auto own_keys = [](const Event& event) {
    auto keys = keys_of(encode_record(1, Hash{}, event));
    keys.erase(keys.begin(), keys.begin() + 5);
    return keys;
  };
  using Keys = std::vector<std::string>;
  EXPECT_EQ(own_keys(event_of(MessageUser{.message = message, .prompt = {"run tests", {}}})),
            (Keys{"message_id", "content"}));
  EXPECT_EQ(own_keys(event_of(RunWaiting{.token = WaitTokenId{Ulid{1, 3}}}, run)),
            (Keys{"run_id", "wait_kind", "resume_token_id"}));
  EXPECT_EQ(own_keys(event_of(RunInterrupted{}, run)), (Keys{"run_id", "reason"}));
  EXPECT_EQ(own_keys(event_of(StatusDerived{"idle"})), (Keys{"status"}));
}

TEST(Record, X25_keeps_an_unknown_kind_with_its_members) {
  const std::string bytes =
      R"({"v":1,"seq":3,"ts":"2026-02-21T10:01:25.000Z","kind":"future.thing","prev":")" +
      Hash{}.hex() + R"(","gen":4,"b":[1, 2.50],"a\u0062":null})";
  const DecodedRecord decoded = decode(bytes);
  const auto& unknown = get<UnknownEvent>(decoded.record.event.body);
  EXPECT_EQ(unknown.kind, "future.thing");
  EXPECT_EQ(unknown.members.text, R"({"b":[1, 2.50],"a\u0062":null})");
  EXPECT_EQ(decoded.record.event.origin.gen, 4U);
  EXPECT_EQ(event_kind(decoded.record.event), "future.thing");
  EXPECT_EQ(encode_record(3, decoded.prev, decoded.record.event), bytes);
}

TEST(Record, X25_keeps_unknown_members_of_a_known_kind) {
  const std::string bytes =
      R"({"v":1,"seq":3,"ts":"2026-02-21T10:01:25.000Z","kind":"session.created","prev":")" +
      Hash{}.hex() + R"(","agent":{"name":"demo","colour":"red"},"shape":{"of":"things"}})";
  const DecodedRecord decoded = decode(bytes);
  EXPECT_EQ(decoded.extra.text, R"({"agent":{"colour":"red"},"shape":{"of":"things"}})");
  const DecodedRecord again =
      decode(encode_record(3, decoded.prev, decoded.record.event, decoded.extra));
  EXPECT_EQ(again, decoded);
}

TEST(Record, an_unknown_event_cannot_write_over_the_envelope) {
  const Event event = event_of(UnknownEvent{"future.thing", {R"({"seq":99,"v":2,"x":1})"}});
  const DecodedRecord decoded = decode(encode_record(3, Hash{}, event));
  EXPECT_EQ(decoded.record.seq, 3U);
  EXPECT_EQ(get<UnknownEvent>(decoded.record.event.body).members.text, R"({"x":1})");
}

TEST(Record, J6_S10_refuses_a_newer_format) {
  std::string bytes = encode_record(1, Hash{}, event_of(StatusDerived{"idle"}));
  bytes.replace(bytes.find("\"v\":1"), 5, "\"v\":2");
  EXPECT_EQ(error_of(bytes).code(), Code::format_too_new);
  ChainVerifier verifier;
  EXPECT_EQ(verifier.add(bytes).error().code(), Code::format_too_new);
}

TEST(Record, says_what_is_wrong_with_garbage) {
  const std::string prev = R"("prev":")" + Hash{}.hex() + R"(")";
  const std::string start = R"({"v":1,"seq":1,"ts":"2026-02-21T10:01:25.000Z",)";
  const auto message = [&](const std::string& bytes) { return error_of(bytes).message(); };
  EXPECT_EQ(message("[]"), "expected an object");
  EXPECT_EQ(message("{}"), "seq: it is missing");
  EXPECT_EQ(message(R"({"v":0})"), "v: expected a format version");
  EXPECT_EQ(message(R"({"v":"1"})"), "v: expected a format version");
  EXPECT_EQ(message(R"({"v":1,"v":1})"), "v: it is there twice");
  EXPECT_EQ(message(R"({"v":1})"), "seq: it is missing");
  EXPECT_EQ(message(R"({"v":1,"seq":0})"), "seq: it starts at 1");
  EXPECT_EQ(message(R"({"v":1,"seq":1})"), "ts: it is missing");
  EXPECT_EQ(message(start + R"("kind":7})"), "kind: expected a string");
  EXPECT_EQ(message(start + R"("kind":""})"), "kind: it is empty");
  EXPECT_EQ(message(start + R"("kind":"plan"})"), "prev: it is missing");
  EXPECT_EQ(message(start + R"("kind":"plan","prev":"00"})"), "prev: a hash has 64 hex digits");
  EXPECT_EQ(message(start + R"("kind":"plan","text":[],)" + prev + "}"), "text: expected a string");
  EXPECT_EQ(message(start + R"("kind":"plan","gen":-1,)" + prev + "}"),
            "gen: expected a whole number that is not negative");
  EXPECT_EQ(message(start + R"("kind":"run.waiting","wait_kind":"lunch",)" + prev + "}"),
            "wait_kind: 'lunch' is not known");
  EXPECT_EQ(message(R"({"seq":1,"ts":"2026-02-21T10:01:25Z","kind":"plan",)" + prev + "}"),
            "v: it is missing");
  for (const std::string_view garbage :
       {"", " ", "{", "nonsense", "\xff\xfe", "{\"v\":1,}", "1", "null"}) {
    EXPECT_EQ(error_of(garbage).code(), Code::invalid_argument);
  }
}

TEST(Record, a_cut_record_is_no_record) {
  const std::string bytes = encode_record(1, Hash{}, RandomFields(3).make_event(0));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(decode_record(std::string_view(bytes).substr(0, size)).has_value()) << size;
  }
}

TEST(Record, X22_takes_a_record_of_64_MiB_and_not_a_byte_more) {
  Event event = event_of(MessageAgent{});
  const std::size_t overhead =
      encode_record(1, Hash{}, event_of(MessageAgent{.text = "x"})).size() - 1;
  get<MessageAgent>(event.body).text.assign(record_bytes_max - overhead, 'x');
  std::string bytes = encode_record(1, Hash{}, event);
  ASSERT_EQ(bytes.size(), record_bytes_max);
  EXPECT_EQ(decode(bytes).record.event, event);
  bytes.insert(bytes.size() - 1, " ");
  EXPECT_EQ(error_of(bytes).code(), Code::limit_reached);
}

TEST(Record, writes_ill_formed_text_as_replacement_characters) {
  const std::string bytes = encode_record(1, Hash{},
                                          event_of(MessageAgent{.text = "a\xff"
                                                                        "b"}));
  EXPECT_EQ(get<MessageAgent>(decode(bytes).record.event.body).text,
            "a\xEF\xBF\xBD"
            "b");
}

TEST(RecordChain, J1_J2_verifies_a_journal_of_every_kind) {
  EXPECT_TRUE(verify_chain(journal(1)).has_value());
  EXPECT_TRUE(verify_chain({}).has_value());
}

TEST(RecordChain, J1_X22_finds_a_gap_a_repetition_and_a_swap) {
  const auto records = journal(1);
  ChainVerifier verifier;
  ASSERT_TRUE(verifier.add(records[0]).has_value());
  ASSERT_TRUE(verifier.add(records[1]).has_value());
  for (const std::string* wrong : {&records[3], &records[1], &records[0]}) {
    const auto added = verifier.add(*wrong);
    ASSERT_FALSE(added.has_value());
    EXPECT_EQ(added.error().code(), Code::damaged);
    EXPECT_EQ(verifier.seq(), 2U);
  }
  EXPECT_TRUE(verifier.add(records[2]).has_value());  // an error leaves its position unchanged
  EXPECT_TRUE(ChainVerifier(2, record_hash(records[1])).add(records[2]).has_value());
}

TEST(RecordChain, J2_finds_every_flipped_bit) {
  const auto records = journal(5);
  for (std::size_t at = 0; at + 1 < records.size(); ++at) {
    const Hash before = at == 0 ? Hash{} : record_hash(records[at - 1]);
    std::string bytes = records[at];
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      const auto flip = [&] {
        bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
      };
      flip();
      ChainVerifier verifier(at, before);
      const bool found = !verifier.add(bytes) || !verifier.add(records[at + 1]);
      ASSERT_TRUE(found) << bytes;
      flip();
    }
  }
}

TEST(RecordTombstone, J2_keeps_the_chain_and_nothing_of_the_content) {
  auto records = journal(7);
  for (std::size_t at = 0; at < records.size(); at += 3) {
    const std::string original = records[at];
    const auto tombstone = encode_tombstone(original);
    ASSERT_TRUE(tombstone.has_value());
    EXPECT_EQ(keys_of(*tombstone),
              (std::vector<std::string>{"v", "seq", "ts", "kind", "prev", "hash"}));
    EXPECT_EQ(*encode_tombstone(*tombstone), *tombstone);
    records[at] = *tombstone;
    const DecodedRecord decoded = decode(*tombstone);
    EXPECT_EQ(event_kind(decoded.record.event), redacted_kind);
    EXPECT_EQ(decoded.redacted, record_hash(original));
    EXPECT_EQ(chain_hash(decoded, *tombstone), record_hash(original));
  }
  EXPECT_TRUE(verify_chain(records).has_value());
}

TEST(RecordTombstone, J2_is_one_at_another_place_too) {
  const std::string first = encode_record(1, Hash{}, event_of(SessionCreated{}));
  const std::string old =
      R"({"seq":7,"ts":"2026-01-02T03:04:05Z","kind":"message.agent","text":"the secret"})";
  for (const std::string& original : {journal(7).at(3), old}) {
    const DecodedRecord tombstone = decode(encode_tombstone(original).value());
    const Event& event = tombstone.record.event;
    const std::string moved = encode_record(2, record_hash(first), event);
    EXPECT_EQ(decode(moved).redacted, record_hash(original));
    const std::string next =
        encode_record(3, chain_hash(event, moved), event_of(SessionRenamed{"t"}));
    EXPECT_TRUE(verify_chain(std::vector{first, moved, next}).has_value()) << moved;
  }
}

TEST(RecordTombstone, J2_keeps_what_the_state_needs_and_no_text) {
  auto records = journal(7);
  for (std::size_t at = 0; at < records.size(); ++at) {
    const DecodedRecord before = decode(records[at]);
    const std::optional<EventBody> kept = without_text(before.record.event.body);
    if (!kept) continue;
    const std::string tombstone = encode_tombstone(records[at], *kept).value();
    EXPECT_EQ(keys_of(tombstone),
              (std::vector<std::string>{"v", "seq", "ts", "kind", "prev", "hash", "kept"}));
    EXPECT_EQ(*encode_tombstone(tombstone), tombstone);
    const DecodedRecord decoded = decode(tombstone);
    EXPECT_EQ(decoded.version, kept_tombstone_version);
    EXPECT_EQ(decoded.record.event.body, *kept) << tombstone;
    EXPECT_EQ(decoded.record.event.origin, before.record.event.origin);
    EXPECT_EQ(decoded.redacted, record_hash(records[at]));
    EXPECT_EQ(glance_at_record(tombstone)->kind, redacted_kind);
    EXPECT_TRUE(encode_served(session, tombstone).has_value());
    records[at] = tombstone;
  }
  EXPECT_TRUE(verify_chain(records).has_value());
}

TEST(RecordTombstone, J2_one_that_keeps_something_has_one_form) {
  const auto records = journal(7);
  const std::string tombstone =
      encode_tombstone(records[1], EventBody(SessionRenamed{"[redacted]"})).value();
  ChainVerifier good(1, record_hash(records[0]));
  EXPECT_TRUE(good.add(tombstone).has_value());
  std::string more = tombstone;
  more.insert(more.size() - 1, R"(,"text":"x")");
  std::string other = tombstone;
  other.replace(other.find(R"("kept":{"kind":)"), 15, R"("kept":{"king":)");
  std::string bare = tombstone;
  bare.replace(0, 6, R"({"v":1)");
  const std::string plain = R"({"v":2,)" + records[1].substr(7);
  for (const std::string& bytes : {more, other, bare, plain}) {
    ChainVerifier verifier(1, record_hash(records[0]));
    EXPECT_FALSE(verifier.add(bytes).has_value()) << bytes;
  }
}

TEST(RecordTombstone, J2_finds_every_flipped_bit_but_those_of_its_time) {
  const auto records = journal(9);
  const std::string tombstone = *encode_tombstone(records[1]);
  const std::size_t time_at = tombstone.find("\"ts\":\"") + 6;
  for (std::size_t bit = 0; bit < tombstone.size() * 8; ++bit) {
    if (bit / 8 >= time_at && bit / 8 < time_at + 24) continue;
    std::string bytes = tombstone;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    ChainVerifier verifier(1, record_hash(records[0]));
    const bool found = !verifier.add(bytes) || !verifier.add(records[2]);
    ASSERT_TRUE(found) << bytes;
  }
}

TEST(RecordServed, adds_id_and_type_and_leaves_the_stored_bytes_alone) {
  const std::string bytes = encode_record(12, Hash{}, event_of(RunCompleted{"end_turn"}));
  EXPECT_EQ(*encode_served(session, bytes),
            R"({"id":")" + session.text() + R"(/12","type":"done",)" + bytes.substr(1));
}

TEST(RecordServed, every_kind_is_served_as_valid_json_with_one_id_and_one_type) {
  for (const std::string& bytes : journal(11)) {
    const auto served = encode_served(session, bytes);
    ASSERT_TRUE(served.has_value());
    const auto object = JsonObject::parse(*served);
    ASSERT_TRUE(object.has_value()) << *served;
    const DecodedRecord decoded = decode(bytes);
    EXPECT_EQ(*json_string(object->find("id")),
              session.text() + "/" + std::to_string(decoded.record.seq));
    if (!holds_alternative<UnknownEvent>(decoded.record.event.body)) {
      EXPECT_EQ(*json_string(object->find("type")), enum_text(record_type(decoded.record.event)));
    }
  }
  EXPECT_FALSE(encode_served(session, "{}").has_value());
  EXPECT_FALSE(encode_served(session, "{").has_value());
}

TEST(RecordServed, types_follow_the_older_vocabulary) {
  const auto type = [](EventBody body) {
    return enum_text(record_type(event_of(std::move(body))));
  };
  EXPECT_EQ(type(MessageUser{}), "user_message");
  EXPECT_EQ(type(MessageAgent{}), "agent_message");
  EXPECT_EQ(type(MessageThought{}), "thought");
  EXPECT_EQ(type(ToolCall{}), "tool_call");
  EXPECT_EQ(type(ToolUpdate{.status = "in_progress"}), "tool_call");
  EXPECT_EQ(type(ToolUpdate{.status = "completed"}), "tool_result");
  EXPECT_EQ(type(ToolUpdate{.status = "failed"}), "tool_result");
  EXPECT_EQ(type(ToolUpdate{.status = "cancelled"}), "tool_result");
  EXPECT_EQ(type(RepairClosedTool{}), "tool_result");
  EXPECT_EQ(type(Plan{}), "plan");
  EXPECT_EQ(type(PermissionRequested{}), "permission");
  EXPECT_EQ(type(PermissionResolved{}), "permission");
  EXPECT_EQ(type(Usage{}), "usage");
  EXPECT_EQ(type(RunCompleted{}), "done");
  EXPECT_EQ(type(RunCancelled{}), "done");
  EXPECT_EQ(type(RunFailed{}), "error");
  EXPECT_EQ(type(RunInterrupted{}), "error");
  EXPECT_EQ(type(ExecutorError{}), "error");
  EXPECT_EQ(type(ResumeFailed{}), "error");
  EXPECT_EQ(type(SessionStopped{}), "session_stopped");
  EXPECT_EQ(type(ContextInjected{}), "system");  // X28: never a user message
  EXPECT_EQ(type(UnknownEvent{"future.thing", {}}), "system");
}

TEST(RecordKinds, lists_every_kind_once) {
  const auto kinds = record_kinds();
  EXPECT_EQ(kinds.size(), EventBody::size - 1);
  EXPECT_EQ(std::set<std::string_view>(kinds.begin(), kinds.end()).size(), kinds.size());
  EXPECT_EQ(kinds.front(), "session.created");
}

}  // namespace
}  // namespace perdure
