// The web page's files, served from the program's memory. Files that compress well are stored only
// compressed, and inflated per answer for clients that cannot decompress.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "net/message.h"

namespace perdure {

struct EmbeddedFile {
  std::string_view path;  // "/index.html"
  std::string_view content_type;
  std::string_view etag;   // without quotes
  std::string_view plain;  // either this, or the two compressed forms
  std::string_view gzip;
  std::string_view brotli;
  std::size_t plain_bytes = 0;
  bool is_immutable = false;  // its name contains its hash, so clients may keep it
};

// From the target made by perdure_embed() (cmake/embed.cmake) that the program is linked with.
std::span<const EmbeddedFile> embedded_files();

// Whether the page has a view at this path. All of these serve "/index.html", which reads the
// address itself.
bool is_route_of_page(std::string_view path);

// The answer to a GET: 200, or 304 if the client has the file already; nullopt if neither a file
// nor a route of the page exists. The files must live as long as the program.
std::optional<HttpResponse> answer_static_file(std::span<const EmbeddedFile> files,
                                               const HttpRequest& request);

// Headers of every answer to a browser; the router adds them.
const std::vector<HttpHeader>& security_headers();

}  // namespace perdure
