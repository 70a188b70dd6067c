// A value that its copies share until one of them is edited: for what is large, copied often and
// seldom changed. The copies belong to one thread.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace perdure {

template <class T>
class SharedValue {
 public:
  SharedValue() : SharedValue(T{}) {}
  SharedValue(T value) : value_(std::make_shared<T>(std::move(value))) {}
  SharedValue(const SharedValue&) = default;
  SharedValue& operator=(const SharedValue&) = default;
  // A moved-from value stays whole: it shares, too.
  ~SharedValue() = default;

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  operator const T&() const { return *value_; }

  // This copy alone, to be changed.
  T& edit() {
    if (value_.use_count() > 1) value_ = std::make_shared<T>(*value_);
    return *value_;
  }

  bool operator==(const SharedValue& other) const {
    return value_ == other.value_ || *value_ == *other.value_;
  }

  // Those of the value (base/fields.h).
  template <class Self>
  void fields(this Self& self, auto&& visit) {
    if constexpr (std::is_const_v<Self>) {
      std::as_const(*self.value_).fields(visit);
    } else {
      self.edit().fields(visit);
    }
  }

 private:
  std::shared_ptr<T> value_;
};

}  // namespace perdure
