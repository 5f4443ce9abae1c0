#pragma once

#include <cstdint>
#include <vector>

namespace gnomon::runtime {

/// The action for an access to a vertex's row.
class RowChoice {
 public:
  static RowChoice held_in(std::int32_t slot) { return RowChoice(slot); }
  static RowChoice read() { return RowChoice(-1); }
  static RowChoice read_into(std::int32_t slot) { return RowChoice(-2 - slot); }

  bool is_hit() const { return code_ >= 0; }
  /// Whether the row is in a slot from then on.
  bool has_slot() const { return code_ != -1; }
  std::int32_t slot() const { return code_ >= 0 ? code_ : -2 - code_; }
  bool operator==(const RowChoice&) const = default;

  /// Holds the number of the next use until the choice is made.
  static RowChoice pending(std::uint32_t next_use) { return RowChoice(static_cast<std::int32_t>(next_use)); }
  std::uint32_t next_use() const { return static_cast<std::uint32_t>(code_); }

 private:
  explicit RowChoice(std::int32_t code) : code_(code) {}
  std::int32_t code_;
};

/// Decides which rows a cache holds if the coming mini-batches are known (Ginex, PVLDB 15(11), 2022, section
/// 4.2): after each mini-batch it keeps, of the cached rows and those of the mini-batch, the ones whose next
/// use is nearest (Belady, IBM Systems Journal 5(2), 1966). This minimises the reads for the known
/// mini-batches. The content is kept when further mini-batches become known.
class OptimalChoices {
 public:
  /// Precondition: num_vertices and capacity are below 2^31.
  OptimalChoices(std::int64_t num_vertices, std::int64_t capacity);

  /// Decides for the next mini-batches, each with distinct vertices. Returns a choice for each vertex of each
  /// mini-batch, in order; the choices must be executed sequentially.
  std::vector<std::vector<RowChoice>> decide(const std::vector<std::vector<std::uint32_t>>& batches);

 private:
  using Slot = std::int32_t;
  static constexpr Slot none = -1;

  std::vector<std::vector<RowChoice>> next_uses(const std::vector<std::vector<std::uint32_t>>& batches);
  void relink_all();
  void decide_batch(const std::vector<std::uint32_t>& vertices, std::vector<RowChoice>& choices);
  RowChoice place(std::uint32_t vertex, std::uint32_t next_use);
  void link(Slot slot, std::uint32_t next_use);
  void unlink(Slot slot);
  std::uint32_t last_use();

  std::int64_t capacity_;
  std::vector<Slot> slot_of_;             ///< by vertex
  std::vector<std::uint32_t> first_use_;  ///< by vertex: the mini-batch that uses it next
  /// By slot: its vertex, the mini-batch that uses it next, and links to the slots with the same next use.
  std::vector<std::uint32_t> vertex_, next_use_;
  std::vector<Slot> before_, behind_;
  std::vector<Slot> heads_;   ///< by mini-batch: head of the list of slots with this next use
  std::uint32_t never_ = 0;   ///< as a next use; the number of mini-batches
  std::uint32_t latest_ = 0;  ///< no slot has a later next use that is not never_
  std::vector<std::size_t> misses_;
};

}  // namespace gnomon::runtime
