// Where the daemon is: the socket in its data folder, or a URL. A token is never sent in the clear
// to another machine.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/client.h"

namespace perdure::client {

// The value of an environment variable; nothing when it is not set or empty.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

// $PERDURE_HOME, else $XDG_STATE_HOME/perdure, else ~/.local/state/perdure. invalid_argument when
// none of the three is set.
Result<std::string> data_folder_of(const Environment& environment);

// http://host[:port] or https://host[:port], nothing behind it but a slash. invalid_argument for
// everything else; `denied` for http:// to another machine.
Result<HttpEndpoint> parse_endpoint(std::string_view url);

HttpEndpoint socket_endpoint(const std::string& data_folder);

// What the Host header says.
std::string host_header(const HttpEndpoint& endpoint);

}  // namespace perdure::client
