#include "sim/actors/sim_agentctl.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <utility>

#include "core/wire/agentctl/agentctl.h"
#include "core/wire/agentctl/effect.h"
#include "core/wire/agentctl/spool.h"

namespace perdure::sim {

// Observes the commands, and which of them the supervisor executes.
class SimAgentctl::WatchedLink final : public Link, private LinkEvents {
 public:
  WatchedLink(SimAgentctl& owner, std::unique_ptr<Link> inner)
      : owner_(owner), inner_(std::move(inner)) {}
  ~WatchedLink() override { note_detach(); }
  WatchedLink(const WatchedLink&) = delete;
  WatchedLink& operator=(const WatchedLink&) = delete;

  void set_events(LinkEvents& events) override {
    events_ = &events;
    inner_->set_events(*this);
  }
  void send(std::string bytes) override {
    constexpr std::size_t type_at = 4;
    const bool attaches =
        bytes.size() > type_at && static_cast<PacketType>(bytes[type_at]) == PacketType::attached;
    if (attaches) note_attach();
    inner_->send(std::move(bytes));
  }
  std::size_t unsent_bytes() const override { return inner_->unsent_bytes(); }
  void pause() override { inner_->pause(); }
  void resume() override { inner_->resume(); }

 private:
  void on_bytes(std::string_view bytes) override {
    reader_.feed(bytes);
    std::vector<SendCommand> commands;
    while (true) {
      const Result<std::optional<Packet>> packet = reader_.next();
      if (!packet || !*packet) break;
      if ((*packet)->type != PacketType::command) continue;
      const Result<Effect> effect = decode_effect((*packet)->body);
      if (const auto* command = effect ? get_if<SendCommand>(&*effect) : nullptr) {
        commands.push_back(*command);
      }
    }
    SimAgentctl& owner = owner_;
    const std::uint64_t before = owner.supervisor_->commands_acted();
    events_->on_bytes(bytes);
    std::uint64_t last = before;
    for (const SendCommand& command : commands) {
      if (command.number <= last || command.number > owner.supervisor_->commands_acted()) continue;
      last = command.number;
      owner.listener_.on_command_acted(owner.key_, command);
    }
  }
  void on_drained() override { events_->on_drained(); }
  // From here on the supervisor is alone; it may destroy the link later, for example after a pause.
  void on_closed() override {
    note_detach();
    events_->on_closed();
  }
  // An attach during its exit is too late to change that.
  void note_attach() {
    if (is_attached_ || owner_.supervisor_->is_leaving()) return;
    is_attached_ = true;
    ++owner_.attached_;
  }
  void note_detach() {
    if (!std::exchange(is_attached_, false)) return;
    if (--owner_.attached_ == 0) owner_.detached_ms_ = owner_.universe_.scheduler.now_ms();
  }

  SimAgentctl& owner_;
  std::unique_ptr<Link> inner_;
  LinkEvents* events_ = nullptr;
  PacketReader reader_;
  bool is_attached_ = false;
};

SimAgentctl::SimAgentctl(Machine& machine, ProcPtr self, Bootstrap bootstrap, SimAgentHome& home,
                         AgentctlListener& listener)
    : machine_(machine),
      universe_(machine.universe),
      self_(std::move(self)),
      bootstrap_(std::move(bootstrap)),
      key_{bootstrap_.session, bootstrap_.exec, bootstrap_.gen},
      home_(home),
      listener_(listener),
      loop_(universe_.scheduler, self_->life),
      agents_(*this),
      folder_(universe_, self_->life, machine.folders.at(bootstrap_.spool_folder)) {
  folder_.set_hooks(
      [this](const std::string& name, std::string_view bytes) { on_append(name, bytes); },
      [this](std::size_t bytes) { return draw_cut(bytes); });
  // When the agentctl dies, the kernel kills its agent (PROC4).
  self_->on_killed = [this](int) {
    universe_.trace.note("agentctl", key_.gen, [&] { return tail(key_.exec) + " is killed"; });
    for (const auto& [child, behaves] : children_) machine_.kill(child, SIGKILL);
  };
  supervisor_ = std::make_unique<Supervisor>(
      SupervisorPorts{universe_.clock, loop_, agents_, folder_}, bootstrap_,
      SupervisorIdentity{.instance = "sim-" + bootstrap_.exec.text(),
                         .build = "sim",
                         .url = "unix:" + socket().first + "/" + socket().second,
                         .pid = self_->pid,
                         .pid_started = static_cast<std::int64_t>(self_->started)},
      [this](const std::string& reason) { end(reason); });
}

SimAgentctl::~SimAgentctl() { self_->on_killed = nullptr; }

std::int64_t SimAgentctl::alone_ms() const {
  return attached_ > 0 ? 0 : universe_.scheduler.now_ms() - detached_ms_;
}

void SimAgentctl::begin() {
  detached_ms_ = universe_.scheduler.now_ms();
  machine_.sockets[socket()] = {
      self_, [this](std::unique_ptr<Link> link) {
        supervisor_->on_link(std::make_unique<WatchedLink>(*this, std::move(link)));
      }};
  supervisor_->begin();
}

BootstrapAnswer SimAgentctl::answer() const {
  return {.instance = "sim-" + bootstrap_.exec.text(),
          .url = "unix:sim",
          .pid = self_->pid,
          .pid_started = static_cast<std::int64_t>(self_->started),
          .host_boot = universe_.clock.now().host_boot};
}

// An orderly end: it accepts no more connections, and none of its processes is left.
void SimAgentctl::end(const std::string& reason) {
  if (!self_->is_alive()) return;
  listener_.on_leaving(key_, {reason, alone_ms()});
  universe_.trace.note("agentctl", key_.gen, [&] { return tail(key_.exec) + " leaves"; });
  machine_.sockets.erase(socket());
  self_->on_killed = nullptr;
  for (const auto& [child, behaves] : children_) machine_.kill(child, SIGKILL);
  machine_.exited(self_);
}

void SimAgentctl::pause(std::int64_t for_ms) {
  self_->life->paused_until_ms = universe_.scheduler.now_ms() + for_ms;
  universe_.trace.note("agentctl", static_cast<std::uint64_t>(for_ms), [&] {
    return tail(key_.exec) + " is paused for " + std::to_string(for_ms) + " ms";
  });
}

void SimAgentctl::heal() {
  self_->life->paused_until_ms = 0;
  for (const auto& [child, behaves] : children_) {
    if (!behaves) machine_.kill(child, SIGKILL);
  }
}

std::optional<std::uint64_t> prompt_number(std::string_view text) {
  constexpr std::string_view begin = "prompt ";
  if (!text.starts_with(begin)) return std::nullopt;
  std::uint64_t number = 0;
  const char* const digits = text.data() + begin.size();
  if (std::from_chars(digits, text.data() + text.size(), number).ec != std::errc()) return {};
  return number;
}

// History before a prompt is a separate block and comes first.
void SimAgentctl::on_agent_input(std::string_view bytes) {
  constexpr std::string_view before = "\"text\":\"";
  while (!bytes.empty()) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(bytes.size(), line.size() + 1));
    const std::size_t at = line.rfind("\"text\":\"prompt ");
    if (!line.contains("\"session/prompt\"") || at == std::string_view::npos) continue;
    const auto number = prompt_number(line.substr(at + before.size()));
    if (number) listener_.on_prompt_given(key_, *number);
  }
}

void SimAgentctl::on_append(const std::string& name, std::string_view bytes) {
  const bool begins = machine_.folders.at(bootstrap_.spool_folder)->at(name).size() == bytes.size();
  SpoolWalk walk(bytes, begins ? spool_magic.size() : 0);
  while (bytes.size() > spool_magic.size() && walk.next()) {
    listener_.on_frame_spooled(key_, walk.entry().number, walk.entry().payload);
  }
}

// Occasionally it dies there, after a partial write.
std::size_t SimAgentctl::draw_cut(std::size_t bytes) {
  if (!universe_.prng.chance(universe_.faults.agentctl_crash)) return bytes;
  machine_.kill(self_, SIGKILL);
  return universe_.prng.below(bytes);
}

Result<std::unique_ptr<Process>> SimAgentctl::Agents::spawn(const SpawnSpec& spec,
                                                            ProcessEvents& events) {
  SimAgentctl& owner = owner_;
  Universe& universe = owner.universe_;
  if (!owner.self_->is_alive()) return fail(Code::unavailable, "its process is dead");
  if (!universe.files.folder_exists(spec.cwd)) {
    return fail(Code::invalid_argument, "no such folder: " + spec.cwd);
  }
  if (universe.prng.chance(universe.faults.start_fails / 4)) {
    return fail(Code::not_found, "no such program");
  }
  if (universe.prng.chance(universe.faults.agent_forgets)) owner.home_.shared.sessions.clear();
  DrawnSwitches drawn = draw_switches(universe, owner.home_.abilities);
  const std::int64_t now_ms = universe.scheduler.now_ms();
  if (universe.prng.chance(universe.faults.agent_odd / 4)) {
    owner.home_.broken_until_ms = now_ms + universe.prng.between(1000, 100'000);
  }
  if (!universe.healed && owner.home_.broken_until_ms > now_ms) drawn.switches.exit_at_start = 1;
  const auto agent = std::make_shared<SimAgent>(
      owner.machine_,
      SimAgentSetup{
          .agent = {.switches = drawn.switches, .seed = universe.prng.next(), .lock = "agent"},
          .home = owner.home_.shared,
          .spec = spec,
          .owner = owner.self_->life,
          .on_input = [&owner](std::string_view bytes) { owner.on_agent_input(bytes); }},
      events);
  universe.trace.note("agent", static_cast<std::uint64_t>(agent->proc()->pid), [&] {
    return std::to_string(agent->proc()->pid) + " starts under " + tail(owner.key_.exec) +
           drawn.text;
  });
  std::erase_if(owner.children_, [](const auto& child) { return !child.first->is_alive(); });
  owner.children_.emplace_back(agent->proc(), drawn.behaves);
  owner.listener_.on_agent_spawned(owner.key_, drawn);
  agent->begin();
  return agent->make_handle();
}

std::size_t SimAgentctl::Agents::kill_marked(const std::string& mark) {
  if (!owner_.self_->is_alive()) return 0;
  return owner_.machine_.kill_marked(mark, owner_.self_);
}

// As for a subreaper: every process with this execution's mark descends from it.
std::size_t SimAgentctl::Agents::kill_descendants() {
  return kill_marked(exec_mark({owner_.bootstrap_.exec, owner_.bootstrap_.owner}));
}

ProcessSet SimAgentctl::Agents::offspring(const Family& family) {
  if (!owner_.self_->is_alive()) return {};
  return owner_.machine_.offspring(family);
}

ProcessSet SimAgentctl::Agents::signal_each(const ProcessSet& processes, int number) {
  if (!owner_.self_->is_alive()) return {};
  return owner_.machine_.signal_each(processes, number);
}

}  // namespace perdure::sim
