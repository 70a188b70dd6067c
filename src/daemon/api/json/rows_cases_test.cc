// Rows, which the page also folds from incoming records. Both sides read one table,
// tests/shared/rows_cases.json; web/src/core/rows_cases.test.ts is the other side.
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "base/json/json.h"
#include "core/wire/journal/record.h"
#include "daemon/api/json/reads_json.h"
#include "daemon/runtime/reads/folds.h"

namespace perdure {
namespace {

std::string file_text(const char* path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string_view> elements(std::string_view array) {
  return json_elements(array).value_or(std::vector<std::string_view>());
}

// The table omits the envelope: records are numbered from 1, one second apart.
Record record_of(std::string_view members, Seq seq) {
  const std::string ts =
      format_timestamp(Timestamp{1'794'744'000'000 + 1000 * static_cast<int>(seq)});
  const std::string bytes = R"({"v":1,"seq":)" + std::to_string(seq) + R"(,"ts":")" + ts +
                            R"(","prev":")" + std::string(64, '0') + "\"," +
                            std::string(members.substr(1));
  const Result<DecodedRecord> decoded = decode_record(bytes);
  EXPECT_TRUE(decoded.has_value()) << bytes << (decoded ? "" : decoded.error().message());
  return decoded ? decoded->record : Record{};
}

struct Folded {
  TranscriptFolder folder;
  std::vector<Row> marks;
  Seq segment = 0;
};

Folded fold(const std::vector<std::string_view>& records) {
  Folded out;
  for (Seq seq = 1; seq <= records.size(); ++seq) {
    const Record record = record_of(records[seq - 1], seq);
    out.folder.add(record);
    if (is_flush_point(record)) out.segment = seq;
    const auto kind = mark_of(event_kind(record.event));
    if (kind && *kind != MarkKind::prompt) {
      out.marks.push_back({.seq = seq, .rev = seq, .mark = std::string(records[seq - 1])});
    }
  }
  return out;
}

RowsPage page_of(Folded folded) {
  RowsPage page{.rows = std::move(folded.marks), .segment = folded.segment};
  for (TranscriptMessage& message : std::move(folded.folder).take()) {
    Row row{.seq = message.first_seq, .rev = message.last_seq};
    row.message = std::move(message);
    page.rows.push_back(std::move(row));
  }
  std::ranges::sort(page.rows, {}, [](const Row& row) {
    return std::pair(row.seq, row.message && row.message->role == MessageRole::tool_result);
  });
  return page;
}

using Members = std::map<std::string, std::string>;

// The members of a served row that the table contains.
Members told(std::string_view row) {
  Members out;
  for (const auto& [key, value] : JsonObject::parse(row)->members()) {
    if (key == "first_seq" || key == "last_seq" || key == "timestamp" || key == "seq") continue;
    if (key == "record") {
      out["kind"] = JsonObject::parse(value)->find("kind");
    } else {
      out[key] = value;
    }
  }
  return out;
}

Members expected(std::string_view row) {
  Members out;
  for (const auto& [key, value] : JsonObject::parse(row)->members()) out[key] = value;
  // The default is the row's place: the number in its id, without the suffix of a result's id.
  if (!out.contains("rev")) out["rev"] = std::to_string(std::stoul(out["id"].substr(1)));
  return out;
}

TEST(RowsCases, records_fold_to_the_rows_that_the_page_folds_too) {
  const std::string table = file_text(PERDURE_SOURCE_DIR "/tests/shared/rows_cases.json");
  const Result<JsonObject> object = JsonObject::parse(table);
  ASSERT_TRUE(object.has_value());
  const auto cases = elements(object->find("cases"));
  ASSERT_GE(cases.size(), 9U);
  for (const std::string_view one : cases) {
    const JsonObject members = *JsonObject::parse(one);
    SCOPED_TRACE(members.find("name"));
    const std::string served = rows_json(page_of(fold(elements(members.find("records")))), "log");
    const JsonObject answer = *JsonObject::parse(served);
    EXPECT_EQ(answer.find("segment_seq"), members.find("segment_seq"));
    const auto rows = elements(answer.find("rows"));
    const auto wanted = elements(members.find("rows"));
    ASSERT_EQ(rows.size(), wanted.size()) << served;
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(told(rows[i]), expected(wanted[i]));
  }
}

}  // namespace
}  // namespace perdure
