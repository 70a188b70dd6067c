// The test agent's output: frames with the requested noise, the frame at which it dies, and lines
// that wait for their time. After its last act nothing is written.
#include <algorithm>
#include <utility>

#include "testing/agent/test_agent.h"

namespace perdure::testagent {
namespace {

// Above this no step runs until the output was taken: a flood needs no memory.
constexpr std::size_t output_bytes_max = 256UL << 10;
constexpr std::int64_t stderr_piece_bytes = 64L << 10;
constexpr int signal_abort = 6;
constexpr int signal_kill = 9;

}  // namespace

void TestAgent::act(Act act) {
  if (ended_) return;
  if (const auto* out = std::get_if<WriteStdout>(&act)) unread_bytes_ += out->bytes.size();
  if (const auto* err = std::get_if<WriteStderr>(&act)) unread_bytes_ += err->bytes.size();
  ended_ = std::holds_alternative<ExitProcess>(act) || std::holds_alternative<KillItself>(act);
  acts_.push_back(std::move(act));
}

std::vector<Act> TestAgent::take_acts() {
  unread_bytes_ = 0;
  return std::exchange(acts_, {});
}

bool TestAgent::output_is_full() const { return unread_bytes_ >= output_bytes_max; }

void TestAgent::die(Death death) {
  switch (death) {
    case Death::killed:
    case Death::half_line: act(KillItself{signal_kill}); break;
    case Death::aborted: act(KillItself{signal_abort}); break;
    case Death::exited: act(ExitProcess{1}); break;
  }
}

void TestAgent::update(const Session& session, const demo::Update& update) {
  frame(demo::update_line(session.kept.id, update));
}

void TestAgent::frame(std::string line) {
  if (ended_) return;
  ++frames_written_;
  const StdoutNoise& noise = switches_.stdout_noise;
  if (noise.partial_utf8 && frames_written_ % 4 == 1) act(WriteStdout{"cut \xe2\x82\n"});
  if (noise.ansi) line.insert(0, "\x1b]0;agent\x07\x1b[2K\x1b[32m");
  if (noise.crlf) line.insert(line.size() - 1, "\r");
  const bool is_last = switches_.crash_at && switches_.crash_at->frame == frames_written_;
  if (is_last && switches_.crash_at->death == Death::half_line) line.resize(line.size() / 2);
  act(WriteStdout{std::move(line)});
  if (is_last) die(switches_.crash_at->death);
}

void TestAgent::frame_later(std::int64_t delay_ms, std::string line) {
  later_.emplace(now_ms_ + delay_ms, std::move(line));
}

void TestAgent::flush_due_frames() {
  while (!later_.empty() && later_.begin()->first <= now_ms_) {
    std::string line = std::move(later_.begin()->second);
    later_.erase(later_.begin());
    frame(std::move(line));
  }
}

void TestAgent::write_stderr_piece() {
  constexpr std::string_view line = "test agent: nothing to see on this line of stderr\n";
  const auto bytes = static_cast<std::size_t>(std::min(stderr_left_, stderr_piece_bytes));
  std::string piece;
  while (piece.size() < bytes) piece += line;
  piece.resize(bytes);
  stderr_left_ -= static_cast<std::int64_t>(bytes);
  act(WriteStderr{std::move(piece)});
}

// splitmix64: the same seed gives the same numbers everywhere.
std::uint64_t TestAgent::random() {
  random_state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = random_state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace perdure::testagent
