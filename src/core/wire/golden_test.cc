// Old journals, kept as files: they decode forever, and encoding today gives the same bytes as it
// did then. And the document describes exactly what the code does.
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/session/machine.h"
#include "core/wire/journal/record.h"
#include "core/wire/journal/schema.h"

namespace perdure {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream in(std::string(PERDURE_SOURCE_DIR "/") + path);
  EXPECT_TRUE(in.good()) << path;
  return (std::ostringstream() << in.rdbuf()).str();
}

std::vector<std::string> golden(const std::string& name) {
  std::istringstream in(file_text("tests/golden/journal/" + name));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  EXPECT_FALSE(lines.empty());
  return lines;
}

TEST(GoldenJournal, J6_todays_encoder_writes_the_bytes_of_v1) {
  std::set<std::string, std::less<>> kinds;
  for (const std::string& line : golden("v1.jsonl")) {
    const auto decoded = decode_record(line);
    ASSERT_TRUE(decoded.has_value()) << line << "\n" << decoded.error().message();
    EXPECT_EQ(decoded->extra.text, "");
    EXPECT_EQ(encode_record(decoded->record.seq, decoded->prev, decoded->record.event), line);
    kinds.emplace(event_kind(decoded->record.event));
  }
  for (const std::string_view kind : record_kinds()) EXPECT_TRUE(kinds.contains(kind)) << kind;
}

TEST(GoldenJournal, J1_J2_the_chain_of_v1_verifies) {
  const auto verified = verify_chain(golden("v1.jsonl"));
  EXPECT_TRUE(verified.has_value()) << verified.error().message();
}

TEST(GoldenJournal, O33_O37_S10_v0_is_read) {
  ChainVerifier verifier;
  for (const std::string& line : golden("v0.jsonl")) {
    const auto decoded = verifier.add(line);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message();
    EXPECT_EQ(decoded->version, 0);
    // Encoded again in the current format it has the same meaning.
    const Event& event = decoded->record.event;
    const auto again =
        decode_record(encode_record(decoded->record.seq, Hash{}, event, decoded->extra));
    ASSERT_TRUE(again.has_value()) << again.error().message();
    EXPECT_EQ(again->record, decoded->record);
    EXPECT_EQ(again->extra, decoded->extra);
  }
}

State fold(const std::vector<std::string>& lines) {
  State state;
  for (const std::string& line : lines) {
    const auto decoded = decode_record(line);
    EXPECT_TRUE(decoded.has_value()) << line;
    if (decoded) state = evolve(std::move(state), decoded->record.event);
  }
  return state;
}

// The same history as version 1 writes it, chained.
std::vector<std::string> twin_in_v1(const std::vector<std::string>& lines) {
  std::vector<std::string> twins;
  Hash prev;
  for (const std::string& line : lines) {
    const auto decoded = decode_record(line);
    EXPECT_TRUE(decoded.has_value()) << line;
    if (!decoded) continue;
    twins.push_back(encode_record(twins.size() + 1, prev, decoded->record.event, decoded->extra));
    prev = record_hash(twins.back());
  }
  return twins;
}

TEST(GoldenJournal, J6_S10_a_journal_of_v0_folds_to_the_state_of_its_twin_in_v1) {
  const std::vector<std::string> old = golden("v0.jsonl");
  const std::vector<std::string> twin = twin_in_v1(old);
  const auto verified = verify_chain(twin);
  ASSERT_TRUE(verified.has_value()) << verified.error().message();
  for (std::size_t upto = 1; upto <= old.size(); ++upto) {
    const State state = fold({old.begin(), old.begin() + static_cast<std::ptrdiff_t>(upto)});
    EXPECT_EQ(state, fold({twin.begin(), twin.begin() + static_cast<std::ptrdiff_t>(upto)}));
    EXPECT_EQ(state.run.has_value(), upto < 4) << "a run is open until it was interrupted";
    EXPECT_EQ(state.head, upto) << "what is not known is counted, too";
  }
  EXPECT_EQ(fold(old).status, "interrupted_waiting");
  const auto unknown_reason = decode_record(old[8]);
  ASSERT_TRUE(unknown_reason &&
              holds_alternative<RunInterrupted>(unknown_reason->record.event.body));
  EXPECT_EQ(get<RunInterrupted>(unknown_reason->record.event.body).reason,
            InterruptReason::process_exit);
}

// A kind's row in the document's tables.
std::string document_row(const KindSchema& schema) {
  std::string fields;
  for (const FieldSchema& field : schema.fields) {
    std::string type = field.type;
    for (std::size_t at = 0; (at = type.find('|', at)) != std::string::npos; at += 2)
      type.insert(at, 1, '\\');
    if (!fields.empty()) fields += "<br>";
    fields += "`" + std::string(field.name) + "`: " + type;
  }
  return "| `" + std::string(schema.kind) + "` | " + (fields.empty() ? "none" : fields) + " |";
}

TEST(JournalDocument, has_every_kind_with_its_fields) {
  const std::string document = file_text("docs/protocol/journal.md");
  for (const auto schemas : {record_schema(), shared_schema()}) {
    for (const KindSchema& schema : schemas) {
      const std::string row = document_row(schema);
      EXPECT_TRUE(document.contains(row)) << "docs/protocol/journal.md lacks:\n" << row;
    }
  }
}

}  // namespace
}  // namespace perdure
