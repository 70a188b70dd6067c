#include "store/files/files_writer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/limits.h"

namespace perdure {
namespace {

const std::string reserve_name = "reserve";

}  // namespace

std::string blob_file(const Hash& hash) { return "blobs/" + hash.hex(); }

FilesWriter::FilesWriter(FilesOptions options)
    : options_(std::move(options)),
      disk_(*options_.disk),
      records_(disk_, options_.files_open_max),
      queue_({.group_bytes_max = options_.group_bytes_max}) {}

Result<std::unique_ptr<FilesWriter>> FilesWriter::open(FilesOptions options) {
  CHECK(options.disk != nullptr, "a files store needs a disk");
  std::unique_ptr<FilesWriter> writer(new FilesWriter(std::move(options)));
  Result<> recovered = writer->recover();
  if (!recovered && recovered.error().code() == Code::disk_full) {
    // A second try starts over with the space of the reserve.
    std::unique_ptr<FilesWriter> again(new FilesWriter(writer->options_));
    TRY_VOID(again->release_reserve());
    writer = std::move(again);
    recovered = writer->recover();
    writer->commits_.set_full();
  }
  if (!recovered) return std::unexpected(std::move(recovered.error()).with_context("the journal"));
  if (const Result<> made = writer->make_reserve(); !made) {
    if (made.error().code() != Code::disk_full) return std::unexpected(made.error());
    writer->commits_.set_full();
  }
  return writer;
}

Contents::Committed FilesWriter::committed(std::uint64_t group) const {
  return {.group = group, .segment = log_->segment(), .idle_step = idle_steps_};
}

void FilesWriter::append(Append&& batch, Store::Done&& done) {
  if (!failed_) queue_.push(std::move(batch), std::move(done));
}

bool FilesWriter::wait_for_work(std::chrono::milliseconds timeout) { return queue_.wait(timeout); }

void FilesWriter::wake() { queue_.wake(); }

bool FilesWriter::step() {
  if (failed_) return false;
  std::vector<PendingAppend>& group = queue_.take();
  if (group.empty()) return false;
  {
    const std::scoped_lock lock(write_mutex_);
    const bool is_gone = options_.is_there && !options_.is_there();
    is_gone ? refuse_gone(group) : commits_.run(group);
  }
  if (failed_) return false;  // the outcome is unknown, so nothing is answered
  queue_.answer();
  const std::scoped_lock lock(write_mutex_);
  maintain();
  return true;
}

Result<> FilesWriter::write_group(std::span<PendingAppend* const> group) {
  Staged staged;
  std::vector<PendingAppend*> taken;
  std::string body;
  for (PendingAppend* const pending : group) {
    const Append& batch = pending->batch;
    if (Result<> admitted = admit(batch, staged); !admitted) {
      pending->refused = std::move(admitted.error());
      continue;
    }
    staged.heads[batch.session] = batch.expected_head + batch.records.size();
    for (const StoredAnswer& answer : batch.answers) staged.keys.insert(answer.key);
    for (const Blob& blob : batch.blobs) staged.given.insert(blob.hash);
    append_change(body, batch);
    taken.push_back(pending);
  }
  if (taken.empty()) return {};
  const auto undo = [&](const Error& error) -> Result<> {
    // A retry checks again what this attempt refused.
    for (PendingAppend* const pending : group) pending->refused.reset();
    if (!survives(error)) return std::unexpected(error);
    const Result<> removed = remove_blobs({staged.blobs.begin(), staged.blobs.end()});
    if (!removed) survives(removed.error());
    return std::unexpected(error);
  };
  if (const Result<> written = write_blobs(taken, staged); !written) return undo(written.error());
  const Result<std::uint64_t> number = log_->append(body);
  if (!number) return undo(number.error());
  const std::scoped_lock lock(contents_.mutex);
  for (PendingAppend* const pending : taken) {
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
  for (const Hash& hash : batch.blob_refs) {
    if (contents_.blob_owners.contains(hash) || staged.given.contains(hash)) continue;
    return fail(Code::not_found, "no such blob: " + hash.hex());
  }
  return {};
}

// Blobs are on disk before the group that names them; without that group nothing refers to them.
Result<> FilesWriter::write_blobs(const std::vector<PendingAppend*>& group, Staged& staged) {
  bool wrote = false;
  for (const PendingAppend* const pending : group) {
    for (const Blob& blob : pending->batch.blobs) {
      bool is_owned = false;
      {
        const std::scoped_lock lock(contents_.mutex);
        is_owned = contents_.blob_owners.contains(blob.hash);
      }
      // An owner does not guarantee that the file still exists.
      if (is_owned && TRY(has_file_of(blob))) continue;
      if (!is_owned && !staged.blobs.insert(blob.hash).second) continue;
      TRY_VOID(replace_file(disk_, blob_file(blob.hash), blob.bytes, Replace::synced));
      wrote = true;
    }
  }
  return wrote ? disk_.sync_folder("blobs") : Result<>();
}

Result<bool> FilesWriter::has_file_of(const Blob& blob) {
  const Result<std::unique_ptr<JournalFile>> file =
      disk_.open(blob_file(blob.hash), JournalOpen::existing);
  if (!file && file.error().code() == Code::not_found) return false;
  if (!file) return std::unexpected(file.error());
  return TRY((*file)->size()) == blob.bytes.size();
}

Result<> FilesWriter::remove_blobs(const std::vector<Hash>& blobs) {
  for (const Hash& hash : blobs) TRY_VOID(disk_.remove(blob_file(hash)));
  return {};
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
  return !failed_ && (!commits_.is_full() || commits_.probe_space());
}

EngineTotals FilesWriter::totals() {
  const std::scoped_lock lock(write_mutex_);
  EngineTotals out = totals_;
  out.disk_full = commits_.is_full();
  return out;
}

}  // namespace perdure
