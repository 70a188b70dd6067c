#include "net/tls/certificate.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <unistd.h>

namespace perdure {
namespace {

constexpr long valid_seconds = 100L * 366 * 86'400;

struct Free {
  void operator()(EVP_PKEY* key) const { ::EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { ::X509_free(certificate); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Certificate = std::unique_ptr<X509, Free>;
using File = std::unique_ptr<std::FILE, Free>;

Result<File> open_private(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  File file(descriptor < 0 ? nullptr : ::fdopen(descriptor, "w"));
  if (file) return file;
  return fail(Code::unavailable, path + ": " + std::generic_category().message(errno));
}

Certificate sign(const Key& key, const std::string& name) {
  Certificate out(::X509_new());
  std::uint32_t serial = 1;
  (void)::RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
  ::X509_set_version(out.get(), 2);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(out.get()), static_cast<long>(serial));
  ::X509_gmtime_adj(::X509_getm_notBefore(out.get()), -86'400);
  ::X509_gmtime_adj(::X509_getm_notAfter(out.get()), valid_seconds);
  ::X509_set_pubkey(out.get(), key.get());
  X509_NAME* const subject = ::X509_get_subject_name(out.get());
  ::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  ::X509_set_issuer_name(out.get(), subject);
  if (::X509_sign(out.get(), key.get(), ::EVP_sha256()) == 0) return nullptr;
  return out;
}

}  // namespace

Result<> make_certificate(const TlsFiles& files, const std::string& name) {
  const Key key(::EVP_EC_gen("P-256"));
  const Certificate certificate = key ? sign(key, name) : nullptr;
  if (!certificate) return fail(Code::internal, "OpenSSL makes no certificate");
  const File key_file = TRY(open_private(files.key));
  const File file = TRY(open_private(files.certificate));
  const bool written = ::PEM_write_PrivateKey(key_file.get(), key.get(), nullptr, nullptr, 0,
                                              nullptr, nullptr) == 1 &&
                       ::PEM_write_X509(file.get(), certificate.get()) == 1 &&
                       std::fflush(key_file.get()) == 0 && std::fflush(file.get()) == 0;
  if (written) return {};
  return fail(Code::unavailable, files.certificate + " cannot be written");
}

Result<Hash> certificate_fingerprint(const std::string& path) {
  const File file(std::fopen(path.c_str(), "re"));
  if (!file) return fail(Code::not_found, path + ": " + std::generic_category().message(errno));
  const Certificate certificate(::PEM_read_X509(file.get(), nullptr, nullptr, nullptr));
  Hash out;
  if (certificate &&
      ::X509_digest(certificate.get(), ::EVP_sha256(), out.bytes.data(), nullptr) == 1) {
    return out;
  }
  return fail(Code::damaged, path + " holds no certificate");
}

}  // namespace perdure
