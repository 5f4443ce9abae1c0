#pragma once

#include <set>
#include <vector>

#include "base/philox.h"
#include "tuner/search/strategy.h"

namespace gnomon::tuner {

/// What a strategy has been told.
class Observed {
 public:
  struct Entry {
    Point point;
    sim::Prediction prediction;
  };

  void add(const Point& point, const sim::Prediction& prediction);
  bool is_new(const Point& point) const { return !asked_.contains(point); }
  /// Remembers that a point was asked; false when it was before.
  bool mark(const Point& point) { return asked_.insert(point).second; }

  const std::vector<Entry>& entries() const { return entries_; }
  bool has_best() const { return best_ >= 0; }
  /// The fastest that fits.
  const Entry& best() const { return entries_.at(static_cast<std::size_t>(best_)); }
  /// Infinite when nothing fits yet.
  double best_s() const;
  /// The `count` fastest, the fastest first.
  std::vector<Point> fastest(std::size_t count) const;

 private:
  std::vector<Entry> entries_;
  std::set<Point> asked_;
  std::ptrdiff_t best_ = -1;
};

/// Feasible points that were not asked, drawn uniformly from the space; fewer than `count` when they are hard
/// to find.
std::vector<Point> random_points(const Space& space, const Observed& observed, base::RandomStream& random,
                                 std::size_t count);

/// Where to begin in each family of plans that have the same categories: the least resources that reach the
/// family's lowest bound, and buffers and a look-ahead guessed from the stages' times; those with the lowest
/// bound first, at most `count`, one of each schedule before a second one of any.
std::vector<Point> first_guesses(const Problem& problem, std::size_t count);

/// MorphGL's feedback as a move: the point with a CPU buffer one step smaller where the device waited for the
/// CPU, one larger where the CPU waited for the device; the point itself where neither waits long or the
/// schedule has no two buffers.
Point dispatcher_move(const Problem& problem, const Point& point, const sim::Prediction& prediction);

}  // namespace gnomon::tuner
