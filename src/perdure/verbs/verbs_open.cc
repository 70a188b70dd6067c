// Verbs that give access to others: open, token create, token ls, token revoke.
#include "base/json/json.h"
#include "perdure/terminal/clean_text.h"
#include "perdure/terminal/width.h"
#include "perdure/verbs/call/verb_call.h"
#include "perdure/verbs/verbs.h"

namespace perdure::cli {
namespace {

Outcome<int> open(VerbCall& call) {
  const Answered answer = TRY(call.change({.path = "/api/launch"}));
  if (call.print_json(answer)) return exit_done;
  const std::string url = clean_line(answer["url"].text());
  if (url.empty()) {
    return std::unexpected(
        Trouble::of(Error(Code::internal, "the daemon gave no address for its page")));
  }
  call.print_line(url);
  call.remark("It works once, and for five minutes.");
  return exit_done;
}

Outcome<int> token_create(VerbCall& call) {
  const Args& args = call.args();
  const auto expires = TRY(args.duration_ms("expires"));
  JsonWriter body;
  body.begin_object().key("name").string(args.word(0));
  body.key("scopes").begin_array();
  body.string(args.value("scope").value_or("operate")).end_array();
  if (const auto word = args.value("session")) {
    const SessionBrief session = TRY(call.session(*word));
    body.key("sessions").begin_array().string(session.id).end_array();
  }
  if (expires) { body.key("expires").string(format_timestamp({call.world().now().ms + *expires})); }
  body.end_object();
  const Answered answer = TRY(call.change({.path = "/api/tokens", .body = std::move(body).take()}));
  if (call.print_json(answer)) return exit_done;
  call.print_line(clean_line(answer["text"].text()));
  call.remark("This is shown once; keep it.");
  return exit_done;
}

Outcome<int> token_ls(VerbCall& call) {
  const Answered answer = TRY(call.get("/api/tokens"));
  if (call.print_json(answer)) return exit_done;
  for (const JsonView token : answer["tokens"].items()) {
    const std::string expires = token["expires"].text();
    const std::vector<JsonView> scopes = token["scopes"].items();
    // includes the lower scopes
    const std::string scope = scopes.empty() ? "" : scopes.back().text();
    call.print_line(pad(clean_line(token["id"].text()), 32) + pad(clean_line(scope), 10) +
                    pad(clean_line(token["name"].text()), 24) +
                    (expires.empty() ? "never expires" : "until " + clean_line(expires)));
  }
  return exit_done;
}

Outcome<int> token_revoke(VerbCall& call) {
  const Answered answer =
      TRY(call.change({.path = "/api/tokens/" + encode_segment(call.args().word(0)),
                       .body = "",
                       .method = "DELETE"}));
  if (!call.print_json(answer)) call.print_line("revoked");
  return exit_done;
}

}  // namespace

std::vector<Verb> open_verbs() {
  return {
      {.name = "open",
       .group = Group::open,
       .summary = "print an address that opens the page, once",
       .example = "xdg-open \"$(perdure open)\"",
       .run = open},
      {.name = "token create",
       .group = Group::open,
       .summary = "make a token for a script or another machine; it is shown once",
       .positionals = {{"NAME", Count::one}},
       .options = {{.name = "scope",
                    .value_name = "SCOPE",
                    .help = "observe, operate (unless given) or admin"},
                   {.name = "session",
                    .value_name = "SESSION",
                    .help = "only this session exists for it",
                    .completes = Completes::session},
                   {.name = "expires", .value_name = "TIME", .help = "after 30d, 12h, …"}},
       .example = "perdure token create ci --scope observe --expires 30d",
       .run = token_create},
      {.name = "token ls",
       .group = Group::open,
       .summary = "list the tokens, without their texts",
       .example = "perdure token ls",
       .run = token_ls},
      {.name = "token revoke",
       .group = Group::open,
       .summary = "end a token; its streams end with it",
       .positionals = {{"ID", Count::one, Completes::token}},
       .example = "perdure token revoke tok_01j8z6",
       .run = token_revoke},
  };
}

}  // namespace perdure::cli
