// The external actions that a decision requires. Effects are committed with the events that caused
// them and run afterwards, and again after a crash: each is safe to run twice.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/json/one_of.h"
#include "core/session/values.h"

namespace perdure {

// Effects of one decision. A command's number is the head at the time of the decision times this,
// plus its index among the decision's effects: it grows with the journal and is never reused.
inline constexpr std::uint64_t effects_per_record_max = 1024;

// Commands to an agentctl, numbered per execution; each number takes effect once.
struct StartAgent {
  bool operator==(const StartAgent&) const = default;
  static constexpr std::string_view kind_text = "start_agent";
  FIELDS {}
};
struct OpenSession {
  OpenMethod method = OpenMethod::fresh;
  std::string agent_session_id;                // to resume or load
  std::map<std::string, std::string> options;  // applied before the first prompt (R9)
  bool operator==(const OpenSession&) const = default;
  static constexpr std::string_view kind_text = "open_session";
  FIELDS {
    visit("method", self.method);
    visit("agent_session_id", self.agent_session_id);
    visit("options", self.options);
  }
};
struct SendPrompt {
  RunId run;
  MessageId message;
  Prompt prompt;
  std::string context;  // history sent before the prompt; usually empty
  bool operator==(const SendPrompt&) const = default;
  static constexpr std::string_view kind_text = "send_prompt";
  FIELDS {
    visit("run_id", self.run);
    visit("message_id", self.message);
    self.prompt.fields(visit);
    visit("context", self.context);
  }
};
struct SteerPrompt {
  RunId run;
  MessageId message;
  Prompt prompt;
  bool operator==(const SteerPrompt&) const = default;
  static constexpr std::string_view kind_text = "steer_prompt";
  FIELDS {
    visit("run_id", self.run);
    visit("message_id", self.message);
    self.prompt.fields(visit);
  }
};
struct CancelPrompt {
  RunId run;
  bool operator==(const CancelPrompt&) const = default;
  static constexpr std::string_view kind_text = "cancel_prompt";
  FIELDS { visit("run_id", self.run); }
};
struct AnswerRequest {
  std::string request;
  std::string option_id;  // empty: cancelled
  bool operator==(const AnswerRequest&) const = default;
  static constexpr std::string_view kind_text = "answer_request";
  FIELDS {
    visit("request", self.request);
    visit("option_id", self.option_id);
  }
};
struct SetOptions {
  std::map<std::string, std::string> options;
  bool operator==(const SetOptions&) const = default;
  static constexpr std::string_view kind_text = "set_options";
  FIELDS { visit("options", self.options); }
};

using CommandKinds = Kinds<StartAgent, OpenSession, SendPrompt, SteerPrompt, CancelPrompt,
                           AnswerRequest, SetOptions>;
using CommandBody = OneOf<CommandKinds>;

struct SendCommand {
  ExecId exec;
  Gen gen = 0;
  std::uint64_t number = 0;
  CommandBody body;
  bool operator==(const SendCommand&) const = default;
};

// Starts an agentctl without an agent.
struct StartExecutor {
  ExecId exec;
  Gen gen = 0;
  bool operator==(const StartExecutor&) const = default;
  static constexpr std::string_view kind_text = "start_executor";
  FIELDS {
    visit("exec_id", self.exec);
    visit("gen", self.gen);
  }
};
// Ends an agentctl and all its descendants, and reports when that is proved.
struct StopExecutor {
  ExecId exec;
  Gen gen = 0;
  bool operator==(const StopExecutor&) const = default;
  static constexpr std::string_view kind_text = "stop_executor";
  FIELDS {
    visit("exec_id", self.exec);
    visit("gen", self.gen);
  }
};
// Renders the history up to the boundary; the result arrives as the input InjectionReady.
struct PrepareInjection {
  std::uint64_t boundary = 0;
  std::uint64_t history_from = 0;
  bool operator==(const PrepareInjection&) const = default;
  static constexpr std::string_view kind_text = "prepare_injection";
  FIELDS {
    visit("boundary", self.boundary);
    visit("history_from", self.history_from);
  }
};
enum class NotifyWhat { needs_input, finished, failed, interrupted, stalled };
ENUM_TEXT(NotifyWhat, "needs_input", "finished", "failed", "interrupted", "stalled");

struct Notify {
  NotifyWhat what = NotifyWhat::finished;
  RunId run;
  bool operator==(const Notify&) const = default;
  static constexpr std::string_view kind_text = "notify";
  FIELDS {
    visit("what", self.what);
    visit("run_id", self.run);
  }
};

using EffectKinds = Kinds<SendCommand, StartExecutor, StopExecutor, PrepareInjection, Notify>;
using Effect = OneOf<EffectKinds>;

}  // namespace perdure
