#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

namespace gnomon::graph {

/// A vertex id; also the type of row pointers.
using VertexId = std::int64_t;

/// The maximum number of vertices whose ids have 32 bits.
inline constexpr std::int64_t max_narrow_vertices = std::int64_t{1} << 32;

/// A view of vertex ids as they are stored: of 32 bits ("narrow") or of 64 ("wide"). Reads as a range of
/// VertexId; loops over many ids call visit(), which dispatches on the type once.
class Indices {
 public:
  using value_type = VertexId;

  /// A random-access iterator whose elements are values. It does not refer to the view.
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = VertexId;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = VertexId;

    Iterator() = default;
    Iterator(const VertexId* wide, const std::uint32_t* narrow, std::ptrdiff_t position)
        : wide_(wide), narrow_(narrow), position_(position) {}

    VertexId operator*() const { return (*this)[0]; }
    VertexId operator[](std::ptrdiff_t offset) const {
      const std::ptrdiff_t at = position_ + offset;
      return narrow_ != nullptr ? VertexId{narrow_[at]} : wide_[at];
    }
    Iterator& operator+=(std::ptrdiff_t offset) {
      position_ += offset;
      return *this;
    }
    Iterator& operator-=(std::ptrdiff_t offset) { return *this += -offset; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this -= 1; }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    Iterator operator--(int) {
      Iterator before = *this;
      --*this;
      return before;
    }
    friend Iterator operator+(Iterator it, std::ptrdiff_t offset) { return it += offset; }
    friend Iterator operator+(std::ptrdiff_t offset, Iterator it) { return it += offset; }
    friend Iterator operator-(Iterator it, std::ptrdiff_t offset) { return it -= offset; }
    friend std::ptrdiff_t operator-(const Iterator& a, const Iterator& b) {
      return a.position_ - b.position_;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.position_ == b.position_; }
    friend auto operator<=>(const Iterator& a, const Iterator& b) { return a.position_ <=> b.position_; }

   private:
    const VertexId* wide_ = nullptr;
    const std::uint32_t* narrow_ = nullptr;
    std::ptrdiff_t position_ = 0;
  };
  using const_iterator = Iterator;

  Indices() = default;
  /// A view of a vector or span of 64-bit ids, which must outlive it.
  template <class Ids>
  requires std::convertible_to<const Ids&, std::span<const VertexId>> Indices(const Ids& ids) : wide_(ids) {}
  /// A view of 32-bit ids.
  explicit Indices(std::span<const std::uint32_t> ids) : narrow_(ids) {}

  /// The ids as they are stored; the span of the other type is empty.
  std::span<const VertexId> wide() const { return wide_; }
  std::span<const std::uint32_t> narrow() const { return narrow_; }
  bool is_narrow() const { return narrow_.data() != nullptr; }

  std::size_t size() const { return wide_.size() + narrow_.size(); }
  bool empty() const { return size() == 0; }
  /// Returns act(ids) for the ids as a span of their type.
  template <class Act>
  auto visit(Act act) const {
    return is_narrow() ? act(narrow_) : act(wide_);
  }
  std::span<const std::byte> bytes() const {
    return visit([](auto ids) { return std::as_bytes(ids); });
  }
  VertexId operator[](std::size_t position) const { return begin()[static_cast<std::ptrdiff_t>(position)]; }
  Iterator begin() const { return {wide_.data(), narrow_.data(), 0}; }
  Iterator end() const { return begin() + static_cast<std::ptrdiff_t>(size()); }
  Indices subspan(std::size_t offset, std::size_t count) const {
    Indices part;
    if (is_narrow()) {
      part.narrow_ = narrow_.subspan(offset, count);
    } else {
      part.wide_ = wide_.subspan(offset, count);
    }
    return part;
  }

 private:
  std::span<const VertexId> wide_;
  std::span<const std::uint32_t> narrow_;
};

static_assert(std::random_access_iterator<Indices::Iterator>);

}  // namespace gnomon::graph
