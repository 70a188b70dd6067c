// All messages use the field codec. Unknown members are ignored: either side may be newer.
#include "core/wire/outpost.h"

#include <algorithm>
#include <utility>

#include "base/json/fields_json.h"

namespace perdure {
namespace {

template <class T>
std::string line_of(const T& value) {
  return encode_fields(value) + "\n";
}

template <class T>
Result<T> plain(std::string_view json) {
  return std::move(TRY(decode_fields<T>(json)).value);
}

template <class T>
Result<T> versioned(std::string_view line) {
  T value = TRY(plain<T>(line));
  if (value.version == outpost_version) return value;
  return fail(Code::format_too_new, "version " + std::to_string(value.version) +
                                        " of the outpost's protocol, this is " +
                                        std::to_string(outpost_version));
}

}  // namespace

std::string encode_line(const OutpostHello& hello) { return line_of(hello); }
std::string encode_line(const OutpostWelcome& welcome) { return line_of(welcome); }
std::string encode_line(const OutpostCall& call) { return line_of(call); }
std::string encode_line(const OutpostReply& reply) { return line_of(reply); }
std::string encode_line(const OutpostSight& sight) { return line_of(sight); }

Result<OutpostHello> decode_hello(std::string_view line) { return versioned<OutpostHello>(line); }
Result<OutpostWelcome> decode_welcome(std::string_view line) {
  return versioned<OutpostWelcome>(line);
}
Result<OutpostCall> decode_outpost_call(std::string_view line) { return plain<OutpostCall>(line); }
Result<OutpostReply> decode_outpost_reply(std::string_view line) {
  return plain<OutpostReply>(line);
}
Result<OutpostSight> decode_sight(std::string_view line) { return versioned<OutpostSight>(line); }

std::string encode_result(const OutpostLife& life) { return encode_fields(life); }
std::string encode_result(const OutpostLeft& left) { return encode_fields(left); }
std::string encode_result(const OutpostFiles& files) { return encode_fields(files); }
std::string encode_result(const OutpostPiece& piece) { return encode_fields(piece); }
std::string encode_result(const Workspace& workspace) { return encode_fields(workspace); }
Result<OutpostLife> decode_life(std::string_view json) { return plain<OutpostLife>(json); }
Result<OutpostLeft> decode_left(std::string_view json) { return plain<OutpostLeft>(json); }
Result<OutpostFiles> decode_files(std::string_view json) { return plain<OutpostFiles>(json); }
Result<OutpostPiece> decode_piece(std::string_view json) { return plain<OutpostPiece>(json); }
Result<Workspace> decode_workspace(std::string_view json) { return plain<Workspace>(json); }

bool is_owner(std::string_view text) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  };
  return !text.empty() && text.size() <= 128 && text.front() != '.' &&
         std::ranges::all_of(text, is_good);
}

Result<std::optional<std::string>> OutpostLines::next() {
  const std::size_t end = text_.find('\n', std::max(at_, searched_));
  const std::size_t length = (end == std::string::npos ? text_.size() : end) - at_;
  if (length > bytes_max_) {
    return fail(Code::limit_reached,
                "a line is longer than " + std::to_string(bytes_max_) + " bytes");
  }
  if (end == std::string::npos) {
    text_.erase(0, std::exchange(at_, 0));
    searched_ = text_.size();
    return std::nullopt;
  }
  std::string line = text_.substr(at_, length);
  at_ = end + 1;
  return line;
}

std::string OutpostLines::take_rest() {
  std::string rest = text_.substr(at_);
  text_.clear();
  at_ = searched_ = 0;
  return rest;
}

}  // namespace perdure
