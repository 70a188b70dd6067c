// Where the daemon is: the socket in its data folder, or a URL. A token is never sent unencrypted
// to another machine.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/client.h"

namespace perdure::client {

// The value of an environment variable; nothing if it is unset or empty.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

// $PERDURE_HOME, or $XDG_STATE_HOME/perdure, or ~/.local/state/perdure. invalid_argument if none of
// the three is set.
Result<std::string> data_folder_of(const Environment& environment);

// http://host[:port] or https://host[:port], optionally followed by a slash. invalid_argument for
// everything else; `denied` for http:// to another machine.
Result<HttpEndpoint> parse_endpoint(std::string_view url);

HttpEndpoint socket_endpoint(const std::string& data_folder);

// The value of the Host header.
std::string host_header(const HttpEndpoint& endpoint);

}  // namespace perdure::client
