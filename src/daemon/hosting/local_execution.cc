// Every path leads to one of three states: attached, gone with proof, or still trying. On this
// machine the third is temporary: after a timeout a silent agentctl is ended.
#include "daemon/hosting/local_execution.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/limits.h"
#include "base/probe.h"
#include "core/wire/agentctl/bootstrap.h"

namespace perdure {
namespace {

constexpr std::size_t launcher_output_bytes_max = 64UL << 10;
constexpr std::int64_t bury_again_ms = 50;
constexpr std::int64_t lock_patience_ms = 2'000;  // an agentctl that is starting listens by then

void append_bounded(std::string& out, std::string_view bytes) {
  const std::size_t room =
      launcher_output_bytes_max - std::min(out.size(), launcher_output_bytes_max);
  out += bytes.substr(0, room);
}

}  // namespace

LocalExecution::LocalExecution(LocalPorts ports, LocalSetting setting, Bootstrap bootstrap,
                               ExecutionEvents& events)
    : ports_(ports),
      setting_(std::move(setting)),
      bootstrap_(std::move(bootstrap)),
      events_(events) {}

LocalExecution::~LocalExecution() {
  *exists_ = false;
  disarm();
}

void LocalExecution::arm(std::int64_t delay_ms, void (LocalExecution::*then)()) {
  disarm();
  timer_ = ports_.loop.after_ms(delay_ms, [this, then] {
    timer_ = 0;
    (this->*then)();
  });
}

void LocalExecution::disarm() {
  if (timer_ != 0) ports_.loop.cancel(std::exchange(timer_, 0));
}

void LocalExecution::start(std::uint64_t epoch, FrameNo after) {
  epoch_ = epoch;
  last_frame_ = acked_ = after;
  launch();
}

void LocalExecution::attach(std::uint64_t epoch, FrameNo after) {
  epoch_ = epoch;
  last_frame_ = acked_ = after;
  silent_since_ms_ = ports_.clock.now().since_boot.ms;
  arm(0, &LocalExecution::connect);
}

// This wait needs its own limit within one boot of the machine, because a session's deadline may
// follow a wall clock.
void LocalExecution::launch() {
  silent_since_ms_ = ports_.clock.now().since_boot.ms;
  SpawnSpec spec{
      .command = setting_.agentctl_command, .environment = setting_.environment, .cwd = "/"};
  spec.command.emplace_back("start");
  for (std::string& mark : marks_of(bootstrap_)) spec.environment.push_back(std::move(mark));
  Result<std::unique_ptr<Process>> spawned = ports_.processes.spawn(spec, *this);
  if (!spawned) {
    proof_ = "not_started: " + spawned.error().message();
    return arm(0, &LocalExecution::bury);
  }
  launcher_ = std::move(*spawned);
  launcher_->write(encode_bootstrap(bootstrap_) + "\n");
  launcher_->close_input();
  arm(setting_.hang_ms, &LocalExecution::did_not_answer);
}

void LocalExecution::on_output(std::string_view bytes) { append_bounded(launcher_output_, bytes); }

void LocalExecution::on_error_output(std::string_view bytes) {
  append_bounded(launcher_errors_, bytes);
}

void LocalExecution::on_exit(const ProcessExit&) {
  // Not destroyed within its own call.
  ports_.loop.post([launcher = std::shared_ptr<Process>(std::move(launcher_))] {});
  const Result<BootstrapAnswer> answer = decode_bootstrap_answer(launcher_output_);
  if (answer && answer->code.empty()) {
    identity_ = ProcessIdentity{answer->pid, static_cast<std::uint64_t>(answer->pid_started),
                                answer->host_boot};
    return arm(0, &LocalExecution::connect);
  }
  proof_ = "not_started: " + (answer ? answer->message : launcher_errors_);
  // The lock is held, perhaps by this very execution, started by an earlier daemon (X16).
  lock_is_held_ = answer && answer->code == "conflict";
  if (!lock_is_held_) return arm(0, &LocalExecution::bury);
  silent_since_ms_ = ports_.clock.now().since_boot.ms;  // the launch time does not count as silence
  SIM_PROBE("start found the session's lock held");
  arm(0, &LocalExecution::connect);
}

void LocalExecution::connect() {
  if (gone_) return;
  Result<std::unique_ptr<Link>> link = ports_.host.connect(bootstrap_.run_folder, socket_name());
  if (link) {
    client_ = std::make_unique<AgentctlClient>(std::move(*link),
                                               static_cast<AgentctlClientEvents&>(*this));
    client_->attach({.secret = bootstrap_.secret,
                     .epoch = epoch_,
                     .after = acked_,  // later ones may not be in the journal
                     .window = window_frames});
    return arm(setting_.answer_ms, &LocalExecution::did_not_answer);
  }
  const bool may_live = identity_ && ports_.host.life(*identity_) != ProcessLife::dead;
  if (may_live) return connect_later();
  const bool may_take_over = setting_.when_locked == WhenLocked::take_over && !took_over_;
  if (lock_is_held_ && may_take_over && !stopping_) {
    // This very execution may still be starting, started by an earlier daemon (X16).
    return silent_ms() < lock_patience_ms ? connect_later() : take_over();
  }
  if (proof_.empty()) proof_ = identity_ ? "process" : "nobody listens";
  bury();
}

// The lock's holder is considered dead although it runs (C19), so it is ended by its mark.
void LocalExecution::take_over() {
  const bool may_end =
      !setting_.is_still_ours || setting_.is_still_ours(bootstrap_.session, epoch_);
  if (!may_end) return connect_later();
  if (stopping_) return bury();
  if (ports_.processes.kill_marked(session_mark(bootstrap_)) > 0) {
    return arm(bury_again_ms, &LocalExecution::take_over);
  }
  SIM_PROBE("session's lock taken over");
  took_over_ = true;
  proof_.clear();
  launcher_output_.clear();
  launcher_errors_.clear();
  launch();
}

std::int64_t LocalExecution::silent_ms() {
  const std::int64_t now_ms = ports_.clock.now().since_boot.ms;
  const bool waits = setting_.when_unknown == WhenUnknown::wait && !stopping_ && identity_;
  if (waits && ports_.host.life(*identity_) == ProcessLife::unknown) silent_since_ms_ = now_ms;
  if (is_stale_ && setting_.when_stale == WhenStale::wait) silent_since_ms_ = now_ms;
  return now_ms - silent_since_ms_;
}

void LocalExecution::connect_later() {
  const std::int64_t silent = silent_ms();
  if (silent >= setting_.hang_ms || (stopping_ && silent >= setting_.answer_ms)) {
    return give_up_waiting();
  }
  backoff_ms_ = std::clamp(backoff_ms_ * 2, setting_.backoff_min_ms, setting_.backoff_max_ms);
  arm(backoff_ms_, &LocalExecution::connect);
}

// It may be stopped or overloaded. The link stays open, because an answer may still come.
void LocalExecution::did_not_answer() {
  const std::int64_t silent = silent_ms();
  const std::int64_t patience_ms = stopping_ ? setting_.answer_ms : setting_.hang_ms;
  if (silent >= patience_ms) return give_up_waiting();
  arm(patience_ms - silent, &LocalExecution::did_not_answer);
}

void LocalExecution::give_up_waiting() {
  SIM_PROBE("agentctl that does not answer ended by force");
  proof_ = "killed: it did not answer";
  launcher_.reset();
  client_.reset();
  bury();
}

void LocalExecution::on_attached(const AttachedPacket& packet) {
  if (packet.exec != bootstrap_.exec || packet.gen != bootstrap_.gen) {
    return detach("the socket belongs to another execution");
  }
  disarm();
  attached_ = true;
  is_stale_ = false;
  lock_is_held_ = false;  // this execution itself
  backoff_ms_ = 0;
  identity_ =
      ProcessIdentity{packet.pid, static_cast<std::uint64_t>(packet.pid_started), packet.host_boot};
  if (acked_ >= packet.first) {
    SIM_PROBE("ack that fell between two links given again");
    client_->ack(acked_);
  }
  events_.on_attached(packet);
  if (!stopping_ || !client_) return;
  client_->stop("stopped");
  arm(setting_.stop_ms, &LocalExecution::give_up_waiting);
}

void LocalExecution::on_refused(const RefusedPacket& packet) {
  leaving_.clear();
  is_stale_ = packet.code == code_name(Code::stale_owner);
  detach(packet.code + ": " + packet.message);
}

void LocalExecution::on_frame(FrameNo number, std::string_view frame) {
  if (number <= last_frame_) SIM_PROBE("frame came again over a new link");
  if (number <= last_frame_) return;  // it came over the link before and will reach the journal
  last_frame_ = number;
  events_.on_frame(number, frame);
}

void LocalExecution::on_reply(std::uint64_t call, Result<std::string> result) {
  events_.on_reply(call, std::move(result));
}

void LocalExecution::on_closed(const std::string& why) { detach(why); }

void LocalExecution::detach(const std::string& why) {
  // Not destroyed within its own call.
  if (client_) client_->leave();
  ports_.loop.post([client = std::shared_ptr<AgentctlClient>(std::move(client_))] {});
  silent_since_ms_ = ports_.clock.now().since_boot.ms;
  const bool was_attached = std::exchange(attached_, false);
  connect_later();
  if (was_attached) events_.on_detached(why);
}

void LocalExecution::command(const SendCommand& command) {
  if (attached_) client_->command(command);
}

void LocalExecution::ack(FrameNo frame) {
  acked_ = std::max(acked_, frame);
  if (attached_) client_->ack(frame);
  if (reader_) arm(0, &LocalExecution::drain);
}

std::uint64_t LocalExecution::call(std::string_view method, std::string_view params) {
  return attached_ ? client_->call(method, params) : 0;
}

void LocalExecution::stop() {
  if (std::exchange(stopping_, true)) return;
  silent_since_ms_ = ports_.clock.now().since_boot.ms;
  if (attached_) {
    client_->stop("stopped");
    arm(setting_.stop_ms, &LocalExecution::give_up_waiting);
  } else if (client_) {
    arm(setting_.answer_ms, &LocalExecution::did_not_answer);
  } else if (launcher_) {
    arm(setting_.answer_ms, &LocalExecution::did_not_answer);  // the start may never answer
  }
}

// PROC3: only when the whole tree is gone. The mark is in the environment of the agentctl, of its
// agent, and of everything they started. S13: a copied journal names executions of another data
// folder with its own daemon; their marks differ, and we must not end them.
void LocalExecution::bury() {
  disarm();
  client_.reset();
  if (std::exchange(attached_, false)) events_.on_detached("the agentctl is ended by force");
  Result<std::unique_ptr<Folder>> spool = ports_.host.open_folder(bootstrap_.spool_folder);
  if (ports_.processes.kill_marked(exec_mark({bootstrap_.exec, bootstrap_.owner})) > 0) {
    SIM_PROBE("remains of an execution take their time");
    return arm(bury_again_ms, &LocalExecution::bury);
  }
  if (spool) {
    spool_ = std::move(*spool);
    Result<SpoolReader> reader = SpoolReader::create(*spool_, last_frame_);
    if (reader) {
      reader_ = std::move(*reader);
    } else {
      proof_ += "; spool: " + reader.error().message();
    }
  }
  acked_ = std::max(acked_, last_frame_);
  drain();
}

// Reads the dead execution's frames no faster than they are acknowledged.
void LocalExecution::drain() {
  while (reader_ && last_frame_ < acked_ + window_frames) {
    const Result<std::optional<SpoolEntry>> entry = reader_->next();
    if (!entry) proof_ += "; spool: " + entry.error().message();
    if (!entry || !*entry) {
      reader_.reset();
      break;
    }
    SIM_PROBE("frame read from the spool of the dead");
    last_frame_ = (*entry)->number;
    events_.on_frame(last_frame_, (*entry)->payload);
  }
  if (reader_ || gone_) return;
  gone_ = true;
  events_.on_gone(leaving_.empty() ? proof_ : "exit: " + leaving_);
}

Result<> LocalExecution::remove() {
  TRY_VOID(ports_.host.remove_file(bootstrap_.run_folder, socket_name()));
  return ports_.host.remove_folder(bootstrap_.spool_folder);
}

}  // namespace perdure
