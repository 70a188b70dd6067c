// Any bytes as config.toml are an error that names the file, or settings that print and parse to
// the same settings. Secrets are not printed, so they are not compared.
#include "daemon/setup/config.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perdure;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Result<Config> config = parse_config(text, "config.toml");
  if (!config) {
    CHECK(config.error().code() == Code::invalid_argument);
    CHECK(config.error().message().find("config.toml") != std::string::npos);
    return 0;
  }
  config->notify.webhook_secret.clear();
  const std::string shown = show_config(*config);
  Result<Config> again = parse_config(shown, "shown");
  CHECK(again.has_value(), shown);
  again->listen_given = config->listen_given;
  CHECK(show_config(*again) == shown, shown);
  return 0;
}
