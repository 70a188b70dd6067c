// The verbs' interface to the world: a console, the environment, a connection to the daemon. Tests
// provide their own, so that every verb runs without a terminal and without any daemon.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "client/client.h"
#include "client/endpoint.h"
#include "perdure/terminal/style.h"
#include "perdure/verbs/attach/attach_view.h"
#include "perdure/verbs/call/cli.h"
#include "perdure/verbs/call/trouble.h"

namespace perdure::cli {

class Console {
 public:
  virtual ~Console() = default;
  virtual void out(std::string_view text) = 0;
  virtual void err(std::string_view text) = 0;
  // Both standard input and output are a terminal.
  virtual bool is_interactive() = 0;
  // The output of out() goes to a terminal.
  virtual bool is_output_terminal() = 0;
  virtual Style style() = 0;
  virtual ScreenSize size() = 0;
  // The whole standard input; limit_reached beyond input_bytes_max.
  virtual Result<std::string> read_input() = 0;
  // The text typed in reply; nothing if standard input is not a terminal.
  virtual std::optional<std::string> ask(std::string_view question) = 0;
  // Discards earlier input: it cannot be an answer to what is shown next.
  virtual void forget_typed() = 0;
};

struct AttachTo {
  std::string session;  // its id
  std::uint64_t after = 0;
  std::string first_note;  // shown above the first row
  std::string host;        // of the daemon, if it is not this machine
};

struct CliWorld {
  Console& console;
  client::Environment environment;
  std::string cwd;
  std::function<Timestamp()> now;
  std::function<Result<std::unique_ptr<client::DaemonApi>>(client::ClientSettings)> connect;
  // The view on this terminal, until the user detaches. Returns the exit code.
  std::function<Outcome<int>(client::DaemonApi&, const AttachTo&)> attach;
  LocalVerbs local;
};

// Runs one command line and returns its exit code.
int run_cli(CliWorld& world, const std::vector<std::string>& words);

}  // namespace perdure::cli
