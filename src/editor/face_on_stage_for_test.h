// A face without an editor or a daemon: tests play both and check the output.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "client/json_view.h"
#include "editor/face.h"

namespace perdure::face {

struct FaceOnStage {
  explicit FaceOnStage(FaceSetup setup = {.version = "1", .key_prefix = "k"})
      : face(std::move(setup)) {}

  void editor(std::string_view json) {
    face.on_bytes(std::string(json) + "\n");
    collect();
  }
  // Removes and returns the call to this path; the test fails if there is none.
  CallWish call(std::string_view method_and_path) {
    for (auto at = calls.begin(); at != calls.end(); ++at) {
      if (at->request.method + " " + at->request.path != method_and_path) continue;
      CallWish found = std::move(*at);
      calls.erase(at);
      return found;
    }
    ADD_FAILURE() << "no call " << method_and_path;
    return {};
  }
  // Answers that call. Unless the status is 2xx, `body` is an error's.
  void answer(std::string_view method_and_path, std::string_view body, int status = 200) {
    const CallWish made = call(method_and_path);
    client::ApiAnswer answer{.status = status, .content_type = {}, .body = std::string(body)};
    if (status > 299) answer.refusal = client::read_refusal(status, body);
    face.on_answer(made.number, std::move(answer));
    collect();
  }
  // The session's next record: `members` follow its number and kind.
  void record(std::string_view kind, std::string_view members = {}) {
    const std::uint64_t seq = ++head;
    std::string json = R"({"seq":)" + std::to_string(seq) + R"(,"kind":")" + std::string(kind);
    json += members.empty() ? "\"}" : "\"," + std::string(members) + "}";
    face.on_record("s1", seq, json);
    collect();
  }
  std::string session(std::uint64_t seq) const {
    return R"({"session":{"id":"s1","agent":"demo","title":"t","cwd":"/w","seq":)" +
           std::to_string(seq) + "}}";
  }
  // Opens the session and discards its output.
  void open() {
    editor(R"({"jsonrpc":"2.0","id":90,"method":"session/resume",)"
           R"("params":{"sessionId":"s1","cwd":"/w","mcpServers":[]}})");
    answer("GET /api/sessions/s1", session(1));
    record("session.created");
    EXPECT_FALSE(says(R"("id":90,"result")").empty());
    lines.clear();
  }
  void prompt(int id, std::string_view text) {
    editor(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
           R"(,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text",)" +
           R"("text":")" + std::string(text) + R"("}]}})");
  }
  // Returns the first line that contains this, and discards all lines up to it; empty: there is
  // none.
  std::string says(std::string_view part) {
    for (auto at = lines.begin(); at != lines.end(); ++at) {
      if (!at->contains(part)) continue;
      std::string line = *at;
      lines.erase(lines.begin(), at + 1);
      return line;
    }
    return {};
  }

  void collect() {
    const std::string output = face.take_output();
    for (std::size_t from = 0; from < output.size();) {
      const std::size_t end = output.find('\n', from);
      ASSERT_NE(end, std::string::npos);
      lines.push_back(output.substr(from, end - from));
      EXPECT_TRUE(client::JsonView::read(lines.back())) << lines.back();
      from = end + 1;
    }
    for (Wish& wish : face.take_wishes()) {
      if (auto* const made = std::get_if<CallWish>(&wish)) {
        calls.push_back(std::move(*made));
      } else if (auto* const follow = std::get_if<FollowWish>(&wish)) {
        followed.push_back("+" + follow->session);
        head = 0;
      } else {
        followed.push_back("-" + std::get<UnfollowWish>(wish).session);
      }
    }
    for (std::string& one : face.take_remarks()) remarks.push_back(std::move(one));
  }

  Face face;
  std::vector<std::string> lines;
  std::vector<CallWish> calls;
  std::vector<std::string> followed;
  std::vector<std::string> remarks;
  std::uint64_t head = 0;
};

}  // namespace perdure::face
