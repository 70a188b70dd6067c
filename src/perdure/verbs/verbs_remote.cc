// Verbs for other hosts: remote add, ls, check, start, rm. They work on the data folder and over
// ssh; the daemon reads what they wrote when it needs it.
#include <sstream>

#include "base/json/fields_json.h"
#include "perdure/terminal/clean_text.h"
#include "perdure/verbs/call/verb_call.h"
#include "perdure/verbs/verbs.h"

namespace perdure::cli {
namespace {

std::unexpected<Trouble> missing() {
  return std::unexpected(
      Trouble::of(Error(Code::internal, "this build does not include that command")));
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

Outcome<int> say(VerbCall& call, const Result<std::string>& sentences) {
  const std::string text = TRY(told(sentences));
  call.print_line(clean_text(text));
  return 0;
}

Outcome<int> remote_add(VerbCall& call) {
  const Args& args = call.args();
  if (!call.world().local.remote_add) return missing();
  AddRemote order{.name = args.word(0),
                  .target = args.word(1),
                  .ssh_options = words_of(args.value("ssh-options").value_or("")),
                  .host = args.value("address").value_or(""),
                  .port = TRY(args.number("port")).value_or(0),
                  .folder = args.value("folder").value_or(""),
                  .on_progress = [&](const std::string& sentence) { call.remark(sentence); }};
  return say(call, call.world().local.remote_add(order));
}

Outcome<int> remote_ls(VerbCall& call) {
  if (!call.world().local.remote_list) return missing();
  for (const RemoteRow& row : TRY(told(call.world().local.remote_list()))) {
    if (call.is_json()) {
      call.print_line(encode_fields(row));
    } else {
      call.print_line(clean_line(row.name + "  " + row.target + "  " + row.address));
    }
  }
  return 0;
}

Outcome<int> remote_rm(VerbCall& call) {
  if (!call.world().local.remote_remove) return missing();
  TRY_VOID(told(call.world().local.remote_remove(call.args().word(0))));
  return 0;
}

Outcome<int> remote_check(VerbCall& call) {
  if (!call.world().local.remote_check) return missing();
  return say(call, call.world().local.remote_check(call.args().word(0)));
}

Outcome<int> remote_start(VerbCall& call) {
  if (!call.world().local.remote_start) return missing();
  return say(call, call.world().local.remote_start(call.args().word(0)));
}

}  // namespace

std::vector<Verb> remote_verbs() {
  return {
      {.name = "remote add",
       .group = Group::care,
       .summary = "make another host a place for agents, over ssh",
       .positionals = {{"NAME"}, {"TARGET"}},
       .options = {{.name = "ssh-options", .value_name = "WORDS", .help = "for ssh: '-p 2222'"},
                   {.name = "address", .value_name = "HOST", .help = "where the daemon calls it"},
                   {.name = "port", .value_name = "PORT", .help = "where its outpost listens"},
                   {.name = "folder", .value_name = "DIR", .help = "of the outpost, there"}},
       .detail = "TARGET is what ssh takes: user@host. Two static programs are copied there, and "
                 "the outpost is started; its certificate's fingerprint and its secret are kept in "
                 "the data folder. Once more for the same name brings newer programs.",
       .example = "perdure remote add box me@box.example\n"
                  "perdure run claude --remote box --cwd /srv/project \"fix the test\"",
       .needs = Needs::nothing,
       .run = remote_add},
      {.name = "remote ls",
       .group = Group::care,
       .summary = "list the other hosts that are known",
       .example = "perdure remote ls",
       .needs = Needs::nothing,
       .run = remote_ls},
      {.name = "remote check",
       .group = Group::care,
       .summary = "call the outpost of another host and say what was measured",
       .positionals = {{"NAME"}},
       .example = "perdure remote check box",
       .needs = Needs::nothing,
       .run = remote_check},
      {.name = "remote start",
       .group = Group::care,
       .summary = "start the outpost of another host again, over ssh",
       .positionals = {{"NAME"}},
       .example = "perdure remote start box",
       .needs = Needs::nothing,
       .run = remote_start},
      {.name = "remote rm",
       .group = Group::care,
       .summary = "forget another host; what runs there goes on",
       .positionals = {{"NAME"}},
       .example = "perdure remote rm box",
       .needs = Needs::nothing,
       .run = remote_rm},
  };
}

}  // namespace perdure::cli
