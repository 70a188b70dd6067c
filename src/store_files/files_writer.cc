#include "store_files/files_writer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/limits.h"

namespace perdure {
namespace {

constexpr std::uint64_t refusals_per_probe = 64;
constexpr std::size_t append_bytes_max = 256UL << 20;
const std::string reserve_name = "reserve";

std::size_t weight(const Append& batch) {
  std::size_t bytes = 64;
  for (const std::string& record : batch.records) bytes += record.size() + 1;
  for (const Blob& blob : batch.blobs) bytes += blob.bytes.size();
  if (batch.snapshot) bytes += batch.snapshot->size();
  return bytes;
}

Result<> check_batch(const Append& batch) {
  if (batch.session.is_null()) return fail(Code::invalid_argument, "an append needs a session");
  for (const std::string& record : batch.records) {
    if (record.size() > record_bytes_max) {
      return fail(Code::invalid_argument, "a record is longer than record_bytes_max");
    }
  }
  if (weight(batch) > append_bytes_max) {
    return fail(Code::invalid_argument,
                "an append has more than " + std::to_string(append_bytes_max) + " bytes");
  }
  for (const Blob& blob : batch.blobs) {
    if (sha256(blob.bytes) != blob.hash) {
      return fail(Code::invalid_argument, "a blob's hash is not that of its bytes");
    }
  }
  return {};
}

}  // namespace

std::string blob_file(const Hash& hash) { return "blobs/" + hash.hex(); }

FilesWriter::FilesWriter(FilesOptions options)
    : options_(std::move(options)),
      disk_(*options_.disk),
      records_(disk_, options_.files_open_max) {}

Result<std::unique_ptr<FilesWriter>> FilesWriter::open(FilesOptions options) {
  CHECK(options.disk != nullptr, "a files store needs a disk");
  std::unique_ptr<FilesWriter> writer(new FilesWriter(std::move(options)));
  Result<> recovered = writer->recover();
  if (!recovered && recovered.error().code() == Code::disk_full) {
    // What was read stays read: a second try starts over with the reserve's room.
    std::unique_ptr<FilesWriter> again(new FilesWriter(writer->options_));
    TRY_VOID(again->release_reserve());
    writer = std::move(again);
    recovered = writer->recover();
    writer->full_ = true;
  }
  if (!recovered) return std::unexpected(std::move(recovered.error()).with_context("the journal"));
  if (const Result<> made = writer->make_reserve(); !made) {
    if (made.error().code() != Code::disk_full) return std::unexpected(made.error());
    writer->full_ = true;
  }
  return writer;
}

Contents::Committed FilesWriter::committed(std::uint64_t group) const {
  return {.group = group, .segment = log_->segment(), .idle_step = idle_steps_};
}

void FilesWriter::append(Append&& batch, Store::Done&& done) {
  Pending pending{.batch = std::move(batch), .done = std::move(done), .refused = {}};
  if (Result<> checked = check_batch(pending.batch); !checked) {
    pending.refused = std::move(checked.error());
  }
  pending.bytes = weight(pending.batch);
  if (failed_) return;
  bool is_first = false;
  {
    const std::scoped_lock lock(queue_mutex_);
    queue_.push_back(std::move(pending));
    is_first = queue_.size() == 1;
  }
  if (is_first) queued_.notify_one();
}

bool FilesWriter::wait_for_work(std::chrono::milliseconds timeout) {
  std::unique_lock lock(queue_mutex_);
  const bool ready = queued_.wait_for(lock, timeout, [&] { return !queue_.empty() || woken_; });
  woken_ = false;
  return ready;
}

void FilesWriter::wake() {
  {
    const std::scoped_lock lock(queue_mutex_);
    woken_ = true;
  }
  queued_.notify_one();
}

void FilesWriter::take_queued() {
  const std::scoped_lock lock(queue_mutex_);
  std::size_t bytes = 0;
  std::size_t count = 0;
  while (count < queue_.size() && (count == 0 || bytes < options_.group_bytes_max)) {
    bytes += queue_[count++].bytes;
  }
  if (count == queue_.size()) return group_.swap(queue_);
  const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(count);
  group_.assign(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
  queue_.erase(queue_.begin(), end);
}

bool FilesWriter::step() {
  if (failed_) return false;
  take_queued();
  if (group_.empty()) return false;
  {
    const std::scoped_lock lock(write_mutex_);
    commit_group(group_);
  }
  if (failed_) return false;  // nobody is answered: nobody knows
  for (Pending& pending : group_) {
    if (!pending.done) continue;
    pending.refused ? pending.done(std::unexpected(*std::move(pending.refused))) : pending.done({});
  }
  group_.clear();
  const std::scoped_lock lock(write_mutex_);
  maintain();
  return true;
}

void FilesWriter::commit_group(std::vector<Pending>& group) {
  if (options_.is_there && !options_.is_there()) {
    for (Pending& pending : group) {
      if (pending.refused) continue;
      pending.refused.emplace(Code::disk_full,
                              "the journal is gone from its place; nothing was recorded");
    }
    return;
  }
  if (full_) refuse_while_full(group);
  std::vector<Pending*> all;
  all.reserve(group.size());
  for (Pending& pending : group) {
    if (!pending.refused) all.push_back(&pending);
  }
  if (all.empty() || failed_) return;
  const Result<> written = attempt(all);
  if (!written && survives(written.error())) retry_essential(all, written.error());
}

// On success each append of the group is durable, or refused for a reason of its own.
Result<> FilesWriter::attempt(std::vector<Pending*>& group) {
  Staged staged;
  std::vector<Pending*> taken;
  std::string body;
  for (Pending* const pending : group) {
    const Append& batch = pending->batch;
    if (Result<> admitted = admit(batch, staged); !admitted) {
      pending->refused = std::move(admitted.error());
      continue;
    }
    staged.heads[batch.session] = batch.expected_head + batch.records.size();
    for (const StoredAnswer& answer : batch.answers) staged.keys.insert(answer.key);
    append_change(body, batch);
    taken.push_back(pending);
  }
  if (taken.empty()) return {};
  const auto undo = [&](const Error& error) -> Result<> {
    // What was refused inside is looked at again when it is tried again.
    for (Pending* const pending : group) pending->refused.reset();
    if (error.code() != Code::disk_full) return std::unexpected(error);
    TRY_VOID(remove_blobs({staged.blobs.begin(), staged.blobs.end()}));
    return std::unexpected(error);
  };
  if (const Result<> written = write_blobs(taken, staged); !written) return undo(written.error());
  const Result<std::uint64_t> number = log_->append(body);
  if (!number) return undo(number.error());
  const std::scoped_lock lock(contents_.mutex);
  for (Pending* const pending : taken) {
    contents_.apply({.append = std::move(pending->batch), .redaction = {}, .records_lost = {}},
                    committed(*number));
  }
  totals_.commits += 1;
  totals_.appends += taken.size();
  return {};
}

Result<> FilesWriter::admit(const Append& batch, const Staged& staged) {
  if (batch.epoch < epoch_) {
    return fail(Code::stale_owner, "epoch " + std::to_string(batch.epoch) + " is older than " +
                                       std::to_string(epoch_));
  }
  const std::scoped_lock lock(contents_.mutex);
  const auto session = contents_.sessions.find(batch.session);
  const bool is_known = session != contents_.sessions.end();
  if (is_known && session->second.good) {
    return fail(Code::damaged, batch.session.text() + " is damaged behind record " +
                                   std::to_string(*session->second.good));
  }
  const auto moved = staged.heads.find(batch.session);
  const Seq head = moved != staged.heads.end() ? moved->second
                   : is_known                  ? session->second.head
                                               : 0;
  if (batch.expected_head != head) {
    return fail(Code::conflict, "the head is " + std::to_string(head) + ", not " +
                                    std::to_string(batch.expected_head));
  }
  std::set<std::string_view> own;
  for (const StoredAnswer& answer : batch.answers) {
    if (contents_.answers.contains(answer.key) || staged.keys.contains(answer.key) ||
        !own.insert(answer.key).second) {
      return fail(Code::conflict, "the key '" + answer.key + "' has its answer already");
    }
  }
  return {};
}

// Blobs are on the disk before the group that names them; without it nobody finds them.
Result<> FilesWriter::write_blobs(const std::vector<Pending*>& group, Staged& staged) {
  for (const Pending* const pending : group) {
    for (const Blob& blob : pending->batch.blobs) {
      {
        const std::scoped_lock lock(contents_.mutex);
        if (contents_.blob_owners.contains(blob.hash)) continue;
      }
      if (!staged.blobs.insert(blob.hash).second) continue;
      TRY_VOID(replace_file(disk_, blob_file(blob.hash), blob.bytes, Replace::synced));
    }
  }
  return staged.blobs.empty() ? Result<>() : disk_.sync_folder("blobs");
}

Result<> FilesWriter::remove_blobs(const std::vector<Hash>& blobs) {
  for (const Hash& hash : blobs) TRY_VOID(disk_.remove(blob_file(hash)));
  return {};
}

void FilesWriter::refuse_while_full(std::vector<Pending>& group) {
  for (Pending& pending : group) {
    if (pending.refused || pending.batch.essential) continue;
    refusals_ += 1;
    if (refusals_ % refusals_per_probe == 0 && probe_space()) return;
    if (failed_) return;
    pending.refused.emplace(Code::disk_full, "the journal's disk is full; nothing was recorded");
  }
}

void FilesWriter::retry_essential(std::vector<Pending*>& group, const Error& full) {
  full_ = true;
  std::vector<Pending*> essential;
  for (Pending* const pending : group) {
    if (pending->batch.essential) {
      essential.push_back(pending);
    } else {
      pending->refused.emplace(Code::disk_full, "nothing was recorded: " + full.message());
    }
  }
  if (essential.empty()) return;
  if (const Result<> released = release_reserve(); !released) {
    return fail_forever(released.error());
  }
  const Result<> written = attempt(essential);
  if (written || !survives(written.error())) return;
  for (Pending* const pending : essential) {
    pending->refused.emplace(Code::disk_full, "nothing was recorded: " + written.error().message());
  }
}

bool FilesWriter::probe_space() {
  const Result<> made = make_reserve();
  if (made) full_ = false;
  return made ? true : (survives(made.error()), false);
}

Result<> FilesWriter::make_reserve() {
  if (options_.reserve_bytes == 0 || reserve_made_) return {};
  const auto write = [&]() -> Result<> {
    const auto file = TRY(disk_.open(reserve_name, JournalOpen::create));
    if (TRY(file->size()) >= options_.reserve_bytes) return {};
    const std::string zeros(std::min<std::size_t>(options_.reserve_bytes, 256UL << 10), '\0');
    for (std::size_t at = 0; at < options_.reserve_bytes; at += zeros.size()) {
      TRY_VOID(file->write(at, std::string_view(zeros).substr(0, options_.reserve_bytes - at)));
    }
    return file->sync();
  };
  Result<> written = write();
  if (!written && written.error().code() == Code::disk_full) TRY_VOID(disk_.remove(reserve_name));
  if (written) reserve_made_ = true;
  return written;
}

Result<> FilesWriter::release_reserve() {
  reserve_made_ = false;
  return options_.reserve_bytes == 0 ? Result<>() : disk_.remove(reserve_name);
}

bool FilesWriter::survives(const Error& error) {
  if (error.code() == Code::disk_full) return true;
  fail_forever(error);
  return false;
}

void FilesWriter::fail_forever(const Error& error) {
  if (failed_.exchange(true)) return;
  if (options_.on_fatal) options_.on_fatal(Error(error).with_context("the journal"));
}

bool FilesWriter::retry_space() {
  const std::scoped_lock lock(write_mutex_);
  return !failed_ && (!full_ || probe_space());
}

EngineTotals FilesWriter::totals() {
  const std::scoped_lock lock(write_mutex_);
  EngineTotals out = totals_;
  out.disk_full = full_;
  return out;
}

}  // namespace perdure
