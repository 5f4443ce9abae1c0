#pragma once

#include <set>
#include <vector>

#include "base/philox.h"
#include "sim/prediction.h"
#include "tuner/search/strategy.h"

namespace gnomon::tuner {

/// The evaluations reported to a strategy.
class Observed {
 public:
  struct Entry {
    Point point;
    sim::Prediction prediction;
  };

  void add(const Point& point, const sim::Prediction& prediction);
  bool is_new(const Point& point) const { return !asked_.contains(point); }
  /// Marks a point as requested; returns false if it was already marked.
  bool mark(const Point& point) { return asked_.insert(point).second; }

  const std::vector<Entry>& entries() const { return entries_; }
  bool has_best() const { return best_ >= 0; }
  /// The fastest that fits in memory. Precondition: has_best().
  const Entry& best() const { return entries_.at(static_cast<std::size_t>(best_)); }
  /// Infinite without a best.
  double best_s() const;
  /// The `count` fastest, the fastest first.
  std::vector<Point> fastest(std::size_t count) const;

 private:
  std::vector<Entry> entries_;
  std::set<Point> asked_;
  std::ptrdiff_t best_ = -1;
};

/// Returns `count` feasible points not yet requested, drawn uniformly from the space; fewer if they are hard
/// to find.
std::vector<Point> random_points(const Space& space, const Observed& observed, base::RandomStream& random,
                                 std::size_t count);

/// At most `count` starting points, one for each family of plans with the same categories: the minimum
/// resources that reach the family's lowest bound, with buffers and a look-ahead guessed from the stage
/// times. The lowest bound comes first, but one point of each schedule before a second one of any.
std::vector<Point> first_guesses(const Problem& problem, std::size_t count);

/// MorphGL's feedback as a move: the point with a CPU buffer one step smaller if the device waited for the
/// CPU, one step larger if the CPU waited for the device; the point itself if neither waits long or the
/// schedule does not have two buffers.
Point dispatcher_move(const Problem& problem, const Point& point, const sim::Prediction& prediction);

}  // namespace gnomon::tuner
