#include "daemon/hosting/remote/remote_launch.h"

#include <algorithm>
#include <utility>

namespace perdure {
namespace {

// For an outpost that was never reached; then the start has failed without leaving anything.
constexpr std::int64_t reach_ms = 10'000;

}  // namespace

RemoteLaunch::RemoteLaunch(RemotePlace& place, ProcessEvents& events)
    : place_(place), events_(events) {}

RemoteLaunch::~RemoteLaunch() {
  *exists_ = false;
  if (timer_ != 0) place_.ports_.loop.cancel(timer_);
}

void RemoteLaunch::close_input() {
  began_ms_ = place_.now_ms();
  // An earlier daemon may have sent the request.
  was_sent_ = place_.may_exist();
  ask();
}

void RemoteLaunch::ask() {
  // From here on the execution may exist there.
  if (const auto made = place_.ports_.host.make_folder(place_.bootstrap_.spool_folder); !made) {
    Error error = made.error();
    place_.ports_.loop.post([this, exists = std::weak_ptr<bool>(exists_), error] {
      if (!exists.expired()) give_up(error);
    });
    return;
  }
  OutpostCall call{.verb = OutpostVerb::start, .bootstrap = {encode_bootstrap(place_.bootstrap_)}};
  place_.ports_.outpost()->call(
      std::move(call), [this, exists = std::weak_ptr<bool>(exists_)](Result<std::string> answer) {
        if (!exists.expired()) answered(std::move(answer));
      });
}

void RemoteLaunch::answered(Result<std::string> answer) {
  if (answer) return finish(*answer);
  const Code code = answer.error().code();
  place_.doubt_ = answer.error().message();
  if (code == Code::unavailable) was_sent_ = true;
  const bool is_over = place_.now_ms() - began_ms_ >= reach_ms;
  const bool may_come = code == Code::unavailable || code == Code::remote_unavailable;
  if (may_come && (was_sent_ || !is_over)) return ask_later();
  give_up(std::move(answer).error());
}

void RemoteLaunch::ask_later() {
  const RemoteTimes& times = place_.times_;
  backoff_ms_ = std::clamp(backoff_ms_ * 2, times.backoff_min_ms, times.backoff_max_ms);
  timer_ = place_.ports_.loop.after_ms(backoff_ms_, [this] {
    timer_ = 0;
    ask();
  });
}

void RemoteLaunch::finish(const std::string& line) {
  const Result<BootstrapAnswer> answer = decode_bootstrap_answer(line);
  if (answer && !answer->code.empty() && answer->code != code_name(Code::conflict)) {
    place_.cause_ = Error(parse_code(answer->code), answer->message);
  }
  place_.doubt_.clear();
  events_.on_output(line + "\n");
  events_.on_exit({.code = 0});
}

void RemoteLaunch::give_up(Error error) {
  // Never sent, or refused without any effect.
  if (!was_sent_) (void)place_.ports_.host.remove_folder(place_.bootstrap_.spool_folder);
  place_.cause_ = error;
  events_.on_output(encode_bootstrap_answer({.code = std::string(code_name(error.code())),
                                             .message = error.message()}) +
                    "\n");
  events_.on_exit({.code = 1});
}

}  // namespace perdure
