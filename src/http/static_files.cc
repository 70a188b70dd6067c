#include "http/static_files.h"

#include <algorithm>
#include <string>

#include <zlib.h>

#include "base/check.h"
#include "http/letters.h"

namespace perdure {
namespace {

// Whether a parameter list like "q=0.0" says that the thing is not wanted.
bool is_zero_quality(std::string_view parameters) {
  const std::size_t at = parameters.find("q=");
  if (at == std::string_view::npos) return false;
  const std::string_view value = trim_blanks(parameters.substr(at + 2));
  return !value.empty() && value.find_first_not_of("0.") == std::string_view::npos;
}

bool accepts_gzip(const HttpRequest& request) {
  std::optional<bool> any;
  for (const HttpHeader& header : request.headers) {
    if (!equal_ignoring_case(header.name, "accept-encoding")) continue;
    std::string_view rest = header.value;
    while (!rest.empty()) {
      const std::string_view item = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), item.size() + 1));
      const std::size_t mark = std::min(item.find(';'), item.size());
      const std::string_view name = trim_blanks(item.substr(0, mark));
      const bool wanted = !is_zero_quality(item.substr(mark));
      if (equal_ignoring_case(name, "gzip")) return wanted;
      if (name == "*") any = wanted;
    }
  }
  return any.value_or(false);
}

// Weak comparison: the compressed and the plain form are the same file.
bool has_already(const HttpRequest& request, std::string_view etag) {
  const auto known = request.header("if-none-match");
  if (!known) return false;
  std::string_view rest = *known;
  while (!rest.empty()) {
    std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    item = trim_blanks(item);
    if (item == "*") return true;
    if (item.starts_with("W/")) item.remove_prefix(2);
    if (item.size() == etag.size() + 2 && item.substr(1, etag.size()) == etag) return true;
  }
  return false;
}

std::string inflate_file(const EmbeddedFile& file) {
  std::string out(file.plain_bytes, '\0');
  z_stream stream{};
  constexpr int gzip_window = 15 + 16;
  CHECK(::inflateInit2(&stream, gzip_window) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.gzip.data()));
  stream.avail_in = static_cast<uInt>(file.gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int how = ::inflate(&stream, Z_FINISH);
  ::inflateEnd(&stream);
  CHECK(how == Z_STREAM_END && stream.total_out == file.plain_bytes, file.path);
  return out;
}

}  // namespace

std::optional<HttpResponse> answer_static_file(std::span<const EmbeddedFile> files,
                                               const HttpRequest& request) {
  const std::string_view path =
      request.path == "/" ? "/index.html" : std::string_view(request.path);
  const auto found = std::ranges::find(files, path, &EmbeddedFile::path);
  if (found == files.end()) return std::nullopt;
  HttpResponse out;
  out.headers = {
      {"ETag", "W/\"" + std::string(found->etag) + "\""},
      {"Cache-Control", found->is_immutable ? "public, max-age=31536000, immutable" : "no-cache"},
      {"Vary", "Accept-Encoding"}};
  if (has_already(request, found->etag)) {
    out.status = 304;
    return out;
  }
  out.headers.push_back({"Content-Type", std::string(found->content_type)});
  if (accepts_gzip(request)) {
    out.headers.push_back({"Content-Encoding", "gzip"});
    out.fixed_body = found->gzip;
  } else {
    out.body = inflate_file(*found);
  }
  return out;
}

const std::vector<HttpHeader>& security_headers() {
  static const std::vector<HttpHeader> headers{
      {"Content-Security-Policy",
       "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; "
       "frame-ancestors 'none'; require-trusted-types-for 'script'"},
      {"X-Content-Type-Options", "nosniff"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Referrer-Policy", "no-referrer"}};
  return headers;
}

}  // namespace perdure
