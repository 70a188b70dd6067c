// A daemon in a test: the real runtime on a virtual clock, a memory store, and agentctls that only
// record requests. Time advances only when the test advances it; nothing happens automatically.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/wire/journal/record.h"
#include "daemon/runtime/runtime.h"
#include "testing/memory_store/memory_store.h"

namespace perdure {

class TestLoop final : public Loop, public Clock, public Random, public Files, public Notifier {
 public:
  Moment now() override { return {{1'700'000'000'000 + time_ms}, {time_ms}, host_boot}; }
  std::uint64_t next() override { return ++dice_ * 0x9e3779b97f4a7c15ULL; }
  bool folder_exists(const std::string&) override { return folder_there; }
  void notify(SessionId, const Notify& what) override { notified.push_back(what.what); }

  void post(Task task) override { tasks_.push_back(std::move(task)); }
  TimerId after_ms(std::int64_t delay_ms, Task task) override {
    timers_.emplace(std::pair(time_ms + delay_ms, ++last_timer_), std::move(task));
    return last_timer_;
  }
  void cancel(TimerId timer) override {
    std::erase_if(timers_, [&](const auto& entry) { return entry.first.second == timer; });
  }

  // Runs a posted task; false if there was none.
  bool run_posted() {
    if (tasks_.empty()) return false;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    task();
    return true;
  }
  // Advances time to the next timer within the limit and runs it.
  bool run_timer(std::int64_t until_ms) {
    if (timers_.empty() || timers_.begin()->first.first > until_ms) return false;
    auto first = timers_.extract(timers_.begin());
    time_ms = std::max(time_ms, first.key().first);
    first.mapped()();
    return true;
  }
  void forget_everything() {
    tasks_.clear();
    timers_.clear();
  }

  std::int64_t time_ms = 1000;
  std::string host_boot = "host-1";
  bool folder_there = true;
  std::vector<NotifyWhat> notified;

 private:
  std::deque<Task> tasks_;
  std::map<std::pair<std::int64_t, TimerId>, Task> timers_;
  TimerId last_timer_ = 0;
  std::uint64_t dice_ = 0;
};

class NotedAgentctls final : public Agentctls {
 public:
  void start(const LaunchSpec& spec, std::uint64_t) override { started.push_back(spec); }
  void attach(const LaunchSpec& spec, std::uint64_t, FrameNo from) override {
    attached.emplace_back(spec, from);
  }
  void send(const ExecKey&, const SendCommand& command) override { sent.push_back(command); }
  void ack(const ExecKey&, FrameNo frame) override { acked = frame; }
  void stop(const ExecKey& exec) override { stopped.push_back(exec); }
  void let_go(const ExecKey& exec) override { let_go_of.push_back(exec); }

  // The commands of this kind that were sent.
  template <class Body>
  std::vector<Body> commands() const {
    std::vector<Body> out;
    for (const SendCommand& command : sent) {
      if (const auto* body = get_if<Body>(&command.body)) out.push_back(*body);
    }
    return out;
  }

  std::vector<LaunchSpec> started;
  std::vector<std::pair<LaunchSpec, FrameNo>> attached;
  std::vector<SendCommand> sent;
  std::vector<ExecKey> stopped;
  std::vector<ExecKey> let_go_of;
  FrameNo acked = 0;
};

class Reader final : public RecordSink {
 public:
  std::size_t room() const override { return space; }
  void on_records(Seq first, std::span<const std::shared_ptr<const std::string>> records) override {
    firsts.push_back(first);
    for (const auto& bytes : records) seen.push_back(decode_record(*bytes)->record.seq);
    last_given = records.back();
    space -= std::min(space, records.size());
  }
  void on_cut(Seq cursor) override { cut_at = cursor; }

  std::size_t space = 1'000'000;
  std::vector<Seq> firsts;
  std::vector<Seq> seen;
  std::optional<Seq> cut_at;
  std::weak_ptr<const std::string> last_given;  // expires when the last holder of the bytes is gone
};

// The frames of an agentctl up to the moment when its agent should open a session.
inline std::vector<FrameBody> frames_of_a_start() {
  return {FrameExecutorReady{{.url = "unix:x", .pid = 7}},
          FrameAgentStarted{{.abilities = {.resume = true, .load = true}}}};
}

class Daemon {
 public:
  Daemon() { start(); }
  ~Daemon() { runtime.reset(); }

  void start() {
    boots += 1;
    store = MemoryStore::open(disk, {.on_fatal = [this](const Error&) { fatal = true; }});
    agentctls = {};
    IdSource ids(loop.now().wall, 77'000 + boots);
    boot = ids.next<BootId>();
    runtime =
        std::make_unique<Runtime>(Runtime::World{loop, loop, loop, loop, *store, agentctls, loop},
                                  RuntimeConfig{.boot = boot, .wait_key = "test key"});
    ready = false;
    runtime->boot([this] { ready = true; });
  }
  // kill -9, then a new daemon on the same disk. Agentctls are not notified.
  void crash(CrashChoice choice = CrashChoice::keep_tail) {
    runtime.reset();
    loop.forget_everything();
    disk.crash(choice);
    start();
  }

  // Runs until nothing more happens within this time.
  void settle(std::int64_t for_ms = 1500) {
    const std::int64_t until = loop.time_ms + for_ms;
    while (loop.run_posted() || store->step() || loop.run_timer(until)) {}
    loop.time_ms = std::max(loop.time_ms, until);
  }
  // Runs everything due now, without advancing time.
  void run_now() {
    while (loop.run_posted() || store->step()) {}
  }

  Result<Reply> ask(InputBody body, const std::string& key = "", const std::string& by = "uid:1") {
    std::optional<Result<Reply>> answer;
    runtime->submit(session, {by, key, sha256(key + std::to_string(body.index())), std::move(body)},
                    [&](Result<Reply> result) { answer = std::move(result); });
    run_now();
    if (!answer) return fail(Code::unavailable, "no answer");
    return *answer;
  }
  Result<Reply> create(const std::string& prompt = "", Policy policy = {},
                       const std::string& key = "create") {
    IdSource ids(loop.now().wall, 4242);
    session = ids.next<SessionId>();
    SessionCreated what{.session = session,
                        .title = "t",
                        .agent = {.name = "demo"},
                        .workspace = {.cwd = "/w"},
                        .policy = policy};
    std::optional<Prompt> first;
    if (!prompt.empty()) first = Prompt{.text = prompt};
    return ask(CreateSession{what, first, key}, key);
  }

  ExecKey exec() {
    const State state = *runtime->state(session);
    return {session, state.exec.id, state.exec.gen};
  }
  void frame(FrameBody body, RunId run = {}) {
    const ExecKey key = exec();
    if (frames_of != key.exec) {
      frames_of = key.exec;
      frames = 0;
    }
    runtime->on_frame(key, Frame{key.exec, key.gen, ++frames, run, std::move(body)});
    run_now();
  }
  // Brings the agent up without errors.
  void agent_comes_up(const std::string& id = "agent-1") {
    runtime->on_attached(exec());
    run_now();
    for (FrameBody& body : frames_of_a_start()) frame(std::move(body));
    frame(FrameSessionOpened{.method = runtime->state(session)->exec.opening,
                             .agent_session_id = id});
  }

  std::vector<Record> records() {
    std::vector<Record> out;
    const Result<RecordPage> page = store->read(session, {.after = 0, .limit = 100'000});
    if (!page) return out;
    for (const std::string& bytes : page->records) out.push_back(decode_record(bytes)->record);
    return out;
  }
  std::size_t count(std::string_view kind) {
    std::size_t n = 0;
    for (const Record& record : records()) n += event_kind(record.event) == kind ? 1 : 0;
    return n;
  }
  State state() { return *runtime->state(session); }

  TestLoop loop;
  MemoryDisk disk;
  std::unique_ptr<MemoryStore> store;
  NotedAgentctls agentctls;
  BootId boot;
  std::unique_ptr<Runtime> runtime;
  SessionId session;
  bool ready = false;
  bool fatal = false;
  std::uint64_t boots = 0;
  ExecId frames_of;
  FrameNo frames = 0;
};

}  // namespace perdure
