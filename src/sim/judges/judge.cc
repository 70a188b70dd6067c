#include "sim/judges/judge.h"

#include <algorithm>
#include <utility>

namespace perdure::sim {

namespace {

// A record for people who read traces and do not check hashes.
std::string without_prev(std::string_view bytes) {
  std::string text(bytes.substr(0, 600));
  const std::size_t at = text.find("\"prev\":\"");
  if (at != std::string::npos) text.erase(at, 8 + 64 + 2);
  return text;
}

}  // namespace

Judge::BatchNumber Judge::on_append(const Append& batch, const DaemonLife& by) {
  Append slim{.session = batch.session,
              .expected_head = batch.expected_head,
              .outbox_add = batch.outbox_add,
              .cursor = batch.cursor,
              .snapshot = batch.snapshot,
              .listing = batch.listing};
  std::set<std::string> keys;
  for (const StoredAnswer& answer : batch.answers) {
    keys.insert(answer.key);
    // Answers to prompts are kept forever, others for a week.
    universe_.verdict.expect(
        answer.expires.has_value() != prompts_.contains(answer.key), "ACK3",
        [&] { return "key " + answer.key + " is kept for another time than it should"; });
  }
  const BatchNumber number = ++last_batch_;
  const std::uint64_t last = batch.records.empty() ? 0 : hash64(batch.records.back());
  pending_[batch.session].push_back(
      {number, std::move(slim), batch.records.size(), last, std::move(keys), by});
  return number;
}

void Judge::on_ended(SessionId session, BatchNumber number) {
  std::erase_if(pending_[session], [&](const Pending& p) { return p.number == number; });
}

bool Judge::is_undecided(const std::string& key, std::uint64_t life) const {
  return std::ranges::any_of(pending_, [&](const auto& entry) {
    return std::ranges::any_of(entry.second, [&](const Pending& one) {
      return one.by.number == life && one.keys.contains(key);
    });
  });
}

Ledger& Judge::ledger(SessionId session) {
  std::unique_ptr<Ledger>& found = ledgers_[session];
  if (!found) found = std::make_unique<Ledger>(session, universe_.verdict, *this);
  return *found;
}

// Two daemons may append the same record byte for byte, and one is refused: the longest batch that
// is completely stored is the committed one (seed 14767).
const Judge::Pending* Judge::bringer(SessionId session, const Ledger& book) {
  const Seq head = disk_.head(session);
  const Pending* longest = nullptr;
  for (const Pending& pending : pending_[session]) {
    const Seq last = book.records() + pending.records;
    const bool is_there = pending.records > 0 && pending.batch.expected_head == book.records() &&
                          last <= head && hash64(disk_.record(session, last)) == pending.last_hash;
    if (is_there && (!longest || pending.records > longest->records)) longest = &pending;
  }
  return longest;
}

void Judge::catch_up(SessionId session) {
  const Seq head = disk_.head(session);
  if (head == 0) return;
  Ledger& book = ledger(session);
  universe_.verdict.expect(head >= book.records(), "J1",
                           [&] { return tail(session) + ": records are gone"; });
  while (book.records() < head && !universe_.verdict.is_bad()) {
    const Pending* const brought = bringer(session, book);
    const Seq upto = brought ? book.records() + brought->records : head;
    if (brought) boot_ = brought->by.boot;
    while (book.records() < upto && !universe_.verdict.is_bad()) {
      const Seq seq = book.records() + 1;
      const std::string_view bytes = disk_.record(session, seq);
      universe_.trace.note("record", hash64(bytes),
                           [&] { return tail(session) + " " + std::string(without_prev(bytes)); });
      book.feed(bytes);
      if (book.is_copying()) check_copy(bytes);
    }
    if (universe_.verdict.is_bad()) return;
    if (!brought) {
      universe_.verdict.fail("J3", tail(session) + ": records that no batch brought");
      return;
    }
    book.end_batch(brought->batch);
    on_ended(session, brought->number);
    if (book.records() < head) continue;  // the disk is further than this batch
    universe_.verdict.expect(disk_.is_open(session) || !book.needs_reconcile(), "Q5", [&] {
      return tail(session) + ": is listed as closed and reconcile would pass it over";
    });
  }
}

// J6: a copy keeps data of a newer version that this one does not understand.
void Judge::check_copy(std::string_view bytes) {
  const Result<DecodedRecord> copy = decode_record(bytes);
  if (!copy || copy->record.event.origin.copied_from.empty()) return;
  const std::string& from = copy->record.event.origin.copied_from;
  const std::size_t slash = from.find('/');
  const Result<SessionId> source = SessionId::parse(from.substr(0, slash));
  const Seq seq = std::stoull(from.substr(slash + 1));
  if (!source || is_damaged(*source) || disk_.head(*source) < seq) return;
  const Result<DecodedRecord> original = decode_record(disk_.record(*source, seq));
  if (!original) return;
  universe_.verdict.expect(original->extra.text == copy->extra.text, "J6", [&] {
    return "of " + from + " a copy has lost '" + original->extra.text + "'";
  });
}

void Judge::check_told(SessionId session) {
  for (const auto& [what, run] : ledger(session).notes()) {
    universe_.verdict.expect(told_[session].contains({what, run}), "Q2", [&] {
      return tail(session) + ": nobody was told '" + std::string(enum_text(what)) + "' of " +
             tail(run);
    });
  }
}

void Judge::on_crash(std::uint64_t life) {
  for (auto& [session, pending] : pending_) {
    catch_up(session);
    std::erase_if(pending, [&](const Pending& one) { return one.by.number == life; });
  }
}

void Judge::on_removed(SessionId session) {
  catch_up(session);
  const auto found = ledgers_.find(session);
  if (found == ledgers_.end()) return;
  universe_.verdict.expect(found->second->is_copying() || unwanted_.contains(session), "J1",
                           [&] { return tail(session) + ": a session is gone"; });
  ledgers_.erase(found);
  pending_.erase(session);
}

void Judge::check_state(const State& state) {
  Ledger& book = ledger(state.id);
  universe_.verdict.expect(state.head <= book.head(), "STREAM2", [&] {
    return tail(state.id) + ": the daemon shows record " + std::to_string(state.head) + " of " +
           std::to_string(book.head());
  });
  if (state.head != book.head()) return;
  universe_.verdict.expect(state == book.fold(), "J4", [&] {
    return tail(state.id) + ": live state differs from the fold at " + std::to_string(state.head);
  });
}

void Judge::check_bytes(SessionId session, Seq seq) {
  if (is_damaged(session)) return;
  universe_.verdict.expect(
      hash64(disk_.record(session, seq)) == ledger(session).hash_at(seq), "J2",
      [&] { return tail(session) + "/" + std::to_string(seq) + ": bytes changed"; });
}

void Judge::check_all_bytes() {
  for (const auto& [session, book] : ledgers_) {
    for (Seq seq = 1; seq <= book->records(); ++seq) check_bytes(session, seq);
  }
}

bool Judge::may_lack_snapshot(SessionId session) const {
  const auto at = ledgers_.find(session);
  return at == ledgers_.end() || is_damaged(session) || bad_snapshots_.contains(session) ||
         at->second->is_copying() || at->second->fold().context.inject_armed;
}

void Judge::note_answer(AnswerGiven answer) {
  answers_.insert(
      {std::move(answer.by), answer.permission, answer.token, std::move(answer.option_id)});
}

bool Judge::answer_was_sent(const AnswerGiven& answer) const {
  return answers_.contains({answer.by, answer.permission, WaitTokenId(), answer.option_id}) ||
         answers_.contains({answer.by, PermissionId(), answer.token, answer.option_id});
}

std::optional<PromptWhen> Judge::when_of(const std::string& key) const {
  const auto at = prompts_.find(key);
  if (at == prompts_.end()) return std::nullopt;
  return at->second;
}

const Frame* Judge::find_frame(const ExecKey& exec, FrameNo number) const {
  return host_->find_frame(exec, number);
}

// The bootstrap names what the agent is to resume, and nothing that is to be left behind (C4).
void Judge::on_start(const LaunchSpec& spec) {
  if (are_several()) return;  // a stopped daemon may start an execution that is over; it is refused
  const State& fold = ledger(spec.session).fold();
  const auto& resume = fold.resume;
  const bool is_new = resume && (resume->with || resume->how == ResumeHow::fresh);
  const std::string id = is_new ? "" : fold.context.agent_session_id;
  const std::string agent = resume && resume->with ? resume->with->name : fold.agent.name;
  const bool is_so = spec.agent_session_id == id && spec.agent.name == agent &&
                     spec.wants_agent == resume.has_value() &&
                     spec.workspace.cwd == fold.workspace.cwd;
  universe_.verdict.expect(spec.exec != fold.exec.id || is_so, "C4", [&] {
    return tail(spec.session) + ": is started with '" + spec.agent_session_id + "' of " +
           spec.agent.name + " where '" + id + "' of " + agent + " is due";
  });
}

// Commands execute only when durable, in the order of their decisions and without gaps: checks RUN4
// and TOK4 at the place where they matter.
void Judge::on_command_acted(const ExecKey& exec, const SendCommand& command) {
  const std::size_t next = acted_[exec]++;
  // A daemon that takes over may act on commits that the stopped daemon has not been notified of.
  if (next >= ledger(exec.session).commands(exec.exec).size()) catch_up(exec.session);
  const std::vector<SendCommand>& committed = ledger(exec.session).commands(exec.exec);
  universe_.verdict.expect(next < committed.size() && committed[next] == command, "TOK4", [&] {
    return tail(exec.session) + ": command " + std::to_string(command.number) +
           " acts before it is durable, or out of order";
  });
}

void Judge::on_frames_acked(const ExecKey& exec, FrameNo frame) {
  const std::optional<FrameCursor> cursor = disk_.cursor(exec.session);
  // Its daemon may have been stopped between commit and ack, for longer than its lease.
  const bool is_over = ledger(exec.session).fold().exec.gen > exec.gen;
  const bool is_there = cursor && cursor->exec == exec.exec && cursor->frame >= frame;
  universe_.verdict.expect(is_there || is_over, "PROC5", [&] {
    return tail(exec.session) + ": frame " + std::to_string(frame) + " is acked and not journalled";
  });
}

bool Judge::was_declared_dead(const ExecKey& exec) {
  return ledger(exec.session).was_declared_dead(exec.exec);
}

bool Judge::has_ended(const ExecKey& exec) {
  if (is_damaged(exec.session) || was_declared_dead(exec)) return false;
  const Execution& present = ledger(exec.session).fold().exec;
  return present.gone || present.gen > exec.gen;
}

}  // namespace perdure::sim
