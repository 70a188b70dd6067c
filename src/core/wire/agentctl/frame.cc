// Frames encoded by the field codec, each under its kind. Unknown members of a known kind are
// ignored: the agent's own update, which must be preserved, is a member that is kept whole.
#include "core/wire/agentctl/frame.h"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/json/fields_json.h"
#include "base/text.h"

namespace perdure {
namespace {

// False if no kind of frame has this name.
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

// A value that becomes a member is one level deeper there, and may then be too deep to be read. As
// a text it is still complete.
void make_readable(RawJson& value) {
  const auto opens = [](char c) { return c == '{' || c == '['; };
  if (std::ranges::count_if(value.text, opens) < static_cast<std::ptrdiff_t>(json_depth_max))
    return;
  if (json_validate("[" + value.text + "]")) return;
  JsonWriter json;
  json.begin_object().key("perdure").string("too_deep").key("json").string(value.text).end_object();
  value.text = std::move(json).take();
}

// How much of each part of a frame may stay.
struct Kept {
  std::size_t json_bytes = SIZE_MAX;
  std::size_t text_bytes = SIZE_MAX;
  std::size_t elements = SIZE_MAX;
  std::size_t element_text_bytes = SIZE_MAX;
};

template <class T>
void shorten(T& value, const Kept& kept) {
  if constexpr (std::same_as<T, RawJson>) {
    const std::size_t bytes = value.text.size();
    if (bytes <= kept.json_bytes) return;
    value.text = R"({"perdure":"too_long","bytes":)" + std::to_string(bytes) + "}";
  } else if constexpr (std::same_as<T, std::string>) {
    value.resize(utf8_prefix(value, kept.text_bytes).size());
  } else if constexpr (is_sequence<T>) {
    if (value.size() > kept.elements) value.resize(kept.elements);
    const Kept inside{.json_bytes = kept.json_bytes, .text_bytes = kept.element_text_bytes};
    for (auto& element : value) shorten(element, inside);
  } else if constexpr (FieldStruct<T>) {
    visit_fields(value, [&](std::string_view, auto& field) { shorten(field, kept); });
  }
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

std::string encode_bounded_frame(RunId run, FrameBody body, std::size_t bytes_max) {
  visit(
      [](auto& one) {
        visit_fields(one, [](std::string_view, auto& field) {
          if constexpr (std::same_as<std::remove_cvref_t<decltype(field)>, RawJson>) {
            make_readable(field);
          }
        });
      },
      body);
  std::string frame = encode_frame(run, body);
  // Escaping makes a text at most six times as long, and no kind has more than six texts: they fit.
  const Kept texts{.json_bytes = bytes_max / 64};
  const Kept little{.json_bytes = bytes_max / 64,
                    .text_bytes = bytes_max / 64,
                    .elements = 16,
                    .element_text_bytes = bytes_max / 1024};
  for (const Kept& kept : {texts, little}) {
    if (frame.size() <= bytes_max) return frame;
    visit([&](auto& one) { shorten(one, kept); }, body);
    frame = encode_frame(run, body);
  }
  CHECK(frame.size() <= bytes_max, "a frame cannot be made short enough");
  return frame;
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
    const std::size_t first = bytes.find('{');
    AgentUpdate whole{RawJson{std::string(bytes.substr(first, bytes.rfind('}') + 1 - first))}};
    make_readable(whole.update);
    frame.body = std::move(whole);
    return frame;
  }
  if (!decoded) return std::unexpected(std::move(decoded).error().error());
  return frame;
}

}  // namespace perdure
