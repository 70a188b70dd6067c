// A session as one portable file, and back. The file is lines of JSON: a head, every record as it
// is stored, every blob that one of them names, and an end with a checksum over all before it.
// What is read from a file runs nothing and trusts nothing: see start_import().
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "store/store.h"

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
  RawJson git;          // branch, commit and changes of the workspace; absent: not known
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

// Gives the file piece by piece, as of the head that the session had when it was begun.
class SessionExport {
 public:
  // The store outlives it. `head.records` says how many records there are.
  SessionExport(Store& store, ExportHead head) : store_(store), head_(std::move(head)) {}

  // The next whole lines; nothing when the file has ended. An error ends it: a file without its
  // last line is refused by parse_export().
  Result<std::string> next();

 private:
  void add_line(std::string& out, std::string_view line);
  Result<> add_blobs(std::string& out, std::string_view record);

  Store& store_;
  ExportHead head_;
  bool head_given_ = false;
  bool ended_ = false;
  Seq given_ = 0;
  std::uint64_t blobs_ = 0;
  std::set<Hash> blobs_given_;
  Hash sum_;  // of all lines so far, each with the sum before it
};

struct ParsedExport {
  ExportHead head;
  std::vector<std::string> records;
  std::vector<Blob> blobs;
};

// Takes any bytes. invalid_argument: no such file; damaged: cut off, changed, or with a broken
// chain; format_too_new: of a later version (S10).
Result<ParsedExport> parse_export(std::string_view file);

}  // namespace perdure
