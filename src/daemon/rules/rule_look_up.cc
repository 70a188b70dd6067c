#include "daemon/rules/rule_look_up.h"

#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "base/json/json.h"
#include "base/json/json_view.h"
#include "base/limits.h"
#include "core/rules/rule.h"
#include "core/rules/rule_limits.h"

namespace perdure {
namespace {

// The parts that the kernel looks up on the way to the path, relative to the workspace: `a`, `a/b`
// and `a/c` for `a/b/../c`. False: the way leaves the workspace, so that its parts cannot be
// checked.
bool add_parts(std::set<std::string>& parts, std::string_view path, const std::string& cwd) {
  std::string at = path.starts_with('/') ? "" : cwd;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (part.empty() || part == ".") continue;
    const bool is_below_cwd = at != cwd && is_below(at, cwd);
    if (part == "..") {
      if (!is_below_cwd) return false;
      at.resize(at.rfind('/'));
    } else {
      at.append("/").append(part);
      if (at != cwd && is_below(at, cwd)) parts.insert(at.substr(cwd.size() + 1));
    }
  }
  return is_below(at, cwd);
}

class Looking : public std::enable_shared_from_this<Looking> {
 public:
  Looking(Workspaces& workspaces, ExecKey exec, std::vector<std::string> parts, OnLookedUp done)
      : workspaces_(workspaces), exec_(exec), parts_(std::move(parts)), done_(std::move(done)) {}

  void next() {
    if (at_ == parts_.size()) return std::exchange(done_, {})(true);
    JsonWriter params;
    params.begin_object().key("path").string(parts_[at_]).end_object();
    workspaces_.call(
        exec_, "fs.stat", std::move(params).take(),
        [self = shared_from_this()](const Result<std::string>& reply) { self->on_reply(reply); });
  }

 private:
  void on_reply(const Result<std::string>& reply) {
    const bool is_missing = !reply && reply.error().code() == Code::not_found;
    if (!is_missing && !is_plain(reply)) return std::exchange(done_, {})(false);
    ++at_;
    next();
  }

  static bool is_plain(const Result<std::string>& reply) {
    if (!reply) return false;
    const auto stat = JsonView::read(*reply);
    if (!stat) return false;
    const std::string kind = (*stat)["kind"].text();
    return kind == "file" || kind == "folder";
  }

  Workspaces& workspaces_;
  ExecKey exec_;
  std::vector<std::string> parts_;
  std::size_t at_ = 0;
  OnLookedUp done_;
};

}  // namespace

void look_up(Workspaces& workspaces, LookUp what, OnLookedUp done) {
  std::set<std::string> parts;
  auto cwd = plain_path(what.cwd, "");
  if (!cwd) return done(false);
  if (*cwd == "/") cwd->clear();
  for (const std::string& path : what.paths) {
    if (!plain_path(path, what.cwd) || !add_parts(parts, path, *cwd)) return done(false);
  }
  if (parts.size() > rule_look_ups_max) return done(false);
  std::make_shared<Looking>(workspaces, what.exec,
                            std::vector<std::string>(parts.begin(), parts.end()), std::move(done))
      ->next();
}

}  // namespace perdure
