#include "daemon/hosting/remote/remote_place.h"

#include <algorithm>
#include <utility>

#include "base/bytes/base64.h"
#include "daemon/hosting/remote/remote_launch.h"

namespace perdure {
namespace {

constexpr std::int64_t look_again_ms = 500;
constexpr std::int64_t look_stale_ms = 5'000;  // older observations count as unknown
constexpr std::int64_t ask_again_ms = 500;

}  // namespace

RemotePlace::RemotePlace(RemotePorts ports, RemoteTimes times, Bootstrap bootstrap)
    : ports_(std::move(ports)), times_(times), bootstrap_(std::move(bootstrap)) {}

RemotePlace::~RemotePlace() { *exists_ = false; }

void RemotePlace::adjust(LocalSetting& setting) const {
  setting.when_unknown = WhenUnknown::wait;
  setting.backoff_min_ms = times_.backoff_min_ms;
  setting.backoff_max_ms = times_.backoff_max_ms;
  setting.quiet_ms = std::min(setting.quiet_ms, times_.heartbeat_ms);
  setting.quiet_answer_ms = times_.heartbeat_ms;
}

Result<std::unique_ptr<Process>> RemotePlace::spawn(const SpawnSpec&, ProcessEvents& events) {
  exec_end_ = {};
  session_end_ = {};
  life_ = ProcessLife::unknown;
  cause_.reset();
  return std::make_unique<RemoteLaunch>(*this, events);
}

OutpostCall RemotePlace::about(OutpostVerb verb) const {
  return {.verb = verb, .exec = bootstrap_.exec, .owner = bootstrap_.owner};
}

void RemotePlace::ask(OutpostCall call, void (RemotePlace::*then)(Result<std::string>)) {
  ports_.outpost()->call(std::move(call), [this, exists = std::weak_ptr<bool>(exists_),
                                           then](Result<std::string> answer) {
    if (!exists.expired()) (this->*then)(std::move(answer));
  });
}

bool RemotePlace::may_exist() {
  const auto spool = ports_.host.open_folder(bootstrap_.spool_folder);
  return spool || spool.error().code() != Code::not_found;
}

std::size_t RemotePlace::kill_marked(const std::string& mark) {
  const bool is_session = mark == session_mark(bootstrap_);
  Asking& asking = is_session ? session_end_ : exec_end_;
  // If no start was ever requested, there is none, which is known without the outpost.
  if (!is_session && !may_exist()) return 0;
  if (asking.done) return 0;
  if (asking.under_way || now_ms() < asking.not_before_ms) return 1;
  asking.under_way = true;
  OutpostCall call = about(OutpostVerb::kill);
  call.mark = mark;
  ports_.outpost()->call(std::move(call), [this, exists = std::weak_ptr<bool>(exists_),
                                           &asking](const Result<std::string>& answer) {
    if (!exists.expired()) killed(asking, answer);
  });
  return 1;
}

void RemotePlace::stop_asking(Asking& asking, const std::string& doubt) {
  asking.under_way = false;
  asking.not_before_ms = now_ms() + ask_again_ms;
  doubt_ = doubt;
}

void RemotePlace::killed(Asking& asking, const Result<std::string>& answer) {
  const Result<OutpostLeft> left =
      answer ? decode_left(*answer) : Result<OutpostLeft>(std::unexpected(answer.error()));
  if (!left) return stop_asking(asking, left.error().message());
  if (left->left > 0) return stop_asking(asking, "processes of it do not end there");
  if (&asking == &exec_end_) return begin_copy();
  asking.under_way = false;
  asking.done = true;
}

// Starts from the beginning, because an interrupted copy is useless.
void RemotePlace::begin_copy() {
  const Result<> cleared = ports_.host.remove_folder(bootstrap_.spool_folder);
  Result<std::unique_ptr<Folder>> made = ports_.host.make_folder(bootstrap_.spool_folder);
  if (!cleared || !made) return stop_asking(exec_end_, "its spool cannot be copied here");
  copy_ = std::move(*made);
  ask(about(OutpostVerb::list), &RemotePlace::listed);
}

void RemotePlace::listed(Result<std::string> answer) {
  Result<OutpostFiles> files =
      answer ? decode_files(*answer) : Result<OutpostFiles>(std::unexpected(answer.error()));
  if (!files) return stop_asking(exec_end_, files.error().message());
  to_copy_ = std::move(files->files);
  std::ranges::reverse(to_copy_);
  copied_bytes_ = 0;
  copy_on();
}

void RemotePlace::copy_on() {
  while (!to_copy_.empty() && copied_bytes_ >= to_copy_.back().bytes) {
    to_copy_.pop_back();
    copied_bytes_ = 0;
  }
  if (to_copy_.empty()) {
    copy_.reset();
    exec_end_.under_way = false;
    exec_end_.done = true;
    return;
  }
  OutpostCall call = about(OutpostVerb::read);
  call.name = to_copy_.back().name;
  call.offset = copied_bytes_;
  ask(std::move(call), &RemotePlace::got_piece);
}

void RemotePlace::got_piece(Result<std::string> answer) {
  const auto kept = [&]() -> Result<std::size_t> {
    if (!answer) return std::unexpected(answer.error());
    const std::string bytes = TRY(base64_decode(TRY(decode_piece(*answer)).base64));
    if (bytes.empty()) return fail(Code::damaged, "its spool became shorter while it was read");
    TRY_VOID(copy_->append(to_copy_.back().name, bytes));
    return bytes.size();
  }();
  if (!kept) return stop_asking(exec_end_, kept.error().message());
  copied_bytes_ += *kept;
  copy_on();
}

ProcessLife RemotePlace::life(const ProcessIdentity&) {
  if (life_ == ProcessLife::dead) return life_;
  if (!looking_ && now_ms() >= look_not_before_ms_) look();
  return now_ms() - seen_ms_ > look_stale_ms ? ProcessLife::unknown : life_;
}

void RemotePlace::look() {
  looking_ = true;
  ask(about(OutpostVerb::life), &RemotePlace::seen);
}

void RemotePlace::seen(Result<std::string> answer) {
  looking_ = false;
  look_not_before_ms_ = now_ms() + look_again_ms;
  const Result<OutpostLife> life =
      answer ? decode_life(*answer) : Result<OutpostLife>(std::unexpected(answer.error()));
  if (!life) {
    doubt_ = life.error().message();
    return;
  }
  seen_ms_ = now_ms();
  doubt_.clear();
  life_ = life->life == "alive"  ? ProcessLife::alive
          : life->life == "dead" ? ProcessLife::dead
                                 : ProcessLife::unknown;
}

Result<std::unique_ptr<Link>> RemotePlace::connect(const std::string&, const std::string&) {
  if (life_ == ProcessLife::dead) return fail(Code::not_found, "its agentctl is dead");
  // The tunnel does not show whether the agentctl is dead, so ask the outpost as well.
  if (!looking_ && now_ms() >= look_not_before_ms_) look();
  return ports_.outpost()->tunnel(bootstrap_.exec, bootstrap_.owner);
}

Result<std::unique_ptr<Folder>> RemotePlace::open_folder(const std::string& path) {
  return ports_.host.open_folder(path);
}

Result<std::unique_ptr<Folder>> RemotePlace::make_folder(const std::string& path) {
  return ports_.host.make_folder(path);
}

// If the outpost does not answer now, a small remainder stays there under this execution's name.
Result<> RemotePlace::remove_folder(const std::string& path) {
  if (path == bootstrap_.spool_folder && may_exist()) {
    ports_.outpost()->call(about(OutpostVerb::remove), [](const Result<std::string>&) {});
  }
  return ports_.host.remove_folder(path);
}

}  // namespace perdure
