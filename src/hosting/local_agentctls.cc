// From ExecutionEvents to AgentctlEvents. A frame that cannot be read keeps its place, since those
// behind it need it.
#include "hosting/local_agentctls.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/json.h"
#include "base/probe.h"
#include "hosting/pulse.h"
#include "wire/frame.h"

namespace perdure {
namespace {

Frame unreadable_frame(const Error& error) {
  JsonWriter json;
  json.begin_object().key("perdure").string("unreadable_frame");
  json.key("message").string(error.message()).end_object();
  return {.body = AgentUpdate{RawJson{std::move(json).take()}}};
}

}  // namespace

class LocalAgentctls::Held final : private ExecutionEvents {
 public:
  struct Order {
    ExecKey key;
    Bootstrap bootstrap;
    std::unique_ptr<Place> place;  // null: this machine
  };
  Held(LocalAgentctls& owner, Order order)
      : owner_(owner),
        key_(order.key),
        place_(std::move(order.place)),
        execution_(ports_of(owner), setting_of(owner), std::move(order.bootstrap),
                   static_cast<ExecutionEvents&>(*this)),
        pulse_(
            owner.ports_.loop, {setting_of(owner).quiet_ms, setting_of(owner).quiet_answer_ms},
            [this] { execution_.call("Health", "{}"); }, [this] { on_silent(); }) {}

  // Those who wait for a call are told that it will not come. Not from inside their own call.
  ~Held() override { fail_calls("the execution is over"); }

  LocalExecution& execution() { return execution_; }
  bool has_ended() const { return ending_; }
  const Place* place() const { return place_.get(); }
  // Of one that an earlier daemon started. The place knows whether it lives, whoever listens there.
  void attach(std::uint64_t epoch, FrameNo from) {
    if (place_) execution_.set_identity({.pid = 1});
    begin_behind(from);
    execution_.attach(epoch, from);
  }
  void call(std::string_view method, std::string_view params, OnResult done) {
    if (!execution_.is_attached() || pulse_.is_missed()) {
      owner_.ports_.loop.post([done = std::move(done)] mutable {
        done(fail(Code::unavailable, "the session's agentctl cannot be reached"));
      });
      return;
    }
    calls_.emplace(execution_.call(method, params), std::move(done));
  }
  void ack(FrameNo frame) {
    acked_ = std::max(acked_, frame);
    execution_.ack(frame);
    if (proof_) SIM_PROBE("end of an execution waited for its frames");
    if (proof_) end_later();
  }

 private:
  LocalPorts ports_of(LocalAgentctls& owner) {
    LocalPorts ports = owner.ports_;
    if (!place_) return ports;
    return {ports.clock, ports.loop, *place_, *place_};
  }
  LocalSetting setting_of(LocalAgentctls& owner) const {
    LocalSetting setting = owner.setting_;
    if (place_) place_->adjust(setting);
    return setting;
  }
  void begin_behind(FrameNo frame) { given_ = acked_ = frame; }
  void on_attached(const AttachedPacket& attached) override {
    pulse_.begin();
    owner_.events_->on_attached(key_);
    owner_.events_->on_commands_acted(key_, attached.acted);
  }
  // It may be stopped or swamped. The link stays, and so does everything that is on its way.
  void on_silent() {
    SIM_PROBE("attached agentctl says nothing");
    owner_.events_->on_detached(key_);
  }
  void note_sign() {
    if (pulse_.heard()) owner_.events_->on_attached(key_);
  }
  void on_frame(FrameNo number, std::string_view bytes) override {
    note_sign();
    Result<Frame> decoded = decode_frame(bytes);
    Frame frame = decoded ? std::move(*decoded) : unreadable_frame(decoded.error());
    frame.exec = key_.exec;
    frame.gen = key_.gen;
    frame.number = given_ = number;
    owner_.events_->on_frame(key_, std::move(frame));
  }
  void on_acted(std::uint64_t number) override {
    note_sign();
    owner_.events_->on_commands_acted(key_, number);
  }
  void on_reply(std::uint64_t number, Result<std::string> result) override {
    note_sign();
    if (auto call = calls_.extract(number)) call.mapped()(std::move(result));
  }
  void on_shell_news(const std::string& shell) override {
    note_sign();
    owner_.tell_shell_news(key_, shell);
  }
  void on_detached(const std::string& why) override {
    const bool is_told = pulse_.is_missed();
    pulse_.end();
    fail_calls("the link to the agentctl broke: " + why);
    if (!is_told) owner_.events_->on_detached(key_);
  }
  void on_gone(const std::string& proof) override {
    proof_ = proof;
    end_later();
  }

  void fail_calls(const std::string& why) {
    for (auto& entry : std::exchange(calls_, {})) {
      owner_.ports_.loop.post(
          [done = std::move(entry.second), why] mutable { done(fail(Code::unavailable, why)); });
    }
  }

  void end_later() {
    if (acked_ < given_ || ending_) return;
    ending_ = true;
    owner_.ports_.loop.post([&owner = owner_, exists = owner_.exists_, key = key_] {
      if (!*exists) return;
      // One that was let go and attached anew meanwhile has not ended.
      if (Held* const held = owner.find(key); held && held->ending_) held->end();
    });
  }
  // Every frame is in the journal: nobody needs the spool any more.
  void end() {
    if (const Result<> removed = execution_.remove(); !removed) {
      *proof_ += "; left behind: " + removed.error().message();
    }
    owner_.forget_later(key_);
    owner_.events_->on_gone(key_, ending());
  }
  // What left in good order has no cause but that.
  ExecEnding ending() const {
    const bool left = proof_->starts_with("exit: ");
    if (left || !place_ || !place_->cause()) return *proof_;
    const Error& cause = *place_->cause();
    return {cause.message(), std::string(code_name(cause.code()))};
  }

  LocalAgentctls& owner_;
  ExecKey key_;
  std::unique_ptr<Place> place_;
  LocalExecution execution_;
  Pulse pulse_;
  std::map<std::uint64_t, OnResult> calls_;  // by the number of the call
  FrameNo given_ = 0;
  FrameNo acked_ = 0;
  std::optional<std::string> proof_;
  bool ending_ = false;
};

LocalAgentctls::LocalAgentctls(LocalPorts ports, LocalSetting setting,
                               MakeBootstraps make_bootstraps)
    : ports_(ports), setting_(std::move(setting)), make_bootstraps_(std::move(make_bootstraps)) {
  // The runtime starts a life only when the end of the one before is in the journal.
  setting_.when_locked = WhenLocked::take_over;
}

LocalAgentctls::~LocalAgentctls() { *exists_ = false; }

LocalAgentctls::Held* LocalAgentctls::find(const ExecKey& exec) {
  const auto found = held_.find(exec);
  return found == held_.end() ? nullptr : found->second.get();
}

bool LocalAgentctls::is_held(ExecId exec) const {
  return std::ranges::any_of(held_, [&](const auto& entry) { return entry.first.exec == exec; });
}

std::string LocalAgentctls::doubt_about(SessionId session) const {
  const auto at = held_.lower_bound(ExecKey{.session = session});
  if (at == held_.end() || at->first.session != session) return {};
  if (!at->second->place() || at->second->execution().is_attached()) return {};
  return at->second->place()->doubt();
}

void LocalAgentctls::tell_gone_later(const ExecKey& exec, ExecEnding ending) {
  ports_.loop.post([this, exists = exists_, exec, ending = std::move(ending)] {
    if (*exists) events_->on_gone(exec, ending);
  });
}

// Not from inside its own call.
void LocalAgentctls::forget_later(const ExecKey& exec) {
  ports_.loop.post([this, exists = exists_, exec] {
    const Held* const held = *exists ? find(exec) : nullptr;
    if (held && held->has_ended()) held_.erase(exec);
  });
}

LocalAgentctls::Held& LocalAgentctls::hold(const LaunchSpec& spec, Bootstrap bootstrap) {
  CHECK(events_ != nullptr, "nobody is there to be told");
  const ExecKey key{spec.session, spec.exec, spec.gen};
  // An earlier life that somebody declared dead: what it still says is nobody's (C19). The process
  // itself is ended where the new one needs its lock.
  std::erase_if(held_, [&](const auto& entry) {
    return entry.first.session == spec.session && entry.first.gen < spec.gen;
  });
  std::unique_ptr<Place> place;
  if (make_place_) place = make_place_(spec, bootstrap);
  auto made =
      std::make_unique<Held>(*this, Held::Order{key, std::move(bootstrap), std::move(place)});
  return *held_.emplace(key, std::move(made)).first->second;
}

void LocalAgentctls::start(const LaunchSpec& spec, std::uint64_t epoch) {
  const ExecKey key{spec.session, spec.exec, spec.gen};
  if (find(key)) return;  // under way
  Result<Bootstrap> bootstrap = make_bootstraps_.to_start(spec);
  if (!bootstrap) {
    const Error& error = bootstrap.error();
    return tell_gone_later(key, {error.message(), std::string(code_name(error.code()))});
  }
  hold(spec, std::move(*bootstrap)).execution().start(epoch, 0);
}

void LocalAgentctls::attach(const LaunchSpec& spec, std::uint64_t epoch, FrameNo from) {
  if (find({spec.session, spec.exec, spec.gen})) return;
  hold(spec, make_bootstraps_.to_attach(spec)).attach(epoch, from);
}

void LocalAgentctls::send(const ExecKey& exec, const SendCommand& command) {
  if (Held* const held = find(exec)) held->execution().command(command);
}

void LocalAgentctls::ack(const ExecKey& exec, FrameNo frame) {
  if (Held* const held = find(exec)) held->ack(frame);
}

void LocalAgentctls::call(const ExecKey& exec, std::string method, std::string params,
                          OnResult done) {
  if (Held* const held = find(exec)) return held->call(method, params, std::move(done));
  ports_.loop.post([done = std::move(done)] mutable {
    done(fail(Code::unavailable, "the session has no agentctl that runs"));
  });
}

std::uint64_t LocalAgentctls::watch_shells(const ExecKey& exec, OnShellNews news) {
  shell_watches_.emplace(++last_shell_watch_, ShellWatch{exec, std::move(news)});
  return last_shell_watch_;
}

// A watch may go, or bring another, while it is told.
void LocalAgentctls::tell_shell_news(const ExecKey& exec, const std::string& shell) {
  for (auto next = shell_watches_.begin(); next != shell_watches_.end();) {
    const std::uint64_t number = next->first;
    const ShellWatch told = next->second;
    if (told.exec == exec) told.news(shell);
    next = shell_watches_.upper_bound(number);
  }
}

void LocalAgentctls::stop(const ExecKey& exec) {
  if (Held* const held = find(exec)) held->execution().stop();
}

void LocalAgentctls::let_go(const ExecKey& exec) { held_.erase(exec); }

}  // namespace perdure
