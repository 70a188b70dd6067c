// Protocol v2, a draft that some agents support already: load is a resume with replay, modes are
// options, and a turn ends with a state.
#include "core/acp/client/client_dialect.h"
#include "core/acp/updates/slices.h"

namespace perdure::acp {
namespace {

// In v1 a server on stdio is the one without a type; v2 requires the type.
void write_servers(JsonWriter& writer, std::string_view servers) {
  writer.begin_array();
  for (const std::string_view server : array_elements(servers)) {
    if (Slices(server).has("type") || !server.starts_with('{')) {
      writer.raw(server);
      continue;
    }
    writer.begin_object().key("type").string("stdio");
    for (JsonWalk walk(server); walk.next();) {
      writer.key(json_string(walk.quoted_key()).value_or(std::string())).raw(walk.value());
    }
    writer.end_object();
  }
  writer.end_array();
}

void write_folders(JsonWriter& writer, const SessionSetup& setup) {
  writer.key("cwd").string(setup.cwd);
  if (!setup.mcp_servers.text.empty()) {
    write_servers(writer.key("mcpServers"), setup.mcp_servers.text);
  }
  if (setup.additional_directories.empty()) return;
  writer.key("additionalDirectories").begin_array();
  for (const std::string& directory : setup.additional_directories) writer.string(directory);
  writer.end_array();
}

class ClientV2 final : public ClientDialect {
 public:
  Spoken initialize(const ClientSetup& setup) const override {
    JsonWriter writer;
    writer.begin_object().key("protocolVersion").number(2);
    writer.key("info").begin_object();
    writer.key("name").string(setup.client_name).key("version").string(setup.client_version);
    writer.end_object().key("capabilities").begin_object().end_object();
    return {"initialize", std::move(writer.end_object()).take()};
  }
  Spoken authenticate(std::string_view method_id) const override {
    JsonWriter writer;
    writer.begin_object().key("methodId").string(method_id).end_object();
    return {"auth/login", std::move(writer).take()};
  }
  Spoken open_new(const SessionSetup& setup) const override {
    JsonWriter writer;
    writer.begin_object();
    write_folders(writer, setup);
    return {"session/new", std::move(writer.end_object()).take()};
  }
  Spoken load(std::string_view session_id, const SessionSetup& setup) const override {
    JsonWriter writer;
    writer.begin_object().key("sessionId").string(session_id);
    write_folders(writer, setup);
    writer.key("replayFrom").raw(R"({"type":"start"})");
    return {"session/resume", std::move(writer.end_object()).take()};
  }
  Spoken resume(std::string_view session_id, const SessionSetup& setup) const override {
    JsonWriter writer;
    writer.begin_object().key("sessionId").string(session_id);
    write_folders(writer, setup);
    return {"session/resume", std::move(writer.end_object()).take()};
  }
  Spoken set_option(const OptionChange& change) const override {
    JsonWriter writer;
    writer.begin_object().key("sessionId").string(change.session_id);
    writer.key("configId").string(change.handle.config_id);
    writer.key("type").string(change.handle.is_boolean ? "boolean" : "id").key("value");
    if (change.handle.is_boolean) {
      writer.boolean(change.value == "true");
    } else {
      writer.string(change.value);
    }
    return {"session/set_config_option", std::move(writer.end_object()).take()};
  }
  bool prompt_answer_ends_turn() const override { return false; }
};

}  // namespace

const ClientDialect& client_dialect_v2() {
  static const ClientV2 dialect;
  return dialect;
}

}  // namespace perdure::acp
