// A blocking conversation with one agent process: each call has a deadline, and the agent's updates
// during calls are counted per session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/json/json_view.h"
#include "base/result.h"
#include "core/acp/line_reader.h"
#include "core/acp/rpc.h"
#include "env/posix/loop/loop.h"
#include "env/process.h"

namespace perdure::probe {

struct Answer {
  enum class Kind { result, error, silence, gone };

  Kind kind = Kind::silence;
  std::string result;
  acp::RpcError error;
  std::int64_t ms = 0;

  bool is_good() const { return kind == Kind::result; }
  JsonView view() const { return JsonView(result); }
  // The error, in one line.
  std::string trouble() const;
};

// Updates of one session since forget().
struct Heard {
  std::string text;         // of its answers; only the beginning
  std::size_t updates = 0;  // messages and actions; not changes of options
  std::size_t chunks = 0;   // of answers and thoughts
  std::size_t tools = 0;
  std::size_t questions = 0;  // permission requests
};

enum class PermissionAnswer { refuse, allow };

class AgentTalk final : private ProcessEvents, private acp::LineSink {
 public:
  struct Ports {
    EpollLoop& loop;
    Processes& processes;
  };
  static Result<std::unique_ptr<AgentTalk>> start(Ports ports, const SpawnSpec& spec);

  struct Call {
    std::string_view method;
    std::string params;
    std::int64_t wait_ms;
  };
  Answer call(const Call& call);
  // Sends a request; wait() returns its answer.
  acp::RpcId ask(std::string_view method, std::string_view params);
  Answer wait(const acp::RpcId& id, std::int64_t wait_ms);
  void notify(std::string_view method, std::string_view params);
  // False: the time is over, or the process has ended.
  bool wait_until(const std::function<bool()>& condition, std::int64_t wait_ms);

  Heard& heard(const std::string& session) { return heard_[session]; }
  void set_permission_answer(PermissionAnswer answer) { permission_ = answer; }

  std::int64_t pid() const { return process_->pid(); }
  void close_input() { process_->close_input(); }
  bool wait_gone(std::int64_t wait_ms);
  bool is_gone() const { return is_gone_; }
  // The last line of its standard error, for display.
  std::string last_words() const;

 private:
  explicit AgentTalk(Ports ports) : ports_(ports) {}
  void on_output(std::string_view bytes) override { reader_.feed(bytes, *this); }
  void on_error_output(std::string_view bytes) override;
  void on_output_end() override {}
  void on_exit(const ProcessExit& exit) override;
  void on_object(std::string_view json) override;
  void on_noise(std::string_view, acp::NoiseKind) override {}
  void hear(JsonView params);
  void answer_request(const acp::RpcMessage& message);

  Ports ports_;
  std::unique_ptr<Process> process_;
  acp::LineReader reader_;
  std::map<std::string, Answer> answers_;  // by the id's text
  std::map<std::string, Heard> heard_;
  PermissionAnswer permission_ = PermissionAnswer::refuse;
  std::string errors_;
  std::int64_t last_id_ = 0;
  bool is_gone_ = false;
};

// Milliseconds of a monotonic clock.
std::int64_t steady_ms();

}  // namespace perdure::probe
