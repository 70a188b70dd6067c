#include "runtime/folds.h"

#include <algorithm>

#include "base/limits.h"
#include "wire/record.h"

namespace perdure {

std::optional<MarkKind> mark_of(const Event& event) {
  const EventBody& body = event.body;
  if (holds_alternative<MessageUser>(body)) return MarkKind::prompt;
  if (holds_alternative<ContextBoundary>(body)) return MarkKind::boundary;
  if (holds_alternative<PermissionRequested>(body)) return MarkKind::permission;
  if (holds_alternative<ExecutorReattached>(body)) return MarkKind::restart;
  if (holds_alternative<SessionStopped>(body)) return MarkKind::stop;
  const bool failure =
      holds_alternative<RunFailed>(body) || holds_alternative<RunInterrupted>(body) ||
      holds_alternative<ResumeFailed>(body) || holds_alternative<ExecutorError>(body);
  if (failure) return MarkKind::failure;
  return std::nullopt;
}

DensityFold::DensityFold(Span span, std::size_t buckets) : span_(span) {
  span_.end.ms = std::max(span_.end.ms, span_.begin.ms);
  buckets_.resize(std::clamp<std::size_t>(buckets, 1, density_buckets_max));
  const auto count = static_cast<std::int64_t>(buckets_.size());
  for (std::int64_t i = 0; i < count; ++i) {
    buckets_[static_cast<std::size_t>(i)].from = {span_.begin.ms +
                                                  (span_.end.ms - span_.begin.ms) / count * i};
  }
}

Result<> DensityFold::add(Seq seq, std::string_view bytes) {
  const DecodedRecord decoded = TRY(decode_record(bytes));
  const Timestamp at = decoded.record.event.at;
  // Clocks jump: what lies outside the span counts at its ends.
  const auto next = std::ranges::upper_bound(buckets_, at, {}, &Bucket::from);
  Bucket& bucket = next == buckets_.begin() ? *next : *std::prev(next);
  bucket.records += 1;
  if (bucket.first_seq == 0) bucket.first_seq = seq;
  bucket.last_seq = seq;
  if (const std::optional<MarkKind> kind = mark_of(decoded.record.event)) {
    if (marks_.size() < density_marks_max) {
      marks_.push_back({seq, at, *kind});
    } else {
      marks_left_out_ += 1;
    }
  }
  return {};
}

Result<> StateFold::add(Seq, std::string_view bytes) {
  state_ = evolve(std::move(state_), TRY(decode_record(bytes)).record.event);
  return {};
}

Result<> SizeFold::add(Seq, std::string_view bytes) {
  bytes_ += bytes.size();
  constexpr std::string_view reference = R"("update":{"blob":")";
  const std::size_t at = bytes.find(reference);
  if (at == std::string_view::npos) return {};
  // The reference that spilling writes: {"blob":"<hash>","bytes":N}.
  const std::string_view rest = bytes.substr(at + std::string_view(R"("update":)").size());
  const std::size_t end = rest.find('}');
  const Result<JsonObject> object = JsonObject::parse(rest.substr(0, end + 1));
  if (!object) return {};
  const bool is_new = blobs_.emplace(object->find("blob")).second;
  if (is_new) blob_bytes_ += json_uint(object->find("bytes")).value_or(0);
  return {};
}

Result<> BlobFold::add(Seq, std::string_view bytes) {
  found_ = found_ || bytes.contains(wanted_);
  return {};
}

Result<> TextFold::add(Seq, std::string_view bytes) {
  bytes_ += bytes.size();
  if (bytes_ > whole_text_bytes_max) {
    return fail(Code::limit_reached, "the session is too long to be given as one text; read pages");
  }
  transcript_.add(TRY(decode_record(bytes)).record);
  return {};
}

}  // namespace perdure
