// Fills the store through its own library, with records as the machine would make them.
#include "stored.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "api_client.h"
#include "base/check.h"
#include "base/json/fields_json.h"
#include "core/session/machine.h"
#include "core/wire/journal/record.h"
#include "core/wire/journal/snapshot.h"
#include "core/wire/search_text.h"
#include "daemon/runtime/reads/listing.h"
#include "live_load.h"
#include "sse_client.h"
#include "store/sqlite/sqlite_store.h"

namespace perdure::load {
namespace {

constexpr std::size_t batch_records = 512;
constexpr int chunks_a_turn = 16;
constexpr int connects_at_once = 200;
constexpr double connect_wait_ms = 120'000;

// A session with turns of a prompt, some chunks and an end.
class Talker {
 public:
  Talker(SessionId id, Timestamp at) : at_(at) {
    add(SessionCreated{
        .session = id, .title = "stored", .agent = {.name = "test"}, .workspace = {.cwd = "/"}});
  }

  void turn() {
    const MessageId message(Ulid{3, ++runs_});
    const Origin origin{.run = RunId(Ulid{2, runs_})};
    add(RunStarted{.message = message, .trigger = "prompt"}, origin);
    add(MessageUser{.message = message, .prompt = {.text = "please go on"}}, origin);
    for (int i = 0; i < chunks_a_turn; ++i) {
      add(MessageAgent{.text = "Some words of an answer. ", .update = {R"({"sessionUpdate":"x"})"}},
          origin);
    }
    add(RunCompleted{"end_turn"}, origin);
  }

  const State& state() const { return state_; }
  std::vector<std::string> take() { return std::exchange(records_, {}); }

 private:
  void add(EventBody body, Origin origin = {}) {
    at_.ms += 10;
    const Event event{.at = at_, .origin = std::move(origin), .body = std::move(body)};
    records_.push_back(encode_record(state_.head + 1, hash_, event));
    hash_ = record_hash(records_.back());
    state_ = evolve(std::move(state_), event);
  }

  Timestamp at_;
  State state_;
  Hash hash_;
  std::uint64_t runs_ = 0;
  std::vector<std::string> records_;
};

Result<> store_session(SqliteStore& store, SessionId id, const StoreShape& shape) {
  const std::uint64_t wanted = shape.records / static_cast<std::uint64_t>(shape.sessions);
  Talker talker(id, {1'700'000'000'000});
  Seq stored = 0;
  while (stored < wanted) {
    const std::uint64_t target = std::min<std::uint64_t>(wanted, stored + batch_records);
    while (talker.state().head < target) talker.turn();
    Append batch{.session = id, .epoch = store.epoch(), .expected_head = stored};
    batch.records = talker.take();
    batch.snapshot = encode_snapshot(talker.state());
    batch.listing = Listing{.open = shape.stored == Stored::open,
                            .updated = talker.state().updated,
                            .summary = encode_fields(summarize(talker.state(), World{}))};
    stored = talker.state().head;
    Result<> done;
    store.append(std::move(batch), [&](Result<> result) { done = std::move(result); });
    while (store.step()) {}
    TRY_VOID(std::move(done));
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> fill_store(const DaemonProcess& daemon, const StoreShape& shape) {
  const std::unique_ptr<SqliteStore> store = TRY(SqliteStore::open(
      {.path = daemon.home() + "/perdure.db",
       .on_fatal = [](const Error& error) { check_failed("store", 0, error.message().c_str()); },
       .search_piece = search_piece}));
  IdSource ids(Timestamp{1'700'000'000'000}, 1);
  std::vector<std::string> out;
  for (int i = 0; i < shape.sessions; ++i) {
    const SessionId id = ids.next<SessionId>();
    TRY_VOID(store_session(*store, id, shape));
    out.push_back(id.text());
  }
  TRY_VOID(store->shut_down());
  return out;
}

Result<RestartFigures> run_restart(DaemonProcess& daemon, const std::vector<std::string>& sessions,
                                   std::uint64_t behind) {
  RestartFigures out{.clients = sessions.size()};
  const double begun = steady_ms();
  TRY_VOID(daemon.start());
  out.serving_ms = steady_ms() - begun;
  ApiClient client(daemon.endpoint());
  const double asked = steady_ms();
  if (!client.get("/api/sessions").ok()) return fail(Code::unavailable, "no list of sessions");
  out.first_list_ms = steady_ms() - asked;
  std::vector<std::uint64_t> heads;
  for (const std::string& session : sessions) {
    const std::string head = client.get("/api/sessions/" + session + "/events?limit=1").at("head");
    heads.push_back(std::strtoull(head.c_str(), nullptr, 10));
    if (heads.back() <= behind) return fail(Code::unavailable, session + " has too few records");
  }
  daemon.kill_daemon();  // drops everything just read from memory
  TRY_VOID(daemon.start());
  const Door door = door_of(daemon, Over::unix_socket);
  const std::unique_ptr<HttpIo> io = HttpIo::create();
  Times none;
  std::vector<std::unique_ptr<SseClient>> clients;
  const double connecting = steady_ms();
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    clients.push_back(std::make_unique<SseClient>(
        *io, door, SseClient::Order{sessions[i], heads[i] - behind}, none));
  }
  const bool all = read_until(*io, connect_wait_ms, [&] {
    for (std::size_t i = 0; i < clients.size(); ++i) {
      if (clients[i]->last() < heads[i]) return false;
    }
    return true;
  });
  if (!all) return fail(Code::unavailable, "not every client came to the head");
  out.all_at_head_ms = steady_ms() - connecting;
  for (const auto& each : clients) out.wrong += each->wrong();
  out.resident_mib = usage_of(daemon.pid()).resident_mib;
  return out;
}

Result<IdleFigures> run_idle(DaemonProcess& daemon, int clients, int seconds) {
  const std::vector<std::string> sessions = TRY(make_sessions(daemon, 10));
  const Door door = door_of(daemon, Over::unix_socket);
  const std::unique_ptr<HttpIo> io = HttpIo::create();
  Times none;
  std::vector<std::unique_ptr<SseClient>> open;
  const auto count_held = [&] {
    return std::ranges::count_if(open, [](const auto& each) { return each->has_state(); });
  };
  const Usage before = usage_of(daemon.pid());
  const double begun = steady_ms();
  for (int i = 0; i < clients; ++i) {
    open.push_back(std::make_unique<SseClient>(
        *io, door, SseClient::Order{sessions[static_cast<std::size_t>(i) % sessions.size()]},
        none));
    const bool is_portion = (i + 1) % connects_at_once == 0 || i + 1 == clients;
    if (is_portion && !read_until(*io, connect_wait_ms, [&] { return count_held() == i + 1; })) {
      return fail(Code::unavailable, std::to_string(count_held()) + " clients are held");
    }
  }
  IdleFigures out{.connect_s = (steady_ms() - begun) / 1000};
  const Usage full = usage_of(daemon.pid());
  const double waiting = steady_ms();
  read_until(*io, seconds * 1000.0, [] { return false; });
  const Usage after = usage_of(daemon.pid());
  out.cpu_share = (after.cpu_s - full.cpu_s) / ((steady_ms() - waiting) / 1000);
  out.kib_per_client = (after.anonymous_mib - before.anonymous_mib) * 1024 / clients;
  out.resident_mib = after.resident_mib;
  out.held = static_cast<std::uint64_t>(
      std::ranges::count_if(open, [](const auto& each) { return each->is_open(); }));
  return out;
}

}  // namespace perdure::load
