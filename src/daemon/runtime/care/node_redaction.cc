#include "daemon/runtime/care/node_redaction.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "core/wire/journal/node_record.h"
#include "daemon/registry/node_events.h"
#include "daemon/runtime/reads/journal_scan.h"

namespace perdure {
namespace {

// Tombstones that are written before others get their turn on the loop.
constexpr std::size_t slice_tombstones = 16;

struct Decoded {
  NodeRecord record;
  NodeEvent event;
};

Result<Decoded> decode(std::string_view bytes) {
  NodeRecord record = TRY(decode_node_record(bytes));
  NodeEvent event = TRY(decode_node_event(record.kind, record.fields));
  return Decoded{std::move(record), std::move(event)};
}

std::string title_in(const NodeEvent& event) {
  if (const auto* created = std::get_if<TaskCreated>(&event)) return created->task.title;
  if (const auto* changed = std::get_if<TaskChanged>(&event)) return changed->title.value_or("");
  if (const auto* deleted = std::get_if<SessionDeleted>(&event)) return deleted->tombstone.title;
  return "";
}

Leftover leftover_of(const std::string& id, std::string_view kind, bool is_active_rule) {
  std::string what = "task ";
  std::string until = "it is redacted too: perdure redact " + id;
  if (kind.starts_with("rule") || kind.starts_with("typed_rule")) what = "permission rule ";
  if (kind.starts_with("session")) what = "the title of the deleted session ";
  if (kind.starts_with("token")) {
    what = "the name of token ";
    until += " (the audit trail keeps the name as long as its entries)";
  }
  if (is_active_rule) {
    until = "it is removed and redacted: perdure rules rm " + id + "; perdure redact " + id;
  }
  return {.where = what + id, .until = std::move(until)};
}

// Which ids have records with one of the texts.
class TextFold final : public JournalFold {
 public:
  explicit TextFold(const TextFinder& finder) : finder_(finder) {}

  Result<> add(Seq /*seq*/, std::string_view bytes) override {
    const Decoded read = TRY(decode(bytes));
    if (const auto* removed = std::get_if<RuleRemoved>(&read.event)) removed_.insert(removed->id);
    const std::string id = text_id(read.event);
    if (id.empty()) return {};
    if (finder_.is_in_json(bytes) || finder_.begins_with(title_in(read.event))) {
      found_.emplace(id, read.record.kind);
    }
    return {};
  }

  std::vector<Leftover> left() const {
    std::vector<Leftover> left;
    for (const auto& [id, kind] : found_) {
      const bool is_rule = kind == RuleAdded::kind || kind == TypedRuleAdded::kind;
      left.push_back(leftover_of(id, kind, is_rule && !removed_.contains(id)));
    }
    return left;
  }

 private:
  const TextFinder finder_;
  std::map<std::string, std::string> found_;
  std::set<std::string> removed_;
};

// The tombstones that take the place of the records of these ids.
class TombstoneFold final : public JournalFold {
 public:
  explicit TombstoneFold(std::set<std::string> ids) : ids_(std::move(ids)) {}

  Result<> add(Seq seq, std::string_view bytes) override {
    const Decoded read = TRY(decode(bytes));
    const std::string id = text_id(read.event);
    if (!ids_.contains(id)) return {};
    missing_.erase(id);
    if (read.record.redacted) return {};
    const RawJson kept{encode_node_event(without_text(read.event))};
    tombstones_.push_back({.session = Node::journal_id(),
                           .seq = seq,
                           .replacement = TRY(encode_node_tombstone(bytes, kept)),
                           .by_all = true});
    return {};
  }

  const std::set<std::string>& missing() const { return missing_; }
  std::vector<Redaction>& tombstones() { return tombstones_; }

 private:
  std::set<std::string> ids_;
  std::set<std::string> missing_ = ids_;
  std::vector<Redaction> tombstones_;
};

class Job : public std::enable_shared_from_this<Job> {
 public:
  Job(Runtime& runtime, Node& node, NodeRedaction order, OnNodeFound done)
      : runtime_(runtime), node_(node), order_(std::move(order)), done_(std::move(done)) {}

  // Looks first, so that nothing changes for an id that is not there.
  void start() {
    scan([self = shared_from_this()] {
      if (self->fold_->missing().empty()) return self->take_from_state();
      self->finish(fail(Code::not_found, "there is no " + *self->fold_->missing().begin()));
    });
  }

 private:
  void scan(std::move_only_function<void()> next) {
    fold_ = std::make_shared<TombstoneFold>(
        std::set<std::string>(order_.ids.begin(), order_.ids.end()));
    scan_journal(runtime_, Node::journal_id(), {.after = 0, .upto = node_.state().head}, fold_,
                 [self = shared_from_this(), next = std::move(next)](Result<> scanned) mutable {
                   if (!scanned) return self->finish(std::unexpected(scanned.error()));
                   next();
                 });
  }

  void take_from_state() {
    node_.redact(order_.request, order_.ids, [self = shared_from_this()](Result<> taken) {
      if (!taken) return self->finish(std::unexpected(taken.error()));
      self->scan([self] { self->write_tombstones(); });
    });
  }

  void write_tombstones() {
    std::vector<Redaction>& left = fold_->tombstones();
    for (std::size_t i = 0; i < slice_tombstones && !left.empty(); ++i) {
      const Result<> written = runtime_.store().redact(std::move(left.back()));
      left.pop_back();
      if (!written) return finish(std::unexpected(written.error()));
    }
    if (left.empty()) return finish(leftovers());
    runtime_.loop().post([self = shared_from_this(), alive = runtime_.alive()] {
      if (!alive.expired()) self->write_tombstones();
    });
  }

  std::vector<Leftover> leftovers() const {
    std::vector<Leftover> left;
    const std::string in_engine = runtime_.store().bytes_kept();
    if (!in_engine.empty()) left.push_back({.where = "the files of the store", .until = in_engine});
    return left;
  }

  void finish(Result<std::vector<Leftover>> result) { std::exchange(done_, {})(std::move(result)); }

  Runtime& runtime_;
  Node& node_;
  NodeRedaction order_;
  OnNodeFound done_;
  std::shared_ptr<TombstoneFold> fold_;
};

}  // namespace

void find_in_node(Runtime& runtime, const TextFinder& finder, OnNodeFound done) {
  const Result<SessionHead> head = runtime.store().head(Node::journal_id());
  if (!head && head.error().code() != Code::not_found) {
    return done(std::unexpected(head.error()));
  }
  auto fold = std::make_shared<TextFold>(finder);
  scan_journal(runtime, Node::journal_id(), {.after = 0, .upto = head ? head->seq : 0}, fold,
               [fold, done = std::move(done)](const Result<>& scanned) mutable {
                 if (!scanned) return done(std::unexpected(scanned.error()));
                 done(fold->left());
               });
}

void redact_node(Runtime& runtime, Node& node, NodeRedaction order, OnNodeFound done) {
  std::make_shared<Job>(runtime, node, std::move(order), std::move(done))->start();
}

}  // namespace perdure
