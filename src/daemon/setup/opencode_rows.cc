#include "daemon/setup/opencode_rows.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/json/json.h"
#include "base/limits.h"
#include "store/sqlite/sqlite_db.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

// A temporary folder, removed with its contents.
class Scratch {
 public:
  static Result<Scratch> make() {
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    std::string path = (error ? fs::path("/tmp") : temporary) / "perdure-adopt-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) return fail(Code::unavailable, "no temporary folder");
    return Scratch(std::move(path));
  }
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Result<> copy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(from, error))) {
    return fail(Code::not_found, "there is no " + from.string());
  }
  if (fs::file_size(from, error) > adopt_file_bytes_max) {
    return fail(Code::limit_reached, "it is longer than 256 MiB");
  }
  if (!fs::copy_file(from, to, error)) return fail(Code::unavailable, error.message());
  return {};
}

// The value if it is valid JSON, otherwise null.
std::string_view json_or_null(std::string_view text) {
  return json_validate(text) ? text : std::string_view("null");
}

Result<> add_parts(Db& db, const std::string& message, std::string& out) {
  Statement parts =
      TRY(db.prepare("SELECT time_created, data FROM part WHERE message_id = ?1 ORDER BY id"));
  parts.bind_text(1, message);
  while (TRY(parts.step())) {
    JsonWriter json;
    json.begin_object().key("part").begin_object();
    json.key("message_id").string(message).key("time_created").number(parts.int64(0));
    json.key("data").raw(json_or_null(parts.bytes(1))).end_object().end_object();
    out += json.text() + "\n";
  }
  return {};
}

Result<> add_messages(Db& db, const std::string& session, std::string& out) {
  Statement messages =
      TRY(db.prepare("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY id"));
  messages.bind_text(1, session);
  while (TRY(messages.step())) {
    const std::string id(messages.bytes(0));
    JsonWriter json;
    json.begin_object().key("message").begin_object().key("id").string(id);
    json.key("data").raw(json_or_null(messages.bytes(1))).end_object().end_object();
    out += json.text() + "\n";
    TRY_VOID(add_parts(db, id, out));
    if (out.size() > adopt_file_bytes_max) return fail(Code::limit_reached, "it is too long");
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> opencode_sessions(const std::string& file) {
  const Scratch scratch = TRY(Scratch::make());
  const std::string copied = scratch.path() + "/opencode.db";
  TRY_VOID(copy(file, copied));
  // The log that is not in the database yet. Often there is none.
  if (const Result<> wal = copy(file + "-wal", copied + "-wal");
      !wal && wal.error().code() != Code::not_found) {
    return std::unexpected(wal.error());
  }
  Db db = TRY(Db::open({.path = copied, .vfs = {}, .flags = SQLITE_OPEN_READWRITE}));
  Statement sessions = TRY(db.prepare(
      "SELECT id, directory, title FROM session WHERE parent_id IS NULL ORDER BY time_created"));
  std::vector<std::string> out;
  while (TRY(sessions.step())) {
    const std::string id(sessions.bytes(0));
    JsonWriter json;
    json.begin_object().key("session").begin_object().key("id").string(id);
    json.key("directory").string(sessions.bytes(1));
    json.key("title").string(sessions.bytes(2)).end_object().end_object();
    out.push_back(json.text() + "\n");
    TRY_VOID(add_messages(db, id, out.back()));
  }
  return out;
}

}  // namespace perdure
