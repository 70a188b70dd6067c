#include "daemon/runtime/care/transfer.h"

#include <algorithm>

#include "base/bytes/base64.h"
#include "base/json/fields_json.h"
#include "base/limits.h"
#include "core/session/events.h"
#include "core/wire/journal/record.h"
#include "daemon/runtime/care/fork.h"
#include "daemon/runtime/reads/masking.h"
#include "daemon/runtime/runtime.h"
#include "daemon/runtime/shared.h"

namespace perdure {
namespace {

constexpr std::size_t portion_bytes = 1UL << 20;

struct Lines {
  std::string_view rest;
  std::optional<std::string_view> next() {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return line;
  }
};

Result<Blob> parse_blob(std::string_view line) {
  const JsonObject object = TRY(JsonObject::parse(line));
  Blob blob{.hash = TRY(Hash::parse_hex(TRY(json_string(object.find("blob"))))),
            .bytes = TRY(base64_decode(TRY(json_string(object.find("base64")))))};
  if (sha256(blob.bytes) != blob.hash) return fail(Code::damaged, "a blob is not what it was");
  return blob;
}

Result<> check_end(std::string_view line, const ParsedExport& parsed, const Hash& sum) {
  const JsonObject object = TRY(JsonObject::parse(line));
  const std::uint64_t records = TRY(json_uint(object.find("records")));
  const std::uint64_t blobs = TRY(json_uint(object.find("blobs")));
  const Hash told = TRY(Hash::parse_hex(TRY(json_string(object.find("sha256")))));
  if (records != parsed.records.size() || blobs != parsed.blobs.size() || told != sum) {
    return fail(Code::damaged, "the file is not what was exported");
  }
  return {};
}

Result<> check_records(ParsedExport& parsed) {
  ChainVerifier chain;
  for (const std::string& record : parsed.records) {
    const DecodedRecord decoded = TRY(chain.add(record));
    const bool first = decoded.record.seq == 1;
    if (first != holds_alternative<SessionCreated>(decoded.record.event.body)) {
      return fail(Code::damaged, "a session begins with its creation, and has one only");
    }
    if (holds_alternative<MessageUser>(decoded.record.event.body)) ++parsed.prompts;
  }
  if (parsed.records.empty()) return fail(Code::damaged, "the file holds no record");
  return {};
}

}  // namespace

std::optional<Hash> blob_of(std::string_view record) {
  const Result<JsonObject> object = JsonObject::parse(record);
  if (!object) return std::nullopt;
  const std::string_view update = object->find("update");
  if (!update.starts_with('{')) return std::nullopt;
  JsonWalk walk(update);
  if (!walk.next() || walk.quoted_key() != "\"blob\"") return std::nullopt;
  const Result<std::string> hex = json_string(walk.value());
  if (!hex) return std::nullopt;
  const Result<Hash> hash = Hash::parse_hex(*hex);
  return hash ? std::optional(*hash) : std::nullopt;
}

SessionExport::SessionExport(Store& store, ExportHead head, SecretMask mask)
    : store_(store), head_(std::move(head)), mask_(std::move(mask)) {
  head_.title = mask_.mask(head_.title);
  head_.git = mask_.mask(head_.git);
}

Result<> SessionExport::add_blobs(std::string& out, std::string_view record) {
  const std::optional<Hash> hash = blob_of(record);
  if (!hash || !blobs_given_.insert(*hash).second) return {};
  const Result<std::string> bytes = store_.blob(*hash);
  // Redacted in another session that also had it: the record is exported without it.
  if (!bytes && bytes.error().code() == Code::not_found) return {};
  if (!bytes) return std::unexpected(bytes.error());
  // Its hash names these exact bytes, so they are exported unchanged or not at all.
  if (mask_.mask(RawJson{*bytes}).text != *bytes) return {};
  out += lines_.blob(*hash, *bytes);
  return {};
}

Result<std::string> SessionExport::next() {
  std::string out;
  if (!head_given_) {
    head_given_ = true;
    out += lines_.head(head_);
  }
  while (out.size() < portion_bytes && given_ < head_.records) {
    const auto want = std::min<Seq>(page_records_max, head_.records - given_);
    const RecordPage page = TRY(store_.read(
        head_.session,
        {.after = given_, .limit = static_cast<std::size_t>(want), .bytes_max = portion_bytes}));
    if (page.records.empty()) return fail(Code::damaged, "records are missing");
    for (const std::string& record : page.records) {
      TRY_VOID(add_blobs(out, record));
      out += lines_.record(TRY(masked_record(record, mask_)));
    }
    given_ += page.records.size();
  }
  if (given_ < head_.records || ended_) return out;
  ended_ = true;
  return out + lines_.end();
}

Result<ParsedExport> parse_export(std::string_view file) {
  Lines lines{file};
  const auto first = lines.next();
  if (!first || !first->starts_with("{\"perdure_export\":")) {
    return fail(Code::invalid_argument, "this is not an exported session");
  }
  const JsonObject head = TRY(JsonObject::parse(*first));
  if (TRY(json_int(head.find("perdure_export"))) > export_version) {
    return fail(Code::format_too_new, "exported by a later version of Perdure");
  }
  ParsedExport parsed;
  parsed.head = TRY(decode_fields<ExportHead>(*first)).value;
  Hash sum = export_sum({}, *first);
  while (const auto line = lines.next()) {
    if (line->starts_with("{\"end\":")) {
      TRY_VOID(check_end(*line, parsed, sum));
      if (!lines.rest.empty()) return fail(Code::damaged, "unexpected data after the end");
      TRY_VOID(check_records(parsed));
      return parsed;
    }
    sum = export_sum(sum, *line);
    constexpr std::string_view record_begin = "{\"record\":";
    if (line->starts_with(record_begin) && line->ends_with('}')) {
      parsed.records.emplace_back(
          line->substr(record_begin.size(), line->size() - record_begin.size() - 1));
    } else {
      parsed.blobs.push_back(TRY(parse_blob(*line)));
    }
  }
  return fail(Code::damaged, "the file was cut off: its end is missing");
}

void Runtime::import_session(ParsedExport file, SessionId to, const std::string& by,
                             ReplyFn reply) {
  const Result<SessionHead> there = shared_->world.store.head(to);
  if (there) return reply(Reply{.seq = there->seq, .session = to});
  const SessionId from = file.head.session;
  start_fork(
      *shared_,
      {.from = from, .to = to, .by = by, .file = std::make_shared<ParsedExport>(std::move(file))},
      std::move(reply));
}

void Runtime::adopt_session(ParsedExport file, SessionId to, const std::string& by,
                            AdoptedBinding binding, ReplyFn reply) {
  const Result<SessionHead> there = shared_->world.store.head(to);
  if (there) return reply(Reply{.seq = there->seq, .session = to, .nothing_to_do = true});
  if (file.prompts == 0) {  // C10: the journal would lack what the agent replays
    return reply(fail(Code::invalid_argument, "a session without a turn cannot be adopted"));
  }
  start_fork(*shared_,
             {.from = file.head.session,
              .to = to,
              .by = by,
              .file = std::make_shared<ParsedExport>(std::move(file)),
              .binding = std::move(binding)},
             std::move(reply));
}

}  // namespace perdure
