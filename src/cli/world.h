// What the verbs need of the world: a console, the environment, a way to the daemon. Tests give
// their own, so that every verb runs without a terminal or a daemon.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "cli/attach_view.h"
#include "cli/cli.h"
#include "cli/style.h"
#include "cli/trouble.h"
#include "client/client.h"
#include "client/endpoint.h"

namespace perdure::cli {

class Console {
 public:
  virtual ~Console() = default;
  virtual void out(std::string_view text) = 0;
  virtual void err(std::string_view text) = 0;
  // A person is at both ends.
  virtual bool is_interactive() = 0;
  // What out() gets is shown on a terminal.
  virtual bool is_output_terminal() = 0;
  virtual Style style() = 0;
  virtual ScreenSize size() = 0;
  // All of the standard input; limit_reached beyond input_bytes_max.
  virtual Result<std::string> read_input() = 0;
  // What was typed to a question; nothing when nobody is there to answer.
  virtual std::optional<std::string> ask(std::string_view question) = 0;
  // What was typed before now is not an answer to what is shown next.
  virtual void forget_typed() = 0;
};

struct AttachTo {
  std::string session;  // its id
  std::uint64_t after = 0;
  std::string first_note;  // told above the first row
  std::string host;        // of the daemon, when it is not this machine
};

struct CliWorld {
  Console& console;
  client::Environment environment;
  std::string cwd;
  std::function<Timestamp()> now;
  std::function<Result<std::unique_ptr<client::DaemonApi>>(client::ClientSettings)> connect;
  // The view on this terminal, until it is left. Gives the exit code.
  std::function<Outcome<int>(client::DaemonApi&, const AttachTo&)> attach;
  LocalVerbs local;
};

// Runs one command line and gives its exit code.
int run_cli(CliWorld& world, const std::vector<std::string>& words);

}  // namespace perdure::cli
