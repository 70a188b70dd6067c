#include "cli/load_question.h"

#include <optional>

namespace perdure::cli {
namespace {

constexpr std::uint64_t page_records = 100;
constexpr int pages_max = 20;  // pages of records newer than the question

struct Found {
  Answered page;
  JsonView record;
};

Query page_query(std::string kind, std::uint64_t before) {
  Query query = {{"kind", std::move(kind)}};
  if (before == 0) {
    query.emplace_back("last", std::to_string(page_records));
  } else {
    query.emplace_back("before", std::to_string(before));
    query.emplace_back("limit", std::to_string(page_records));
  }
  return query;
}

// Newest pages first: an open question is near the end.
Outcome<std::optional<Found>> find_record(VerbCall& call, const Question& question) {
  const std::string path = session_path(question.session, "/events");
  std::uint64_t before = 0;
  for (int page = 0; page < pages_max; ++page) {
    Answered answer = TRY(call.get(path, page_query("permission.requested", before)));
    const std::vector<JsonView> records = answer["events"].items();
    for (const JsonView record : records) {
      if (record["perm_id"].text() == question.permission) return Found{answer, record};
    }
    before = records.empty() ? 0 : records.front()["seq"].number();
    if (before <= 1) break;
  }
  return std::nullopt;
}

bool says_all(JsonView params) {
  const JsonView tool =
      params["toolCall"].is_object() ? params["toolCall"] : params["subject"]["toolCall"];
  return params["subject"]["command"].is_there() ||
         (tool["content"].is_there() && tool["rawInput"].is_there());
}

}  // namespace

Outcome<void> load_asked(VerbCall& call, Question& question) {
  const std::optional<Found> found = TRY(find_record(call, question));
  if (!found) {
    question.asked.is_whole = false;
    return {};
  }
  AskedSources sources{.record = found->record};
  std::optional<Answered> details;
  if (const JsonView blob = found->record["update"]["blob"]; blob.is_string()) {
    const std::string place = "/blobs/" + encode_segment(blob.text());
    if (auto answer = call.get(session_path(question.session, place))) details = *answer;
    if (details) sources.details = details->view();
  }
  const std::string tool = found->record["tool_call_id"].text();
  std::vector<Answered> pages;
  if (!tool.empty() && !says_all(details ? details->view() : found->record["update"])) {
    pages.push_back(TRY(call.get(session_path(question.session, "/events"),
                                 page_query("tool", found->record["seq"].number()))));
    for (const JsonView record : pages.back()["events"].items()) {
      if (record["tool_call_id"].text() == tool) sources.earlier.push_back(record["update"]);
    }
  }
  question.asked = read_asked(sources);
  return {};
}

}  // namespace perdure::cli
