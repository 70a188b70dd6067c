// A value that copies share until one of them is edited: for large values that are often copied and
// rarely changed. The copies belong to one thread.
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
  // A moved-from value stays valid: it shares, too.
  ~SharedValue() = default;

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  operator const T&() const { return *value_; }

  // Access for changing this copy only.
  T& edit() {
    if (value_.use_count() > 1) value_ = std::make_shared<T>(*value_);
    return *value_;
  }

  bool operator==(const SharedValue& other) const {
    return value_ == other.value_ || *value_ == *other.value_;
  }

  // The fields of the value (base/json/fields.h).
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
