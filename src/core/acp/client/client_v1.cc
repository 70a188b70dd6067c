// Protocol v1, which every agent supports.
#include "core/acp/client/client_dialect.h"

namespace perdure::acp {
namespace {

void write_folders(JsonWriter& writer, const SessionSetup& setup) {
  writer.key("cwd").string(setup.cwd);
  // Several agents reject a request without the list, even if it would be empty.
  writer.key("mcpServers").raw(setup.mcp_servers.text.empty() ? "[]" : setup.mcp_servers.text);
  if (setup.additional_directories.empty()) return;
  writer.key("additionalDirectories").begin_array();
  for (const std::string& directory : setup.additional_directories) writer.string(directory);
  writer.end_array();
}

std::string reopening_params(std::string_view session_id, const SessionSetup& setup) {
  JsonWriter writer;
  writer.begin_object().key("sessionId").string(session_id);
  write_folders(writer, setup);
  return std::move(writer.end_object()).take();
}

class ClientV1 final : public ClientDialect {
 public:
  Spoken initialize(const ClientSetup& setup) const override {
    JsonWriter writer;
    writer.begin_object().key("protocolVersion").number(1);
    writer.key("clientCapabilities").begin_object();
    writer.key("fs").begin_object();
    writer.key("readTextFile").boolean(setup.fs).key("writeTextFile").boolean(setup.fs);
    writer.end_object().key("terminal").boolean(setup.terminal);
    // Requests data that would otherwise arrive as agent text or not at all.
    writer.key("session").raw(R"({"configOptions":{"boolean":{}},"notices":{},"compaction":{}})");
    writer.end_object().key("clientInfo").begin_object();
    writer.key("name").string(setup.client_name).key("version").string(setup.client_version);
    return {"initialize", std::move(writer.end_object().end_object()).take()};
  }
  Spoken authenticate(std::string_view method_id) const override {
    JsonWriter writer;
    writer.begin_object().key("methodId").string(method_id).end_object();
    return {"authenticate", std::move(writer).take()};
  }
  Spoken open_new(const SessionSetup& setup) const override {
    JsonWriter writer;
    writer.begin_object();
    write_folders(writer, setup);
    return {"session/new", std::move(writer.end_object()).take()};
  }
  Spoken load(std::string_view session_id, const SessionSetup& setup) const override {
    return {"session/load", reopening_params(session_id, setup)};
  }
  Spoken resume(std::string_view session_id, const SessionSetup& setup) const override {
    return {"session/resume", reopening_params(session_id, setup)};
  }
  Spoken set_option(const OptionChange& change) const override {
    JsonWriter writer;
    writer.begin_object().key("sessionId").string(change.session_id);
    switch (change.handle.means) {
      case OptionHandle::Means::mode:
        writer.key("modeId").string(change.value).end_object();
        return {"session/set_mode", std::move(writer).take()};
      case OptionHandle::Means::model:
        // Removed from the protocol. Agents that still list `models` may accept it: untested.
        writer.key("modelId").string(change.value).end_object();
        return {"session/set_model", std::move(writer).take()};
      case OptionHandle::Means::config_option: break;
    }
    writer.key("configId").string(change.handle.config_id);
    if (change.handle.is_boolean) {
      writer.key("type").string("boolean").key("value").boolean(change.value == "true");
    } else {
      writer.key("value").string(change.value);
    }
    return {"session/set_config_option", std::move(writer.end_object()).take()};
  }
  bool prompt_answer_ends_turn() const override { return true; }
};

}  // namespace

const ClientDialect& client_dialect_v1() {
  static const ClientV1 dialect;
  return dialect;
}

}  // namespace perdure::acp
