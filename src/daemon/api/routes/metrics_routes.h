// GET /metrics: the numbers for operators, in Prometheus' text form. Values are read on request;
// nothing is counted here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/api/gate/route.h"
#include "daemon/api/world.h"

namespace perdure {

// Builds the text. Begin each family once and add its samples after it.
class MetricsText {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

  // `kind` is counter, gauge or histogram.
  void family(std::string_view name, std::string_view kind, std::string_view help);
  void sample(std::string_view name, const Labels& labels, double value);
  std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

// A histogram of durations: cumulative counts below each bound.
struct DurationHistogram {
  std::vector<double> bounds_s;
  std::vector<std::uint64_t> below;  // one per bound
  std::uint64_t count = 0;
  double sum_s = 0;
};
void write_histogram(MetricsText& text, std::string_view name, std::string_view help,
                     const DurationHistogram& histogram);

void add_metrics_route(Router& router, ApiWorld& world);

}  // namespace perdure
