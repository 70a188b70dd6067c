// perdure-load: a real daemon with real agentctls and test agents under load, and its measurements.
// Exits with 1 if anything was lost, repeated or rejected. The times do not affect the exit code:
// people judge them, who know what else the machine was doing.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "live_load.h"
#include "stored.h"

namespace perdure::load {
namespace {

constexpr std::string_view usage_text =
    "usage: perdure-load MODE [--seconds N] [--sessions N] [--rate N] [--clients N]\n"
    "                         [--records N] [--over unix|tcp] [--daemon PROGRAM]\n"
    "  l1       20 live sessions, 20 events/s and 5 clients each, 60 s\n"
    "  l2       200 live sessions, 10 events/s and 5 clients each, 60 s\n"
    "  scale    1,000 events/s in all from 10, 100 and 1,000 sessions: CPU of the daemon an event\n"
    "  idle     10,000 clients that wait: memory of the daemon a client\n"
    "  restart  1,000 sessions with 1,000,000 records: time to serve, 1,000 clients to the head\n"
    "--clients is a session in l1, l2 and scale, and in all in idle.\n";

struct Arguments {
  std::string mode;
  std::optional<int> seconds;
  std::optional<int> sessions;
  std::optional<int> rate;
  std::optional<int> clients;
  std::optional<int> records;
  Over over = Over::unix_socket;
  std::string program = PERDURE_PROGRAM;
};

std::optional<Arguments> parse(int argc, char** argv) {
  if (argc < 2 || argc % 2 != 0) return std::nullopt;
  Arguments out{.mode = argv[1]};
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const char* const value = argv[i + 1];
    if (name == "--daemon") {
      out.program = value;
      continue;
    }
    if (name == "--over" &&
        (std::string_view(value) == "tcp" || std::string_view(value) == "unix")) {
      out.over = std::string_view(value) == "tcp" ? Over::tcp : Over::unix_socket;
      continue;
    }
    std::optional<int>* const number = name == "--seconds"    ? &out.seconds
                                       : name == "--sessions" ? &out.sessions
                                       : name == "--rate"     ? &out.rate
                                       : name == "--clients"  ? &out.clients
                                       : name == "--records"  ? &out.records
                                                              : nullptr;
    const int given = std::atoi(value);
    if (number == nullptr || given <= 0) return std::nullopt;
    *number = given;
  }
  return out;
}

Shape shape_of(const Arguments& arguments, Shape shape) {
  shape.sessions = arguments.sessions.value_or(shape.sessions);
  shape.events_per_s = arguments.rate.value_or(shape.events_per_s);
  shape.clients_per_session = arguments.clients.value_or(shape.clients_per_session);
  shape.seconds = arguments.seconds.value_or(shape.seconds);
  shape.over = arguments.over;
  return shape;
}

double cpu_us_per_record(const LiveFigures& figures) {
  return figures.records == 0 ? 0
                              : (figures.after.cpu_s - figures.before.cpu_s) * 1e6 /
                                    static_cast<double>(figures.records);
}

int verdict(const LiveFigures& figures) {
  fmt::print("  lost {}  wrong {}  refused {}\n", figures.lost, figures.wrong, figures.refused);
  return figures.lost + figures.wrong + figures.refused == 0 ? 0 : 1;
}

Result<int> run_level(const Arguments& arguments, const Shape& shape) {
  DaemonProcess daemon(load_setup(arguments.program));
  TRY_VOID(daemon.start());
  const LiveFigures got = TRY(run_live(daemon, shape));
  fmt::print("{}: {} live sessions x {} events/s, {} clients each, {:.1f} s\n", arguments.mode,
             shape.sessions, shape.events_per_s, shape.clients_per_session, got.seconds);
  fmt::print("  prompt accepted  {}\n", got.accepted.text());
  fmt::print("  event to client  {}\n", got.seen.text());
  fmt::print("  raw fdatasync    {}\n", got.raw.sync.text());
  fmt::print("  raw echo         {}\n", got.raw.echo.text());
  fmt::print("  daemon           {:.1f} MiB resident ({:.1f} anonymous), {:.1f} before\n",
             got.after.resident_mib, got.after.anonymous_mib, got.before.resident_mib);
  fmt::print("  records          {} ({:.0f}/s), {:.1f} us of CPU each, {:.1f} % of a core\n",
             got.records, static_cast<double>(got.records) / got.seconds, cpu_us_per_record(got),
             100 * (got.after.cpu_s - got.before.cpu_s) / got.seconds);
  return verdict(got);
}

Result<int> run_scale(const Arguments& arguments) {
  const int events_per_s = arguments.rate.value_or(1000);
  int code = 0;
  for (const int sessions : {10, 100, 1000}) {
    if (sessions > arguments.sessions.value_or(1000)) break;
    DaemonProcess daemon(load_setup(arguments.program));
    TRY_VOID(daemon.start());
    const Shape shape{.sessions = sessions,
                      .events_per_s = std::max(1, events_per_s / sessions),
                      .clients_per_session = arguments.clients.value_or(1),
                      .seconds = arguments.seconds.value_or(40),
                      .over = arguments.over};
    const LiveFigures got = TRY(run_live(daemon, shape));
    fmt::print(
        "{} sessions: {:.1f} us of CPU a record ({} records, {:.0f}/s), event to client {}\n",
        sessions, cpu_us_per_record(got), got.records,
        static_cast<double>(got.records) / got.seconds, got.seen.text());
    code |= verdict(got);
    std::fflush(stdout);
  }
  return code;
}

Result<int> run_idle_clients(const Arguments& arguments) {
  DaemonProcess daemon(load_setup(arguments.program));
  TRY_VOID(daemon.start());
  const int clients = arguments.clients.value_or(10'000);
  const IdleFigures got = TRY(run_idle(daemon, clients, arguments.seconds.value_or(20)));
  fmt::print(
      "{} idle clients: {:.2f} KiB of the daemon each, {:.1f} MiB resident in all,\n"
      "  {:.1f} % of a core while they wait, {:.1f} s to connect, {} held\n",
      clients, got.kib_per_client, got.resident_mib, 100 * got.cpu_share, got.connect_s, got.held);
  return got.held == static_cast<std::uint64_t>(clients) ? 0 : 1;
}

Result<int> run_restarts(const Arguments& arguments) {
  int code = 0;
  for (const Stored stored : {Stored::closed, Stored::open}) {
    DaemonProcess daemon(load_setup(arguments.program));
    TRY_VOID(daemon.start());
    daemon.stop();
    const StoreShape shape{
        .sessions = arguments.sessions.value_or(1000),
        .records = static_cast<std::uint64_t>(arguments.records.value_or(1'000'000)),
        .stored = stored};
    const double begun = steady_ms();
    const std::vector<std::string> sessions = TRY(fill_store(daemon, shape));
    fmt::print("{} sessions, {} records, {} (filled in {:.1f} s)\n", shape.sessions, shape.records,
               stored == Stored::open ? "all to be looked at" : "none open",
               (steady_ms() - begun) / 1000);
    const RestartFigures got = TRY(run_restart(daemon, sessions, 100));
    fmt::print(
        "  serving after {:.0f} ms, first list {:.1f} ms, {} clients 100 records behind at\n"
        "  the head after {:.0f} ms, {:.1f} MiB resident, wrong {}\n",
        got.serving_ms, got.first_list_ms, got.clients, got.all_at_head_ms, got.resident_mib,
        got.wrong);
    std::fflush(stdout);
    code |= got.wrong == 0 ? 0 : 1;
  }
  return code;
}

Result<int> run(const Arguments& arguments) {
  if (arguments.mode == "l1") return run_level(arguments, shape_of(arguments, {}));
  if (arguments.mode == "l2") {
    return run_level(arguments, shape_of(arguments, {.sessions = 200, .events_per_s = 10}));
  }
  if (arguments.mode == "scale") return run_scale(arguments);
  if (arguments.mode == "idle") return run_idle_clients(arguments);
  if (arguments.mode == "restart") return run_restarts(arguments);
  return fail(Code::invalid_argument,
              "no mode '" + arguments.mode + "'\n" + std::string(usage_text));
}

}  // namespace
}  // namespace perdure::load

int main(int argc, char** argv) {
  using namespace perdure::load;
  const std::optional<Arguments> arguments = parse(argc, argv);
  if (!arguments) {
    std::fputs(usage_text.data(), stderr);
    return 2;
  }
  raise_descriptor_limit();
  const perdure::Result<int> code = run(*arguments);
  if (code) return *code;
  std::fprintf(stderr, "perdure-load: %s\n", code.error().message().c_str());
  return 1;
}
