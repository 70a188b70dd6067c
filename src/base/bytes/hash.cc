// The only place that calls OpenSSL for digests. A failure means a broken installation: CHECK.
#include "base/bytes/hash.h"

#include <memory>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/check.h"

namespace perdure {
namespace {

struct ContextDeleter {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string Hash::hex() const {
  std::string out;
  append_hex(out);
  return out;
}

void Hash::append_hex(std::string& out) const {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<char, 64> text{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text[2 * i] = digits[bytes[i] >> 4U];
    text[2 * i + 1] = digits[bytes[i] & 15U];
  }
  out.append(text.data(), text.size());
}

Result<Hash> Hash::parse_hex(std::string_view text) {
  Hash out;
  if (text.size() != 64) return fail(Code::invalid_argument, "a hash has 64 hex digits");
  for (std::size_t i = 0; i < 32; ++i) {
    const int high = hex_value(text[2 * i]);
    const int low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return fail(Code::invalid_argument, "a hash is lower-case hex");
    out.bytes[i] = static_cast<unsigned char>(high * 16 + low);
  }
  return out;
}

Hash sha256(std::string_view bytes) {
  // Fetching the algorithm costs more than hashing a record: keep one context per thread.
  thread_local const std::unique_ptr<EVP_MD_CTX, ContextDeleter> context(EVP_MD_CTX_new());
  thread_local EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  CHECK(context != nullptr && algorithm != nullptr);
  Hash out;
  CHECK(EVP_DigestInit_ex2(context.get(), algorithm, nullptr) == 1);
  CHECK(EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1);
  CHECK(EVP_DigestFinal_ex(context.get(), out.bytes.data(), nullptr) == 1);
  return out;
}

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, ContextDeleter> digest{EVP_MD_CTX_new()};
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  CHECK(EVP_DigestInit_ex2(context_->digest.get(), EVP_sha256(), nullptr) == 1);
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) {
  CHECK(context_ != nullptr);
  CHECK(EVP_DigestUpdate(context_->digest.get(), bytes.data(), bytes.size()) == 1);
}

Hash Sha256::take() {
  CHECK(context_ != nullptr);
  Hash out;
  CHECK(EVP_DigestFinal_ex(context_->digest.get(), out.bytes.data(), nullptr) == 1);
  context_.reset();
  return out;
}

Hash hmac_sha256(std::string_view key, std::string_view message) {
  Hash out;
  unsigned int length = 0;
  CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(message.data()), message.size(),
             out.bytes.data(), &length) != nullptr);
  CHECK(length == out.bytes.size());
  return out;
}

bool equal_constant_time(const Hash& a, const Hash& b) {
  return CRYPTO_memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
}

}  // namespace perdure
