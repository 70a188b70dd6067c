// Commands encoded by the field codec, each under its kind.
#include "core/wire/agentctl/command.h"

#include <utility>

#include "base/json/fields_json.h"

namespace perdure {
namespace {

std::unexpected<Error> not_understood(std::string_view what, std::string_view name) {
  return fail(Code::format_too_new,
              std::string(what) + " '" + std::string(name.substr(0, 64)) + "' is not known");
}

template <class Body>
bool try_encode(const InputBody& command, std::string& out) {
  const Body* const body = get_if<Body>(&command);
  if (!body) return false;
  json_append_string(out, Body::kind_text);
  out += ',';
  append_members(out, *body);
  return true;
}

template <class... Bodies>
bool encode_one(Kinds<Bodies...>, const InputBody& command, std::string& out) {
  return (try_encode<Bodies>(command, out) || ...);
}

// The results of decoding one object.
struct Reading {
  Members& members;
  Decoded decoded = {};
  std::string unknown = {};
};

template <class Body>
bool try_decode(std::string_view kind, Reading& reading, InputBody& out) {
  if (kind != Body::kind_text) return false;
  Body body;
  reading.decoded = decode_members(reading.members, body, reading.unknown);
  out = std::move(body);
  return true;
}

template <class... Bodies>
bool decode_one(Kinds<Bodies...>, std::string_view kind, Reading& reading, InputBody& out) {
  return (try_decode<Bodies>(kind, reading, out) || ...);
}

Result<std::string> decode_heading(Members& members) {
  std::int64_t version = 0;
  std::string kind;
  if (const auto d = decode_json(members.take("v"), version); !d || version < 1) {
    return fail(Code::invalid_argument, "v: expected a format version");
  }
  if (version > command_version) {
    return not_understood("the command's version", std::to_string(version));
  }
  if (const auto d = decode_json(members.take("kind"), kind); !d) {
    return fail(Code::invalid_argument, "kind: expected a string");
  }
  return kind;
}

}  // namespace

Result<std::string> encode_command(const InputBody& command) {
  std::string out = "{\"v\":1,\"kind\":";
  static_assert(command_version == 1);
  if (!encode_one(ClientCommands{}, command, out)) {
    return fail(Code::invalid_argument, "this command cannot be sent to another daemon");
  }
  close_json(out, '}');
  return out;
}

Result<InputBody> decode_command(std::string_view text) {
  TRY_VOID(json_validate(text));
  Members members;
  if (auto d = members.read(text); !d) return std::unexpected(std::move(d).error().error());
  const std::string kind = TRY(decode_heading(members));
  Reading reading{members};
  InputBody out;
  if (!decode_one(ClientCommands{}, kind, reading, out)) return not_understood("the command", kind);
  if (!reading.decoded) return std::unexpected(std::move(reading.decoded).error().error());
  members.append_rest(reading.unknown);
  if (!reading.unknown.empty()) return not_understood("the command's member", reading.unknown);
  return out;
}

}  // namespace perdure
