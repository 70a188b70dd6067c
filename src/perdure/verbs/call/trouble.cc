#include "perdure/verbs/call/trouble.h"

#include "base/json/json.h"

namespace perdure::cli {

Trouble Trouble::usage(std::string message) {
  return {.exit_code = exit_usage,
          .code = std::string(code_name(Code::invalid_argument)),
          .message = std::move(message),
          .actions = {}};
}

Trouble Trouble::of(const Error& error) {
  return {.exit_code = kind_of(error.code()).exit_code,
          .code = std::string(code_name(error.code())),
          .message = error.message(),
          .actions = {}};
}

Trouble Trouble::of(const client::Refusal& refusal) {
  const Code code = refusal.error().code();
  return {// The daemon did respond: something that it depends on is unavailable.
          .exit_code = code == Code::unavailable ? exit_failed : kind_of(code).exit_code,
          .code = refusal.code,
          .message = refusal.message,
          .actions = refusal.actions};
}

std::string Trouble::json() const {
  JsonWriter writer;
  writer.begin_object().key("error").begin_object();
  writer.key("code").string(code).key("message").string(message).key("actions").begin_array();
  for (const std::string& action : actions) writer.string(action);
  writer.end_array().end_object().end_object();
  return std::move(writer).take();
}

}  // namespace perdure::cli
