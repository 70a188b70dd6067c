// Verbs that read the past: logs, events, history, transcript, search.
#include <algorithm>
#include <deque>
#include <limits>

#include "base/limits.h"
#include "perdure/terminal/clean_text.h"
#include "perdure/terminal/markdown.h"
#include "perdure/terminal/width.h"
#include "perdure/verbs/attach/watching.h"
#include "perdure/verbs/call/verb_call.h"
#include "perdure/verbs/verbs.h"
#include "perdure/verbs/words.h"

namespace perdure::cli {
namespace {

constexpr std::uint64_t page_limit = page_records_max;

// The cursor for --last and --after.
Outcome<std::uint64_t> cursor_of(const Args& args, const SessionBrief& session) {
  const auto after = TRY(args.number("after"));
  const auto last = TRY(args.number("last"));
  if (after && last) return usage("--after and --last cannot both be given");
  if (last) return session.seq > *last ? session.seq - *last : 0;
  return after.value_or(0);
}

// Prints the existing records; with -f also new ones.
Outcome<int> print_records(VerbCall& call, const SessionBrief& session, std::uint64_t after) {
  WatchRequest request{.session = session.id, .after = after};
  if (!call.args().has("follow")) request.until_seq = session.seq;
  return exit_of(TRY(watch_session(call, request)));
}

Outcome<int> logs(VerbCall& call) {
  const SessionBrief session = TRY(call.session_or_here(0));
  return print_records(call, session, TRY(cursor_of(call.args(), session)));
}

std::string event_line(const Style& style, JsonView record, std::size_t cells) {
  std::string rest;
  for (const std::string_view name :
       {"text", "content", "title", "message", "reason", "status", "how", "value"}) {
    if (rest = clean_line(record[name].text()); !rest.empty()) break;
  }
  const std::string time = record["ts"].text();
  const std::string lead = pad(std::to_string(record["seq"].number()), 6) + " " +
                           (time.size() > 19 ? time.substr(11, 8) : time) + " ";
  const std::string kind = pad(clean_line(record["kind"].text()), 22);
  const std::size_t used = text_width(lead) + text_width(kind) + 1;
  return style.paint(Ink::dim, lead) + style.paint(Ink::cyan, kind) + " " +
         shorten(rest, cells > used + 10 ? cells - used : 10);
}

Outcome<int> events(VerbCall& call) {
  const Args& args = call.args();
  const SessionBrief session = TRY(call.session_or_here(0));
  std::uint64_t after = TRY(cursor_of(args, session));
  const std::string kind = args.value("kind").value_or("");
  const auto last = TRY(args.number("last"));
  // The last records of one kind may be anywhere in the journal.
  const bool keeps_last = last && !kind.empty();
  if (keeps_last) after = 0;
  const std::size_t cells = call.world().console.size().cells;
  const auto line_of = [&](JsonView record) {
    return call.is_json() ? std::string(record.raw()) : event_line(call.style(), record, cells);
  };
  std::deque<std::string> kept;
  while (after < session.seq) {
    Query query = {{"after", std::to_string(after)}, {"limit", std::to_string(page_limit)}};
    if (!kind.empty()) query.emplace_back("kind", kind);
    const Answered page = TRY(call.get(session_path(session.id, "/events"), query));
    const std::vector<JsonView> records = page["events"].items();
    for (const JsonView record : records) {
      after = std::max(after, record["seq"].number());
      kept.push_back(line_of(record));
      if (keeps_last && kept.size() > *last) kept.pop_front();
    }
    while (!keeps_last && !kept.empty()) {
      call.print_line(kept.front());
      kept.pop_front();
    }
    if (records.empty() || !page["more"].flag()) break;
  }
  for (const std::string& line : kept) call.print_line(line);
  if (!args.has("follow")) return exit_done;
  const auto show = [&](JsonView record) {
    if (kind.empty() || record["kind"].text() == kind) call.print_line(line_of(record));
  };
  return exit_of(TRY(watch_session(call, {.session = session.id,
                                          .after = std::max(after, session.seq),
                                          .timeout_ms = {},
                                          .show = show})));
}

// The answers that were given before this record; `answers` loses them.
void print_answers(VerbCall& call, std::vector<JsonView>& answers, std::uint64_t before) {
  std::size_t printed = 0;
  for (; printed < answers.size() && answers[printed]["seq"].number() < before; ++printed) {
    const JsonView answer = answers[printed];
    std::string words = answer["outcome"].text();
    if (words == "selected") {
      words = answer["option_name"].text();
      if (words.empty()) words = answer["option_id"].text();
    }
    const std::string by = answer["by"].text();
    const std::string line = "  → " + clean_line(words + (by.empty() ? "" : " (" + by + ")"));
    call.print_line(call.style().paint(Ink::dim, line));
  }
  answers.erase(answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(printed));
}

void print_turn(VerbCall& call, JsonView turn, std::size_t number) {
  const Style style = call.style();
  const std::size_t cells = call.world().console.size().cells;
  std::string end = turn["end"].text();
  if (const std::string why = turn["interrupted"].text(); !why.empty()) {
    end += ", " + interruption_words(why);
  }
  if (end.empty()) end = turn["run_id"].is_there() ? "under way" : "outside any run";
  call.print_line(style.paint(Ink::bold, "Turn " + std::to_string(number)) +
                  style.paint(Ink::dim, "  " + turn["started"].text() + "  " + end));
  std::vector<JsonView> answers = turn["answers"].items();
  for (const JsonView entry : turn["entries"].items()) {
    print_answers(call, answers, entry["seq"].number());
    const std::string type = entry["type"].text();
    const std::string text = clean_text(entry["text"].text());
    std::string mark = "  ";
    if (type == "user_message") mark = "❯ ";
    if (type == "tool_call") mark = "◌ " + clean_line(entry["tool_name"].text()) + " ";
    if (type == "tool_result") mark = "  → ";
    const bool is_tool = type.starts_with("tool_");
    std::string_view rest = text;
    do {
      const std::size_t line_end = rest.find('\n');
      const std::string line = expand_tabs(rest.substr(0, line_end));
      const std::size_t room = cells > text_width(mark) + 12 ? cells - text_width(mark) : 12;
      call.print_line(style.paint(is_tool ? Ink::dim : Ink::plain,
                                  mark + (is_tool ? shorten(line, room) : line)));
      mark = "  ";
      rest = line_end == std::string_view::npos ? "" : rest.substr(line_end + 1);
    } while (!rest.empty() && !is_tool);
  }
  print_answers(call, answers, std::numeric_limits<std::uint64_t>::max());
}

// Pages of a list that the daemon serves from its end, printed oldest page first.
struct PagedRead {
  std::string_view rest;  // of the path
  std::string_view list;  // the member that holds the page
};
Outcome<std::vector<Answered>> read_pages(VerbCall& call, const std::string& session,
                                          const PagedRead& read) {
  std::vector<Answered> pages;
  std::uint64_t before = 0;
  while (true) {
    Query query = {{"limit", std::to_string(page_limit)}};
    if (before > 0) query.emplace_back("before", std::to_string(before));
    pages.push_back(TRY(call.get(session_path(session, read.rest), std::move(query))));
    const std::vector<JsonView> items = pages.back()[read.list].items();
    if (items.empty() || !pages.back()["has_older"].flag()) break;
    const std::uint64_t first = items.front()["first_seq"].number();
    if (first == 0 || (before > 0 && first >= before)) break;
    before = first;
  }
  std::ranges::reverse(pages);
  return pages;
}

Outcome<int> history(VerbCall& call) {
  const SessionBrief session = TRY(call.session_or_here(0));
  if (call.args().has("jsonl")) {
    call.print(TRY(call.get_text(session_path(session.id, "/history"), "application/x-ndjson")));
    return exit_done;
  }
  const std::vector<Answered> pages =
      TRY(read_pages(call, session.id, {.rest = "/history", .list = "turns"}));
  std::size_t number = 0;
  for (const Answered& page : pages) {
    for (const JsonView turn : page["turns"].items()) {
      if (call.is_json()) {
        call.print_line(turn.raw());
        continue;
      }
      if (number > 0) call.print("\n");
      print_turn(call, turn, ++number);
    }
  }
  return exit_done;
}

void print_message(VerbCall& call, JsonView message) {
  const Style style = call.style();
  const std::size_t cells = call.world().console.size().cells;
  const std::string role = message["role"].text();
  if (role == "tool_call" || role == "tool_result") {
    const std::string content = clean_line(message["content"].text());
    const std::string lead = role == "tool_call" ? "◌ " + clean_line(message["title"].text()) + "  "
                                                 : std::string("  → ");
    call.print_line(style.paint(Ink::dim, shorten(lead + content, cells)));
    return;
  }
  call.print("\n");
  if (role == "user") call.print(style.paint(Ink::bold, "❯ "));
  Markdown markdown(style);
  const std::string text = clean_text(message["content"].text());
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    for (const std::string& row : markdown.line(rest.substr(0, end), cells)) call.print_line(row);
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
}

Outcome<int> transcript(VerbCall& call) {
  const SessionBrief session = TRY(call.session_or_here(0));
  if (call.args().has("markdown")) {
    const std::string text =
        TRY(call.get_text(session_path(session.id, "/transcript"), "text/markdown"));
    // A file gets the text as it is; a terminal gets nothing that could act on it.
    call.print(call.world().console.is_output_terminal() ? clean_text(text) : text);
    return exit_done;
  }
  const std::vector<Answered> pages =
      TRY(read_pages(call, session.id, {.rest = "/transcript", .list = "messages"}));
  for (const Answered& page : pages) {
    std::vector<JsonView> answers = page["answers"].items();
    for (const JsonView message : page["messages"].items()) {
      if (call.is_json()) {
        call.print_line(message.raw());
        continue;
      }
      print_answers(call, answers, message["first_seq"].number());
      print_message(call, message);
    }
    if (!call.is_json()) print_answers(call, answers, std::numeric_limits<std::uint64_t>::max());
  }
  return exit_done;
}

Outcome<int> search(VerbCall& call) {
  std::vector<std::pair<std::string, std::string>> query{{"q", call.args().rest(0)}};
  for (const char* const filter : {"kind", "agent", "since", "until"}) {
    if (const auto given = call.args().value(filter)) query.emplace_back(filter, *given);
  }
  const Answered answer = TRY(call.get("/api/search", query));
  if (call.print_json(answer)) return exit_done;
  const std::vector<JsonView> results = answer["hits"].items();
  const std::size_t cells = call.world().console.size().cells;
  for (const JsonView result : results) {
    const std::string lead = short_id(result["session_id"].text()) + " " +
                             shorten(clean_line(result["title"].text()), 20) + " #" +
                             std::to_string(result["seq"].number()) + "  ";
    const JsonView text = result["snippet"];
    const std::size_t used = text_width(lead);
    call.print_line(call.style().paint(Ink::dim, lead) +
                    shorten(clean_line(text.text()), cells > used + 20 ? cells - used : 20));
  }
  if (results.empty()) call.remark("nothing was found");
  return results.empty() ? exit_not_found : exit_done;
}

const Positional one_session = {"SESSION", Count::optional, Completes::session};

}  // namespace

std::vector<Verb> read_verbs() {
  const Option follow = {.name = "follow", .letter = 'f', .help = "follow new records"};
  const Option last = {
      .name = "last", .letter = 'n', .value_name = "N", .help = "only the last N records"};
  const Option after = {
      .name = "after", .value_name = "SEQ", .help = "only records after this number"};
  return {
      {.name = "logs",
       .group = Group::read,
       .summary = "show what happened, as an attached terminal would",
       .positionals = {one_session},
       .options = {follow, last, after},
       .example = "perdure logs -f parser",
       .run = logs},
      {.name = "events",
       .group = Group::read,
       .summary = "list the journal's records, one per line",
       .positionals = {one_session},
       .options =
           {follow, last, after, {.name = "kind", .value_name = "KIND", .help = "only this kind"}},
       .detail = "With --json, prints whole records.",
       .example = "perdure events parser --last 20\nperdure events parser -f --json",
       .run = events},
      {.name = "history",
       .group = Group::read,
       .summary = "what happened, by turn",
       .positionals = {one_session},
       .options = {{.name = "jsonl", .help = "one entry per line"}},
       .example = "perdure history parser",
       .run = history},
      {.name = "transcript",
       .group = Group::read,
       .summary = "the conversation",
       .positionals = {one_session},
       .options = {{.name = "markdown", .help = "as one Markdown document"}},
       .example = "perdure transcript parser --markdown > parser.md",
       .run = transcript},
      {.name = "search",
       .group = Group::read,
       .summary = "search the text of all sessions",
       .positionals = {{"WORDS", Count::at_least_one}},
       .options = {{.name = "kind", .value_name = "KIND", .help = "only this: message.user, tool"},
                   {.name = "agent", .value_name = "AGENT", .help = "only sessions of this agent"},
                   {.name = "since", .value_name = "TIME", .help = "not older"},
                   {.name = "until", .value_name = "TIME", .help = "older"}},
       .example = "perdure search \"race condition\"",
       .run = search},
  };
}

}  // namespace perdure::cli
