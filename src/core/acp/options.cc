// Options of a session, read from config options and renamed for the rest of the runtime.
#include "core/acp/updates/slices.h"
#include "core/acp/updates/updates.h"

namespace perdure::acp {
namespace {

void read_option_choices(std::string_view raw, std::vector<OptionChoice>& choices) {
  for (const std::string_view item : array_elements(raw)) {
    const Slices choice(item);
    if (choice.has("options")) {  // a group; groups do not nest
      for (const std::string_view inner : choice.elements("options")) {
        choices.push_back({Slices(inner).text("value"), Slices(inner).text("name")});
      }
    } else {
      choices.push_back({choice.text("value"), choice.text("name")});
    }
  }
}

std::string current_value(const Slices& option) {
  const std::string_view raw = option.raw("currentValue");
  return json_string(raw).value_or(std::string(raw));
}

bool is_taken(const std::vector<OptionValue>& values, std::string_view option) {
  for (const OptionValue& value : values) {
    if (value.option == option) return true;
  }
  return false;
}

}  // namespace

std::vector<ConfigOption> parse_options(std::string_view raw) {
  std::vector<ConfigOption> options;
  for (const std::string_view item : array_elements(raw)) {
    const Slices option(item);
    ConfigOption parsed{.id = option.text(option.has("configId") ? "configId" : "id"),
                        .name = option.text("name"),
                        .category = option.text("category"),
                        .type = option.text("type"),
                        .value = current_value(option)};
    read_option_choices(option.raw("options"), parsed.choices);
    options.push_back(std::move(parsed));
  }
  return options;
}

RawJson options_update(std::string_view result) {
  const Slices members(result);
  JsonWriter out;
  if (members.raw("configOptions").starts_with('[')) {
    out.begin_object().key("sessionUpdate").string("config_option_update");
    return {
        std::move(out.key("configOptions").raw(members.raw("configOptions")).end_object()).take()};
  }
  const Slices modes(members.raw("modes"));
  if (!modes.raw("availableModes").starts_with('[')) return {};
  out.begin_object().key("sessionUpdate").string("current_mode_update");
  out.key("currentModeId").string(modes.text("currentModeId"));
  return {
      std::move(out.key("availableModes").raw(modes.raw("availableModes")).end_object()).take()};
}

std::vector<ConfigOption> parse_options_update(std::string_view update) {
  const Slices members(update);
  if (members.has("configOptions")) return parse_options(members.raw("configOptions"));
  ConfigOption mode{.id = "mode",
                    .name = "Mode",
                    .category = "mode",
                    .type = "select",
                    .value = members.text("currentModeId")};
  for (const std::string_view item : members.elements("availableModes")) {
    mode.choices.push_back({Slices(item).text("id"), Slices(item).text("name")});
  }
  if (mode.choices.empty()) return {};
  return {std::move(mode)};
}

std::vector<OptionValue> option_values(const std::vector<ConfigOption>& options) {
  std::vector<OptionValue> values;
  for (const ConfigOption& option : options) {
    const bool is_named = option.category == "mode" || option.category == "model";
    // Of two options in one category, only the first is the mode or model.
    const bool by_category = is_named && !is_taken(values, option.category);
    values.push_back({by_category ? option.category : option.id, option.value});
  }
  return values;
}

}  // namespace perdure::acp
