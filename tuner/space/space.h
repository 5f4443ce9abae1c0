#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "plan/plan.h"
#include "profiles/profile.h"
#include "tuner/space/fields.h"

namespace gnomon::tuner {

/// Worker counts to try: every one up to 16, then in steps of about an eighth; the last is all cores.
std::vector<int> worker_choices(int cores);

/// Device threads to try: the powers of two, and all cores; one where the device is a GPU.
std::vector<int> thread_choices(const plan::Cores& cores);

/// What a plan takes: cores, then buffers, then look-ahead. Less is better among equally fast plans.
inline auto resources(const plan::Plan& plan) {
  return std::tuple(plan.workers * plan.worker_threads + plan.device_threads, plan.workers,
                    plan.cpu_buffer + plan.device_buffer, plan.cpu_buffer, plan.look_ahead);
}

/// What a plan must satisfy to be looked at.
struct Constraint {
  std::string name;  ///< what messages call it
  /// Why a plan is out; empty when it is not.
  std::function<std::string(const plan::Plan&)> why_not;
  /// Whether each field passes or fails by itself, and all defaults pass: such a constraint is applied field
  /// by field while the space is made.
  bool by_field = false;
};

/// Plans that train the same mini-batches as every other exact plan.
Constraint exact_only();
/// Plans that the runtime can execute.
Constraint runnable_only(bool host_device = true);

/// Limits of memory at the peak of an epoch.
struct MemoryLimits {
  double host_bytes = std::numeric_limits<double>::infinity();
  double device_bytes = std::numeric_limits<double>::infinity();  ///< of each device
};

/// Plans that the profile tells enough of to be simulated, and that fit into the machine's memory, and into
/// less where limits say so.
Constraint fits_memory(const profiles::Profile& profile, const MemoryLimits& limits = {});

/// Of what a space is made.
struct SpaceRequest {
  plan::Cores cores;
  std::int64_t batches = 1;  ///< of an epoch: no buffer needs more
  std::vector<Constraint> constraints = {exact_only(), runnable_only()};
  /// Values to try instead of the usual ones, by the field's path, as the user writes them.
  std::map<std::string, std::vector<std::string>> values;
};

/// No plan satisfies a request. make_space says why.
class NoPlans : public std::runtime_error {
 public:
  NoPlans() : std::runtime_error("no plan is left") {}
};

/// A plan of a space: the position of each dimension's value among its values; -1 where the field does not
/// matter and keeps its default.
using Point = std::vector<int>;

/// A field that is searched.
struct Dimension {
  Field field;
  std::size_t position = 0;    ///< in plan_fields()
  std::vector<double> values;  ///< rising; of a category the positions of its names
  bool log_scale = false;

  bool is_category() const { return field.kind == FieldKind::category; }
};

/// The plans that a search may look at, as the grid of what each field may be. It is made from the plan's
/// field table: a number gets steps from its range (on a log scale where that spans more than a decade), an
/// enumeration or switch all of its values. Fields that do not matter beside others (a cache's budget without
/// a cache) have no value of their own, so each plan is there once.
class Space {
 public:
  /// Throws NoPlans when there are none, and InputError when `values` name a field or value that there is
  /// not.
  explicit Space(SpaceRequest request);

  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  const SpaceRequest& request() const { return request_; }

  /// Plans of the grid, those included that constraints over several fields leave out.
  std::int64_t size() const { return size_; }
  /// Plan number 0 … size()-1.
  Point at(std::int64_t number) const;
  /// Its number. The point must be of this space's grid.
  std::int64_t number_of(const Point& point) const;

  /// The resolved plan, named after the preset that has the same categories, if there is one.
  plan::Plan plan_at(const Point& point) const;
  /// The point nearest to a plan in the grid of its own categories; nothing when they are not in this space.
  std::optional<Point> nearest(const plan::Plan& plan) const;
  /// The point with the same values where they matter, nothing where its categories contradict each other.
  /// Values of fields that do not matter may be any.
  std::optional<Point> normalised(const Point& point) const;
  /// Why a point is out; empty when it is not.
  std::string why_not(const Point& point) const;
  bool is_feasible(const Point& point) const { return why_not(point).empty(); }

  /// The points one step away: each number one value up or down, and each category changed to every other
  /// value that goes with the rest, its numbers as near as can be. The point itself is none of them.
  std::vector<Point> neighbours(const Point& point) const;

  /// The points that differ from `point` in this dimension's number only, by rising value; the point itself
  /// is one of them, and the only one where the dimension is a category or does not matter.
  std::vector<Point> along(const Point& point, std::size_t dimension) const;

  /// A value that a dimension may have, by its position, and how many plans of the grid then may follow.
  struct Choice {
    int position = -1;
    std::int64_t plans = 0;
  };

  /// What `dimension` may be in points whose dimensions before it are those of `point`, rising; only -1 where
  /// it does not matter there, nothing where no point begins like that.
  std::vector<Choice> choices_after(const Point& point, std::size_t dimension) const;

  /// Whether plans of the space differ in this dimension.
  bool varies(std::size_t dimension) const;

  /// One point for each choice of categories, its numbers the least.
  std::vector<Point> family_starts() const;

  /// The point at coordinates in [0, 1), of which there are coordinates(): the first one chooses the
  /// categories, all choices being equally likely, the others each of the numbers.
  Point at_coordinates(const std::vector<double>& coordinates) const;
  int coordinates() const;

  /// A point as numbers for a surrogate: numbers of a dimension from 0 to 1 along its (log) scale, categories
  /// as their positions; -1 where the field does not matter.
  std::vector<double> encode(const Point& point) const;

 private:
  /// Plans with the same categories.
  struct Family {
    Point categories;                       ///< numbers are -1 here
    std::vector<std::vector<int>> choices;  ///< of each dimension that is a number: what it may be; empty: -1
    std::int64_t first = 0;                 ///< its plans have numbers first … first+size-1
    std::int64_t size = 1;
    std::string name;
  };

  void make_dimensions();
  void make_families(std::size_t next, Point& point);
  void add_family(const Point& point);
  std::vector<int> choices_of(const Point& point, std::size_t dimension) const;
  static std::vector<Choice> choices_in(const Family& family, std::size_t dimension);
  bool passes_by_field(const Point& point) const;
  plan::Plan raw_plan(const Point& point) const;
  const Family& family_of(const Point& point) const;
  Point into_family(const Family& family, const Point& point) const;
  std::vector<const Family*> families_beside(const Family& family) const;
  bool has_plans() const;
  void name_families();

  SpaceRequest request_;
  std::vector<Dimension> dimensions_;
  std::vector<double> defaults_;
  std::vector<Family> families_;
  std::map<Point, std::size_t> family_by_categories_;
  std::int64_t size_ = 0;
};

/// Space(request); throws InputError that says which constraints exclude each other when no plan is left.
Space make_space(const SpaceRequest& request);

}  // namespace gnomon::tuner
