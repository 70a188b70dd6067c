// store.json: the folder's engine, the name of the log's life, and how often it was opened.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perdure {

inline constexpr const char* identity_name = "store.json";

struct StoreIdentity {
  std::string log_id;
  std::uint64_t epoch = 0;
  bool is_backup = false;  // when opened, it gets its own log_id
  // Groups of its commit log were skipped: a blob may have an unknown owner.
  bool has_lost = false;
};

std::string encode_identity(const StoreIdentity& identity);
// damaged; format_too_new.
Result<StoreIdentity> decode_identity(std::string_view text);

}  // namespace perdure
