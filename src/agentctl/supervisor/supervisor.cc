// The path of frames: encoded, spooled, sent, acked; and the beginning and end of the execution.
#include "agentctl/supervisor/supervisor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "agentctl/supervisor/peer.h"
#include "base/check.h"
#include "base/failpoint.h"
#include "base/limits.h"
#include "base/probe.h"

namespace perdure {
namespace {

constexpr std::int64_t look_around_ms_max = 10'000;
constexpr std::int64_t look_around_ms_min = 20;
constexpr std::int64_t disk_retry_ms = 1'000;
constexpr std::int64_t last_read_ms = 2'000;  // for the owner to read the last frames

// Often enough that none of the limits is overrun by much.
std::int64_t look_around_ms(const Bootstrap& bootstrap) {
  const std::int64_t shortest_ms =
      std::min({bootstrap.orphan_ms, bootstrap.abandoned_ms, bootstrap.idle_ms});
  return std::clamp(shortest_ms / 4, look_around_ms_min, look_around_ms_max);
}

AgentSetup agent_setup(const Bootstrap& bootstrap) {
  return {.launch = bootstrap.agent,
          .cwd = bootstrap.cwd,
          .environment = marks_of(bootstrap),
          .mark = "PERDURE_AGENT=" + bootstrap.exec.text()};
}

}  // namespace

Supervisor::Supervisor(SupervisorPorts ports, Bootstrap bootstrap, SupervisorIdentity identity,
                       std::move_only_function<void(std::string)> ended)
    : ports_(ports),
      secret_(sha256(bootstrap.secret)),
      bootstrap_(std::move(bootstrap)),
      identity_(std::move(identity)),
      ended_(std::move(ended)),
      spool_(ports.spool, {bootstrap_.spool_bytes, spool_segment_bytes}),
      agent_({ports.clock, ports.loop, ports.processes, *this, ports.requests},
             agent_setup(bootstrap_)) {
  explicit_bzero(bootstrap_.secret.data(), bootstrap_.secret.size());
  bootstrap_.secret.clear();
}

Supervisor::~Supervisor() {
  *exists_ = false;
  for (const Loop::TimerId timer : {flush_timer_, look_timer_, finish_timer_}) {
    if (timer != 0) ports_.loop.cancel(timer);
  }
}

void Supervisor::begin() {
  began_ms_ = now_ms();
  detached_ms_ = began_ms_;
  write({}, FrameExecutorReady{{.url = identity_.url,
                                .instance = identity_.instance,
                                .pid = identity_.pid,
                                .pid_started = identity_.pid_started,
                                .container_id = identity_.container_id,
                                .tells_steered = true,
                                .confinement = identity_.confinement,
                                .confinement_reason = identity_.confinement_reason}});
  look_timer_ = ports_.loop.after_ms(look_around_ms(bootstrap_), [this] { look_around(); });
  if (!ports_.workspace) return;
  ports_.workspace->set_on_shell_news([this](const std::string& shell) {
    if (owner_.peer) owner_.peer->send_packet(ShellNewsPacket{shell});
  });
}

void Supervisor::write(RunId run, FrameBody body) {
  spool_.add(encode_bounded_frame(run, std::move(body)));
  flush_soon();
}

Result<> Supervisor::write_now(RunId run, FrameBody body) {
  const Result<> written = spool_.add_now(encode_bounded_frame(run, std::move(body)));
  flush_soon();
  return written;
}

// Flushes once for everything that one read of the agent brought.
void Supervisor::flush_soon() {
  if (flush_posted_ || flush_timer_ != 0) return;
  flush_posted_ = true;
  ports_.loop.post([this, exists = exists_] {
    if (!*exists) return;
    flush_posted_ = false;
    flush();
  });
}

void Supervisor::flush() {
  if (flush_timer_ != 0) ports_.loop.cancel(std::exchange(flush_timer_, 0));
  FAILPOINT("spool.before_write");
  const Result<> flushed = spool_.flush();
  if (!flushed) {
    SIM_PROBE("spool could not be written");
    // No room or no folder: keep the output here, pause the agent and retry.
    adjust_backpressure();
    flush_timer_ = ports_.loop.after_ms(disk_retry_ms, [this] {
      flush_timer_ = 0;
      flush();
    });
    return;
  }
  FAILPOINT("spool.written");
  adjust_backpressure();
  pump();
}

void Supervisor::adjust_backpressure() {
  const bool stuck = spool_.written() < spool_.last();
  if (!agent_paused_ && (spool_.is_full() || stuck)) {
    SIM_PROBE("agent not read until the spool has room");
    agent_paused_ = true;
    agent_.pause();
  } else if (agent_paused_ && !stuck && spool_.has_room_again()) {
    agent_paused_ = false;
    agent_.resume();
  }
}

void Supervisor::pump() {
  if (!owner_.peer || owner_.peer->is_dropped) return;
  const FrameNo until = spool_.acked() + owner_.window;
  if (owner_.sent >= spool_.written() || owner_.sent >= until ||
      owner_.peer->unsent_bytes() >= link_unsent_bytes_max) {
    return finish_when_read();
  }
  std::string bytes;
  const Result<> read = spool_.read(owner_.sent, [&](FrameNo number, std::string_view frame) {
    if (number > until || bytes.size() >= link_unsent_bytes_max) return false;
    append_frame_packet(bytes, number, frame);
    owner_.sent = number;
    return true;
  });
  owner_.peer->send(std::move(bytes));
  if (!read) refuse(*owner_.peer, read.error());
}

HealthPacket Supervisor::health() const {
  HealthPacket health{.version = agentctl_version_max,
                      .instance = identity_.instance,
                      .exec = bootstrap_.exec,
                      .gen = bootstrap_.gen,
                      .build = identity_.build,
                      .agent = std::string(agent_.phase_text()),
                      .attached = owner_.peer != nullptr,
                      .frames_unacked = spool_.last() - spool_.acked(),
                      .spool_bytes = spool_.bytes(),
                      .shells = ports_.workspace ? ports_.workspace->shells_open() : 0,
                      .uptime_ms = now_ms() - began_ms_};
  if (const auto& abilities = agent_.abilities()) {
    health.supports_session_resume = abilities->resume || abilities->load;
    health.requires_new_session = !health.supports_session_resume;
  }
  return health;
}

void Supervisor::stop(std::string reason) {
  if (!stopping_.empty()) return;
  stopping_ = std::move(reason);
  agent_.stop([this, exists = exists_] {
    if (!*exists) return;
    if (ports_.workspace) ports_.workspace->stop();
    ports_.processes.kill_descendants();
    finish_timer_ = ports_.loop.after_ms(last_read_ms, [this] {
      finish_timer_ = 0;
      if (ended_) std::exchange(ended_, nullptr)(stopping_);
    });
    flush();
    finish_when_read();
  });
}

// The last frames stay in the spool; a connected owner gets time to read them first.
void Supervisor::finish_when_read() {
  const bool over = finish_timer_ != 0;
  if (!over || !ended_) return;
  const bool read = !owner_.peer || spool_.acked() >= spool_.last();
  if (!read) return;
  if (owner_.peer) owner_.peer->send_packet(LeavingPacket{stopping_});
  ports_.loop.post([this, exists = exists_] {
    if (*exists && ended_) std::exchange(ended_, nullptr)(stopping_);
  });
}

// An agentctl notices on its own that it was forgotten.
void Supervisor::look_around() {
  look_timer_ = ports_.loop.after_ms(look_around_ms(bootstrap_), [this] { look_around(); });
  // The agent may be waiting for a segment that could not be removed; no ack will retry it.
  CHECK(spool_.ack(spool_.acked()).has_value(), "an ack is refused when it is repeated");
  adjust_backpressure();
  if (owner_.peer || !stopping_.empty()) return;
  const std::int64_t alone_ms = now_ms() - detached_ms_;
  const bool idle =
      !agent_.is_running() && (!ports_.workspace || ports_.workspace->shells_open() == 0);
  if (!was_attached_ && alone_ms >= bootstrap_.orphan_ms) {
    SIM_PROBE("agentctl without an owner leaves");
    stop("nobody attached");
  } else if (alone_ms >= bootstrap_.abandoned_ms) {
    stop("abandoned");
  } else if (was_attached_ && idle && alone_ms >= bootstrap_.idle_ms) {
    SIM_PROBE("idle agentctl leaves");
    stop("idle");
  }
}

}  // namespace perdure
