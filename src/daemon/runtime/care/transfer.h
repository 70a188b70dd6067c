// Exports a session as one portable file, and reads it back. The file is lines of JSON: a head,
// every record as stored, every blob that a record refers to, and an end with a checksum of all
// before it. Nothing in a file is run or trusted: see Runtime::import_session().
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/hash.h"
#include "base/result.h"
#include "base/secret_mask.h"
#include "core/wire/journal/export_file.h"
#include "store/store.h"

namespace perdure {

// Produces the file piece by piece, as of the session's head when the export was created.
class SessionExport {
 public:
  // The store outlives it. `head.records` is the number of records. The mask applies to every line.
  SessionExport(Store& store, ExportHead head, SecretMask mask = {});

  // The next whole lines; empty at the end of the file. An error ends it: parse_export() rejects a
  // file without its last line.
  Result<std::string> next();

 private:
  Result<> add_blobs(std::string& out, std::string_view record);

  Store& store_;
  ExportHead head_;
  SecretMask mask_;
  bool head_given_ = false;
  bool ended_ = false;
  Seq given_ = 0;
  std::set<Hash> blobs_given_;
  ExportLines lines_;
};

struct ParsedExport {
  ExportHead head;
  std::vector<std::string> records;
  std::vector<Blob> blobs;
  std::uint64_t prompts = 0;  // of people, among the records
};

// The blob that holds an agent's update outside an encoded record; absent if the record contains
// the update.
std::optional<Hash> blob_of(std::string_view record);

// Accepts any bytes. invalid_argument: not an export; damaged: truncated, changed, or with a broken
// chain; format_too_new: of a later version (S10).
Result<ParsedExport> parse_export(std::string_view file);

}  // namespace perdure
