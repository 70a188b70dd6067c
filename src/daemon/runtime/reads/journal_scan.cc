#include "daemon/runtime/reads/journal_scan.h"

#include <algorithm>
#include <utility>

namespace perdure {
namespace {

// A page takes a few milliseconds; other work waits no longer than that.
constexpr std::size_t slice_records = 500;
constexpr std::size_t slice_bytes = 1UL << 20;

class Scan : public std::enable_shared_from_this<Scan> {
 public:
  struct Order {
    SessionId session;
    JournalPart range;
    std::shared_ptr<JournalFold> fold;
  };
  Scan(Runtime& runtime, Order order, OnScanned done)
      : runtime_(runtime),
        order_(std::move(order)),
        done_(std::move(done)),
        read_(order_.range.after) {}

  void go_on() {
    runtime_.loop().post([self = shared_from_this(), alive = runtime_.alive()] {
      if (!alive.expired()) self->step();
    });
  }

 private:
  void step() {
    const Result<bool> ended = slice();
    if (ended && !*ended) return go_on();
    std::exchange(done_, {})(ended ? Result<>() : std::unexpected(ended.error()));
  }

  Result<bool> slice() {
    if (read_ >= order_.range.upto || !order_.fold->wants_more()) return true;
    const auto want =
        static_cast<std::size_t>(std::min<Seq>(slice_records, order_.range.upto - read_));
    const RecordPage page = TRY(runtime_.store().read(
        order_.session, {.after = read_, .limit = want, .bytes_max = slice_bytes}));
    if (page.records.empty()) return fail(Code::damaged, "records are missing");
    for (const std::string& bytes : page.records) {
      TRY_VOID(order_.fold->add(++read_, bytes));
      if (!order_.fold->wants_more()) return true;
    }
    return read_ >= order_.range.upto;
  }

  Runtime& runtime_;
  Order order_;
  OnScanned done_;
  Seq read_;
};

}  // namespace

void scan_journal(Runtime& runtime, SessionId session, JournalPart range,
                  std::shared_ptr<JournalFold> fold, OnScanned done) {
  std::make_shared<Scan>(runtime, Scan::Order{session, range, std::move(fold)}, std::move(done))
      ->go_on();
}

}  // namespace perdure
