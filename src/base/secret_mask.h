// Keeps values that Perdure knows to be secret out of its output: exports, notifications, the log.
// All use one rule, so that a value is hidden everywhere or nowhere.
//
// Only values that differ from ordinary text are hidden. Hiding a value of fewer than 8 bytes, a
// number, a path or a plain word would blank out half of a transcript and thereby reveal the value;
// docs/configuration.md has the whole rule.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"

namespace perdure {

class SecretMask {
 public:
  static constexpr std::size_t bytes_min = 8;

  // A variable or header: hidden if its name or its form shows that it is a secret.
  void add(std::string_view name, std::string_view value);
  // A value that is secret in any form.
  void add_secret(std::string_view value);
  // Of an address: user and password, values of its query, and parts of its path that are tokens.
  void add_url(std::string_view url);
  // The environment and the headers of an agent's MCP servers: an array as in ACP.
  void add_mcp_servers(const RawJson& servers);
  void add(const SecretMask& other);

  // Replaces each value, and each secret issued by Perdure itself, by `***`.
  std::string mask(std::string_view text) const;
  // The same for JSON text. Empty if the result is no longer JSON.
  RawJson mask(const RawJson& json) const;

  std::size_t size() const { return values_.size(); }

 private:
  void keep(std::string value);
  std::string without(std::string_view text, bool is_json) const;

  std::vector<std::string> values_;  // longest first, so that no part of a longer one remains
};

// Whether a variable with this value holds a secret.
bool is_secret_value(std::string_view name, std::string_view value);

// The address with `***` in place of its secret parts, for people.
std::string masked_url(std::string_view url);

}  // namespace perdure
