#include "net/server/static_files.h"

#include <algorithm>
#include <string>

#include <zlib.h>

#include "base/check.h"
#include "net/websocket/letters.h"

namespace perdure {
namespace {

// Whether a parameter list like "q=0.0" excludes the encoding.
bool is_zero_quality(std::string_view parameters) {
  const std::size_t at = parameters.find("q=");
  if (at == std::string_view::npos) return false;
  const std::string_view value = trim_blanks(parameters.substr(at + 2));
  return !value.empty() && value.find_first_not_of("0.") == std::string_view::npos;
}

bool accepts(const HttpRequest& request, std::string_view coding) {
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
      if (equal_ignoring_case(name, coding)) return wanted;
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

// The smallest form that the client accepts.
void put_body(HttpResponse& out, const HttpRequest& request, const EmbeddedFile& file) {
  if (!file.plain.empty()) {
    out.fixed_body = file.plain;
  } else if (!file.brotli.empty() && accepts(request, "br")) {
    out.headers.push_back({"Content-Encoding", "br"});
    out.fixed_body = file.brotli;
  } else if (accepts(request, "gzip")) {
    out.headers.push_back({"Content-Encoding", "gzip"});
    out.fixed_body = file.gzip;
  } else {
    out.body = inflate_file(file);
  }
}

// "/s/" followed by exactly one segment.
bool is_one_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && path.size() > folder.size() &&
         !path.substr(folder.size()).contains('/');
}

}  // namespace

bool is_route_of_page(std::string_view path) {
  constexpr std::string_view routes[] = {"/", "/tasks", "/search", "/settings", "/new"};
  return std::ranges::find(routes, path) != std::end(routes) || is_one_below(path, "/s/") ||
         is_one_below(path, "/t/") || is_one_below(path, "/settings/");
}

std::optional<HttpResponse> answer_static_file(std::span<const EmbeddedFile> files,
                                               const HttpRequest& request) {
  const std::string_view path =
      is_route_of_page(request.path) ? "/index.html" : std::string_view(request.path);
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
  put_body(out, request, *found);
  return out;
}

const std::vector<HttpHeader>& security_headers() {
  static const std::vector<HttpHeader> headers{
      // `perdure` makes markup from text of agents, `svelte-trusted-html` from the page's own
      // templates.
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
       "img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; manifest-src 'self'; "
       "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
       "require-trusted-types-for 'script'; trusted-types perdure svelte-trusted-html"},
      {"X-Content-Type-Options", "nosniff"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Referrer-Policy", "no-referrer"}};
  return headers;
}

}  // namespace perdure
