// Remembers texts that an agent chose: ids, names, settings. An agent may invent any number of any
// length, so both are limited; limits.h says what happens at each limit.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>

namespace perdure {

struct TextLimits {
  std::size_t count_max = 0;
  std::size_t bytes_max = 0;  // of keys and values together
};

// A map that refuses entries beyond its limits.
class BoundedTexts {
 public:
  explicit BoundedTexts(TextLimits limits) : limits_(limits) {}

  // Returns false and changes nothing if the entry does not fit.
  bool set(const std::string& key, std::string value = {}) {
    const auto found = texts_.find(key);
    const std::size_t given_back =
        found == texts_.end() ? 0 : found->first.size() + found->second.size();
    const std::size_t bytes = bytes_ - given_back + key.size() + value.size();
    const bool has_room = found != texts_.end() || texts_.size() < limits_.count_max;
    if (!has_room || bytes > limits_.bytes_max) {
      has_refused_ = true;
      return false;
    }
    bytes_ = bytes;
    texts_.insert_or_assign(key, std::move(value));
    return true;
  }
  void erase(const std::string& key) {
    const auto found = texts_.find(key);
    if (found == texts_.end()) return;
    bytes_ -= found->first.size() + found->second.size();
    texts_.erase(found);
  }
  void clear() {
    texts_.clear();
    bytes_ = 0;
    has_refused_ = false;
  }
  // Returns null if absent.
  const std::string* find(const std::string& key) const {
    const auto found = texts_.find(key);
    return found == texts_.end() ? nullptr : &found->second;
  }
  bool contains(const std::string& key) const { return texts_.contains(key); }
  std::size_t size() const { return texts_.size(); }
  std::size_t bytes() const { return bytes_; }
  // Whether an entry was refused since the last clear().
  bool has_refused() const { return has_refused_; }
  auto begin() const { return texts_.begin(); }
  auto end() const { return texts_.end(); }

 private:
  TextLimits limits_;
  std::map<std::string, std::string> texts_;
  std::size_t bytes_ = 0;
  bool has_refused_ = false;
};

// A short list that drops the oldest entries to fit the newest. Too long an entry is not kept.
class RecentTexts {
 public:
  explicit RecentTexts(TextLimits limits) : limits_(limits) {}

  void set(const std::string& key, const std::string& value = {}) {
    erase(key);
    if (key.size() + value.size() > limits_.bytes_max) return;
    texts_.emplace_back(key, value);
    bytes_ += key.size() + value.size();
    while (texts_.size() > limits_.count_max || bytes_ > limits_.bytes_max) {
      bytes_ -= texts_.front().first.size() + texts_.front().second.size();
      texts_.pop_front();
    }
  }
  void erase(const std::string& key) {
    std::erase_if(texts_, [&](const auto& text) {
      if (text.first != key) return false;
      bytes_ -= text.first.size() + text.second.size();
      return true;
    });
  }
  // Returns null if absent.
  const std::string* find(const std::string& key) const {
    for (const auto& [known, value] : texts_) {
      if (known == key) return &value;
    }
    return nullptr;
  }
  std::size_t size() const { return texts_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  TextLimits limits_;
  std::deque<std::pair<std::string, std::string>> texts_;
  std::size_t bytes_ = 0;
};

}  // namespace perdure
