// Access rules: a peer presents the secret first. The owner with the highest epoch is obeyed, and
// each of its numbered commands is executed once.
#include <algorithm>
#include <utility>

#include "agentctl/supervisor/peer.h"
#include "agentctl/supervisor/supervisor.h"
#include "base/failpoint.h"
#include "base/limits.h"
#include "base/probe.h"
#include "core/wire/agentctl/effect.h"

namespace perdure {
namespace {

constexpr std::int64_t attach_wait_ms = 10'000;
constexpr std::uint64_t window_frames_max = 1UL << 32;  // a larger window is unlimited

}  // namespace

void Supervisor::Peer::on_bytes(std::string_view bytes) {
  if (is_dropped) return;
  reader_.feed(bytes);
  while (!is_dropped) {
    const Result<std::optional<Packet>> packet = reader_.next();
    if (!packet) return supervisor_.refuse(*this, packet.error());
    if (!*packet) return;
    supervisor_.on_packet(*this, **packet);
  }
}

void Supervisor::on_link(std::unique_ptr<Link> link) {
  if (peers_.size() >= links_max) return;  // the destructor closes the link
  const std::uint64_t number = ++peers_ever_;
  peers_.push_back(std::make_unique<Peer>(*this, number, std::move(link)));
  ports_.loop.after_ms(attach_wait_ms, [this, exists = exists_, number] {
    if (!*exists) return;
    Peer* const peer = find_peer(number);
    if (peer && peer != owner_.peer) drop(*peer);
  });
}

Supervisor::Peer* Supervisor::find_peer(std::uint64_t number) {
  const auto found = std::ranges::find(peers_, number, &Peer::number);
  return found == peers_.end() ? nullptr : found->get();
}

// A peer must not be destroyed inside its own callback.
void Supervisor::drop(Peer& peer) {
  if (peer.is_dropped) return;
  peer.is_dropped = true;
  if (owner_.peer == &peer) {
    owner_ = {};
    detached_ms_ = now_ms();
    if (!bootstrap_.survive) stop("the daemon left");
    finish_when_read();
  }
  ports_.loop.post([this, exists = exists_, number = peer.number()] {
    if (*exists) std::erase_if(peers_, [&](const auto& one) { return one->number() == number; });
  });
}

void Supervisor::on_peer_closed(Peer& peer) { drop(peer); }

void Supervisor::refuse(Peer& peer, const Error& error) {
  if (peer.is_dropped) return;
  peer.send_packet(RefusedPacket{std::string(code_name(error.code())), error.message()});
  drop(peer);
}

void Supervisor::on_packet(Peer& peer, const Packet& packet) {
  const auto handle = [&]() -> Result<> {
    if (packet.type == PacketType::attach) return attach(peer, TRY(decode_attach(packet.body)));
    if (packet.type == PacketType::probe) return probe(peer, TRY(decode_probe(packet.body)));
    if (&peer != owner_.peer) return fail(Code::denied, "attach first");
    return on_owner_packet(peer, packet);
  };
  if (const Result<> handled = handle(); !handled) refuse(peer, handled.error());
}

Result<> Supervisor::on_owner_packet(Peer& peer, const Packet& packet) {
  switch (packet.type) {
    case PacketType::command: return obey(packet.body);
    case PacketType::ack:
      FAILPOINT("ack.before_cut");
      TRY_VOID(spool_.ack(TRY(decode_ack(packet.body)).frame));
      adjust_backpressure();
      pump();
      finish_when_read();
      return {};
    case PacketType::stop: stop(TRY(decode_stop(packet.body)).reason); return {};
    case PacketType::call: return call(peer, TRY(decode_call(packet.body)));
    default: return {};  // from a later version: ignored
  }
}

Result<> Supervisor::check_secret(const std::string& secret) const {
  if (equal_constant_time(sha256(secret), secret_)) return {};
  return fail(Code::denied, "the secret is not the one of this agentctl");
}

Result<> Supervisor::attach(Peer& peer, const AttachPacket& packet) {
  TRY_VOID(check_secret(packet.secret));
  const std::int64_t version = TRY(agree_on_version({packet.version_min, packet.version_max}));
  if (packet.epoch < owner_epoch_) {
    SIM_PROBE("older owner refused");
    return fail(Code::stale_owner, "epoch " + std::to_string(packet.epoch) +
                                       " is older than the owner's, " +
                                       std::to_string(owner_epoch_));
  }
  if (packet.after > spool_.written() || packet.after < spool_.acked()) {
    return fail(Code::invalid_argument,
                "frames behind " + std::to_string(packet.after) + " are asked for; there are " +
                    std::to_string(spool_.acked() + 1) + " to " + std::to_string(spool_.written()));
  }
  owner_epoch_ = packet.epoch;
  if (owner_.peer && owner_.peer != &peer) {
    SIM_PROBE("owner replaced by another link");
    Peer& before = *std::exchange(owner_, {}).peer;
    refuse(before, Error(Code::stale_owner, "another daemon attached"));
  }
  owner_ = {&peer, packet.after, std::clamp(packet.window, std::uint64_t{1}, window_frames_max)};
  was_attached_ = true;
  TRY_VOID(spool_.ack(packet.after));
  adjust_backpressure();
  peer.send_packet(AttachedPacket{.version = version,
                                  .instance = identity_.instance,
                                  .exec = bootstrap_.exec,
                                  .session = bootstrap_.session,
                                  .gen = bootstrap_.gen,
                                  .pid = identity_.pid,
                                  .pid_started = identity_.pid_started,
                                  .host_boot = ports_.clock.now().host_boot,
                                  .build = identity_.build,
                                  .first = spool_.acked() + 1,
                                  .last = spool_.written(),
                                  .acted = acted_});
  pump();
  return {};
}

Result<> Supervisor::probe(Peer& peer, const ProbePacket& packet) {
  TRY_VOID(check_secret(packet.secret));
  TRY_VOID(agree_on_version({packet.version_min, packet.version_max}));
  peer.send_packet(health());
  if (&peer != owner_.peer) drop(peer);
  return {};
}

// Each number executes once: a command repeated after a broken link is only confirmed again.
Result<> Supervisor::obey(std::string_view body) {
  const Effect effect = TRY(decode_effect(body));
  const auto* command = get_if<SendCommand>(&effect);
  if (!command) return fail(Code::invalid_argument, "this effect is not a command");
  if (command->exec != bootstrap_.exec || command->gen != bootstrap_.gen) {
    return fail(Code::invalid_argument, "the command is for another execution");
  }
  if (command->number > acted_) {
    acted_ = command->number;
    FAILPOINT("command.taken");
    if (stopping_.empty()) visit([this](const auto& one) { agent_.act(one); }, command->body);
    FAILPOINT("command.acted");
  }
  if (command->number < acted_) SIM_PROBE("command number repeated");
  if (owner_.peer) owner_.peer->send_packet(ActedPacket{acted_});
  return {};
}

Result<> Supervisor::call(Peer& peer, CallPacket packet) {
  const std::uint64_t number = peer.number();
  if (packet.method == "Health" || packet.method == "Capabilities") {
    reply(number, packet.id, encode_health(health()));
    return {};
  }
  if (packet.method == "spool.cut") {
    reply(number, packet.id, std::string(spool_.cut() ? R"({"cut":true})" : R"({"cut":false})"));
    return {};
  }
  if (!ports_.workspace) {
    reply(number, packet.id, fail(Code::not_found, "this host does not have the workspace"));
    return {};
  }
  if (calls_open_ >= calls_open_max) {
    reply(number, packet.id, fail(Code::limit_reached, "too many calls at once"));
    return {};
  }
  ++calls_open_;
  ports_.workspace->call(packet.method, packet.params.text,
                         [this, exists = exists_, number, id = packet.id](Result<std::string> got) {
                           if (!*exists) return;
                           --calls_open_;
                           reply(number, id, std::move(got));
                         });
  return {};
}

void Supervisor::reply(std::uint64_t number, std::uint64_t id, Result<std::string> result) {
  Peer* const peer = find_peer(number);
  if (!peer || peer->is_dropped) return;
  if (result) {
    peer->send_packet(ReplyPacket{.id = id, .result = {std::move(*result)}});
  } else {
    peer->send_packet(ReplyPacket{.id = id,
                                  .code = std::string(code_name(result.error().code())),
                                  .message = result.error().message()});
  }
}

}  // namespace perdure
