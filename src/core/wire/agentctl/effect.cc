// Effects encoded by the field codec, each under its kind; effect.h explains why none is ignored.
#include "core/wire/agentctl/effect.h"

#include <type_traits>
#include <utility>

#include "base/json/fields_json.h"

namespace perdure {
namespace {

constexpr std::string_view send_command = "send_command";

// The members of a SendCommand except its body.
struct CommandAddress {
  ExecId exec;
  Gen gen = 0;
  std::uint64_t number = 0;
  std::string command;
  RawJson body;
  FIELDS {
    visit("exec_id", self.exec);
    visit("gen", self.gen);
    visit("number", self.number);
    visit("command", self.command);
    visit("body", self.body);
  }
};

void append_effect(std::string& out, const SendCommand& effect) {
  out += "\"send_command\",";
  CommandAddress address{effect.exec, effect.gen, effect.number, {}, {}};
  visit(
      [&](const auto& body) {
        address.command = body.kind_text;
        address.body.text = encode_fields(body);
      },
      effect.body);
  append_members(out, address);
}

void append_effect(std::string& out, const auto& effect) {
  json_append_string(out, effect.kind_text);
  out += ',';
  append_members(out, effect);
}

// Decodes one alternative of a variant from members if the kind matches.
template <class Body, class Variant>
bool try_kind(std::string_view kind, Members& members, Variant& out, Decoded& result,
              std::string& unknown) {
  if constexpr (requires { Body::kind_text; }) {
    if (kind != Body::kind_text) return false;
    result = decode_members(members, out.template emplace<Body>(), unknown);
    return true;
  } else {
    return false;
  }
}

// False if no alternative has this kind.
template <class... Bodies>
bool decode_kind(std::string_view kind, Members& members, OneOf<Kinds<Bodies...>>& out,
                 Decoded& result, std::string& unknown) {
  return (try_kind<Bodies>(kind, members, out, result, unknown) || ...);
}

std::unexpected<Error> not_understood(std::string_view what, std::string_view name) {
  return fail(Code::format_too_new,
              std::string(what) + " '" + std::string(name.substr(0, 64)) + "' is not known");
}

Result<> check(Decoded decoded, const Members& members, std::string unknown) {
  if (!decoded) return std::unexpected(std::move(decoded).error().error());
  members.append_rest(unknown);
  if (!unknown.empty()) return not_understood("the effect's member", unknown);
  return {};
}

Result<Effect> decode_command(Members& members) {
  CommandAddress address;
  std::string unknown;
  Decoded decoded = decode_members(members, address, unknown);
  TRY_VOID(check(std::move(decoded), members, std::move(unknown)));
  SendCommand out{address.exec, address.gen, address.number, {}};
  Members body;
  decoded = body.read(address.body.text);
  if (!decoded) {
    decoded.error().inside("body");
    return std::unexpected(std::move(decoded).error().error());
  }
  unknown.clear();
  if (!decode_kind(address.command, body, out.body, decoded, unknown)) {
    return not_understood("the command", address.command);
  }
  TRY_VOID(check(std::move(decoded), body, std::move(unknown)));
  return out;
}

Result<std::string> decode_heading(Members& members) {
  std::int64_t version = 0;
  std::string kind;
  if (auto d = decode_json(members.take("v"), version); !d || version < 1) {
    return fail(Code::invalid_argument, "v: expected a format version");
  }
  if (version > effect_version)
    return not_understood("the effect's version", std::to_string(version));
  if (auto d = decode_json(members.take("kind"), kind); !d) {
    return fail(Code::invalid_argument, "kind: expected a string");
  }
  return kind;
}

}  // namespace

std::string encode_effect(const Effect& effect) {
  std::string out = "{\"v\":1,\"kind\":";
  static_assert(effect_version == 1);
  visit([&](const auto& one) { append_effect(out, one); }, effect);
  close_json(out, '}');
  return out;
}

Result<Effect> decode_effect(std::string_view payload) {
  TRY_VOID(json_validate(payload));
  Members members;
  if (auto d = members.read(payload); !d) return std::unexpected(std::move(d).error().error());
  const std::string kind = TRY(decode_heading(members));
  if (kind == send_command) return decode_command(members);
  Effect out;
  Decoded decoded;
  std::string unknown;
  if (!decode_kind(kind, members, out, decoded, unknown)) return not_understood("the effect", kind);
  TRY_VOID(check(std::move(decoded), members, std::move(unknown)));
  return out;
}

}  // namespace perdure
