#include "daemon/rules/rule_trial.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "core/rules/rule_limits.h"
#include "core/wire/journal/record.h"
#include "daemon/rules/rule_questions.h"
#include "daemon/rules/rules.h"
#include "daemon/runtime/reads/journal_scan.h"

namespace perdure {
namespace {

constexpr std::int64_t ms_per_day = 24LL * 3600 * 1000;
constexpr std::size_t sessions_per_page = 100;
constexpr std::size_t shown_bytes_max = 1024;  // of a command

struct Place {
  RuleScene scene;
  std::string title;
};

class Trial : public std::enable_shared_from_this<Trial>, public JournalFold {
 public:
  Trial(Runtime& runtime, const Node& node, Clock& clock, RuleTrialAsk ask, OnTried done)
      : runtime_(runtime),
        node_(node),
        clock_(clock),
        rule_(std::move(ask.rule)),
        exact_(std::move(ask.exact)),
        done_(std::move(done)),
        ends_ms_(clock.now().since_boot.ms + rule_trial_ms),
        since_{clock.now().wall.ms - ask.days * ms_per_day} {
    trial_.days = ask.days;
  }

  void go_on() {
    runtime_.loop().post([self = shared_from_this(), alive = runtime_.alive()] {
      if (!alive.expired()) self->next_session();
    });
  }

  Result<> add(Seq seq, std::string_view bytes) override {
    ++records_;
    const Result<RecordGlance> glance = glance_at_record(bytes);
    if (!glance) return {};
    if (glance->kind == "tool.call" || glance->kind == "tool.update") {
      tools_.emplace_back(seq, std::string(bytes));
    }
    while (!tools_.empty() && tools_.front().first + rule_look_back_records < seq) {
      tools_.pop_front();
    }
    if (!glance->kind.starts_with("permission.")) return {};
    const Result<DecodedRecord> decoded = decode_record(bytes);
    if (!decoded) return {};
    const Event& event = decoded->record.event;
    if (const auto* asked = get_if<PermissionRequested>(&event.body)) {
      if (event.at >= since_) on_asked(seq, event.at, *asked);
    } else if (const auto* resolved = get_if<PermissionResolved>(&event.body)) {
      on_resolved(*resolved);
    }
    return {};
  }

  bool wants_more() const override {
    return records_ < rule_trial_records_max && clock_.now().since_boot.ms < ends_ms_;
  }

 private:
  void next_session() {
    if (!wants_more()) {
      trial_.is_complete = false;
      return finish();
    }
    if (places_.empty() && !is_listed_ && !list_sessions()) return finish();
    if (places_.empty()) return is_listed_ ? finish() : go_on();
    place_ = std::move(places_.front());
    places_.pop_front();
    tools_.clear();
    open_.clear();
    const Result<SessionHead> head = runtime_.store().head(place_.scene.session);
    if (!head) return go_on();
    Seq after = 0;
    if (head->seq > rule_trial_session_records_max) {
      after = head->seq - rule_trial_session_records_max;
      trial_.is_complete = false;
    }
    scan_journal(runtime_, place_.scene.session, {after, head->seq}, shared_from_this(),
                 [self = shared_from_this()](const Result<>& scanned) {
                   if (!scanned) self->trial_.is_complete = false;
                   self->go_on();
                 });
  }

  // One more page; false if it cannot be read.
  bool list_sessions() {
    SessionList::Ask ask{
        .archived = ArchivedFilter::all, .cursor = cursor_, .limit = sessions_per_page};
    const Result<SessionList::Page> page = runtime_.sessions().page(ask);
    if (!page) {
      trial_.is_complete = false;
      return false;
    }
    for (const SessionRow* const row : page->rows) {
      if (row->updated < since_) continue;
      places_.push_back({.scene = {row->summary.agent, row->session, row->summary.cwd},
                         .title = row->summary.title});
    }
    // Newest first: all after one that is too old are too old.
    const bool is_old = !page->rows.empty() && page->rows.back()->updated < since_;
    is_listed_ = page->next.empty() || is_old;
    cursor_ = page->next;
    return true;
  }

  void on_asked(Seq seq, Timestamp at, const PermissionRequested& asked) {
    trial_.questions += 1;
    QuestionFold fold(runtime_.store(), asked.tool_call_id);
    for (const auto& [number, bytes] : tools_) {
      const Result<DecodedRecord> decoded = decode_record(bytes);
      if (decoded) fold.add(decoded->record);
    }
    const std::optional<Question> question = fold.question(asked);
    auto options = options_offered(asked.options);
    const Permission offered{
        .title = question_title(asked.title),
        .options = options,
        .options_left_out = asked.options.size() - options.size() + asked.options_left_out};
    const bool is_match = exact_ ? names(*exact_, offered) : question && matches(*question);
    if (!is_match) return;
    const std::string kind = exact_ ? exact_->option_kind : chosen_option_kind(rule_);
    if (!kind.empty() && option_of_kind(offered, kind).empty()) return;
    const bool overruled =
        exact_ ? exact_comes_later(question.value_or(Question{}), offered) : comes_later(*question);
    (overruled ? trial_.overruled : trial_.matched) += 1;
    if (trial_.list.size() >= 10 * rule_trial_list_max) return;
    trial_.list.push_back({.session = place_.scene.session,
                           .session_title = place_.title,
                           .permission = asked.permission,
                           .seq = seq,
                           .at = at,
                           .title = offered.title,
                           .command = command_of(question),
                           .answer = "open",
                           .overruled = overruled});
    open_.push_back({trial_.list.size() - 1, std::move(options)});
  }

  bool matches(const Question& question) const {
    return match_rule(rule_, place_.scene, question) == RuleMatch::yes;
  }
  bool names(const PermissionRule& rule, const Permission& offered) const {
    return rule.title == offered.title &&
           (rule.agent.empty() || rule.agent == place_.scene.agent) &&
           (!rule.session || rule.session == place_.scene.session);
  }
  static std::string command_of(const std::optional<Question>& question) {
    return question ? std::string(utf8_prefix(question->command, shown_bytes_max)) : "";
  }
  // allow, ask or deny.
  std::string effect() const {
    if (!exact_) return rule_.effect;
    return exact_->option_kind.starts_with("allow") ? "allow" : "deny";
  }

  // The same of an exact rule: typed ones that deny or ask, and exact ones that disagree.
  bool exact_comes_later(const Question& question, const Permission& offered) const {
    const auto disagrees = [&](const auto& entry) {
      return names(entry.second, offered) && entry.second.option_kind != exact_->option_kind;
    };
    if (std::ranges::any_of(node_.state().rules, disagrees)) return true;
    std::vector<const TypedRule*> rules;
    for (const auto& [id, rule] : node_.state().typed_rules) rules.push_back(&rule);
    const RuleVerdict::Kind typed = judge(rules, place_.scene, question).kind;
    return effect() == "allow" &&
           (typed == RuleVerdict::Kind::deny || typed == RuleVerdict::Kind::ask);
  }

  // Whether a rule that is there would have come first.
  bool comes_later(const Question& question) const {
    std::vector<const TypedRule*> rules{&rule_};
    for (const auto& [id, rule] : node_.state().typed_rules) rules.push_back(&rule);
    const RuleVerdict alone = judge({&rule_}, place_.scene, question);
    return judge(rules, place_.scene, question).kind != alone.kind;
  }

  void on_resolved(const PermissionResolved& resolved) {
    const auto at = std::ranges::find_if(open_, [&](const Open& open) {
      return trial_.list[open.index].permission == resolved.permission;
    });
    if (at == open_.end()) return;
    TriedQuestion& tried = trial_.list[at->index];
    tried.by = resolved.by;
    tried.answer = enum_text(resolved.outcome);
    const auto option = std::ranges::find(at->options, resolved.option_id, &PermissionOption::id);
    if (resolved.outcome == PermissionOutcome::selected && option != at->options.end()) {
      tried.answer = option->kind;
      const std::string said = option->kind.starts_with("allow") ? "allow" : "deny";
      if (!tried.overruled && effect() != "ask" && said != effect()) {
        trial_.answered_otherwise += 1;
      }
    }
    open_.erase(at);
  }

  void finish() {
    std::ranges::sort(trial_.list, std::ranges::greater(), &TriedQuestion::at);
    if (trial_.list.size() > rule_trial_list_max) trial_.list.resize(rule_trial_list_max);
    std::exchange(done_, {})(std::move(trial_));
  }

  struct Open {
    std::size_t index = 0;
    std::vector<PermissionOption> options;
  };

  Runtime& runtime_;
  const Node& node_;
  Clock& clock_;
  TypedRule rule_;
  std::optional<PermissionRule> exact_;
  OnTried done_;
  std::int64_t ends_ms_;
  Timestamp since_;
  RuleTrial trial_;
  std::uint64_t records_ = 0;
  std::string cursor_;
  bool is_listed_ = false;
  std::deque<Place> places_;
  Place place_;
  std::deque<std::pair<Seq, std::string>> tools_;  // as stored
  std::vector<Open> open_;
};

}  // namespace

void try_rule(Runtime& runtime, const Node& node, Clock& clock, RuleTrialAsk ask, OnTried done) {
  std::make_shared<Trial>(runtime, node, clock, std::move(ask), std::move(done))->go_on();
}

}  // namespace perdure
