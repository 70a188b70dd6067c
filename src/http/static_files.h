// Files that are part of the program (the web page), served from its memory. What compression makes
// smaller is kept compressed only; who cannot take that gets it inflated for each answer.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace perdure {

struct EmbeddedFile {
  std::string_view path;  // "/index.html"
  std::string_view content_type;
  std::string_view etag;   // without quotes
  std::string_view plain;  // either this, or the two compressed forms
  std::string_view gzip;
  std::string_view brotli;
  std::size_t plain_bytes = 0;
  bool is_immutable = false;  // its name holds its hash: it may be kept for ever
};

// Of the target made by perdure_embed() (cmake/embed.cmake) that the program is linked with.
std::span<const EmbeddedFile> embedded_files();

// Whether the page shows something at this path: all of these are "/index.html", which looks at the
// address itself.
bool is_route_of_page(std::string_view path);

// The answer to a GET: 200, or 304 when the client has it already. Nothing when there is neither
// such a file nor such a route of the page. The files live as long as the program.
std::optional<HttpResponse> answer_static_file(std::span<const EmbeddedFile> files,
                                               const HttpRequest& request);

// What every answer to a browser carries: whoever routes adds them.
const std::vector<HttpHeader>& security_headers();

}  // namespace perdure
