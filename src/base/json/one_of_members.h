// The members that OneOf declares and a single .cc instantiates: include this there and write
// `template class OneOf<SomeKinds>;`. Included elsewhere it only costs time.
#pragma once

#include <memory>
#include <utility>

#include "base/json/one_of.h"

namespace perdure {

template <class... Alternatives>
OneOf<Kinds<Alternatives...>>::OneOf() {
  ::new (static_cast<void*>(bytes_)) Kind<0>();
}

template <class... Alternatives>
OneOf<Kinds<Alternatives...>>::OneOf(const OneOf& other) : index_(other.index_) {
  visit([&]<class T>(const T& value) { ::new (static_cast<void*>(bytes_)) T(value); }, other);
}

template <class... Alternatives>
OneOf<Kinds<Alternatives...>>::OneOf(OneOf&& other) noexcept : index_(other.index_) {
  visit([&]<class T>(T& value) { ::new (static_cast<void*>(bytes_)) T(std::move(value)); }, other);
}

template <class... Alternatives>
OneOf<Kinds<Alternatives...>>& OneOf<Kinds<Alternatives...>>::operator=(const OneOf& other) {
  if (this != &other) *this = OneOf(other);
  return *this;
}

template <class... Alternatives>
OneOf<Kinds<Alternatives...>>& OneOf<Kinds<Alternatives...>>::operator=(OneOf&& other) noexcept {
  if (this == &other) return *this;
  destroy();
  ::new (static_cast<void*>(this)) OneOf(std::move(other));
  return *this;
}

template <class... Alternatives>
OneOf<Kinds<Alternatives...>>::~OneOf() {
  destroy();
}

template <class... Alternatives>
void OneOf<Kinds<Alternatives...>>::destroy() noexcept {
  visit([](auto& value) { std::destroy_at(&value); }, *this);
}

template <class... Alternatives>
bool OneOf<Kinds<Alternatives...>>::operator==(const OneOf& other) const
  requires(std::equality_comparable<Alternatives> && ...)
{
  if (index_ != other.index_) return false;
  return visit([&]<class T>(const T& value) { return value == *other.template at<T>(); }, *this);
}

}  // namespace perdure
