// The conformance suite on the files engine, over the fault disk: a crash is a power cut that
// loses, keeps, tears or garbles unsynced data, names and bytes independently. Runs once with the
// default thresholds and once with thresholds so small that every few commits fill, save and cut
// the log.
#include "base/check.h"
#include "store/files/files_store.h"
#include "testing/store/fault_files.h"
#include "testing/store/store_conformance.h"

namespace perdure {
namespace {

constexpr CrashOutcome outcomes[] = {CrashOutcome::lost, CrashOutcome::process_only,
                                     CrashOutcome::torn, CrashOutcome::garbage, CrashOutcome::kept};

class FilesUnderTest : public StoreUnderTest {
 public:
  explicit FilesUnderTest(FilesOptions options) : options_(std::move(options)) {
    options_.new_log_id = "log";
    options_.on_fatal = [](const Error& error) { CHECK(false, error.message()); };
    options_.search_piece = [](std::string_view record) {
      return SearchPiece{.parts = {std::string(record)}};
    };
    open();
  }

  Store& store() override { return *store_; }
  void pump() override {
    while (store_->step()) {}
    while (store_->idle_step()) {}
  }
  void reopen() override {
    pump();
    CHECK(store_->shut_down().has_value());
    store_.reset();
    open();
  }
  void crash_reopen() override {
    disk_.crash(outcomes[crashes_++ % std::size(outcomes)]);
    store_.reset();
    open();
  }

 private:
  void open() {
    options_.disk = make_fault_files(disk_);
    auto opened = FilesStore::open(options_);
    CHECK(opened.has_value(), opened ? "" : opened.error().message());
    store_ = *std::move(opened);
  }

  FaultDisk disk_{1};
  FilesOptions options_;
  std::unique_ptr<FilesStore> store_;
  std::size_t crashes_ = 0;
};

const bool registered = register_store_conformance(
    "Files", [] { return std::make_unique<FilesUnderTest>(FilesOptions{}); });

const bool registered_busy = register_store_conformance("FilesBusy", [] {
  return std::make_unique<FilesUnderTest>(FilesOptions{.reserve_bytes = 64UL << 10,
                                                       .group_bytes_max = 8192,
                                                       .fill_bytes = 1024,
                                                       .segment_bytes = 4096,
                                                       .quiet_steps = 0,
                                                       .files_open_max = 2});
});

}  // namespace
}  // namespace perdure
