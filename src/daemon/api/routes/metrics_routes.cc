#include "daemon/api/routes/metrics_routes.h"

#include <map>

#include <fmt/format.h>

#include "base/limits.h"
#include "daemon/api/gate/session_argument.h"

namespace perdure {
namespace {

void write_events(MetricsText& text, const EventCounts& counts) {
  text.family("perdure_events_total", "counter", "Journalled events of sessions, by kind.");
  std::map<std::string_view, std::uint64_t> kinds;
  for (const auto& [key, count] : counts.all()) kinds[key.first] += count;
  for (const auto& [kind, count] : kinds) {
    text.sample("perdure_events_total", {{"kind", kind}}, static_cast<double>(count));
  }
}

struct OutcomeFamily {
  std::string_view kind;
  std::string_view name;
  std::string_view label;
  std::string_view help;
};
constexpr OutcomeFamily outcome_families[] = {
    {"run.interrupted", "perdure_interruptions_total", "reason",
     "Runs that were interrupted, by reason (O33)."},
    {"context.boundary", "perdure_context_boundaries_total", "how",
     "How agents came to know what they know: each resume ends in one (U13)."},
    {"resume.failed", "perdure_resumes_failed_total", "failure",
     "Resumes that gave no agent, by what went wrong (U13)."},
    {"permission.resolved", "perdure_permissions_resolved_total", "outcome",
     "Questions that were answered, cancelled or expired."},
};

void write_outcomes(MetricsText& text, const EventCounts& counts) {
  for (const OutcomeFamily& family : outcome_families) {
    text.family(family.name, "counter", family.help);
    for (const auto& [key, count] : counts.all()) {
      if (key.first != family.kind) continue;
      text.sample(family.name, {{family.label, key.second}}, static_cast<double>(count));
    }
  }
  text.family("perdure_attaches_total", "counter",
              "Links to agentctls that an earlier daemon had started, found again (U13).");
  std::uint64_t attaches = 0;
  for (const auto& [key, count] : counts.all()) {
    if (key.first == "executor.reattached") attaches += count;
  }
  text.sample("perdure_attaches_total", {}, static_cast<double>(attaches));
}

Result<> write_sessions(MetricsText& text, ApiWorld& world, const Principal& principal) {
  std::map<std::string_view, std::uint64_t> by_status;
  for (const std::string_view status : EnumText<Status>::names) by_status[status] = 0;
  SessionList::Ask ask{
      .archived = ArchivedFilter::all, .limit = page_records_max, .may_see = may_see(principal)};
  while (true) {
    const SessionList::Page page = TRY(world.sessions.page(ask));
    for (const SessionRow* row : page.rows) by_status[enum_text(row->summary.status)] += 1;
    if (page.next.empty()) break;
    ask.cursor = page.next;
  }
  text.family("perdure_sessions", "gauge", "Sessions by derived status.");
  for (const auto& [status, count] : by_status) {
    text.sample("perdure_sessions", {{"status", status}}, static_cast<double>(count));
  }
  return {};
}

void write_totals(MetricsText& text, ApiWorld& world) {
  write_events(text, world.runtime.counts());
  write_outcomes(text, world.runtime.counts());
  text.family("perdure_frames_dropped_total", "counter",
              "Frames of an earlier life of an agent, fenced off.");
  text.sample("perdure_frames_dropped_total", {},
              static_cast<double>(world.runtime.dropped_frames()));
  if (world.more_metrics) world.more_metrics(text);
}

void serve(ApiWorld& world, const Call& call) {
  MetricsText text;
  text.family("perdure_build_info", "gauge", "The version that runs.");
  text.sample("perdure_build_info", {{"version", world.version}}, 1);
  if (const Result<> written = write_sessions(text, world, call.principal); !written) {
    return call.fail(written.error());
  }
  // Counters cover all sessions, so a principal that sees only some sessions gets none.
  if (!call.principal.is_restricted()) write_totals(text, world);
  HttpResponse response{.body = std::move(text).take()};
  response.headers.push_back({"Content-Type", "text/plain; version=0.0.4; charset=utf-8"});
  call.exchange->respond(std::move(response));
}

}  // namespace

void MetricsText::family(std::string_view name, std::string_view kind, std::string_view help) {
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, kind);
}

void MetricsText::sample(std::string_view name, const Labels& labels, double value) {
  text_ += name;
  char before = '{';
  for (const auto& [label, raw] : labels) {
    text_ += before;
    before = ',';
    text_ += label;
    text_ += "=\"";
    for (const char c : raw) {
      if (c == '\n') {
        text_ += "\\n";
        continue;
      }
      if (c == '"' || c == '\\') text_ += '\\';
      text_ += c;
    }
    text_ += '"';
  }
  if (!labels.empty()) text_ += '}';
  text_ += fmt::format(" {}\n", value);
}

void write_histogram(MetricsText& text, std::string_view name, std::string_view help,
                     const DurationHistogram& histogram) {
  text.family(name, "histogram", help);
  const std::string bucket = std::string(name) + "_bucket";
  for (std::size_t i = 0; i < histogram.bounds_s.size(); ++i) {
    text.sample(bucket, {{"le", fmt::format("{}", histogram.bounds_s[i])}},
                static_cast<double>(histogram.below[i]));
  }
  text.sample(bucket, {{"le", "+Inf"}}, static_cast<double>(histogram.count));
  text.sample(std::string(name) + "_sum", {}, histogram.sum_s);
  text.sample(std::string(name) + "_count", {}, static_cast<double>(histogram.count));
}

void add_metrics_route(Router& router, ApiWorld& world) {
  router.add({.method = "GET",
              .pattern = "/metrics",
              .access = Access::observe,
              .summary = "Counters and gauges in Prometheus' text form",
              .handler = [&world](Call call) { serve(world, call); }});
}

}  // namespace perdure
