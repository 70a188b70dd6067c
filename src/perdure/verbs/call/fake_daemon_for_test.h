// A daemon with prepared answers and a console that records, for tests of the verbs.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "perdure/verbs/call/world.h"

namespace perdure::cli {

struct FakeDaemon {
  struct Answer {
    int status = 200;
    std::string body;
  };
  // By "METHOD path"; other paths answer 404.
  std::map<std::string, Answer> answers;
  std::vector<client::ApiRequest> calls;
  // The records of a followed session; a record's number is its position, starting at 1.
  std::vector<std::string> records;
  std::optional<client::Refusal> refusal;  // if set, ends the stream after the last record
  bool is_there = true;
  std::vector<client::ClientSettings> connects;
  std::int64_t now_ms = 0;

  // The body of the last call to that path.
  std::string sent(const std::string& method_and_path) const {
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
      if (call->method + " " + call->path == method_and_path) return call->body;
    }
    return "(never called)";
  }
};

class FakeFollowing final : public client::Following {
 public:
  explicit FakeFollowing(std::uint64_t& cursor) : cursor_(cursor) {}
  std::uint64_t cursor() const override { return cursor_; }

 private:
  std::uint64_t& cursor_;
};

class FakeApi final : public client::DaemonApi {
 public:
  explicit FakeApi(FakeDaemon& daemon) : daemon_(daemon) {}

  Result<client::ApiAnswer> call(client::ApiRequest request) override {
    const std::string name = request.method + " " + request.path;
    daemon_.calls.push_back(std::move(request));
    const auto found = daemon_.answers.find(name);
    client::ApiAnswer answer;
    answer.status = found == daemon_.answers.end() ? 404 : found->second.status;
    answer.body = found == daemon_.answers.end() ? "" : found->second.body;
    if (answer.status > 299) answer.refusal = client::read_refusal(answer.status, answer.body);
    return answer;
  }
  void send(client::ApiRequest request, client::OnApiAnswer done) override {
    done(call(std::move(request)));
  }
  std::unique_ptr<client::Following> follow(client::FollowRequest request,
                                            client::FollowEvents& events) override {
    cursor_ = request.after;
    events_ = &events;
    return std::make_unique<FakeFollowing>(cursor_);
  }
  void watch(int, std::move_only_function<void()>) override {}
  // Delivers one record per step; after that, time passes.
  void step(int wait_ms) override {
    if (events_ != nullptr && cursor_ < daemon_.records.size()) {
      cursor_ += 1;
      events_->on_record(cursor_, daemon_.records[cursor_ - 1]);
    } else if (events_ != nullptr && daemon_.refusal) {
      events_->on_refused(*daemon_.refusal);
    } else {
      daemon_.now_ms += wait_ms;
    }
  }
  std::int64_t now_ms() override { return daemon_.now_ms; }

 private:
  FakeDaemon& daemon_;
  std::uint64_t cursor_ = 0;
  client::FollowEvents* events_ = nullptr;
};

class FakeConsole final : public Console {
 public:
  std::string printed;
  std::string errors;
  std::string input;
  std::optional<std::string> typed;  // if set, a person is there to answer
  bool interactive = false;
  bool has_forgotten = false;
  ScreenSize screen = {.cells = 100, .rows = 24};
  bool on_terminal = false;

  void out(std::string_view text) override { printed += text; }
  void err(std::string_view text) override { errors += text; }
  bool is_interactive() override { return interactive; }
  bool is_output_terminal() override { return on_terminal; }
  Style style() override { return Style(); }
  ScreenSize size() override { return screen; }
  Result<std::string> read_input() override { return input; }
  std::optional<std::string> ask(std::string_view question) override {
    errors += question;
    return typed;
  }
  void forget_typed() override { has_forgotten = true; }
};

// All parts together: run({"ls"}) returns the exit code.
struct FakeCli {
  FakeDaemon daemon;
  FakeConsole console;
  std::map<std::string, std::string, std::less<>> environment = {{"HOME", "/h"}};
  LocalVerbs local;
  std::vector<AttachTo> attached;

  int run(const std::vector<std::string>& words) {
    CliWorld world{
        .console = console,
        .environment = [this](std::string_view name) -> std::optional<std::string> {
          const auto found = environment.find(name);
          if (found == environment.end()) return std::nullopt;
          return found->second;
        },
        .cwd = "/h/project",
        .now = [] { return Timestamp{1'000'000'000'000}; },
        .connect =
            [this](client::ClientSettings settings) -> Result<std::unique_ptr<client::DaemonApi>> {
          daemon.connects.push_back(settings);
          const bool may_start = settings.start == client::StartPolicy::may_start;
          if (!daemon.is_there && !may_start) return fail(Code::unavailable, "nobody is there");
          return std::make_unique<FakeApi>(daemon);
        },
        .attach = [this](client::DaemonApi&, const AttachTo& to) -> Outcome<int> {
          attached.push_back(to);
          return exit_done;
        },
        .local = local};
    console.printed.clear();
    console.errors.clear();
    return run_cli(world, words);
  }
};

}  // namespace perdure::cli
