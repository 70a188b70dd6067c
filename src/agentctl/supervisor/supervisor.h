// agentctl's core: one execution of one session. It numbers and spools the agent's output and obeys
// the numbered commands of the daemon that owns it. It outlives that daemon: a disconnect changes
// nothing here. Deterministic: all I/O goes through its ports.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agentctl/supervisor/agent/agent.h"
#include "agentctl/supervisor/spool.h"
#include "agentctl/workspace/workspace_port.h"
#include "base/bytes/hash.h"
#include "core/wire/agentctl/agentctl.h"
#include "core/wire/agentctl/bootstrap.h"
#include "env/env.h"
#include "env/folder.h"
#include "env/link.h"
#include "env/process.h"

namespace perdure {

// Identifies this process for its lifetime.
struct SupervisorIdentity {
  std::string instance;
  std::string build;
  std::string url;
  std::int64_t pid = 0;
  std::int64_t pid_started = 0;
  std::string container_id;
  std::string confinement;  // full, partial, none: see docs/protocol/agentctl.md
  std::string confinement_reason;
};

struct SupervisorPorts {
  Clock& clock;
  Loop& loop;
  Processes& processes;
  Folder& spool;
  AgentRequests* requests = nullptr;
  WorkspacePort* workspace = nullptr;
};

class Supervisor final : private FrameSink {
 public:
  // `ended` is called once, on the loop, when the execution is over and the process may exit.
  Supervisor(SupervisorPorts ports, Bootstrap bootstrap, SupervisorIdentity identity,
             std::move_only_function<void(std::string reason)> ended);
  ~Supervisor() override;

  // Writes the first frame: ready.
  void begin();
  // Takes a new connection. A peer that does not present the secret in time is disconnected.
  void on_link(std::unique_ptr<Link> link);
  // Ends in order: agent, shells, last frames, then `ended`.
  void stop(std::string reason);

  HealthPacket health() const;
  // The highest command number that was executed; 0: none yet.
  std::uint64_t commands_acted() const { return acted_; }
  // It has decided to end; an attach no longer changes that.
  bool is_leaving() const { return !stopping_.empty(); }

 private:
  class Peer;
  // The daemon that owns this agentctl, over one link.
  struct Owner {
    Peer* peer = nullptr;
    FrameNo sent = 0;
    std::uint64_t window = 0;
  };

  void write(RunId run, FrameBody body) override;
  Result<> write_now(RunId run, FrameBody body) override;
  void flush_soon();
  void flush();
  void pump();
  void adjust_backpressure();

  void on_packet(Peer& peer, const Packet& packet);
  Result<> on_owner_packet(Peer& peer, const Packet& packet);
  Result<> attach(Peer& peer, const AttachPacket& packet);
  Result<> probe(Peer& peer, const ProbePacket& packet);
  Result<> obey(std::string_view body);
  Result<> call(Peer& peer, CallPacket packet);
  Result<> check_secret(const std::string& secret) const;
  void reply(std::uint64_t peer, std::uint64_t id, Result<std::string> result);
  void refuse(Peer& peer, const Error& error);
  void drop(Peer& peer);
  void on_peer_closed(Peer& peer);
  Peer* find_peer(std::uint64_t number);

  void look_around();
  void finish_when_read();
  std::int64_t now_ms() const { return ports_.clock.now().since_boot.ms; }

  SupervisorPorts ports_;
  Hash secret_;          // to recognise it; its text is not kept
  Bootstrap bootstrap_;  // without the secret
  SupervisorIdentity identity_;
  std::move_only_function<void(std::string)> ended_;
  Spool spool_;
  Agent agent_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::uint64_t peers_ever_ = 0;
  Owner owner_;
  std::uint64_t owner_epoch_ = 0;
  bool was_attached_ = false;
  std::uint64_t acted_ = 0;
  std::int64_t began_ms_ = 0;
  std::int64_t detached_ms_ = 0;
  std::string stopping_;  // the reason; empty: not stopping
  bool flush_posted_ = false;
  bool agent_paused_ = false;
  std::size_t calls_open_ = 0;
  Loop::TimerId flush_timer_ = 0;
  Loop::TimerId look_timer_ = 0;
  Loop::TimerId finish_timer_ = 0;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
};

}  // namespace perdure
