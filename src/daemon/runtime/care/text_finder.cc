#include "daemon/runtime/care/text_finder.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/json/json.h"

namespace perdure {
namespace {

// Of one message, looked at together; what is longer is looked at in parts that overlap.
constexpr std::size_t message_bytes_max = 1UL << 20;

std::string escaped(std::string_view text) {
  std::string out;
  json_append_string(out, text);
  return out.substr(1, out.size() - 2);
}

bool is_word_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z') || byte == '_';
}

// Where it stands from this place on; npos: nowhere.
std::size_t find_text(std::string_view in, std::string_view text, std::size_t from) {
  for (std::size_t at = from; (at = in.find(text, at)) != std::string_view::npos; ++at) {
    if (text.size() >= text_part_min) return at;
    const std::size_t end = at + text.size();
    const bool begins = at == 0 || !is_word_byte(text.front()) || !is_word_byte(in[at - 1]);
    const bool ends = end == in.size() || !is_word_byte(text.back()) || !is_word_byte(in[end]);
    if (begins && ends) return at;
  }
  return std::string_view::npos;
}

}  // namespace

void TextFinder::add(std::string text) {
  if (text.empty() || std::ranges::find(texts_, text) != texts_.end()) return;
  escapes_.push_back(escaped(text));
  longest_ = std::max(longest_, text.size());
  texts_.push_back(std::move(text));
}

bool TextFinder::is_in(std::string_view text) const {
  return std::ranges::any_of(texts_, [&](const std::string& known) {
    return find_text(text, known, 0) != std::string_view::npos;
  });
}

bool TextFinder::is_in_json(std::string_view json) const {
  bool may_be = false;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    if (!json.contains(escapes_[i])) continue;
    if (texts_[i].size() >= text_part_min) return true;
    may_be = true;
  }
  bool found = false;
  if (may_be) {
    for_each_json_string(json, [&](std::string_view /*name*/, std::string_view raw) {
      found = found || is_in(json_string(raw).value_or(""));
    });
  }
  return found;
}

bool TextFinder::begins_with(std::string title) const {
  constexpr std::string_view cut = "…";
  if (title.ends_with(cut)) title.resize(title.size() - cut.size());
  return title.size() >= text_part_min &&
         std::ranges::any_of(texts_, [&](const std::string& text) { return text.contains(title); });
}

std::vector<std::uint64_t> PieceFinder::add(std::uint64_t seq, const EventBody& body) {
  const auto* const said = get_if<MessageAgent>(&body);
  const auto* const thought = get_if<MessageThought>(&body);
  const bool is_of_message = holds_alternative<Usage>(body) || holds_alternative<Plan>(body) ||
                             holds_alternative<Mode>(body) || holds_alternative<Commands>(body);
  if (is_of_message) return {};
  if (!said && !thought) return end();
  std::vector<std::uint64_t> found;
  if (is_thought_ != (thought != nullptr)) found = end();
  is_thought_ = thought != nullptr;
  const std::string& text = said ? said->text : thought->text;
  if (text.empty()) return found;
  pieces_.emplace(text_.size(), seq);
  text_ += text;
  if (text_.size() < message_bytes_max + 2 * finder_.longest()) return found;
  std::ranges::move(find(), std::back_inserter(found));
  drop_front();
  return found;
}

std::vector<std::uint64_t> PieceFinder::end() {
  std::vector<std::uint64_t> found = find();
  text_.clear();
  pieces_.clear();
  return found;
}

std::vector<std::uint64_t> PieceFinder::find() const {
  std::set<std::uint64_t> found;
  for (const std::string& text : finder_.texts()) {
    for (std::size_t at = 0; (at = find_text(text_, text, at)) != std::string::npos; ++at) {
      auto piece = std::prev(pieces_.upper_bound(at));
      for (; piece != pieces_.end() && piece->first < at + text.size(); ++piece) {
        found.insert(piece->second);
      }
    }
  }
  return {found.begin(), found.end()};
}

// Keeps the pieces in which a text may have begun.
void PieceFinder::drop_front() {
  const auto first = std::prev(pieces_.upper_bound(text_.size() - finder_.longest()));
  const std::size_t cut = first->first;
  std::map<std::size_t, std::uint64_t> kept;
  for (auto piece = first; piece != pieces_.end(); ++piece) {
    kept.emplace(piece->first - cut, piece->second);
  }
  pieces_ = std::move(kept);
  text_.erase(0, cut);
}

}  // namespace perdure
