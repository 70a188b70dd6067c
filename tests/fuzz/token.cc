// Any bytes as credentials: headers that contain them never crash the parser, and only the exact
// text of a secret has its form.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "core/auth/pipeline.h"
#include "core/auth/secret.h"

namespace perdure {
namespace {

void read_as_headers(std::string_view text) {
  RequestFacts facts{.method = "POST", .target = "/api/login"};
  const std::size_t half = text.size() / 2;
  facts.authorization = {text};
  facts.cookie = {text, text.substr(half)};
  facts.page_key = {text.substr(0, half)};
  facts.content_type = {text};
  facts.idempotency_key = {text};
  const auto credentials = read_credentials(facts, "perdure_7433");
  if (credentials) {
    CHECK(!credentials->bearer.empty());
    CHECK(text.contains(credentials->bearer));
    for (const std::string_view cookie : credentials->cookies) CHECK(!cookie.contains(';'));
  }
  for (const Caller caller : {Caller::program, Caller::page}) {
    const auto json = check_mutation(facts, BodyType::json, caller);
    if (caller == Caller::page) CHECK(!json, "a page without X-Perdure-Client was let pass");
    if (json) CHECK(check_mutation(facts, BodyType::any, caller).has_value());
  }
}

void read_as_secret(std::string_view text) {
  int forms = 0;
  for (const SecretKind kind : {SecretKind::token, SecretKind::launch, SecretKind::ticket,
                                SecretKind::cookie, SecretKind::key}) {
    if (!is_secret(kind, text)) continue;
    ++forms;
    SecretBits bits{};
    const std::string_view digits = text.substr(text.size() - 64);
    for (std::size_t i = 0; i < 64; ++i) {
      const char c = digits[i];
      const auto value = static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
      bits[i / 16] = bits[i / 16] << 4 | value;
    }
    CHECK(make_secret(kind, bits) == text, "a secret has two spellings");
  }
  CHECK(forms <= 1, "a text is a secret of two kinds");
}

}  // namespace
}  // namespace perdure

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  perdure::read_as_headers(text);
  perdure::read_as_secret(text);
  return 0;
}
