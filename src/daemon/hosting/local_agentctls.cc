// Converts ExecutionEvents to AgentctlEvents. An unreadable frame keeps its number, because those
// after it depend on that.
#include "daemon/hosting/local_agentctls.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/probe.h"
#include "core/session/effects.h"
#include "core/wire/agentctl/frame.h"
#include "daemon/hosting/pulse.h"

namespace perdure {
namespace {

constexpr std::string_view shell_open = "shell.open";

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
    bool has_agent = true;         // or will have one
  };
  Held(LocalAgentctls& owner, Order order)
      : owner_(owner),
        key_(order.key),
        has_agent_(order.has_agent),
        used_(++owner.uses_),
        place_(std::move(order.place)),
        execution_(ports_of(owner), setting_of(owner), std::move(order.bootstrap),
                   static_cast<ExecutionEvents&>(*this)),
        pulse_(
            owner.ports_.loop, {setting_of(owner).quiet_ms, setting_of(owner).quiet_answer_ms},
            [this] { health_ = execution_.call("Health", "{}"); }, [this] { on_silent(); }) {}

  // Fails pending calls on the loop, not within a call from their owners.
  ~Held() override { fail_calls("the execution is over"); }

  LocalExecution& execution() { return execution_; }
  bool has_ended() const { return ending_; }
  bool is_live() const { return has_agent_ || has_shells_; }
  // It serves only its workspace, so ending it loses nothing.
  bool may_give_way() const { return !is_live() && calls_.empty() && !proof_ && !gives_way_; }
  std::uint64_t used() const { return used_; }
  void give_way() {
    gives_way_ = true;
    execution_.stop();
  }
  void start_agent() { has_agent_ = true; }
  // Ends it instead of doing what was requested, and reports the error as the cause.
  void refuse(Error why) {
    refusal_ = std::move(why);
    give_way();
  }
  const Place* place() const { return place_.get(); }
  // Attaches to an earlier daemon's. With a place, only the place knows whether it lives.
  void attach(std::uint64_t epoch, FrameNo from) {
    if (place_) execution_.set_identity({.pid = 1});
    has_shells_ = !has_agent_;  // assume shells until it reports how many
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
    used_ = ++owner_.uses_;
    const std::uint64_t number = execution_.call(method, params);
    calls_.emplace(number, std::move(done));
    if (method != shell_open) return;
    has_shells_ = true;
    last_shell_open_ = number;
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
    if (!has_agent_) health_ = execution_.call("Health", "{}");
    owner_.events_->on_attached(key_);
    owner_.events_->on_commands_acted(key_, attached.acted);
  }
  // It may be stopped or overloaded. The link and everything in transit remain.
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
    if (number == health_) note_health(result);
    if (auto call = calls_.extract(number)) call.mapped()(std::move(result));
  }
  // A report from before the last shell was opened does not include that shell.
  void note_health(const Result<std::string>& result) {
    const Result<JsonObject> health = JsonObject::parse(result.value_or("{}"));
    if (!health || health_ < last_shell_open_) return;
    if (const auto shells = json_uint(health->find("shells"))) has_shells_ = *shells > 0;
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
      // One that was released and attached again since has not ended.
      if (Held* const held = owner.find(key); held && held->ending_) held->end();
    });
  }
  // Every frame is in the journal, so nothing needs the spool.
  void end() {
    if (const Result<> removed = execution_.remove(); !removed) {
      *proof_ += "; left behind: " + removed.error().message();
    }
    owner_.forget_later(key_);
    owner_.events_->on_gone(key_, ending());
  }
  // An orderly end needs no other cause.
  ExecEnding ending() const {
    if (refusal_) return {refusal_->message(), std::string(code_name(refusal_->code()))};
    const bool left = proof_->starts_with("exit: ");
    if (left || !place_ || !place_->cause()) return *proof_;
    const Error& cause = *place_->cause();
    return {cause.message(), std::string(code_name(cause.code()))};
  }

  LocalAgentctls& owner_;
  ExecKey key_;
  bool has_agent_;
  std::uint64_t used_;
  bool has_shells_ = false;  // or may have one
  bool gives_way_ = false;
  std::uint64_t health_ = 0;  // the number of the last such call
  std::uint64_t last_shell_open_ = 0;
  std::optional<Error> refusal_;
  std::unique_ptr<Place> place_;
  LocalExecution execution_;
  Pulse pulse_;
  std::map<std::uint64_t, OnResult> calls_;  // keyed by the number of the call
  FrameNo given_ = 0;
  FrameNo acked_ = 0;
  std::optional<std::string> proof_;
  bool ending_ = false;
};

LocalAgentctls::LocalAgentctls(LocalPorts ports, LocalSetting setting,
                               MakeBootstraps make_bootstraps)
    : ports_(ports), setting_(std::move(setting)), make_bootstraps_(std::move(make_bootstraps)) {
  // The runtime starts a life only after the end of the one before is in the journal.
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

// Not destroyed within its own call.
void LocalAgentctls::forget_later(const ExecKey& exec) {
  ports_.loop.post([this, exists = exists_, exec] {
    const Held* const held = *exists ? find(exec) : nullptr;
    if (held && held->has_ended()) held_.erase(exec);
  });
}

std::size_t LocalAgentctls::live() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(held_, [](const auto& entry) { return entry.second->is_live(); }));
}

// Sessions started by processes inside sessions must leave places for people.
Result<> LocalAgentctls::check_descendants(SessionId top) const {
  const auto is_below_top = [&](const auto& entry) {
    return entry.second->is_live() && top_of_(entry.first.session) == top;
  };
  const auto below = static_cast<std::size_t>(std::ranges::count_if(held_, is_below_top));
  if (below >= descendants_live_max) {
    return fail(Code::limit_reached,
                std::to_string(below) + " agents of sessions that were made inside " + top.text() +
                    " are live already (descendants_live_max); stop one first");
  }
  const std::size_t reserved = std::min(live_agents_reserved, limits_->live_max / 2);
  if (live() + reserved < limits_->live_max) return {};
  return fail(Code::limit_reached,
              std::to_string(live()) + " agents are live already, and the last " +
                  std::to_string(reserved) +
                  " places are for sessions that people made (live_agents_reserved); stop one "
                  "first");
}

// H3: existing ones keep running.
Result<> LocalAgentctls::check_live(SessionId session) const {
  if (!limits_) return {};
  const SessionId top = top_of_ ? top_of_(session) : SessionId();
  if (top) TRY_VOID(check_descendants(top));
  if (live() < limits_->live_max) return {};
  return fail(Code::limit_reached, std::to_string(limits_->live_max) +
                                       " agents are live already (limits.live_agents); stop one "
                                       "first");
}

// Reading a workspace takes no place of an agent, so that a reader never blocks work.
Result<> LocalAgentctls::make_room(const LaunchSpec& spec) {
  if (spec.has_agent || !limits_) return check_live(spec.session);
  if (held_.size() - live() < limits_->workspaces_max) return {};
  Held* oldest = nullptr;
  for (const auto& [key, held] : held_) {
    if (held->may_give_way() && (!oldest || held->used() < oldest->used())) oldest = held.get();
  }
  if (oldest) {
    oldest->give_way();
    return {};
  }
  return fail(Code::limit_reached, "the workspaces of " + std::to_string(limits_->workspaces_max) +
                                       " sessions without an agent are in use; try again");
}

LocalAgentctls::Held& LocalAgentctls::hold(const LaunchSpec& spec, Bootstrap bootstrap) {
  CHECK(events_ != nullptr, "events need a receiver");
  const ExecKey key{spec.session, spec.exec, spec.gen};
  // An earlier life that was declared dead: its messages are ignored (C19). Its process is ended if
  // the new one needs its lock.
  std::erase_if(held_, [&](const auto& entry) {
    return entry.first.session == spec.session && entry.first.gen < spec.gen;
  });
  std::unique_ptr<Place> place;
  if (make_place_) place = make_place_(spec, bootstrap);
  auto made = std::make_unique<Held>(
      *this, Held::Order{key, std::move(bootstrap), std::move(place), spec.has_agent});
  return *held_.emplace(key, std::move(made)).first->second;
}

void LocalAgentctls::start(const LaunchSpec& spec, std::uint64_t epoch) {
  const ExecKey key{spec.session, spec.exec, spec.gen};
  if (find(key)) return;  // already in progress
  const Result<> room = make_room(spec);
  Result<Bootstrap> bootstrap =
      room ? make_bootstraps_.to_start(spec) : std::unexpected(room.error());
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
  Held* const held = find(exec);
  if (!held) return;
  if (holds_alternative<StartAgent>(command.body)) {
    const Result<> room = held->is_live() ? Result<>() : check_live(exec.session);
    if (!room) return held->refuse(room.error());
    held->start_agent();
  }
  held->execution().command(command);
}

void LocalAgentctls::ack(const ExecKey& exec, FrameNo frame) {
  if (Held* const held = find(exec)) held->ack(frame);
}

void LocalAgentctls::call(const ExecKey& exec, std::string method, std::string params,
                          OnResult done) {
  if (Held* const held = find(exec)) {
    const bool takes_place = method == shell_open && !held->is_live();
    const Result<> room = takes_place ? check_live(exec.session) : Result<>();
    if (room) return held->call(method, params, std::move(done));
    return ports_.loop.post([done = std::move(done), error = room.error()] mutable {
      done(std::unexpected(std::move(error)));
    });
  }
  ports_.loop.post([done = std::move(done)] mutable {
    done(fail(Code::unavailable, "the session has no agentctl that runs"));
  });
}

std::uint64_t LocalAgentctls::watch_shells(const ExecKey& exec, OnShellNews news) {
  shell_watches_.emplace(++last_shell_watch_, ShellWatch{exec, std::move(news)});
  return last_shell_watch_;
}

// A watch may be removed or added while one is called.
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
