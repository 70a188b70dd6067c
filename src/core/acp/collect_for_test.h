// Collects a line reader's output, in order and with adjacent noise kept apart, so that two
// readings can be compared.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/acp/line_reader.h"

namespace perdure::acp {

struct Collected final : LineSink {
  void on_object(std::string_view json) override { all.push_back("object " + std::string(json)); }
  void on_noise(std::string_view bytes, NoiseKind kind) override {
    all.push_back(std::string(noise_name(kind)) + ' ' + std::string(bytes));
  }
  static std::string_view noise_name(NoiseKind kind) {
    switch (kind) {
      case NoiseKind::not_json: return "not_json";
      case NoiseKind::not_message: return "not_message";
      case NoiseKind::batch: return "batch";
      case NoiseKind::oversize: return "oversize";
      case NoiseKind::unfinished: return "unfinished";
      case NoiseKind::repaired: return "repaired";
    }
    return "";
  }

  std::vector<std::string> all;
};

// The bytes in one piece, then the end of the stream.
inline std::vector<std::string> collect(std::string_view bytes) {
  Collected collected;
  LineReader reader;
  reader.feed(bytes, collected);
  reader.feed_end(collected);
  return collected.all;
}

}  // namespace perdure::acp
