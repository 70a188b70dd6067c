// Each request to the engine is sent one at a time, with a pause before the next. Callers can ask
// this object as often as they like.
#include "daemon/hosting/container/container_place.h"

#include <utility>

#include "daemon/hosting/container/container_launch.h"

namespace perdure {
namespace {

constexpr std::int64_t look_again_ms = 200;
constexpr std::int64_t look_stale_ms = 5'000;  // older observations count as unknown
constexpr std::int64_t remove_again_ms = 1'000;

}  // namespace

std::string container_name(const OwnedExec& owned) {
  return "perdure-" + owned.exec.text() + "-" + owned.owner;
}

ContainerPlace::ContainerPlace(ContainerPorts ports, ContainerPlan plan, Bootstrap bootstrap)
    : ports_(ports), plan_(std::move(plan)), bootstrap_(std::move(bootstrap)) {}

ContainerPlace::~ContainerPlace() { *exists_ = false; }

Result<std::unique_ptr<Process>> ContainerPlace::spawn(const SpawnSpec&, ProcessEvents& events) {
  of_exec_ = {};
  of_session_ = {};
  life_ = ProcessLife::unknown;
  cause_.reset();
  return std::make_unique<ContainerLaunch>(*this, events);
}

// The folder is created before the container is requested, and removed after it.
bool ContainerPlace::may_exist() {
  const auto spool = ports_.host.open_folder(bootstrap_.spool_folder);
  return spool || spool.error().code() != Code::not_found;
}

std::size_t ContainerPlace::kill_marked(const std::string& mark) {
  const bool is_session = mark == session_mark(bootstrap_);
  Removal& removal = is_session ? of_session_ : of_exec_;
  // If no container was ever requested, there is none, which is known without the engine.
  if (!is_session && !may_exist()) removal.done = true;
  // The host may still see processes of a container that its engine has forgotten, or that another
  // engine has.
  if (removal.done) return ports_.processes.kill_marked(mark);
  if (removal.under_way || now_ms() < removal.not_before_ms) return 1;
  removal.under_way = true;
  if (is_session) {
    remove_labelled(removal,
                    std::string(container_label_session) + "=" + bootstrap_.session.text());
  } else {
    ports_.engine.remove(container_name({bootstrap_.exec, bootstrap_.owner}),
                         [this, exists = std::weak_ptr<bool>(exists_), &removal](Result<> result) {
                           if (!exists.expired()) removed(removal, result);
                         });
  }
  return 1;
}

void ContainerPlace::removed(Removal& removal, const Result<>& result) {
  removal.under_way = false;
  removal.done = result.has_value();
  removal.not_before_ms = now_ms() + remove_again_ms;
  if (!result) doubt_ = result.error().message();
}

// One at a time, and never those of another data folder.
void ContainerPlace::remove_labelled(Removal& removal, const std::string& label) {
  ports_.engine.list(label, [this, exists = std::weak_ptr<bool>(exists_), &removal,
                             label](Result<std::vector<ListedContainer>> listed) {
    if (exists.expired()) return;
    if (!listed) return removed(removal, std::unexpected(listed.error()));
    for (const ListedContainer& each : *listed) {
      const auto owner = each.labels.find(container_label_owner);
      if (owner == each.labels.end() || owner->second != bootstrap_.owner) continue;
      return ports_.engine.remove(each.id, [this, exists, &removal, label](Result<> result) {
        if (exists.expired()) return;
        if (!result) return removed(removal, result);
        remove_labelled(removal, label);
      });
    }
    removed(removal, {});
  });
}

ProcessLife ContainerPlace::life(const ProcessIdentity&) {
  if (life_ == ProcessLife::dead) return life_;
  if (!looking_ && now_ms() >= look_not_before_ms_) look();
  return now_ms() - seen_ms_ > look_stale_ms ? ProcessLife::unknown : life_;
}

void ContainerPlace::look() {
  looking_ = true;
  ports_.engine.look(
      container_name({bootstrap_.exec, bootstrap_.owner}),
      [this, exists = std::weak_ptr<bool>(exists_)](const Result<ContainerSight>& sight) {
        if (exists.expired()) return;
        looking_ = false;
        look_not_before_ms_ = now_ms() + look_again_ms;
        seen(sight);
      });
}

void ContainerPlace::seen(const Result<ContainerSight>& sight) {
  seen_ms_ = now_ms();
  doubt_.clear();
  if (!sight && sight.error().code() == Code::not_found) {
    life_ = ProcessLife::dead;
    if (!cause_) {
      cause_ = Error(Code::container_missing,
                     "the session's container was removed from outside. What it had said is "
                     "kept; resume the session, and it gets a new one");
    }
    return;
  }
  if (!sight) {
    life_ = ProcessLife::unknown;
    doubt_ = sight.error().message();
    return;
  }
  switch (sight->life) {
    case ContainerLife::running: life_ = ProcessLife::alive; return;
    case ContainerLife::paused:
      life_ = ProcessLife::unknown;
      doubt_ = "the container was paused from outside: " + sight->id.substr(0, 12) +
               "; docker unpause (or podman unpause) lets it go on";
      return;
    case ContainerLife::created: life_ = ProcessLife::dead; return;  // created but never started
    case ContainerLife::ended: life_ = ProcessLife::dead; note_cause(*sight);
  }
}

void ContainerPlace::note_cause(const ContainerSight& sight) {
  if (cause_ || (sight.exit_code == 0 && !sight.out_of_memory)) return;
  if (sight.out_of_memory) {
    cause_ = Error(Code::limit_reached,
                   "the kernel ended the container for want of memory; give the session more "
                   "(limits.memory_bytes), or let it do less at once");
    return;
  }
  const std::string killed = sight.exit_code == 137 ? ": it was killed from outside" : "";
  const std::string why = sight.error.empty() ? killed : ": " + sight.error;
  cause_ = Error(Code::container_failed, "the session's container ended with code " +
                                             std::to_string(sight.exit_code) + why +
                                             ". Resume the session, and it gets a new one");
}

Result<std::unique_ptr<Link>> ContainerPlace::connect(const std::string& folder,
                                                      const std::string& name) {
  return ports_.host.connect(folder, name);
}

Result<std::unique_ptr<Folder>> ContainerPlace::open_folder(const std::string& path) {
  return ports_.host.open_folder(path);
}

Result<std::unique_ptr<Folder>> ContainerPlace::make_folder(const std::string& path) {
  return ports_.host.make_folder(path);
}

Result<> ContainerPlace::remove_folder(const std::string& path) {
  if (path == bootstrap_.spool_folder) {
    TRY_VOID(ports_.host.remove_folder(bootstrap_.run_folder));
  }
  return ports_.host.remove_folder(path);
}

Result<> ContainerPlace::remove_file(const std::string& folder, const std::string& name) {
  Result<> removed = ports_.host.remove_file(folder, name);
  if (!removed && removed.error().code() == Code::not_found) return {};
  return removed;
}

}  // namespace perdure
