// agentctl's core: one execution of one session. It numbers and spools what the agent says, obeys
// the numbered commands of whichever daemon owns it, and belongs to none: a daemon that goes away
// changes nothing here. Deterministic: the world comes in through its ports.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "env/env.h"
#include "env/folder.h"
#include "env/link.h"
#include "env/process.h"
#include "supervisor/agent.h"
#include "supervisor/spool.h"
#include "supervisor/workspace_port.h"
#include "wire/agentctl.h"
#include "wire/bootstrap.h"

namespace perdure {

// Who this process is, for as long as it lives.
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
  // `ended` is called once, on the loop, when everything is over and the process may exit.
  Supervisor(SupervisorPorts ports, Bootstrap bootstrap, SupervisorIdentity identity,
             std::move_only_function<void(std::string reason)> ended);
  ~Supervisor() override;

  // Says that it is ready: the first frame.
  void begin();
  // Somebody calls. Whoever does not show the secret in time is cut off.
  void on_link(std::unique_ptr<Link> link);
  // The end in good order: agent, shells, last frames, then `ended`.
  void stop(std::string reason);

  HealthPacket health() const;
  // The highest number of a command that was acted on; 0: none yet.
  std::uint64_t commands_acted() const { return acted_; }
  // It has decided to end; who attaches now changes nothing about that.
  bool is_leaving() const { return !stopping_.empty(); }

 private:
  class Peer;
  // The daemon that owns us, over one link.
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
  Hash secret_;          // to know it again; its text is not kept
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
  std::string stopping_;  // why; empty: it goes on
  bool flush_posted_ = false;
  bool agent_paused_ = false;
  std::size_t calls_open_ = 0;
  Loop::TimerId flush_timer_ = 0;
  Loop::TimerId look_timer_ = 0;
  Loop::TimerId finish_timer_ = 0;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
};

}  // namespace perdure
