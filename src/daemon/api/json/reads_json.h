// Reads of one session as JSON: pages of records, messages, rows and turns.
#pragma once

#include <optional>
#include <string>

#include "base/bytes/hash.h"
#include "daemon/runtime/reads/reads.h"

namespace perdure {

std::string events_json(const EventsPage& page, const std::string& log_id);

struct TranscriptAnswer {
  TranscriptSlice slice;
  std::optional<Hash> hash;  // covers the whole transcript; absent if that is too long
  std::string log_id;
};
std::string transcript_json(const TranscriptAnswer& answer);
// A20's form of a message.
std::string message_json(const TranscriptMessage& message);

std::string rows_json(const RowsPage& page, const std::string& log_id);
std::string history_json(const HistoryPage& page, const std::string& log_id);
std::string density_json(const Timeline& timeline, const std::vector<Timeline::Bucket>& buckets);

}  // namespace perdure
