#include "daemon/launch/probe_runs.h"

#include <algorithm>
#include <csignal>
#include <utility>
#include <vector>

#include "base/json/fields_json.h"
#include "base/json/json_view.h"
#include "base/limits.h"
#include "base/text.h"
#include "env/posix/files/file_tree.h"
#include "env/posix/files/folder.h"

namespace perdure {
namespace {

constexpr std::size_t line_bytes_max = 256UL << 10;
constexpr std::size_t report_bytes_max = 256UL << 10;
constexpr std::size_t words_max = 2UL << 10;

// Converts any text to a file name.
std::string file_name(std::string_view agent) {
  std::string out;
  for (const char letter : agent) {
    const bool is_plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                          (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
    if (is_plain) {
      out += letter;
    } else {
      constexpr std::string_view digits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(letter);
      out += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return out + ".json";
}

Result<> keep_report(const std::string& folder, const ProbeReport& report) {
  const std::unique_ptr<FileTree> tree = TRY(open_file_tree(folder));
  TRY(tree->write(TRY(TreePath::from_bytes(file_name(report.agent))), encode_fields(report), {}));
  return {};
}

}  // namespace

std::map<std::string, ProbeReport> read_probe_reports(const std::string& folder) {
  std::map<std::string, ProbeReport> out;
  const Result<std::unique_ptr<PosixFolder>> opened = PosixFolder::open(folder);
  if (!opened) return out;
  for (const std::string& name : (*opened)->list().value_or(std::vector<std::string>{})) {
    if (!name.ends_with(".json")) continue;
    const Result<std::string> text = (*opened)->read(name, 0, report_bytes_max);
    if (!text) continue;
    Result<WithUnknown<ProbeReport>> report = decode_fields<ProbeReport>(*text);
    if (!report || report->value.v != probe_version) continue;
    std::string agent = report->value.agent;
    out.insert_or_assign(std::move(agent), std::move(report->value));
  }
  return out;
}

class ProbeRuns::Run final : public ProcessEvents {
 public:
  Run(ProbeRuns& owner, std::string agent) : owner_(owner), agent_(std::move(agent)) {}
  ~Run() override { owner_.ports_.loop.cancel(timer_); }

  Result<> start(const ProbeOrder& order) {
    const SpawnSpec spec{.command = owner_.setting_.command,
                         .environment = owner_.setting_.environment,
                         .cwd = "/",
                         .terminal = std::nullopt};
    process_ = TRY(owner_.ports_.processes.spawn(spec, *this));
    process_->write(encode_fields(order));
    process_->close_input();
    timer_ = owner_.ports_.loop.after_ms(probe_run_ms, [this] {
      timer_ = 0;
      process_->signal(SIGKILL);
    });
    return {};
  }

  bool is_running() const { return !is_over_; }
  ApiWorld::Probed so_far() const {
    return {.is_running = !is_over_, .steps = steps_, .report = std::nullopt, .error = error_};
  }

 private:
  void on_output(std::string_view bytes) override {
    line_ += bytes;
    for (std::size_t end = line_.find('\n'); end != std::string::npos; end = line_.find('\n')) {
      take(std::string_view(line_).substr(0, end));
      line_.erase(0, end + 1);
    }
    if (line_.size() > line_bytes_max) line_.clear();
  }
  void take(std::string_view line) {
    const std::optional<JsonView> view = JsonView::read(line);
    if (!view) return;
    if (auto step = decode_fields<ProbeStep>((*view)["step"].raw()); step) {
      return steps_.push_back(std::move(step->value));
    }
    auto report = decode_fields<ProbeReport>((*view)["report"].raw());
    if (!report || report->value.agent != agent_) return;
    has_report_ = true;
    if (const Result<> kept = keep_report(owner_.setting_.folder, report->value); !kept) {
      error_ = "the report could not be kept: " + kept.error().message();
    }
    owner_.reports_.insert_or_assign(agent_, std::move(report->value));
  }
  void on_error_output(std::string_view bytes) override {
    words_ += bytes.substr(0, words_max - std::min(words_max, words_.size()));
  }
  void on_output_end() override {}
  void on_exit(const ProcessExit& exit) override {
    owner_.ports_.loop.cancel(std::exchange(timer_, 0));
    is_over_ = true;
    if (has_report_) return;
    error_ = exit.signal ? "the probe was ended; it may take " +
                               std::to_string(probe_run_ms / 60'000) + " minutes at most"
                         : "the probe ended without a report: " + utf8_scrub(words_);
  }

  ProbeRuns& owner_;
  std::string agent_;
  std::unique_ptr<Process> process_;
  std::string line_;
  std::string words_;
  std::vector<ProbeStep> steps_;
  std::string error_;
  bool has_report_ = false;
  bool is_over_ = false;
  Loop::TimerId timer_ = 0;
};

ProbeRuns::ProbeRuns(Ports ports, Setting setting) : ports_(ports), setting_(std::move(setting)) {
  for (auto& [agent, report] : read_probe_reports(setting_.folder)) {
    reports_.emplace(agent, std::move(report));
  }
}

ProbeRuns::~ProbeRuns() = default;

Result<> ProbeRuns::start(const ProbeOrder& order) {
  std::size_t running = 0;
  for (const auto& [agent, run] : runs_) {
    if (!run->is_running()) continue;
    if (agent == order.agent) return fail(Code::conflict, agent + " is being probed already");
    ++running;
  }
  if (running >= probe_runs_max) {
    return fail(Code::limit_reached, "two agents are being probed; wait for one of them");
  }
  auto run = std::make_unique<Run>(*this, order.agent);
  TRY_VOID(run->start(order));
  runs_.insert_or_assign(order.agent, std::move(run));
  return {};
}

ApiWorld::Probed ProbeRuns::so_far(std::string_view agent) const {
  ApiWorld::Probed out;
  if (const auto run = runs_.find(agent); run != runs_.end()) out = run->second->so_far();
  if (const auto kept = reports_.find(agent); kept != reports_.end()) out.report = kept->second;
  return out;
}

}  // namespace perdure
