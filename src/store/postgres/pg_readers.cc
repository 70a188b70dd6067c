#include "store/postgres/pg_readers.h"

namespace perdure {
namespace {

constexpr int lost_max = 2;

}  // namespace

Result<PgReaders::Leased> PgReaders::lease() {
  std::unique_lock lock(mutex_);
  const bool has_room = freed_.wait_for(
      lock, setting_.times.statement, [&] { return !idle_.empty() || out_ < setting_.links_max; });
  if (!has_room) return fail(Code::unavailable, "all connections to the database are in use");
  ++out_;
  if (!idle_.empty()) {
    Leased out{.link = std::move(idle_.back()), .is_used = true};
    idle_.pop_back();
    return out;
  }
  const bool is_paused = std::chrono::steady_clock::now() < not_before_;
  lock.unlock();
  Result<std::unique_ptr<PgLink>> opened =
      is_paused ? fail(Code::unavailable, "the database server cannot be reached")
                : PgLink::open(setting_.place, setting_.times);
  if (opened) return Leased{.link = *std::move(opened)};
  lock.lock();
  --out_;
  if (!is_paused) not_before_ = std::chrono::steady_clock::now() + setting_.pause;
  lock.unlock();
  freed_.notify_one();
  return std::unexpected(opened.error());
}

void PgReaders::give_back(std::unique_ptr<PgLink> link) {
  {
    const std::scoped_lock lock(mutex_);
    --out_;
    if (link != nullptr && !link->is_lost()) {
      idle_.push_back(std::move(link));
    } else {
      idle_.clear();  // the others went to the same server
    }
  }
  freed_.notify_one();
}

Result<PgRows> PgReaders::run(const PgStatement& statement, const PgParams& params) {
  int lost = 0;
  while (true) {
    Leased leased = TRY(lease());
    PgResult<PgRows> rows = leased.link->run(statement, params);
    give_back(std::move(leased.link));
    if (rows) return *std::move(rows);
    const bool is_cut = rows.error().trouble == PgTrouble::lost && !rows.error().is_late;
    if (is_cut && (leased.is_used || ++lost < lost_max)) continue;
    return std::unexpected(rows.error().error());
  }
}

}  // namespace perdure
