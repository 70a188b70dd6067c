// One turn after another for each session, at fixed times; the clients read in between on the same
// thread, so that delays of this program count against the daemon, never the other way.
#include "live_load.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include <fmt/core.h>
#include <sys/resource.h>

#include "api_client.h"
#include "base/check.h"

namespace perdure::load {
namespace {

constexpr double turn_s = 2;         // a session gets a prompt this often, if that is enough
constexpr int turn_events_min = 20;  // and less often if turns would be too short
constexpr int other_records = 7;     // per turn, in addition to its chunks
constexpr double turn_share = 0.93;  // share of the time between two prompts in which chunks come
constexpr std::size_t connects_at_once = 100;
constexpr double settle_ms = 120'000;

// One session's prompts, sent repeatedly.
struct Turns {
  double gap_ms = 0;
  int chunks = 0;
  std::string prompt;
};

Turns turns_of(const Shape& shape) {
  const double rate = shape.events_per_s;
  const double seconds = std::max(turn_s, turn_events_min / rate);
  Turns out{.gap_ms = seconds * 1000};
  out.chunks = std::max(1, static_cast<int>(rate * seconds) - other_records);
  const int period_ms = std::max(1, static_cast<int>(out.gap_ms * turn_share / out.chunks));
  out.prompt = fmt::format("paced {} {}", out.chunks, period_ms);
  return out;
}

struct DuePrompt {
  double at_ms = 0;  // on the steady clock
  std::size_t session = 0;
};

class LiveLoad {
 public:
  LiveLoad(DaemonProcess& daemon, const Shape& shape)
      : daemon_(daemon),
        shape_(shape),
        turns_(turns_of(shape)),
        door_(door_of(daemon, shape.over)) {}

  Result<LiveFigures> run() {
    sessions_ = TRY(make_sessions(daemon_, shape_.sessions));
    accepted_.resize(sessions_.size());
    open_clients();
    TRY_VOID(warm_up());
    figures_.seen = {};
    figures_.accepted = {};
    const std::uint64_t records_before = heads();
    figures_.before = usage_of(daemon_.pid());
    Baselines raw(daemon_.folder());
    const double begun = steady_ms();
    send_prompts(begun);
    const bool all = wait_for_ends();
    figures_.seconds = (steady_ms() - begun) / 1000;
    figures_.after = usage_of(daemon_.pid());
    figures_.raw = raw.take();
    figures_.records = heads() - records_before;
    if (!all) fmt::print(stderr, "not every client saw every end in time\n");
    count_losses();
    return std::move(figures_);
  }

 private:
  void open_clients() {
    for (const std::string& session : sessions_) {
      for (int i = 0; i < shape_.clients_per_session; ++i) {
        clients_.push_back(std::make_unique<SseClient>(
            *io_, door_, SseClient::Order{.session = session}, figures_.seen));
      }
      // The backlog of a listening socket is not measured here.
      if (clients_.size() % connects_at_once == 0) read_until_connected();
    }
    read_until_connected();
  }

  void read_until_connected() {
    read_until(*io_, settle_ms, [this] {
      return std::ranges::all_of(clients_, [](const auto& client) { return client->has_state(); });
    });
  }

  // Every agent has started and written something, every client has read it.
  Result<> warm_up() {
    for (std::size_t i = 0; i < sessions_.size(); ++i) prompt({steady_ms(), i}, "say 1");
    if (wait_for_ends()) return {};
    std::size_t behind = 0;
    for (const auto& client : clients_) behind += client->completed() == 0 ? 1 : 0;
    return fail(Code::unavailable, fmt::format("{} of {} clients saw no first turn, {} refused",
                                               behind, clients_.size(), figures_.refused));
  }

  void prompt(const DuePrompt& due, const std::string& text) {
    HttpRequest request{.method = "POST",
                        .target = "/api/sessions/" + sessions_[due.session] + "/prompt",
                        .headers = door_.headers,
                        .body = R"({"text":")" + text + R"("})"};
    request.headers.push_back({"Content-Type", "application/json"});
    request.headers.push_back({"Idempotency-Key", "load-" + std::to_string(++keys_)});
    ++waiting_;
    const std::uint64_t number = keys_;
    calls_[number] = http_fetch(*io_, door_.endpoint, std::move(request), {},
                                [this, due, number](const Result<HttpResponse>& answer) {
                                  --waiting_;
                                  done_.push_back(number);
                                  if (!answer || answer->status / 100 != 2) {
                                    if (figures_.refused++ == 0) {
                                      fmt::print(stderr, "refused: {}\n",
                                                 answer ? answer->body : answer.error().message());
                                    }
                                    return;
                                  }
                                  figures_.accepted.add(steady_ms() - due.at_ms);
                                  ++accepted_[due.session];
                                });
  }

  void read_for(double ms) {
    io_->run_for_ms(std::max(0, static_cast<int>(ms)));
    // A call must not be destroyed within its own callback.
    for (const std::uint64_t number : std::exchange(done_, {})) calls_.erase(number);
  }

  // Spread over the time between two prompts, so that sessions do not start their turns all at
  // once.
  void send_prompts(double begun) {
    const double share = turns_.gap_ms / static_cast<double>(sessions_.size());
    const double end = begun + shape_.seconds * 1000.0;
    for (double round = begun; round < end; round += turns_.gap_ms) {
      for (std::size_t i = 0; i < sessions_.size(); ++i) {
        const DuePrompt due{round + share * static_cast<double>(i), i};
        if (due.at_ms >= end) return;
        while (steady_ms() < due.at_ms) read_for(due.at_ms - steady_ms());
        prompt(due, turns_.prompt);
      }
    }
  }

  bool wait_for_ends() {
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < sessions_.size(); ++i) places.emplace(sessions_[i], i);
    const double deadline = steady_ms() + settle_ms + 2 * turns_.gap_ms;
    while (steady_ms() < deadline) {
      read_for(20);
      if (waiting_ > 0) continue;
      const bool all = std::ranges::all_of(clients_, [&](const auto& client) {
        return client->completed() >= accepted_[places.at(client->session())];
      });
      if (all) return true;
    }
    return false;
  }

  // Records in all sessions, as far as a client has seen them.
  std::uint64_t heads() const {
    std::map<std::string, std::uint64_t> last;
    for (const auto& client : clients_) {
      std::uint64_t& known = last[client->session()];
      known = std::max(known, client->last());
    }
    std::uint64_t sum = 0;
    for (const auto& [session, head] : last) sum += head;
    return sum;
  }

  void count_losses() {
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      const std::size_t session = i / static_cast<std::size_t>(shape_.clients_per_session);
      const std::uint64_t turns = accepted_[session] - 1;  // the first was the warm-up
      const std::uint64_t chunks = turns * static_cast<std::uint64_t>(turns_.chunks);
      const SseClient& client = *clients_[i];
      figures_.lost += chunks - std::min(chunks, client.chunks());
      figures_.lost += turns + 1 - std::min(turns + 1, client.completed());
      figures_.wrong += client.wrong() + (client.chunks() > chunks ? 1 : 0);
    }
  }

  DaemonProcess& daemon_;
  Shape shape_;
  Turns turns_;
  Door door_;
  LiveFigures figures_;
  std::unique_ptr<HttpIo> io_ = HttpIo::create();
  std::vector<std::string> sessions_;
  std::vector<std::uint64_t> accepted_;
  std::vector<std::unique_ptr<SseClient>> clients_;
  std::map<std::uint64_t, std::unique_ptr<HttpCall>> calls_;
  std::vector<std::uint64_t> done_;
  std::uint64_t keys_ = 0;
  std::uint64_t waiting_ = 0;
};

}  // namespace

DaemonSetup load_setup(const std::string& program) {
  DaemonSetup setup;
  setup.program = program;
  setup.config = "[limits]\nlive_agents = 4096\nstreams_per_principal = 20000\n";
  return setup;
}

Door door_of(const DaemonProcess& daemon, Over over) {
  if (over == Over::unix_socket) return {daemon.endpoint(), {{"Host", "localhost"}}};
  const std::string output = daemon.output();
  constexpr std::string_view before = "http://127.0.0.1:";
  const std::size_t at = output.rfind(before);
  CHECK(at != std::string::npos, "the daemon does not say where it listens");
  const char* const digits = output.data() + at + before.size();
  Door out{.endpoint = {.host = "127.0.0.1"}};
  std::from_chars(digits, output.data() + output.size(), out.endpoint.port);
  out.headers = {{"Host", "127.0.0.1:" + std::to_string(out.endpoint.port)},
                 {"Authorization", "Bearer " + daemon.admin_token()}};
  return out;
}

void raise_descriptor_limit() {
  rlimit limit{};
  CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

Result<std::vector<std::string>> make_sessions(const DaemonProcess& daemon, int count) {
  ApiClient client(daemon.endpoint());
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) {
    out.push_back(client.create_session({}));
    if (out.back().empty()) return fail(Code::unavailable, "a session was refused");
  }
  return out;
}

bool read_until(HttpIo& io, double wait_ms, const std::function<bool()>& condition) {
  const double deadline = steady_ms() + wait_ms;
  while (!condition()) {
    if (steady_ms() > deadline) return false;
    io.run_for_ms(20);
  }
  return true;
}

Result<LiveFigures> run_live(DaemonProcess& daemon, const Shape& shape) {
  return LiveLoad(daemon, shape).run();
}

}  // namespace perdure::load
