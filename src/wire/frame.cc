// Frames by the field codec, each under its kind. Unknown members of a known kind are passed over:
// the agent's own update, which is what must survive, is a member that is kept whole.
#include "wire/frame.h"

#include <utility>

#include "base/fields_json.h"

namespace perdure {
namespace {

// False when no kind of frame has this name.
template <class... Bodies>
bool decode_kind(std::string_view kind, Members& members, OneOf<Kinds<Bodies...>>& out,
                 Decoded& result) {
  std::string unknown;
  const auto try_kind = [&]<class Body>() {
    if (kind != Body::kind_text) return false;
    result = decode_members(members, out.template emplace<Body>(), unknown);
    return true;
  };
  return (try_kind.template operator()<Bodies>() || ...);
}

// The frame as a value inside of another: one level deeper, where there may be none left. As a text
// it is still whole.
RawJson kept_whole(std::string_view frame) {
  RawJson whole{std::string(frame)};
  if (json_validate("[" + whole.text + "]")) return whole;
  JsonWriter json;
  json.begin_object().key("perdure").string("too_deep").key("frame").string(frame).end_object();
  return RawJson{std::move(json).take()};
}

}  // namespace

std::string encode_frame(RunId run, const FrameBody& body) {
  static_assert(frame_version == 1);
  std::string out = "{\"v\":1,\"kind\":";
  visit(
      [&](const auto& one) {
        json_append_string(out, one.kind_text);
        out += ',';
        if (run) {
          append_json_key(out, "run_id");
          append_json(out, run);
          out += ',';
        }
        append_members(out, one);
      },
      body);
  close_json(out, '}');
  return out;
}

Result<Frame> decode_frame(std::string_view bytes) {
  TRY_VOID(json_validate(bytes));
  Members members;
  if (auto read = members.read(bytes); !read)
    return std::unexpected(std::move(read).error().error());
  std::int64_t version = 0;
  if (auto d = decode_json(members.take("v"), version); !d || version < 1) {
    return fail(Code::invalid_argument, "v: expected a frame version");
  }
  if (version > frame_version) {
    return fail(Code::format_too_new, "the frame has version " + std::to_string(version));
  }
  std::string kind;
  if (auto d = decode_json(members.take("kind"), kind); !d) {
    return fail(Code::invalid_argument, "kind: expected a string");
  }
  Frame frame;
  if (const std::string_view run = members.take("run_id"); !run.empty()) {
    std::string unknown;
    if (auto d = decode_value(run, frame.run, unknown); !d) {
      d.error().inside("run_id");
      return std::unexpected(std::move(d).error().error());
    }
  }
  Decoded decoded;
  if (!decode_kind(kind, members, frame.body, decoded)) {
    frame.body = AgentUpdate{kept_whole(bytes)};
    return frame;
  }
  if (!decoded) return std::unexpected(std::move(decoded).error().error());
  return frame;
}

}  // namespace perdure
