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

#include "base/hash.h"
#include "base/result.h"
#include "base/secret_mask.h"
#include "store/store.h"
#include "wire/export_file.h"

namespace perdure {

// Gives the file piece by piece, as of the head that the session had when it was begun.
class SessionExport {
 public:
  // The store outlives it. `head.records` says how many records there are.
  // What the mask hides is in no line.
  SessionExport(Store& store, ExportHead head, SecretMask mask = {});

  // The next whole lines; nothing when the file has ended. An error ends it: a file without its
  // last line is refused by parse_export().
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
  std::uint64_t prompts = 0;  // of a person, among the records
};

// The blob that stands for an agent's update in an encoded record; nothing when the update is in
// the record itself.
std::optional<Hash> blob_of(std::string_view record);

// Takes any bytes. invalid_argument: no such file; damaged: cut off, changed, or with a broken
// chain; format_too_new: of a later version (S10).
Result<ParsedExport> parse_export(std::string_view file);

}  // namespace perdure
