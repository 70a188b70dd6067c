// Writes the portable file of a session: lines of JSON, a head, records and blobs, and an end with
// a checksum of all before it. daemon/runtime/care/transfer.h reads it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes/hash.h"
#include "base/id.h"
#include "base/json/fields.h"
#include "base/json/json.h"
#include "base/time.h"

namespace perdure {

inline constexpr std::int64_t export_version = 1;

struct ExportHead {
  std::int64_t version = export_version;
  SessionId session;
  std::string title;
  std::string agent;
  std::string cwd;
  std::uint64_t records = 0;
  std::string log_id;
  Timestamp at;
  std::string made_by;  // the program's version
  RawJson git;          // branch, commit and changes of the workspace; absent: unknown
  FIELDS {
    visit("perdure_export", self.version);
    visit("session_id", self.session);
    visit("title", self.title);
    visit("agent", self.agent);
    visit("cwd", self.cwd);
    visit("records", self.records);
    visit("log_id", self.log_id);
    visit("ts", self.at);
    visit("made_by", self.made_by);
    visit("git", self.git);
  }
};

// The checksum after one more line.
Hash export_sum(const Hash& before, std::string_view line);

// Renders the lines, each with its newline, and keeps the counts for the last one. The caller is
// responsible for the order: one head, then records and the blobs they name, then one end.
class ExportLines {
 public:
  std::string head(const ExportHead& head);
  std::string record(std::string_view bytes);  // as stored
  std::string blob(const Hash& hash, std::string_view bytes);
  std::string end() const;

 private:
  std::string summed(std::string line);

  std::uint64_t records_ = 0;
  std::uint64_t blobs_ = 0;
  Hash sum_;
};

// The id of the session into which a program's own session is adopted: always the same, so that a
// second adoption finds the first.
struct AdoptedName {
  std::string agent;
  std::string agent_session_id;
};
SessionId adopted_session(const AdoptedName& name);

}  // namespace perdure
