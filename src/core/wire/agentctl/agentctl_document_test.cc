// docs/protocol/agentctl.md is a contract for independent implementations: its tables must have
// exactly the packets, frames, commands, fields, limits and bytes of this code.
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "core/session/effects.h"
#include "core/session/inputs.h"
#include "core/wire/agentctl/agentctl.h"
#include "core/wire/agentctl/bootstrap.h"
#include "core/wire/agentctl/frame.h"
#include "core/wire/agentctl/spool.h"
#include "core/wire/journal/schema_of.h"

namespace perdure {

template <>
inline constexpr std::string_view struct_name<AgentLaunch> = "agent";
template <>
inline constexpr std::string_view struct_name<AgentTimes> = "times";

namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

const std::string& document() {
  static const std::string text = [] {
    std::ifstream in(PERDURE_SOURCE_DIR "/docs/protocol/agentctl.md");
    return (std::ostringstream() << in.rdbuf()).str();
  }();
  return text;
}

// The first two cells of every table row under this heading whose first cell is `code`.
Rows rows_under(const std::string& heading) {
  Rows rows;
  std::istringstream in(document());
  bool inside = false;
  bool found = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) inside = line == heading;
    found = found || inside;
    if (!inside || !line.starts_with("| `")) continue;
    const std::size_t first = line.find("` | ");
    // A bar inside a cell is escaped with a backslash.
    const std::size_t second = line.find(" | ", first + 4);
    std::string cell = line.substr(first + 4, second - first - 4);
    for (std::size_t at = 0; (at = cell.find("\\|", at)) != std::string::npos;) cell.erase(at, 1);
    rows.emplace_back(line.substr(3, first - 3), cell);
  }
  EXPECT_TRUE(found) << "docs/protocol/agentctl.md has no heading '" << heading << "'";
  return rows;
}

template <class T>
void expect_fields_under(const std::string& heading) {
  Rows expected;
  for (const FieldSchema& field : schema_of<T>("").fields) {
    expected.emplace_back(field.name, field.type);
  }
  EXPECT_EQ(rows_under(heading), expected) << heading;
}

template <class... Bodies>
Rows kind_rows(Kinds<Bodies...>) {
  Rows rows;
  const auto add = [&](const KindSchema& schema) {
    std::string fields;
    for (const FieldSchema& field : schema.fields) {
      if (!fields.empty()) fields += "<br>";
      fields += "`" + std::string(field.name) + "`: " + field.type;
    }
    rows.emplace_back(schema.kind, fields.empty() ? "none" : fields);
  };
  (add(schema_of<Bodies>(Bodies::kind_text)), ...);
  return rows;
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    static constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (!out.empty()) out += ' ';
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

TEST(AgentctlDocument, has_every_field_of_the_bootstrap_and_its_answer) {
  expect_fields_under<Bootstrap>("### Bootstrap message");
  expect_fields_under<AgentLaunch>("### Bootstrap: agent");
  expect_fields_under<AgentTimes>("### Bootstrap: times");
  expect_fields_under<BootstrapAnswer>("### Bootstrap answer");
}

TEST(AgentctlDocument, has_every_packet_with_its_number) {
  const auto row = [](std::string_view name, PacketType type) {
    return std::pair(std::string(name), std::to_string(std::to_underlying(type)));
  };
  EXPECT_EQ(rows_under("### Packet types"),
            (Rows{row("attach", PacketType::attach), row("probe", PacketType::probe),
                  row("command", PacketType::command), row("ack", PacketType::ack),
                  row("stop", PacketType::stop), row("call", PacketType::call),
                  row("attached", PacketType::attached), row("refused", PacketType::refused),
                  row("frame", PacketType::frame), row("acted", PacketType::acted),
                  row("reply", PacketType::reply), row("shell_news", PacketType::shell_news),
                  row("health", PacketType::health), row("leaving", PacketType::leaving)}));
}

TEST(AgentctlDocument, has_every_field_of_every_packet) {
  expect_fields_under<AttachPacket>("#### attach");
  expect_fields_under<ProbePacket>("#### probe");
  expect_fields_under<AckPacket>("#### ack");
  expect_fields_under<StopPacket>("#### stop");
  expect_fields_under<CallPacket>("#### call");
  expect_fields_under<AttachedPacket>("#### attached");
  expect_fields_under<RefusedPacket>("#### refused");
  expect_fields_under<ActedPacket>("#### acted");
  expect_fields_under<ReplyPacket>("#### reply");
  expect_fields_under<ShellNewsPacket>("#### shell_news");
  expect_fields_under<HealthPacket>("#### health");
  expect_fields_under<LeavingPacket>("#### leaving");
}

TEST(AgentctlDocument, has_every_command_and_every_frame_with_its_fields) {
  EXPECT_EQ(rows_under("### Kinds of command"), kind_rows(CommandKinds{}));
  EXPECT_EQ(rows_under("### Kinds of frame"), kind_rows(FrameKinds{}));
  expect_fields_under<PermissionOption>("### Objects in frames: option");
  expect_fields_under<AgentAbilities>("### Objects in frames: abilities");
}

TEST(AgentctlDocument, has_the_limits) {
  const auto mib = [](std::size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; };
  EXPECT_EQ(rows_under("## Limits"),
            (Rows{{"packet_bytes_max", mib(packet_bytes_max)},
                  {"frame_bytes_max", mib(frame_bytes_max)},
                  {"spool_bytes_max", mib(spool_bytes_max)},
                  {"spool_segment_bytes", mib(spool_segment_bytes)},
                  {"link_unsent_bytes_max", mib(link_unsent_bytes_max)},
                  {"links_max", std::to_string(links_max)},
                  {"waits_open_max", std::to_string(waits_open_max)},
                  {"agent_requests_open_max", std::to_string(agent_requests_open_max)},
                  {"calls_open_max", std::to_string(calls_open_max)},
                  {"json_depth_max", std::to_string(json_depth_max)}}));
}

TEST(AgentctlDocument, its_examples_are_what_this_code_writes) {
  std::string packet;
  append_packet(packet, AckPacket{.frame = 7});
  EXPECT_TRUE(document().contains(hex(packet))) << hex(packet);
  std::string segment(spool_magic);
  append_spool_entry(segment, 1, "hi");
  EXPECT_TRUE(document().contains(hex(spool_magic))) << hex(spool_magic);
  const std::string entry = hex(std::string_view(segment).substr(spool_magic.size()));
  EXPECT_TRUE(document().contains(entry)) << entry;
  EXPECT_TRUE(document().contains(spool_segment_name(1)));
  for (const std::int64_t version :
       {agentctl_version_min, agentctl_version_max, bootstrap_version, frame_version}) {
    EXPECT_EQ(version, 1) << "say in the document what changed";
  }
}

}  // namespace
}  // namespace perdure
