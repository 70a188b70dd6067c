// Bootstrap message and answer by the field codec.
#include "wire/bootstrap.h"

#include <utility>

#include "base/fields_json.h"

namespace perdure {
namespace {

template <class T>
Result<WithUnknown<T>> decode_versioned(std::string_view text) {
  auto decoded = TRY(decode_fields<T>(text));
  if (decoded.value.version != bootstrap_version) {
    return fail(Code::format_too_new, "bootstrap version " + std::to_string(decoded.value.version) +
                                          ", this is " + std::to_string(bootstrap_version));
  }
  return decoded;
}

}  // namespace

std::string encode_bootstrap(const Bootstrap& bootstrap) { return encode_fields(bootstrap); }

Result<Bootstrap> decode_bootstrap(std::string_view text) {
  auto decoded = TRY(decode_versioned<Bootstrap>(text));
  if (!decoded.unknown.text.empty()) {
    return fail(Code::format_too_new,
                "the bootstrap has members that are not known: " + decoded.unknown.text);
  }
  const Bootstrap& value = decoded.value;
  if (!value.session || !value.exec || value.gen == 0 || value.secret.empty() ||
      value.run_folder.empty() || value.spool_folder.empty() || value.cwd.empty()) {
    return fail(Code::invalid_argument,
                "the bootstrap lacks one of session_id, exec_id, gen, "
                "secret, run_folder, spool_folder, cwd");
  }
  return std::move(decoded.value);
}

std::string encode_bootstrap_answer(const BootstrapAnswer& answer) { return encode_fields(answer); }

Result<BootstrapAnswer> decode_bootstrap_answer(std::string_view text) {
  return std::move(TRY(decode_versioned<BootstrapAnswer>(text)).value);
}

}  // namespace perdure
