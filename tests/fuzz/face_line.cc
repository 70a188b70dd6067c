// Any bytes of an editor, and a daemon that answers anything: the output is one valid message per
// line, and no request is answered twice. A line that begins with `=` answers the oldest call, one
// with `#` is a session's next record; everything else is the editor's.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/json/json.h"
#include "client/json_view.h"
#include "core/acp/line_reader.h"
#include "core/acp/rpc.h"
#include "editor/face.h"

namespace perdure::face {
namespace {

class Story final : acp::LineSink {
 public:
  void line(std::string_view text) {
    if (text.starts_with('=')) {
      answer(text.substr(1));
    } else if (text.starts_with('#')) {
      record(text.substr(1));
    } else {
      note_request(text);
      face_.on_bytes(std::string(text) + "\n");
    }
    collect();
  }

 private:
  // The first character is the status, the rest the body.
  void answer(std::string_view text) {
    if (calls_.empty()) return;
    const std::uint64_t number = calls_.front();
    calls_.erase(calls_.begin());
    if (text.empty()) return face_.on_answer(number, fail(Code::unavailable, "nobody"));
    const int status = text[0] == '2' ? 200 : text[0] == '4' ? 404 : 503;
    const std::string body = json_validate(text.substr(1)) ? std::string(text.substr(1)) : "{}";
    client::ApiAnswer answer{.status = status, .content_type = {}, .body = body};
    if (status != 200) answer.refusal = client::read_refusal(status, body);
    face_.on_answer(number, std::move(answer));
  }
  void record(std::string_view json) {
    if (followed_.empty() || !json_validate(json)) return;
    auto& [session, seq] = *followed_.begin();
    face_.on_record(session, ++seq, json);
  }
  // A request may follow noise on its line: the same reader finds it.
  void note_request(std::string_view text) { requests_.feed(std::string(text) + "\n", *this); }
  void on_object(std::string_view json) override {
    const auto message = acp::parse_rpc(json);
    if (message && message->kind == acp::RpcMessage::Kind::request) owed_[message->id] += 1;
  }
  void on_noise(std::string_view, acp::NoiseKind) override {}
  void collect() {
    const std::string output = face_.take_output();
    for (std::size_t from = 0; from < output.size();) {
      const std::size_t end = output.find('\n', from);
      CHECK(end != std::string::npos);
      check_line(std::string_view(output).substr(from, end - from));
      from = end + 1;
    }
    for (Wish& wish : face_.take_wishes()) {
      if (const auto* const call = std::get_if<CallWish>(&wish)) {
        calls_.push_back(call->number);
      } else if (const auto* const follow = std::get_if<FollowWish>(&wish)) {
        followed_[follow->session] = 0;
      } else {
        followed_.erase(std::get<UnfollowWish>(wish).session);
      }
    }
    face_.take_remarks();
  }
  void check_line(std::string_view line) {
    CHECK(json_validate(line).has_value());
    const auto message = acp::parse_rpc(line);
    CHECK(message.has_value());
    const bool is_answer = message->kind == acp::RpcMessage::Kind::result ||
                           message->kind == acp::RpcMessage::Kind::error;
    if (!is_answer || message->id.is_null()) return;
    CHECK(--owed_[message->id] >= 0, "an answer to nothing, or a second one");
  }

  Face face_{{.version = "1", .key_prefix = "k"}};
  std::vector<std::uint64_t> calls_;
  std::map<std::string, std::uint64_t> followed_;
  acp::LineReader requests_;
  std::map<acp::RpcId, int> owed_;
};

}  // namespace
}  // namespace perdure::face

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(bytes), size);
  perdure::face::Story story;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    story.line(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return 0;
}
