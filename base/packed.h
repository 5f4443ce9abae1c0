#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/document.h"

/// Structs with field tables (base/document.h) as bytes, for processes of one program: exact, and without the
/// cost of JSON. The bytes hold no names and mean nothing to another build.
namespace gnomon::base {

namespace detail {
/// A visitor that detects whether a type has a field table.
struct AnyFields {
  template <class T>
  void operator()(const char*, T&, Range = {}) {}
  template <class T>
  void required(const char*, T&, Range = {}) {}
};
template <class T>
concept HasFields = requires(T& value, AnyFields& fields) {
  T::fields(value, fields);
};
}  // namespace detail

/// Appends fields to `bytes`.
class Packer {
 public:
  template <class T>
  void operator()(const char*, const T& value, Range = {}) {
    add(value);
  }
  template <class T>
  void required(const char*, const T& value, Range = {}) {
    add(value);
  }

  std::string bytes;

 private:
  template <class T>
  void add(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      add(value.size());
      bytes += value;
    } else if constexpr (IsVector<T>::value) {
      add(value.size());
      for (const auto& item : value) {
        add(item);
      }
    } else if constexpr (IsOptional<T>::value) {
      add(value.has_value());
      if (value) {
        add(*value);
      }
    } else if constexpr (detail::HasFields<T>) {
      T::fields(value, *this);
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
  }
};

/// Takes fields from bytes in the order in which a Packer wrote them. `bytes` must outlive it.
class Unpacker {
 public:
  explicit Unpacker(const std::string& bytes) : at_(bytes.data()) {}
  template <class T>
  void operator()(const char*, T& value, Range = {}) {
    take(value);
  }
  template <class T>
  void required(const char*, T& value, Range = {}) {
    take(value);
  }

 private:
  template <class T>
  T taken() {
    T value{};
    take(value);
    return value;
  }
  template <class T>
  void take(T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      const auto size = taken<std::size_t>();
      value.assign(at_, size);
      at_ += size;
    } else if constexpr (IsVector<T>::value) {
      value.resize(taken<std::size_t>());
      for (auto& item : value) {
        take(item);
      }
    } else if constexpr (IsOptional<T>::value) {
      value.reset();
      if (taken<bool>()) {
        take(value.emplace());
      }
    } else if constexpr (detail::HasFields<T>) {
      T::fields(value, *this);
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      std::memcpy(&value, at_, sizeof value);
      at_ += sizeof value;
    }
  }

  const char* at_;
};

}  // namespace gnomon::base
