#include "runtime/forks_of.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "wire/record.h"

namespace perdure {
namespace {

constexpr std::size_t slice_sessions = 64;

class ForkSearch : public std::enable_shared_from_this<ForkSearch> {
 public:
  ForkSearch(Runtime& runtime, SessionId of, OnForks done)
      : runtime_(runtime), of_(of), done_(std::move(done)) {}

  void go_on() {
    runtime_.loop().post([self = shared_from_this(), alive = runtime_.alive()] {
      if (!alive.expired()) self->step();
    });
  }

 private:
  void step() {
    const Result<std::vector<ListedSession>> page = runtime_.store().list(last_, slice_sessions);
    if (!page) return done_(std::unexpected(page.error()));
    for (const ListedSession& listed : *page) {
      last_ = listed.session;
      const std::optional<SessionId> parent = copied_from(runtime_.store(), listed.session);
      if (parent) children_[*parent].push_back(listed.session);
    }
    if (page->size() == slice_sessions) return go_on();
    done_(descendants());
  }

  std::vector<SessionId> descendants() const {
    std::vector<SessionId> found;
    std::set<SessionId> seen{of_};
    std::vector<SessionId> open{of_};
    while (!open.empty()) {
      const auto children = children_.find(open.back());
      open.pop_back();
      if (children == children_.end()) continue;
      for (const SessionId child : children->second) {
        if (!seen.insert(child).second) continue;
        found.push_back(child);
        open.push_back(child);
      }
    }
    return found;
  }

  Runtime& runtime_;
  SessionId of_;
  OnForks done_;
  SessionId last_;
  std::map<SessionId, std::vector<SessionId>> children_;
};

}  // namespace

std::optional<SessionId> copied_from(Store& store, SessionId session) {
  const Result<RecordPage> page = store.read(session, {.after = 0, .limit = 1});
  if (!page || page->records.empty()) return std::nullopt;
  const Result<DecodedRecord> decoded = decode_record(page->records.front());
  if (!decoded) return std::nullopt;
  const std::string& from = decoded->record.event.origin.copied_from;
  const Result<SessionId> parent = SessionId::parse(from.substr(0, from.find('/')));
  return parent ? std::optional(*parent) : std::nullopt;
}

void find_forks(Runtime& runtime, SessionId of, OnForks done) {
  std::make_shared<ForkSearch>(runtime, of, std::move(done))->go_on();
}

}  // namespace perdure
