// toml++ throws; nothing of that leaves this file. Each key is taken out of its table as it is
// read, so that what is left over is what nobody knows.
#include "main/config.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace perdure {
namespace {

class Table {
 public:
  Table(toml::table& table, std::string name) : table_(table), name_(std::move(name)) {}

  Result<> take(const char* key, std::string& out) { return take_value(key, out, "a text"); }
  Result<> take(const char* key, bool& out) { return take_value(key, out, "true or false"); }
  Result<> take(const char* key, std::int64_t& out) {
    TRY_VOID(take_value(key, out, "a number"));
    if (out < 0) return fail(Code::invalid_argument, name_ + key + ": must not be negative");
    return {};
  }
  Result<> take(const char* key, std::size_t& out) {
    auto number = static_cast<std::int64_t>(out);
    TRY_VOID(take(key, number));
    out = static_cast<std::size_t>(number);
    return {};
  }
  Result<> take(const char* key, std::vector<std::string>& out) {
    toml::node* const node = table_.get(key);
    if (!node) return {};
    const toml::array* const array = node->as_array();
    if (!array) return wrong(*node, key, "a list of texts");
    out.clear();
    for (const toml::node& item : *array) {
      if (!item.is_string()) return wrong(item, key, "a list of texts");
      out.push_back(item.as_string()->get());
    }
    table_.erase(key);
    return {};
  }
  Result<> take(const char* key, std::map<std::string, std::string>& out) {
    toml::node* const node = table_.get(key);
    if (!node) return {};
    const toml::table* const inner = node->as_table();
    if (!inner) return wrong(*node, key, "a table of texts");
    out.clear();
    for (const auto& [name, value] : *inner) {
      if (!value.is_string()) return wrong(value, key, "a table of texts");
      out.emplace(std::string(name.str()), value.as_string()->get());
    }
    table_.erase(key);
    return {};
  }
  template <class Enum>
  Result<> take_enum(const char* key, Enum& out) {
    toml::node* const node = table_.get(key);
    if (!node) return {};
    const auto parsed = enum_parse<Enum>(node->value_or(std::string_view()));
    if (parsed) {
      out = *parsed;
      table_.erase(key);
      return {};
    }
    std::string wanted = "one of";
    for (const std::string_view text : EnumText<Enum>::names) wanted += " " + std::string(text);
    return wrong(*node, key, wanted.c_str());
  }
  toml::table* take_table(const char* key) {
    toml::node* const node = table_.get(key);
    return node ? node->as_table() : nullptr;
  }
  void drop(const char* key) { table_.erase(key); }

  // Nothing may be left.
  Result<> end() const {
    if (table_.empty()) return {};
    const auto& [key, node] = *table_.begin();
    return fail(Code::invalid_argument, "line " + std::to_string(node.source().begin.line) +
                                            ": there is no setting '" + name_ +
                                            std::string(key.str()) + "'");
  }

 private:
  template <class T>
  Result<> take_value(const char* key, T& out, const char* wanted) {
    toml::node* const node = table_.get(key);
    if (!node) return {};
    const auto value = node->value_exact<T>();
    if (!value) return wrong(*node, key, wanted);
    out = *value;
    table_.erase(key);
    return {};
  }
  Result<> wrong(const toml::node& node, const char* key, const char* wanted) const {
    return fail(Code::invalid_argument, "line " + std::to_string(node.source().begin.line) + ": " +
                                            name_ + key + " must be " + wanted);
  }

  toml::table& table_;
  std::string name_;
};

Result<AgentDefinition> read_agent(const std::string& name, toml::table& table) {
  Table from(table, "agents." + name + ".");
  AgentDefinition agent{.profile = {.name = name}, .title = name};
  AgentProfile& profile = agent.profile;
  TRY_VOID(from.take("title", agent.title));
  TRY_VOID(from.take("command", agent.command));
  TRY_VOID(from.take("env", agent.env));
  TRY_VOID(from.take("env_pass", agent.env_pass));
  TRY_VOID(from.take("supports_session_resume", profile.supports_session_resume));
  TRY_VOID(from.take("native_session_resume", profile.native_session_resume));
  TRY_VOID(from.take("history_context_injection", profile.history_context_injection));
  TRY_VOID(from.take("steer", profile.steer));
  TRY_VOID(from.take("resume_command", agent.resume_command));
  TRY_VOID(from.take("fork_command", agent.fork_command));
  TRY_VOID(from.take("continue_command", agent.continue_command));
  TRY_VOID(from.take("login_hint", agent.login_hint));
  AgentQuirks& quirks = agent.quirks;
  TRY_VOID(from.take("protocol_version", quirks.protocol_version));
  TRY_VOID(from.take("load_settle_ms", quirks.load_settle_ms));
  TRY_VOID(from.take("stop_grace_ms", quirks.stop_grace_ms));
  TRY_VOID(from.take("stall_ms", quirks.stall_ms));
  TRY_VOID(from.take("clear_commands", quirks.clear_commands));
  TRY_VOID(from.take("fs", quirks.fs));
  TRY_VOID(from.take("terminal", quirks.terminal));
  TRY_VOID(from.end());
  if (agent.command.empty()) {
    return fail(Code::invalid_argument, "agents." + name + ".command is missing");
  }
  return agent;
}

Result<> read_agents(Table& top, Config& config) {
  toml::table* const agents = top.take_table("agents");
  if (!agents) return {};
  for (auto&& [name, node] : *agents) {
    toml::table* const table = node.as_table();
    const std::string key(name.str());
    if (!table) return fail(Code::invalid_argument, "agents." + key + " must be a table");
    config.agents.push_back(TRY(read_agent(key, *table)));
  }
  top.drop("agents");
  return {};
}

Result<> read_sessions(Table& top, Config& config) {
  toml::table* const table = top.take_table("sessions");
  if (!table) return {};
  Table from(*table, "sessions.");
  TRY_VOID(from.take_enum("resume", config.policy.resume));
  TRY_VOID(from.take_enum("inject", config.policy.inject));
  TRY_VOID(from.take("survive", config.policy.survive));
  TRY_VOID(from.take("auto_continue", config.policy.auto_continue));
  TRY_VOID(from.take("wait_ms", config.policy.wait_ms));
  TRY_VOID(from.take("resume_on_open", config.resume_on_open));
  TRY_VOID(from.take("resume_parallel", config.resume_parallel));
  TRY_VOID(from.take("confine", config.confine));
  TRY_VOID(from.end());
  const std::string& open = config.resume_on_open;
  if (open != "active" && open != "always" && open != "never") {
    return fail(Code::invalid_argument,
                "sessions.resume_on_open must be one of active, always, never");
  }
  top.drop("sessions");
  return {};
}

Result<> read_limits(Table& top, Config& config) {
  toml::table* const table = top.take_table("limits");
  if (!table) return {};
  Table from(*table, "limits.");
  TRY_VOID(from.take("live_agents", config.live_agents_max));
  TRY_VOID(from.take("log_bytes", config.log_bytes_max));
  TRY_VOID(from.take("log_files", config.log_files));
  TRY_VOID(from.take("streams_per_principal", config.streams_per_principal_max));
  TRY_VOID(from.end());
  top.drop("limits");
  return {};
}

Result<> read_notify(Table& top, Config& config) {
  toml::table* const table = top.take_table("notify");
  if (!table) return {};
  Table from(*table, "notify.");
  TRY_VOID(from.take("webhook_url", config.notify.webhook_url));
  TRY_VOID(from.take("webhook_secret", config.notify.webhook_secret));
  TRY_VOID(from.take("command", config.notify.command));
  TRY_VOID(from.take("events", config.notify.events));
  TRY_VOID(from.take("debounce_ms", config.notify.debounce_ms));
  TRY_VOID(from.end());
  top.drop("notify");
  return {};
}

Result<Config> read_tables(toml::table& table) {
  Config config;
  Table top(table, "");
  const std::string listen_before = std::exchange(config.listen, "");
  TRY_VOID(top.take("listen", config.listen));
  config.listen_given = !config.listen.empty();
  if (!config.listen_given) config.listen = listen_before;
  TRY_VOID(top.take("public_urls", config.public_urls));
  TRY_VOID(top.take("tls_certificate", config.tls_certificate));
  TRY_VOID(top.take("tls_key", config.tls_key));
  TRY_VOID(top.take("default_agent", config.default_agent));
  TRY_VOID(read_agents(top, config));
  TRY_VOID(read_sessions(top, config));
  TRY_VOID(read_limits(top, config));
  TRY_VOID(read_notify(top, config));
  TRY_VOID(top.end());
  if (config.tls_certificate.empty() != config.tls_key.empty()) {
    return fail(Code::invalid_argument, "tls_certificate and tls_key belong together");
  }
  return config;
}

toml::array array_of(const std::vector<std::string>& texts) {
  toml::array out;
  for (const std::string& text : texts) out.push_back(text);
  return out;
}

}  // namespace

Result<Config> parse_config(std::string_view text, const std::string& name) {
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return fail(Code::invalid_argument, name + ": line " +
                                            std::to_string(error.source().begin.line) + ": " +
                                            std::string(error.description()));
  }
  Result<Config> config = read_tables(parsed.table());
  if (!config) return std::unexpected(std::move(config).error().with_context(name));
  return config;
}

Result<Config> read_config(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return Config{};
    return fail(Code::unavailable, path + ": " + std::strerror(errno));
  }
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return parse_config(text, path);
}

std::string show_config(const Config& config) {
  toml::table sessions{{"resume", enum_text(config.policy.resume)},
                       {"inject", enum_text(config.policy.inject)},
                       {"survive", config.policy.survive},
                       {"auto_continue", config.policy.auto_continue},
                       {"wait_ms", config.policy.wait_ms},
                       {"resume_on_open", config.resume_on_open},
                       {"resume_parallel", static_cast<std::int64_t>(config.resume_parallel)},
                       {"confine", config.confine}};
  toml::table limits{
      {"live_agents", static_cast<std::int64_t>(config.live_agents_max)},
      {"log_bytes", config.log_bytes_max},
      {"log_files", static_cast<std::int64_t>(config.log_files)},
      {"streams_per_principal", static_cast<std::int64_t>(config.streams_per_principal_max)}};
  toml::table notify{{"webhook_url", config.notify.webhook_url},
                     {"command", array_of(config.notify.command)},
                     {"events", array_of(config.notify.events)},
                     {"debounce_ms", config.notify.debounce_ms}};
  toml::table agents;
  for (const AgentDefinition& agent : config.agents) {
    agents.insert(agent.profile.name, toml::table{{"title", agent.title},
                                                  {"command", array_of(agent.command)},
                                                  {"env_pass", array_of(agent.env_pass)}});
  }
  const toml::table all{{"listen", config.listen},
                        {"public_urls", array_of(config.public_urls)},
                        {"tls_certificate", config.tls_certificate},
                        {"tls_key", config.tls_key},
                        {"default_agent", config.default_agent},
                        {"sessions", sessions},
                        {"limits", limits},
                        {"notify", notify},
                        {"agents", agents}};
  std::ostringstream out;
  out << all << "\n";
  return out.str();
}

}  // namespace perdure
