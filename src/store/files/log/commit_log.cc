#include "store/files/log/commit_log.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/bytes/crc32c.h"
#include "store/files/log/sealed.h"

namespace perdure {
namespace {

const std::string folder = "commits";
constexpr std::string_view ending = ".jsonl";
constexpr std::string_view group_opening = "\n{\"crc\":\"";

std::string segment_name(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  const std::string zeros(digits.size() < 12 ? 12 - digits.size() : 0, '0');
  return folder + "/" + zeros + digits + std::string(ending);
}

std::optional<std::uint64_t> segment_number(std::string_view name) {
  if (!name.ends_with(ending)) return std::nullopt;
  name.remove_suffix(ending.size());
  std::uint64_t number = 0;
  const auto [at, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || at != name.data() + name.size()) return std::nullopt;
  return number;
}

std::string group_bytes(std::uint64_t number, std::string_view body) {
  JsonWriter json;
  json.begin_object().key("group").number_unsigned(number);
  json.key("bytes").number_unsigned(body.size());
  json.key("sum").string(crc_text(crc32c(body))).end_object();
  std::string out = seal(json.text());
  out += '\n';
  out += body;
  return out;
}

// A group's own line and its body.
struct GroupAt {
  std::uint64_t number = 0;
  std::string_view body;
  bool is_whole = false;
  std::size_t bytes = 0;  // of line and body together
};

std::optional<GroupAt> group_at(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || !is_sealed(text.substr(0, end))) return std::nullopt;
  const Result<JsonObject> object = JsonObject::parse(text.substr(0, end));
  if (!object || object->find("group").empty()) return std::nullopt;
  const Result<std::uint64_t> number = json_uint(object->find("group"));
  const Result<std::uint64_t> bytes = json_uint(object->find("bytes"));
  const Result<std::string> sum = json_string(object->find("sum"));
  if (!number || !bytes || !sum) return std::nullopt;
  const std::string_view behind = text.substr(end + 1);
  GroupAt out{.number = *number, .body = behind.substr(0, *bytes)};
  out.bytes = end + 1 + out.body.size();
  out.is_whole = out.body.size() == *bytes && crc_text(crc32c(out.body)) == *sum;
  return out;
}

// Where the next intact group begins, at or after `from`.
std::optional<std::size_t> next_whole(std::string_view text, std::size_t from) {
  for (std::size_t at = from > 0 ? from - 1 : 0;;) {
    at = text.find(group_opening, at);
    if (at == std::string_view::npos) return std::nullopt;
    const std::optional<GroupAt> group = group_at(text.substr(at + 1));
    if (group && group->is_whole) return at + 1;
    ++at;
  }
}

class Scanner {
 public:
  Scanner(OnDecay on_decay, const std::function<Result<>(LoggedGroup)>& visit)
      : on_decay_(on_decay), visit_(visit) {}

  Result<> segment(std::uint64_t number, std::string_view text) {
    scan_.segments.push_back(number);
    // A segment begins with the previous segment's last group, or with the next one.
    if (const auto first = group_at(text)) TRY_VOID(check_gap(first->number));
    while (!text.empty()) {
      const std::optional<GroupAt> group = group_at(text);
      if (group && group->is_whole) {
        TRY_VOID(take(*group, number, text.substr(0, group->bytes)));
        text.remove_prefix(group->bytes);
        continue;
      }
      const std::optional<std::size_t> next = next_whole(text, 1);
      if (!next) return end_torn(number, text);
      TRY_VOID(decayed(group, number));
      text.remove_prefix(*next);
    }
    return {};
  }

  LogScan done() && { return std::move(scan_); }

 private:
  Result<> take(const GroupAt& group, std::uint64_t segment, std::string_view bytes) {
    if (group.number <= scan_.last_group) return {};
    TRY_VOID(check_gap(group.number));
    LoggedGroup out{.number = group.number, .segment = segment, .changes = {}};
    std::string_view body = group.body;
    while (!body.empty()) out.changes.push_back(TRY(take_change(body)));
    TRY_VOID(visit_(std::move(out)));
    scan_.last_group = group.number;
    scan_.last_bytes = bytes;
    return {};
  }

  // Missing groups were acknowledged, because a later one was begun.
  Result<> check_gap(std::uint64_t number) {
    if (scan_.last_group == 0 || number <= scan_.last_group + 1) return {};
    return lost("groups " + std::to_string(scan_.last_group + 1) + " to " +
                std::to_string(number - 1) + " of the commit log are missing");
  }

  // A damaged group followed by an intact one: keeps the changes in it that are still readable.
  Result<> decayed(const std::optional<GroupAt>& group, std::uint64_t segment) {
    if (group && group->number <= scan_.last_group) return {};
    if (!group) return lost("the line of a group of the commit log is damaged");
    LoggedGroup out{.number = group->number, .segment = segment, .changes = {}};
    for (std::string_view body = group->body; !body.empty();) {
      Result<LoggedChange> change = take_change(body);
      if (!change) {
        TRY_VOID(lost(change.error().message()));
        break;
      }
      out.changes.push_back(*std::move(change));
    }
    scan_.notes.push_back("group " + std::to_string(group->number) +
                          " of the commit log is damaged; its whole parts were taken");
    scan_.last_group = group->number;
    return visit_(std::move(out));
  }

  Result<> lost(const std::string& what) {
    if (on_decay_ == OnDecay::refuse) return fail(Code::damaged, what);
    scan_.notes.push_back(what);
    scan_.has_lost = true;
    return {};
  }

  // S1, S2: a write that was in progress at a power cut. It was never acknowledged.
  Result<> end_torn(std::uint64_t segment, std::string_view text) {
    const bool is_padding = text.find_first_not_of('\0') == std::string_view::npos;
    scan_.notes.push_back("the end of " + segment_name(segment) + " (" +
                          std::to_string(text.size()) + " bytes" + (is_padding ? " of zeros" : "") +
                          ") is not a complete group and was cut");
    return {};
  }

  OnDecay on_decay_;
  const std::function<Result<>(LoggedGroup)>& visit_;
  LogScan scan_;
};

}  // namespace

Result<LogScan> scan_log(JournalDisk& disk, OnDecay on_decay,
                         const std::function<Result<>(LoggedGroup)>& visit) {
  Scanner scanner(on_decay, visit);
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : TRY(disk.list(folder))) {
    if (const auto number = segment_number(name)) numbers.push_back(*number);
  }
  for (const std::uint64_t number : numbers) {
    const std::string text = TRY(read_whole(disk, segment_name(number)));
    TRY_VOID(scanner.segment(number, text));
  }
  return std::move(scanner).done();
}

Result<CommitLog> CommitLog::begin(JournalDisk& disk, LogScan scan, std::uint64_t numbered_to) {
  CommitLog log(disk);
  log.segments_ = std::move(scan.segments);
  log.last_group_ = std::max(scan.last_group, numbered_to);
  const std::uint64_t number = log.segments_.empty() ? 1 : log.segments_.back() + 1;
  const std::string name = segment_name(number);
  const std::string fresh = name + ".new";
  log.file_ = TRY(disk.open(fresh, JournalOpen::create));
  TRY_VOID(log.file_->truncate(0));
  if (const Result<> written = log.file_->write(0, scan.last_bytes); !written) {
    if (written.error().code() == Code::disk_full) TRY_VOID(disk.remove(fresh));
    return std::unexpected(written.error());
  }
  TRY_VOID(log.file_->sync());
  TRY_VOID(disk.rename({.from = fresh, .to = name}));
  TRY_VOID(disk.sync_folder(folder));
  log.end_ = scan.last_bytes.size();
  log.segments_.push_back(number);
  return log;
}

Result<std::uint64_t> CommitLog::append(std::string_view body) {
  buffer_ = group_bytes(last_group_ + 1, body);
  const Result<> written = file_->write(end_, buffer_);
  if (!written && written.error().code() == Code::disk_full) {
    // All or part of the group may be there: a crash must not bring it back.
    TRY_VOID(file_->truncate(end_));
    TRY_VOID(file_->sync());
  }
  if (!written) return std::unexpected(written.error());
  TRY_VOID(file_->sync());
  end_ += buffer_.size();
  return ++last_group_;
}

Result<> CommitLog::rotate() {
  const std::string name = segment_name(segments_.back() + 1);
  std::unique_ptr<JournalFile> file = TRY(disk_->open(name, JournalOpen::create));
  TRY_VOID(file->truncate(0));
  TRY_VOID(disk_->sync_folder(folder));
  file_ = std::move(file);
  end_ = 0;
  segments_.push_back(segments_.back() + 1);
  return {};
}

Result<> CommitLog::drop_old() {
  while (has_old()) {
    TRY_VOID(disk_->remove(segment_name(segments_.front())));
    // Remove in order: a log with a gap would look damaged.
    TRY_VOID(disk_->sync_folder(folder));
    segments_.erase(segments_.begin());
  }
  return {};
}

}  // namespace perdure
