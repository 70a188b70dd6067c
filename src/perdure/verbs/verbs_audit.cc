// The verb that reads the audit trail: sign-ins, rejections, decisions.
#include <algorithm>
#include <optional>

#include "base/time.h"
#include "perdure/terminal/clean_text.h"
#include "perdure/terminal/width.h"
#include "perdure/verbs/call/verb_call.h"
#include "perdure/verbs/verbs.h"

namespace perdure::cli {
namespace {

constexpr std::uint64_t last_usual = 50;
constexpr std::uint64_t last_before_following = 10;
constexpr int step_ms = 500;
constexpr std::size_t text_cells_min = 20;

// An age (2h), a day (2026-11-18) or a time (2026-11-18T10:30 or with seconds), in UTC.
Outcome<Timestamp> read_since(const Args& args, Timestamp now) {
  const std::string text(args.value("since").value_or(""));
  if (!text.contains('-')) {
    const Outcome<std::optional<std::int64_t>> ago = args.duration_ms("since");
    if (ago && *ago) return Timestamp{now.ms - **ago};
  }
  std::string whole = text;
  if (whole.ends_with('Z')) whole.pop_back();
  if (whole.size() == 10) whole += "T00:00";
  if (whole.size() == 16) whole += ":00";
  if (whole.size() == 19) whole += ".000";
  if (const Result<Timestamp> at = parse_timestamp(whole + "Z")) return *at;
  return usage("--since takes a time such as 2h, 3d, 2026-11-18 or 2026-11-18T10:30 (UTC), not '" +
               text + "'");
}

// sess_…: the end of an id, as in every list.
std::string short_ids(JsonView on) {
  std::string out;
  for (const JsonView id : on.items()) {
    const std::string text = clean_line(id.text());
    const std::size_t kind = text.find('_');
    const bool is_long = kind != std::string::npos && text.size() > kind + 12;
    // A session's record keeps its number: sess_…/41.
    const std::size_t end = std::min(text.find('/'), text.size());
    std::string part = text;
    if (is_long && end > 8) part = text.substr(0, kind + 1) + text.substr(end - 8);
    out += (out.empty() ? "" : " ") + part;
  }
  return out;
}

std::string who(JsonView entry) {
  const std::string how = clean_line(entry["how"].text());
  const std::string by = clean_line(entry["by"].text());
  if (by.empty()) return clean_line(entry["from"].text());
  if (how.starts_with("token") || how == "admin token") return how;
  const std::size_t kind = by.find('_');
  if (kind == std::string::npos || by.size() < kind + 12) return by;
  return by.substr(0, by.find(':') + 1) + by.substr(by.size() - 8);
}

std::string audit_line(const Style& style, JsonView entry, std::size_t cells) {
  const std::string time = entry["ts"].text();
  const std::string outcome = clean_line(entry["outcome"].text());
  const bool is_good = outcome == "ok";
  const std::string from = clean_line(entry["from"].text());
  std::string rest = is_good ? "" : outcome;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) rest += (rest.empty() ? "" : " ") + part;
  };
  if (entry["count"].number() > 1) add("×" + std::to_string(entry["count"].number()));
  add(clean_line(entry["text"].text()));
  add(short_ids(entry["on"]));
  if (!entry["by"].text().empty() && !from.empty() && from != "unix") add("from " + from);
  if (entry["of"].is_there()) add("(of " + std::to_string(entry["of"].number()) + ")");
  const std::string lead =
      (time.size() > 19 ? time.substr(5, 5) + " " + time.substr(11, 8) : time) + " ";
  const std::string what = pad(clean_line(entry["what"].text()), 15) + " ";
  const std::string by = rest.empty() ? who(entry) : pad(shorten(who(entry), 17), 17) + " ";
  const std::size_t used = text_width(lead + what + by);
  return style.paint(Ink::dim, lead) + style.paint(is_good ? Ink::cyan : Ink::red, what) + by +
         shorten(rest, std::max(cells > used ? cells - used : 0, text_cells_min));
}

class AuditWatcher final : public client::FollowEvents {
 public:
  AuditWatcher(VerbCall& call, std::size_t cells) : call_(call), cells_(cells) {}

  const std::optional<client::Refusal>& refusal() const { return refusal_; }
  void show(JsonView entry) {
    call_.print_line(call_.is_json() ? std::string(entry.raw())
                                     : audit_line(call_.style(), entry, cells_));
  }

  void on_state(std::string_view) override {}
  void on_record(std::uint64_t, std::string_view json) override {
    if (const auto entry = JsonView::read(json)) show(*entry);
  }
  void on_reset() override {
    call_.remark("the store was replaced; its audit trail follows from the first entry");
  }
  void on_connection(client::Connection connection) override {
    if (connection == client::Connection::lost && call_.world().console.is_interactive()) {
      call_.remark("the daemon does not answer; reconnecting …");
    }
  }
  void on_refused(const client::Refusal& refusal) override { refusal_ = refusal; }

 private:
  VerbCall& call_;
  std::size_t cells_;
  std::optional<client::Refusal> refusal_;
};

// Prints the existing entries and returns the number of the last one.
Outcome<std::uint64_t> print_past(VerbCall& call, AuditWatcher& watcher) {
  const Args& args = call.args();
  const bool follows = args.has("follow");
  Query query;
  if (args.value("since")) {
    const Timestamp since = TRY(read_since(args, call.world().now()));
    query = {{"since", format_timestamp(since)}, {"limit", "1000"}};
  } else {
    const std::uint64_t last =
        TRY(args.number("last")).value_or(follows ? last_before_following : last_usual);
    query = {{"last", std::to_string(last)}, {"limit", "1000"}};
  }
  bool is_empty = true;
  while (true) {
    const Answered page = TRY(call.get("/api/audit", query));
    for (const JsonView entry : page["entries"].items()) {
      watcher.show(entry);
      is_empty = false;
    }
    const std::uint64_t last = page["last"].number();
    if (!page["more"].flag()) {
      if (is_empty && !follows && !call.is_json()) call.remark("The audit trail has no entries.");
      return last;
    }
    query = {{"after", std::to_string(last)}, {"limit", "1000"}};
  }
}

Outcome<int> audit(VerbCall& call) {
  if (call.args().has("since") && call.args().has("last")) {
    return usage("--since and --last exclude each other");
  }
  AuditWatcher watcher(call, call.world().console.size().cells);
  const std::uint64_t after = TRY(print_past(call, watcher));
  if (!call.args().has("follow")) return exit_done;
  client::DaemonApi* api = TRY(call.daemon());
  const auto following = api->follow({.path = "/api/audit", .after = after}, watcher);
  while (!watcher.refusal()) api->step(step_ms);
  return std::unexpected(Trouble::of(*watcher.refusal()));
}

}  // namespace

std::vector<Verb> audit_verbs() {
  return {
      {.name = "audit",
       .group = Group::care,
       .summary = "show sign-ins, refusals, decisions and changes",
       .options = {{.name = "follow", .letter = 'f', .help = "follow new entries"},
                   {.name = "since",
                    .value_name = "TIME",
                    .help = "from then on: 2h, 3d, 2026-11-18 (UTC)"},
                   {.name = "last", .letter = 'n', .value_name = "N", .help = "only the last N"}},
       .detail = "Without --since the last 50 entries. Times are UTC. Needs the scope admin.\n"
                 "An entry is written before its action begins. If the action then fails, a\n"
                 "second entry names the error and the number of the first.",
       .example = "perdure audit --since 2h\nperdure audit -f --json",
       .run = audit},
  };
}

}  // namespace perdure::cli
