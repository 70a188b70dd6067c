// Bytes of node records: they decode to what was encoded, and changed bits of a chain are found
// (J2).
#include "core/wire/journal/node_record.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace perdure {
namespace {

NodeRecord sample(std::uint64_t seq, const Hash& prev) {
  return {.seq = seq,
          .at = Timestamp{1'763'209'615'123},
          .kind = "task.created",
          .prev = prev,
          .fields = {R"({"task_id":"task_01ka3qq5rk000000000000000a","title":"x"})"}};
}

TEST(NodeRecord, the_bytes_are_as_documented_and_read_back) {
  const NodeRecord record = sample(1, {});
  const std::string bytes = encode_node_record(record);
  EXPECT_EQ(bytes, R"({"v":1,"seq":1,"ts":"2025-11-15T12:26:55.123Z","kind":"task.created",)"
                   R"("prev":"0000000000000000000000000000000000000000000000000000000000000000",)"
                   R"("task_id":"task_01ka3qq5rk000000000000000a","title":"x"})");
  EXPECT_EQ(*decode_node_record(bytes), record);
  NodeRecord bare = record;
  bare.fields.text = "{}";
  EXPECT_EQ(*decode_node_record(encode_node_record(bare)), bare);
}

TEST(NodeRecord, what_is_none_is_refused_by_name) {
  const std::string good = encode_node_record(sample(1, {}));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string bytes = good;
    bytes.replace(bytes.find(from), from.size(), to);
    return decode_node_record(bytes);
  };
  EXPECT_EQ(with("\"v\":1", "\"v\":3").error().code(), Code::format_too_new);
  EXPECT_EQ(with("\"v\":1", "\"v\":2").error().code(), Code::invalid_argument);
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"v\":1,", ""},
           {"\"v\":1", "\"v\":0"},
           {"\"seq\":1", "\"seq\":0"},
           {"\"seq\":1", "\"seq\":\"1\""},
           {"\"kind\":\"task.created\"", "\"kind\":\"\""},
           {"\"prev\":\"00", "\"prev\":\"0g"},
           {"\"title\":\"x\"", "\"seq\":2"}}) {
    EXPECT_EQ(with(from, to).error().code(), Code::invalid_argument) << to;
  }
  EXPECT_FALSE(decode_node_record(""));
  EXPECT_FALSE(decode_node_record("[]"));
}

TEST(NodeRecord, J2_X21_a_tombstone_keeps_the_chain_and_only_the_fields_that_it_is_given) {
  NodeChain writer;
  const std::string first = encode_node_record(sample(1, {}));
  ASSERT_TRUE(writer.add(first));
  const std::string second = encode_node_record(sample(2, writer.hash()));
  const RawJson kept{R"({"title":"[redacted]"})"};
  const std::string tombstone = *encode_node_tombstone(first, kept);
  EXPECT_FALSE(tombstone.contains("\"x\""));
  EXPECT_EQ(*encode_node_tombstone(tombstone, kept), tombstone);
  NodeChain reader;
  for (const std::string& bytes : {tombstone, second}) {
    const Result<NodeRecord> record = reader.add(bytes);
    ASSERT_TRUE(record) << record.error().message();
    EXPECT_EQ(record->kind, "task.created");
  }
  std::string added = tombstone;
  added.insert(added.size() - 1, R"(,"more":1)");
  EXPECT_EQ(decode_node_record(added).error().code(), Code::invalid_argument);
}

TEST(NodeRecord, J2_a_flipped_bit_a_gap_and_a_repetition_are_damage) {
  std::vector<std::string> records;
  NodeChain writer;
  for (std::uint64_t seq = 1; seq <= 3; ++seq) {
    records.push_back(encode_node_record(sample(seq, writer.hash())));
    ASSERT_TRUE(writer.add(records.back()));
  }
  const auto is_damaged = [](const std::vector<std::string>& chain) {
    NodeChain reader;
    for (const std::string& bytes : chain) {
      const auto read = reader.add(bytes);
      if (!read)
        return read.error().code() == Code::damaged || read.error().code() == Code::format_too_new;
    }
    return false;
  };
  EXPECT_FALSE(is_damaged(records));
  for (std::size_t at = 0; at < records[1].size(); ++at) {
    auto flipped = records;
    flipped[1][at] = static_cast<char>(flipped[1][at] ^ 1);
    EXPECT_TRUE(is_damaged(flipped)) << at;
  }
  EXPECT_TRUE(is_damaged({records[0], records[2]}));
  EXPECT_TRUE(is_damaged({records[0], records[0]}));
}

}  // namespace
}  // namespace perdure
