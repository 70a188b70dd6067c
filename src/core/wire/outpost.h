// The protocol between a daemon and the outpost on another host: JSON objects, one per line. The
// first line of a connection authenticates the caller and states its use: calls, or the bytes of
// one agentctl's socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/json/fields.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/result.h"
#include "core/session/values.h"

namespace perdure {

inline constexpr std::int64_t outpost_version = 1;

struct OutpostHello {
  std::int64_t version = outpost_version;
  std::string secret;
  ExecId exec;        // if set: the rest is for its agentctl; otherwise calls follow
  std::string owner;  // of that execution
  FIELDS {
    visit("v", self.version);
    visit("secret", self.secret);
    visit("exec_id", self.exec);
    visit("owner", self.owner);
  }
};

struct OutpostWelcome {
  std::int64_t version = outpost_version;
  std::string build;
  std::string host_boot;
  std::string code;  // empty: welcome. Otherwise a code of base/result.h, and the connection ends
  std::string message;
  FIELDS {
    visit("v", self.version);
    visit("build", self.build);
    visit("host_boot", self.host_boot);
    visit("code", self.code);
    visit("message", self.message);
  }
};

enum class OutpostVerb {
  ping,
  start,      // bootstrap -> the answer of `perdure-agentctl start`
  life,       // exec, owner -> OutpostLife
  kill,       // mark -> OutpostLeft
  list,       // exec, owner -> OutpostFiles: its spool
  read,       // exec, owner, name, offset -> OutpostPiece
  remove,     // exec, owner: socket and spool of a dead one
  workspace,  // session, cwd, branch -> Workspace
  forget,     // session, owner: data of a deleted session
};
ENUM_TEXT(OutpostVerb, "ping", "start", "life", "kill", "list", "read", "remove", "workspace",
          "forget");

struct OutpostCall {
  std::uint64_t id = 0;
  OutpostVerb verb = OutpostVerb::ping;
  RawJson bootstrap;
  ExecId exec;
  SessionId session;
  std::string owner;
  std::string mark;
  std::string name;
  std::uint64_t offset = 0;
  std::string cwd;
  std::optional<std::string> branch;
  FIELDS {
    visit("id", self.id);
    visit("verb", self.verb);
    visit("bootstrap", self.bootstrap);
    visit("exec_id", self.exec);
    visit("session_id", self.session);
    visit("owner", self.owner);
    visit("mark", self.mark);
    visit("name", self.name);
    visit("offset", self.offset);
    visit("cwd", self.cwd);
    visit("branch", self.branch);
  }
};

struct OutpostReply {
  std::uint64_t id = 0;
  std::string code;  // empty: done. Otherwise a code of base/result.h
  std::string message;
  RawJson result;
  FIELDS {
    visit("id", self.id);
    visit("code", self.code);
    visit("message", self.message);
    visit("result", self.result);
  }
};

struct OutpostLife {
  std::string life;  // alive, dead, unknown
  std::string host_boot;
  FIELDS {
    visit("life", self.life);
    visit("host_boot", self.host_boot);
  }
};

struct OutpostLeft {
  std::uint64_t left = 0;  // processes that did not end
  FIELDS { visit("left", self.left); }
};

struct OutpostFile {
  std::string name;
  std::uint64_t bytes = 0;
  FIELDS {
    visit("name", self.name);
    visit("bytes", self.bytes);
  }
};

struct OutpostFiles {
  std::vector<OutpostFile> files;
  FIELDS { visit("files", self.files); }
};

struct OutpostPiece {
  std::string base64;
  FIELDS { visit("base64", self.base64); }
};

// The address and identity of a started outpost; one line on its stdout.
struct OutpostSight {
  std::int64_t version = outpost_version;
  std::string build;
  std::uint64_t port = 0;
  std::string fingerprint;  // SHA-256 of its certificate, in hex
  std::string secret;
  std::int64_t pid = 0;
  std::uint64_t pid_started = 0;  // with host_boot, identifies the process; 0: older outpost
  std::string host_boot;
  bool was_running = false;
  std::string code;
  std::string message;
  FIELDS {
    visit("v", self.version);
    visit("build", self.build);
    visit("port", self.port);
    visit("fingerprint", self.fingerprint);
    visit("secret", self.secret);
    visit("pid", self.pid);
    visit("pid_started", self.pid_started);
    visit("host_boot", self.host_boot);
    visit("was_running", self.was_running);
    visit("code", self.code);
    visit("message", self.message);
  }
};

// Lines with their newline.
std::string encode_line(const OutpostHello& hello);
std::string encode_line(const OutpostWelcome& welcome);
std::string encode_line(const OutpostCall& call);
std::string encode_line(const OutpostReply& reply);
std::string encode_line(const OutpostSight& sight);

// Any bytes, without the newline. format_too_new for another version.
Result<OutpostHello> decode_hello(std::string_view line);
Result<OutpostWelcome> decode_welcome(std::string_view line);
Result<OutpostCall> decode_outpost_call(std::string_view line);
Result<OutpostReply> decode_outpost_reply(std::string_view line);
Result<OutpostSight> decode_sight(std::string_view line);

std::string encode_result(const OutpostLife& life);
std::string encode_result(const OutpostLeft& left);
std::string encode_result(const OutpostFiles& files);
std::string encode_result(const OutpostPiece& piece);
std::string encode_result(const Workspace& workspace);
Result<OutpostLife> decode_life(std::string_view json);
Result<OutpostLeft> decode_left(std::string_view json);
Result<OutpostFiles> decode_files(std::string_view json);
Result<OutpostPiece> decode_piece(std::string_view json);
Result<Workspace> decode_workspace(std::string_view json);

// Whether the text can name the owner of an execution: it becomes the name of a folder.
bool is_owner(std::string_view text);

// Assembles lines from bytes split anywhere.
class OutpostLines {
 public:
  explicit OutpostLines(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  void set_limit(std::size_t bytes_max) { bytes_max_ = bytes_max; }
  void add(std::string_view bytes) { text_ += bytes; }
  // The next whole line, without its newline; absent if incomplete. limit_reached: it is too long.
  Result<std::optional<std::string>> next();
  // The bytes after the last line taken.
  std::string take_rest();

 private:
  std::size_t bytes_max_;
  std::string text_;
  std::size_t at_ = 0;        // of the next line
  std::size_t searched_ = 0;  // no newline before this position
};

}  // namespace perdure
