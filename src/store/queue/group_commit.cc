#include "store/queue/group_commit.h"

namespace perdure {
namespace {

constexpr std::uint64_t refusals_per_probe = 64;

}  // namespace

void GroupCommit::run(std::vector<PendingAppend>& group) {
  if (full_) refuse_while_full(group);
  std::vector<PendingAppend*> all;
  all.reserve(group.size());
  for (PendingAppend& pending : group) {
    if (!pending.refused) all.push_back(&pending);
  }
  if (all.empty() || target_.has_failed()) return;
  const Result<> written = target_.write_group(all);
  if (written || target_.has_failed()) return;
  if (written.error().code() == Code::disk_full) {
    retry_essential(all, written.error());
  } else {
    retry_each(all);
  }
}

void GroupCommit::refuse_while_full(std::vector<PendingAppend>& group) {
  for (PendingAppend& pending : group) {
    if (pending.refused || pending.batch.essential) continue;
    refusals_ += 1;
    if (refusals_ % refusals_per_probe == 0 && probe_space()) return;
    if (target_.has_failed()) return;
    pending.refused.emplace(Code::disk_full, "the journal's disk is full; nothing was recorded");
  }
}

void GroupCommit::retry_essential(std::span<PendingAppend* const> group, const Error& full) {
  full_ = true;
  std::vector<PendingAppend*> essential;
  for (PendingAppend* const pending : group) {
    if (pending->batch.essential) {
      essential.push_back(pending);
    } else {
      pending->refused.emplace(Code::disk_full, "nothing was recorded: " + full.message());
    }
  }
  if (essential.empty()) return;
  if (const Result<> released = target_.release_reserve(); !released) {
    return target_.fail_forever(released.error());
  }
  const Result<> written = target_.write_group(essential);
  if (written || target_.has_failed()) return;
  if (written.error().code() != Code::disk_full) return retry_each(essential);
  for (PendingAppend* const pending : essential) {
    pending->refused.emplace(Code::disk_full, "nothing was recorded: " + written.error().message());
  }
}

// Retries each append alone, so that one bad append does not fail the others of its group.
void GroupCommit::retry_each(std::span<PendingAppend* const> group) {
  for (PendingAppend* const pending : group) {
    PendingAppend* const one[] = {pending};
    const Result<> written = target_.write_group(one);
    if (target_.has_failed()) return;
    if (!written) pending->refused = written.error();
  }
}

bool GroupCommit::probe_space() {
  const Result<> made = target_.make_reserve();
  if (made) {
    full_ = false;
    return true;
  }
  if (made.error().code() != Code::disk_full) target_.fail_forever(made.error());
  return false;
}

void refuse_gone(std::vector<PendingAppend>& group) {
  for (PendingAppend& pending : group) {
    if (pending.refused) continue;
    pending.refused.emplace(Code::disk_full,
                            "the journal is gone from its place; nothing was recorded");
  }
}

}  // namespace perdure
