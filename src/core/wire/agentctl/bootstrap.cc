// Bootstrap message and answer, encoded by the field codec.
#include "core/wire/agentctl/bootstrap.h"

#include <utility>

#include "base/json/fields_json.h"

namespace perdure {
namespace {

// The version is checked first: another version may change the meaning of any member.
Result<> check_version(std::string_view text) {
  TRY_VOID(json_validate(text));
  Members members;
  if (auto read = members.read(text); !read) {
    return std::unexpected(std::move(read).error().error());
  }
  std::int64_t version = 0;
  if (auto decoded = decode_json(members.take("v"), version); !decoded) {
    return fail(Code::invalid_argument, "v: expected a bootstrap version");
  }
  if (version == bootstrap_version) return {};
  return fail(Code::format_too_new, "bootstrap version " + std::to_string(version) + ", this is " +
                                        std::to_string(bootstrap_version));
}

template <class T>
Result<WithUnknown<T>> decode_versioned(std::string_view text) {
  TRY_VOID(check_version(text));
  return decode_fields<T>(text);
}

// Only the names: a value may be a secret.
void append_names(std::string& out, std::string_view unknown) {
  for (JsonWalk walk(unknown); walk.next();) {
    if (walk.quoted_key() == "\"agent\"" || walk.quoted_key() == "\"times\"") {
      append_names(out, walk.value());
    } else {
      out += ' ';
      out += walk.quoted_key().substr(0, 64);
    }
  }
}

}  // namespace

std::string session_lock_name(SessionId session) { return session.text() + ".lock"; }

std::string exec_mark(const OwnedExec& owned) {
  return "PERDURE_EXEC_MARK=" + owned.exec.text() + "@" + owned.owner;
}

std::string session_mark(const Bootstrap& bootstrap) {
  return "PERDURE_SESSION_MARK=" + bootstrap.session.text() + "@" + bootstrap.owner;
}

std::vector<std::string> marks_of(const Bootstrap& bootstrap) {
  return {"PERDURE_SESSION=" + bootstrap.session.text(), "PERDURE_EXEC=" + bootstrap.exec.text(),
          session_mark(bootstrap), exec_mark({bootstrap.exec, bootstrap.owner})};
}

std::string encode_bootstrap(const Bootstrap& bootstrap) { return encode_fields(bootstrap); }

Result<Bootstrap> decode_bootstrap(std::string_view text) {
  auto decoded = TRY(decode_versioned<Bootstrap>(text));
  if (!decoded.unknown.text.empty()) {
    std::string message = "the bootstrap has members that are not known:";
    append_names(message, decoded.unknown.text);
    return fail(Code::format_too_new, std::move(message));
  }
  const Bootstrap& value = decoded.value;
  if (!value.session || !value.exec || value.gen == 0 || value.secret.empty() ||
      value.run_folder.empty() || value.spool_folder.empty() || value.cwd.empty() ||
      value.spool_bytes == 0) {
    return fail(Code::invalid_argument,
                "the bootstrap lacks one of session_id, exec_id, gen, "
                "secret, run_folder, spool_folder, cwd, spool_bytes");
  }
  return std::move(decoded.value);
}

std::string encode_bootstrap_answer(const BootstrapAnswer& answer) { return encode_fields(answer); }

Result<BootstrapAnswer> decode_bootstrap_answer(std::string_view text) {
  return std::move(TRY(decode_versioned<BootstrapAnswer>(text)).value);
}

}  // namespace perdure
