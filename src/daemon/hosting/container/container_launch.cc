#include "daemon/hosting/container/container_launch.h"

#include <utility>

namespace perdure {
namespace {

constexpr std::int64_t answer_again_ms = 20;
constexpr std::int64_t look_again_ms = 500;
constexpr std::size_t answer_bytes_max = 64UL << 10;

// Refuses limits that the engine cannot enforce: an ineffective limit is worse than an error.
Result<> check_limits_of(const ContainerLimits& limits, const EngineAbilities& engine) {
  std::string missing;
  if (limits.memory_bytes > 0 && !engine.limits_memory) missing += " memory_bytes";
  if (limits.processes > 0 && !engine.limits_processes) missing += " processes";
  if (limits.cpu_percent > 0 && !engine.limits_cpu) missing += " cpu_percent";
  if (missing.empty()) return {};
  return fail(Code::limits_unsupported,
              "the container engine cannot keep these limits here:" + missing +
                  ". Start the session without them, or use an engine that runs as root or with "
                  "delegated control groups");
}

}  // namespace

ContainerLaunch::ContainerLaunch(ContainerPlace& place, ProcessEvents& events)
    : place_(place), events_(events) {}

ContainerLaunch::~ContainerLaunch() {
  *exists_ = false;
  if (timer_ != 0) place_.ports_.loop.cancel(timer_);
}

std::string ContainerLaunch::name() const {
  return container_name({place_.bootstrap_.exec, place_.bootstrap_.owner});
}

template <class T>
OnEngine<T> ContainerLaunch::then(void (ContainerLaunch::*step)(Result<T>)) {
  return [this, exists = std::weak_ptr<bool>(exists_), step](Result<T> result) {
    if (!exists.expired()) (this->*step)(std::move(result));
  };
}

void ContainerLaunch::later(std::int64_t delay_ms, void (ContainerLaunch::*step)()) {
  timer_ = place_.ports_.loop.after_ms(delay_ms, [this, step] {
    timer_ = 0;
    (this->*step)();
  });
}

void ContainerLaunch::close_input() {
  place_.ports_.engine.describe(then(&ContainerLaunch::described));
}

void ContainerLaunch::described(Result<EngineAbilities> abilities) {
  if (!abilities) return give_up(std::move(abilities).error());
  Result<ContainerOrder> order = make_order(*abilities);
  if (!order) return give_up(std::move(order).error());
  // From here on a container may exist.
  if (Result<> made = make_folders(); !made) return give_up(std::move(made).error());
  place_.ports_.engine.create(*order, then(&ContainerLaunch::created));
}

Result<> ContainerLaunch::make_folders() {
  TRY(place_.ports_.host.make_folder(place_.bootstrap_.run_folder));
  TRY(place_.ports_.host.make_folder(place_.bootstrap_.spool_folder));
  return {};
}

Result<ContainerOrder> ContainerLaunch::make_order(const EngineAbilities& engine) const {
  const Bootstrap& bootstrap = place_.bootstrap_;
  const ContainerPlan& plan = place_.plan_;
  TRY_VOID(check_limits_of(plan.limits, engine));
  ContainerOrder order{
      .name = name(),
      .image = plan.image,
      .command = {container_agentctl, "run", container_run_folder + ("/" + file_name())},
      .environment = marks_of(bootstrap),
      .labels = {{container_label_managed, "true"},
                 {container_label_session, bootstrap.session.text()},
                 {container_label_exec, bootstrap.exec.text()},
                 {container_label_owner, bootstrap.owner}},
      .mounts = {{plan.agentctl, container_agentctl, true},
                 {bootstrap.run_folder, container_run_folder},
                 {bootstrap.spool_folder, container_spool_folder},
                 {bootstrap.cwd, bootstrap.cwd}},
      .user = engine.rootless ? "0:0" : plan.user,
      .network = plan.network,
      .limits = plan.limits,
      .may_swap = !engine.limits_swap};
  order.mounts.insert(order.mounts.end(), plan.mounts.begin(), plan.mounts.end());
  return order;
}

void ContainerLaunch::created(Result<std::string> id) {
  if (id) return begin(*id);
  if (id.error().code() != Code::conflict) return give_up(std::move(id).error());
  place_.ports_.engine.look(name(), then(&ContainerLaunch::found));
}

void ContainerLaunch::found(Result<ContainerSight> sight) {
  if (!sight) return give_up(std::move(sight).error());
  switch (sight->life) {
    case ContainerLife::created: return begin(sight->id);
    case ContainerLife::running:
    case ContainerLife::paused: return await_answer();
    case ContainerLife::ended: break;
  }
  place_.note_cause(*sight);
  give_up(Error(Code::container_failed, "the container of this execution ran before"));
}

void ContainerLaunch::begin(const std::string& id) {
  if (Result<> written = write_bootstrap(id); !written) {
    return give_up(std::move(written).error());
  }
  place_.ports_.engine.start(id, then(&ContainerLaunch::started));
}

// The same execution, as seen from inside.
Result<> ContainerLaunch::write_bootstrap(const std::string& id) {
  Bootstrap inside = place_.bootstrap_;
  inside.url = "unix:" + inside.run_folder + "/" + inside.exec.text() + ".sock";
  inside.container_id = id;
  inside.run_folder = container_run_folder;
  inside.spool_folder = container_spool_folder;
  inside.hide = {};
  inside.limits = {.run_ms = inside.limits.run_ms};  // the engine enforces the others
  const auto folder = TRY(place_.ports_.host.open_folder(place_.bootstrap_.run_folder));
  TRY_VOID(folder->remove(file_name()));
  TRY_VOID(folder->remove(file_name() + ".answer"));
  return folder->append(file_name(), encode_bootstrap(inside) + "\n");
}

void ContainerLaunch::started(Result<> result) {
  if (!result) return give_up(std::move(result).error());
  looked_ms_ = place_.now_ms();
  await_answer();
}

std::string ContainerLaunch::read_answer() {
  const auto folder = place_.ports_.host.open_folder(place_.bootstrap_.run_folder);
  if (!folder) return {};
  return (*folder)->read(file_name() + ".answer", 0, answer_bytes_max).value_or("");
}

void ContainerLaunch::await_answer() {
  const std::string line = read_answer();
  if (!line.empty()) return finish(line);
  if (place_.now_ms() - looked_ms_ < look_again_ms) {
    return later(answer_again_ms, &ContainerLaunch::await_answer);
  }
  place_.ports_.engine.look(name(), then(&ContainerLaunch::looked));
}

void ContainerLaunch::looked(Result<ContainerSight> sight) {
  looked_ms_ = place_.now_ms();
  if (!sight && sight.error().code() == Code::not_found) {
    return give_up(Error(Code::container_missing,
                         "the container was removed before its agentctl had answered"));
  }
  const bool has_ended = sight && sight->life == ContainerLife::ended;
  if (!has_ended) return later(answer_again_ms, &ContainerLaunch::await_answer);
  const std::string line = read_answer();  // its last output may have arrived since
  if (!line.empty()) return finish(line);
  place_.note_cause(*sight);
  give_up(Error(Code::container_failed, "the container ended before its agentctl had answered"));
}

void ContainerLaunch::finish(const std::string& line) {
  const Result<BootstrapAnswer> answer = decode_bootstrap_answer(line);
  if (answer && !answer->code.empty() && answer->code != code_name(Code::conflict)) {
    place_.cause_ = Error(parse_code(answer->code), answer->message);
  }
  events_.on_output(line);
  events_.on_exit({.code = 0});
}

void ContainerLaunch::give_up(Error error) {
  // A known cause explains more than the error of the start.
  if (!place_.cause_) place_.cause_ = error;
  events_.on_output(encode_bootstrap_answer({.code = std::string(code_name(error.code())),
                                             .message = place_.cause_->message()}) +
                    "\n");
  events_.on_exit({.code = 1});
}

}  // namespace perdure
