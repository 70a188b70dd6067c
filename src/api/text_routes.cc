// The conversation: history by turn and the transcript, in pages or as one text.
#include <algorithm>

#include "api/markdown.h"
#include "api/query.h"
#include "api/read_routes.h"
#include "api/reads_json.h"
#include "base/fields_json.h"
#include "base/limits.h"
#include "runtime/reads.h"

namespace perdure {
namespace {

HttpResponse text_response(std::string type, std::string body) {
  return {.headers = {{"Content-Type", std::move(type)}}, .body = std::move(body)};
}

// K27: one entry per line.
std::string history_lines(const std::vector<TranscriptMessage>& messages) {
  std::string out;
  for (const TranscriptMessage& message : messages) {
    if (const auto entry = history_entry(message)) out += encode_fields(*entry) + "\n";
  }
  return out;
}

}  // namespace

void ReadRoutes::add_text(Router& router) {
  get(router, "/api/sessions/{id}/history", "The conversation by turn, or as lines",
      &ReadRoutes::history);
  get(router, "/api/sessions/{id}/transcript", "The conversation as messages, or as a document",
      &ReadRoutes::transcript);
  get(router, "/api/sessions/{id}/resume-context",
      "What an agent that starts fresh is told with the next prompt", &ReadRoutes::resume_context);
}

// C12: the exact text, made in the way an injection makes it: before a pending boundary, or
// otherwise before one that would be made now.
Result<> ReadRoutes::resume_context(Call& call, SessionId session) {
  const State state = TRY(world_.runtime.state(session));
  const Context& context = state.context;
  const ResumeContext told =
      TRY(read_resume_context(world_.runtime.store(), session,
                              {.history_from = context.history_from,
                               .boundary = context.inject_armed ? context.boundary : state.head,
                               .turns_of = context.history_prompts}));
  JsonWriter out;
  out.begin_object().key("text").string(told.text).key("turns").number_unsigned(told.turns);
  out.key("turns_of").number_unsigned(told.turns_of).key("chars").number_unsigned(told.chars);
  out.key("as_of").number_unsigned(state.head).key("log_id").string(log_id()).end_object();
  call.answer(std::move(out).take());
  return {};
}

Result<> ReadRoutes::history(Call& call, SessionId session) {
  if (wanted_form(call.request) != Wanted::ndjson) {
    const HistoryAsk ask{.before = TRY(number_parameter(call.request, "before")),
                         .limit = static_cast<std::size_t>(
                             TRY(number_parameter(call.request, "limit")).value_or(50))};
    call.answer(history_json(TRY(read_history(world_.runtime, session, ask)), log_id()));
    return {};
  }
  const Seq head = TRY(world_.runtime.state(session)).head;
  auto fold = std::make_shared<TextFold>();
  scan_journal(world_.runtime, session, {.upto = head}, fold,
               [fold, call = std::move(call)](const Result<>& scanned) {
                 if (!scanned) return call.fail(scanned.error());
                 call.exchange->respond(
                     text_response("application/x-ndjson", history_lines(fold->messages())));
               });
  return {};
}

Result<> ReadRoutes::transcript(Call& call, SessionId session) {
  const SessionView view = TRY(world_.runtime.view(session));
  if (wanted_form(call.request) == Wanted::markdown) {
    auto fold = std::make_shared<TextFold>();
    scan_journal(
        world_.runtime, session, {.upto = view.seq}, fold,
        [fold, view, call = std::move(call)](const Result<>& scanned) {
          if (!scanned) return call.fail(scanned.error());
          call.exchange->respond(text_response("text/markdown; charset=utf-8",
                                               transcript_markdown(view, fold->messages())));
        });
    return {};
  }
  const auto limit = TRY(number_parameter(call.request, "limit")).value_or(50);
  TranscriptAnswer answer{
      .slice = TRY(read_transcript(
          world_.runtime.store(), session,
          {.before = TRY(number_parameter(call.request, "before")),
           .limit = std::clamp<std::size_t>(static_cast<std::size_t>(limit), 1, rows_max)})),
      .log_id = log_id()};
  if (view.seq > transcript_hash_records_max) {
    call.answer(transcript_json(answer));
    return {};
  }
  auto fold = std::make_shared<TextFold>();
  const Seq upto = answer.slice.last_seq;
  scan_journal(
      world_.runtime, session, {.upto = upto}, fold,
      [fold, answer = std::move(answer), call = std::move(call)](const Result<>& scanned) mutable {
        // The page is useful without the hash, too.
        if (scanned) answer.hash = transcript_hash(fold->messages());
        call.answer(transcript_json(answer));
      });
  return {};
}

}  // namespace perdure
