#include "testing/store/fault_disk.h"

#include <algorithm>
#include <set>
#include <utility>

namespace perdure {

namespace {

constexpr std::uint64_t sector_bytes = 512;

void put_bytes(std::string& image, std::uint64_t offset, std::string_view bytes) {
  if (image.size() < offset + bytes.size()) image.resize(offset + bytes.size(), '\0');
  image.replace(offset, bytes.size(), bytes);
}

}  // namespace

void FaultDisk::plan(FaultPlan plan) {
  plan_ = plan;
  counted_ = 0;
  fault_hit_ = false;
}

std::uint64_t FaultDisk::bytes_used() const {
  std::uint64_t bytes = 0;
  for (const auto& [name, file] : names_) bytes += file->current_.size();
  return bytes;
}

void FaultDisk::clear_log() {
  log_.clear();
  sync_has_failed_ = false;
  syncs_after_failed_ = 0;
}

std::optional<FaultKind> FaultDisk::count(LoggedOp op) {
  std::optional<FaultKind> fault;
  if (plan_.ops.has(op.op)) {
    ++counted_;
    const bool due = plan_.at != 0 &&
                     (plan_.time == FaultTime::once ? counted_ == plan_.at : counted_ >= plan_.at);
    if (due) {
      fault_hit_ = true;
      fault = plan_.kind;
      power_is_cut_ = power_is_cut_ || plan_.kind == FaultKind::power_cut;
    }
  }
  if (power_is_cut_) fault = FaultKind::power_cut;
  op.failed = fault.has_value();
  if (op.op == DiskOp::sync) {
    if (sync_has_failed_) ++syncs_after_failed_;
    sync_has_failed_ = sync_has_failed_ || op.failed;
  }
  log_.push_back(std::move(op));
  return fault;
}

FaultDisk::Opened FaultDisk::open(const std::string& name, OpenMode mode) {
  if (auto fault = count({.op = DiskOp::open, .file = name})) return {.fault = fault};
  auto found = names_.find(name);
  if (found != names_.end()) return {.file = found->second};
  if (mode == OpenMode::existing) return {};
  return {.file = names_.emplace(name, std::make_shared<DiskFile>(name)).first->second};
}

std::optional<FaultKind> FaultDisk::read(DiskFile& file, std::uint64_t offset,
                                         std::uint64_t bytes) {
  return count({.op = DiskOp::read, .file = file.name_, .offset = offset, .bytes = bytes});
}

std::optional<FaultKind> FaultDisk::write(DiskFile& file, std::uint64_t offset,
                                          std::string_view bytes) {
  std::optional<FaultKind> fault =
      count({.op = DiskOp::write, .file = file.name_, .offset = offset, .bytes = bytes.size()});
  const std::uint64_t end = offset + bytes.size();
  if (!fault && capacity_bytes_ && end > file.current_.size() &&
      bytes_used() + end - file.current_.size() > *capacity_bytes_) {
    fault = FaultKind::full;
    log_.back().failed = true;
  }
  if (fault && *fault != FaultKind::short_write && *fault != FaultKind::full_behind) return fault;
  if (fault == FaultKind::short_write) bytes = bytes.substr(0, bytes.size() / 2);
  put_bytes(file.current_, offset, bytes);
  const bool was_there = fault == FaultKind::full_behind;
  file.changes_.push_back({.state = was_there ? DiskFile::State::synced : DiskFile::State::unsynced,
                           .offset = offset,
                           .bytes = std::string(bytes)});
  return fault;
}

std::optional<FaultKind> FaultDisk::truncate(DiskFile& file, std::uint64_t size) {
  if (auto fault = count({.op = DiskOp::truncate, .file = file.name_, .offset = size})) {
    return fault;
  }
  file.current_.resize(size, '\0');
  file.changes_.push_back({.is_truncate = true, .offset = size});
  return std::nullopt;
}

// A failed sync leaves its changes in doubt, and no later sync resolves that.
std::optional<FaultKind> FaultDisk::settle_sync(DiskFile& file) {
  const auto fault = count({.op = DiskOp::sync, .file = file.name_});
  for (DiskFile::Change& change : file.changes_) {
    if (change.state != DiskFile::State::unsynced) continue;
    change.state = fault ? DiskFile::State::doubtful : DiskFile::State::synced;
  }
  if (fault) return fault;
  const bool in_doubt = std::ranges::any_of(file.changes_, [](const DiskFile::Change& change) {
    return change.state == DiskFile::State::doubtful;
  });
  if (in_doubt) return std::nullopt;
  for (const DiskFile::Change& change : file.changes_) apply(file.durable_, change);
  file.changes_.clear();
  return std::nullopt;
}

std::optional<FaultKind> FaultDisk::sync(const std::shared_ptr<DiskFile>& file) {
  if (const auto fault = settle_sync(*file)) return fault;
  auto seen = names_.find(file->name_);
  auto durable = durable_names_.find(file->name_);
  const bool is_named = seen != names_.end() && seen->second == file;
  const bool is_durably = durable != durable_names_.end() && durable->second == file;
  if (is_named && !is_durably) durable_names_ = names_;
  return std::nullopt;
}

std::optional<FaultKind> FaultDisk::sync_bytes(const std::shared_ptr<DiskFile>& file) {
  return settle_sync(*file);
}

std::optional<FaultKind> FaultDisk::sync_names(const std::string& prefix) {
  if (const auto fault = count({.op = DiskOp::sync, .file = prefix})) return fault;
  std::erase_if(durable_names_, [&](const auto& one) { return one.first.starts_with(prefix); });
  for (const auto& [name, file] : names_) {
    if (name.starts_with(prefix)) durable_names_[name] = file;
  }
  return std::nullopt;
}

std::optional<FaultKind> FaultDisk::rename(const Renaming& names) {
  if (const auto fault = count({.op = DiskOp::rename, .file = names.from})) return fault;
  auto found = names_.find(names.from);
  if (found == names_.end()) return std::nullopt;
  std::shared_ptr<DiskFile> file = std::move(found->second);
  names_.erase(found);
  file->name_ = names.to;
  names_[names.to] = std::move(file);
  return std::nullopt;
}

std::optional<FaultKind> FaultDisk::remove(const std::string& name, RemoveMode mode) {
  if (auto fault = count({.op = DiskOp::remove, .file = name})) return fault;
  names_.erase(name);
  if (mode == RemoveMode::synced) durable_names_ = names_;
  return std::nullopt;
}

void FaultDisk::crash(CrashOutcome outcome) {
  ++life_;
  plan({});
  power_is_cut_ = false;
  capacity_bytes_.reset();
  if (outcome == CrashOutcome::process_only) return;
  settle_names(outcome);
  for (auto& [name, file] : names_) settle(*file, outcome);
}

void FaultDisk::settle_names(CrashOutcome outcome) {
  std::set<std::string> all;
  for (const auto& [name, file] : names_) all.insert(name);
  for (const auto& [name, file] : durable_names_) all.insert(name);
  Names settled;
  for (const std::string& name : all) {
    const bool as_seen = outcome == CrashOutcome::kept || (outcome != CrashOutcome::lost && flip());
    const Names& from = as_seen ? names_ : durable_names_;
    auto found = from.find(name);
    if (found != from.end()) settled.emplace(name, found->second);
  }
  names_ = settled;
  durable_names_ = std::move(settled);
}

void FaultDisk::settle(DiskFile& file, CrashOutcome outcome) {
  for (const DiskFile::Change& change : file.changes_) {
    if (change.state == DiskFile::State::synced || outcome == CrashOutcome::kept) {
      apply(file.durable_, change);
    } else if (outcome == CrashOutcome::torn || outcome == CrashOutcome::garbage) {
      apply_torn(file.durable_, change, outcome);
    }
  }
  file.changes_.clear();
  file.current_ = file.durable_;
}

void FaultDisk::apply(std::string& image, const DiskFile::Change& change) {
  if (change.is_truncate)
    image.resize(change.offset, '\0');
  else
    put_bytes(image, change.offset, change.bytes);
}

void FaultDisk::apply_torn(std::string& image, const DiskFile::Change& change,
                           CrashOutcome outcome) {
  if (change.is_truncate) {
    if (flip()) apply(image, change);
    return;
  }
  const std::uint64_t end = change.offset + change.bytes.size();
  for (std::uint64_t at = change.offset; at < end;) {
    const std::uint64_t next = std::min(end, (at / sector_bytes + 1) * sector_bytes);
    std::string piece = change.bytes.substr(at - change.offset, next - at);
    const std::uint64_t fate = random_() % (outcome == CrashOutcome::garbage ? 3 : 2);
    if (fate == 2) {
      for (char& c : piece) c = static_cast<char>(random_());
    }
    if (fate != 0) put_bytes(image, at, piece);
    at = next;
  }
}

std::optional<std::uint64_t> FaultDisk::size_of(std::string_view name) const {
  auto found = names_.find(name);
  if (found == names_.end()) return std::nullopt;
  return found->second->current_.size();
}

std::optional<std::string> FaultDisk::contents(std::string_view name) const {
  auto found = names_.find(name);
  if (found == names_.end()) return std::nullopt;
  return found->second->current_;
}

void FaultDisk::overwrite(std::string_view name, std::uint64_t offset, std::string_view bytes) {
  auto found = names_.find(name);
  if (found == names_.end()) return;
  put_bytes(found->second->current_, offset, bytes);
  put_bytes(found->second->durable_, offset, bytes);
}

void FaultDisk::put(std::string name, std::string bytes) {
  auto file = std::make_shared<DiskFile>(name);
  file->current_ = bytes;
  file->durable_ = std::move(bytes);
  names_[name] = file;
  durable_names_[std::move(name)] = std::move(file);
}

std::vector<std::string> FaultDisk::names() const {
  std::vector<std::string> names;
  for (const auto& [name, file] : names_) names.push_back(name);
  return names;
}

}  // namespace perdure
