#include "perdure/verbs/attach/watching.h"

#include <algorithm>
#include <utility>

#include "perdure/verbs/attach/transcript_view.h"

namespace perdure::cli {
namespace {

constexpr int step_ms = 500;

class Watcher final : public client::FollowEvents {
 public:
  Watcher(VerbCall& call, const WatchRequest& request)
      : call_(call),
        request_(request),
        run_(request.run),
        view_(call.style(), call.world().console.size().cells) {}

  const std::optional<Watched>& end() const { return end_; }
  const std::optional<client::Refusal>& refusal() const { return refusal_; }

  void on_state(std::string_view) override {}
  void on_record(std::uint64_t seq, std::string_view json) override {
    if (end_) return;
    const auto record = JsonView::read(json);
    if (!record) return;
    if (request_.show) {
      request_.show(*record);
    } else {
      if (call_.is_json() && !request_.is_quiet) call_.print_line(record->raw());
      view_.add(*record);
      if (!call_.is_json()) print_rows(view_.take_rows());
    }
    look(seq, *record);
    if (end_) flush();
  }
  void on_reset() override {
    view_.reset();
    if (!request_.is_quiet)
      call_.remark("the journal was replaced; following it from its beginning");
  }
  void on_connection(client::Connection connection) override {
    const bool is_lost = connection == client::Connection::lost;
    if (is_lost && !request_.is_quiet && call_.world().console.is_interactive()) {
      call_.remark("the daemon does not answer; reconnecting …");
    }
  }
  void on_refused(const client::Refusal& refusal) override { refusal_ = refusal; }

  void flush() {
    if (!call_.is_json()) print_rows(view_.open_rows(SIZE_MAX));
  }

 private:
  void print_rows(const std::vector<std::string>& rows) {
    if (request_.is_quiet) return;
    for (const std::string& row : rows) call_.print_line(row);
  }

  void look(std::uint64_t seq, JsonView record) {
    const std::string kind = record["kind"].text();
    const std::string run = record["run_id"].text();
    if (kind == "run.started" && !request_.message.empty() &&
        record["message_id"].text() == request_.message) {
      run_ = run;
    }
    if (kind == "permission.requested" && request_.until_asked) {
      end_ = Watched{.end = Watched::End::asked, .run_end = {}};
    }
    // Without an agent no run begins: the prompt is held.
    const bool wants_run =
        request_.until_run_ends || !request_.run.empty() || !request_.message.empty();
    if (kind == "resume.failed" && wants_run) {
      end_ = Watched{.end = Watched::End::run_ended, .run_end = "failed"};
    }
    const bool is_end = kind == "run.completed" || kind == "run.failed" ||
                        kind == "run.cancelled" || kind == "run.interrupted";
    if (is_end && (request_.until_run_ends || (!run_.empty() && run == run_))) {
      end_ = Watched{.end = Watched::End::run_ended, .run_end = kind.substr(4)};
    }
    if (!end_ && request_.until_seq && seq >= *request_.until_seq) end_ = Watched{};
  }

  VerbCall& call_;
  const WatchRequest& request_;
  std::string run_;
  TranscriptView view_;
  std::optional<Watched> end_;
  std::optional<client::Refusal> refusal_;
};

}  // namespace

Outcome<Watched> watch_session(VerbCall& call, const WatchRequest& request) {
  if (request.until_seq && *request.until_seq <= request.after) return Watched{};
  client::DaemonApi* api = TRY(call.daemon());
  Watcher watcher(call, request);
  const auto following = api->follow(
      {.session = encode_segment(request.session), .after = request.after, .log_id = {}}, watcher);
  const std::int64_t begun_ms = api->now_ms();
  while (!watcher.end()) {
    if (watcher.refusal()) return std::unexpected(Trouble::of(*watcher.refusal()));
    std::int64_t wait_ms = step_ms;
    if (request.timeout_ms) {
      const std::int64_t left_ms = begun_ms + *request.timeout_ms - api->now_ms();
      if (left_ms <= 0) {
        watcher.flush();
        return Watched{.end = Watched::End::timeout, .run_end = {}};
      }
      wait_ms = std::min(wait_ms, left_ms);
    }
    api->step(static_cast<int>(wait_ms));
  }
  return *watcher.end();
}

int exit_of(const Watched& watched) {
  switch (watched.end) {
    case Watched::End::run_ended: return watched.run_end == "completed" ? exit_done : exit_failed;
    case Watched::End::asked: return exit_refused;
    case Watched::End::shown: return exit_done;
    case Watched::End::timeout: return exit_timeout;
  }
  return exit_failed;
}

}  // namespace perdure::cli
