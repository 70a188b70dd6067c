#include "daemon/hosting/container/engine_json.h"

#include <algorithm>

#include "base/json/json.h"
#include "base/json/json_view.h"
#include "base/text.h"
#include "net/message.h"

namespace perdure {
namespace {

constexpr std::int64_t nanocpus_per_percent = 10'000'000;
constexpr std::size_t words_bytes_max = 500;

void write_texts(JsonWriter& out, const std::vector<std::string>& texts) {
  out.begin_array();
  for (const std::string& text : texts) out.string(text);
  out.end_array();
}

void write_mounts(JsonWriter& out, const std::vector<ContainerMount>& mounts) {
  out.key("Mounts").begin_array();
  for (const ContainerMount& mount : mounts) {
    out.begin_object().key("Type").string("bind");
    out.key("Source").string(mount.source).key("Target").string(mount.target);
    out.key("ReadOnly").boolean(mount.read_only).end_object();
  }
  out.end_array();
}

void write_limits(JsonWriter& out, const ContainerOrder& order) {
  const ContainerLimits& limits = order.limits;
  if (limits.memory_bytes > 0) out.key("Memory").number(limits.memory_bytes);
  if (limits.memory_bytes > 0 && !order.may_swap) {
    out.key("MemorySwap").number(limits.memory_bytes);
  }
  // One more for the agentctl.
  if (limits.processes > 0) out.key("PidsLimit").number(limits.processes + 1);
  if (limits.cpu_percent > 0) out.key("NanoCpus").number(limits.cpu_percent * nanocpus_per_percent);
}

std::map<std::string, std::string> read_labels(JsonView labels) {
  std::map<std::string, std::string> out;
  for (JsonWalk walk(labels.raw()); walk.next();) {
    out.emplace(json_string(walk.quoted_key()).value_or(""), JsonView(walk.value()).text());
  }
  return out;
}

ContainerLife read_life(JsonView state) {
  const std::string status = state["Status"].text();
  if (state["Paused"].flag() || status == "paused") return ContainerLife::paused;
  if (state["Running"].flag() || status == "running") return ContainerLife::running;
  const bool is_new = status == "created" || status == "configured" || status == "initialized";
  return is_new ? ContainerLife::created : ContainerLife::ended;
}

Result<JsonView> read_answer(std::string_view body) {
  const std::optional<JsonView> json = JsonView::read(body);
  if (json && (json->is_object() || json->is_array())) return *json;
  return fail(Code::unavailable, "the service there is not a container engine");
}

}  // namespace

std::string encode_container(const ContainerOrder& order) {
  JsonWriter out;
  out.begin_object().key("Image").string(order.image);
  out.key("Entrypoint").begin_array().string(order.command.front()).end_array();
  out.key("Cmd");
  write_texts(out, {order.command.begin() + 1, order.command.end()});
  out.key("Env");
  write_texts(out, order.environment);
  out.key("Labels").begin_object();
  for (const auto& [name, value] : order.labels) out.key(name).string(value);
  out.end_object();
  out.key("User").string(order.user).key("WorkingDir").string("/");
  out.key("HostConfig").begin_object();
  write_mounts(out, order.mounts);
  if (!order.network.empty()) out.key("NetworkMode").string(order.network);
  write_limits(out, order);
  // The agent needs none of root's capabilities, and cannot gain any by a program that has them.
  out.key("CapDrop").begin_array().string("ALL").end_array();
  out.key("SecurityOpt");
  write_texts(out, {"no-new-privileges", "label=disable"});
  // An ended container is examined before its removal, and must not restart automatically.
  out.key("RestartPolicy").begin_object().key("Name").string("no").end_object();
  out.key("AutoRemove").boolean(false).end_object().end_object();
  return std::move(out).take();
}

Result<std::string> decode_created(std::string_view body) {
  std::string id = TRY(read_answer(body))["Id"].text();
  if (id.empty()) return fail(Code::unavailable, "the container engine gave no id");
  return id;
}

Result<ContainerSight> decode_container_sight(std::string_view body) {
  const JsonView json = TRY(read_answer(body));
  const JsonView state = json["State"];
  if (!state.is_object()) return fail(Code::unavailable, "the container engine told no state");
  return ContainerSight{.id = json["Id"].text(),
                        .life = read_life(state),
                        .exit_code = state["ExitCode"].signed_number(),
                        .out_of_memory = state["OOMKilled"].flag(),
                        .error = state["Error"].text(),
                        .labels = read_labels(json["Config"]["Labels"])};
}

Result<EngineAbilities> decode_abilities(std::string_view body) {
  const JsonView json = TRY(read_answer(body));
  const auto options = json["SecurityOptions"].items();
  const bool rootless = std::ranges::any_of(
      options, [](JsonView option) { return option.text().contains("name=rootless"); });
  return EngineAbilities{.version = json["ServerVersion"].text(),
                         .rootless = rootless,
                         .limits_memory = json["MemoryLimit"].flag(),
                         .limits_swap = json["SwapLimit"].flag(),
                         .limits_processes = json["PidsLimit"].flag(),
                         .limits_cpu = json["CpuCfsQuota"].flag()};
}

Result<std::vector<ListedContainer>> decode_list(std::string_view body) {
  std::vector<ListedContainer> out;
  const JsonView json = TRY(read_answer(body));
  for (const JsonView item : json.items()) {
    out.push_back({item["Id"].text(), item["State"].text(), read_labels(item["Labels"])});
  }
  return out;
}

std::string refusal_words(std::string_view body) {
  const std::optional<JsonView> json = JsonView::read(body);
  std::string words = json ? (*json)["message"].text() : std::string();
  if (words.empty()) words = body;
  return std::string(utf8_prefix(words, words_bytes_max));
}

std::string label_filter(const std::string& label) {
  JsonWriter filter;
  filter.begin_object().key("label").begin_array().string(label).end_array().end_object();
  return "all=true&filters=" + percent_encode(filter.text());
}

}  // namespace perdure
