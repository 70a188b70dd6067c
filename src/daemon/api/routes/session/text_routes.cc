// The conversation: history by turn and the transcript, in pages or as one text.
#include <algorithm>

#include "base/json/fields_json.h"
#include "base/limits.h"
#include "daemon/api/gate/query.h"
#include "daemon/api/json/markdown.h"
#include "daemon/api/json/reads_json.h"
#include "daemon/api/routes/read_routes.h"
#include "daemon/runtime/reads/masking.h"
#include "daemon/runtime/reads/reads.h"

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
      "The context that a fresh agent receives with the next prompt", &ReadRoutes::resume_context);
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

// What is read as a document is often passed on, so it holds no value that is known to be secret.
SecretMask ReadRoutes::secrets_of(SessionId session) const {
  return world_.secrets_of ? world_.secrets_of(session) : SecretMask();
}

Result<> ReadRoutes::history(Call& call, SessionId session) {
  const SecretMask secrets = secrets_of(session);
  if (wanted_form(call.request) != Wanted::ndjson) {
    const HistoryAsk ask{.before = TRY(number_parameter(call.request, "before")),
                         .limit = static_cast<std::size_t>(
                             TRY(number_parameter(call.request, "limit")).value_or(50))};
    HistoryPage page = TRY(read_history(world_.runtime, session, ask));
    Masker(secrets).hide(page.turns);
    call.answer(history_json(page, log_id()));
    return {};
  }
  const Seq head = TRY(world_.runtime.state(session)).head;
  auto fold = std::make_shared<TextFold>();
  scan_journal(
      world_.runtime, session, {.upto = head}, fold,
      [fold, secrets, call = std::move(call)](const Result<>& scanned) {
        if (!scanned) return call.fail(scanned.error());
        std::vector<TranscriptMessage> messages = fold->messages();
        Masker(secrets).hide(messages);
        call.exchange->respond(text_response("application/x-ndjson", history_lines(messages)));
      });
  return {};
}

Result<> ReadRoutes::transcript(Call& call, SessionId session) {
  const SessionView view = TRY(world_.runtime.view(session));
  const SecretMask secrets = secrets_of(session);
  if (wanted_form(call.request) == Wanted::markdown) {
    auto fold = std::make_shared<TextFold>();
    scan_journal(
        world_.runtime, session, {.upto = view.seq}, fold,
        [fold, view, secrets, call = std::move(call)](const Result<>& scanned) {
          if (!scanned) return call.fail(scanned.error());
          const std::string text = transcript_markdown(view, fold->messages(), fold->answers());
          call.exchange->respond(text_response("text/markdown; charset=utf-8", secrets.mask(text)));
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
  Masker(secrets).hide(answer.slice.messages);
  Masker(secrets).hide(answer.slice.answers);
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
