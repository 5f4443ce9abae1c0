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

#include "plan/disk_plans.h"
#include "plan/exactness.h"
#include "plan/fields.h"
#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::tuner {

/// The resources of a plan: arrays on the disk, threads, buffers and look-ahead, in this order. Among equally
/// fast plans the one with fewer is better.
inline auto resources(const plan::Plan& plan) {
  return std::tuple(plan::arrays_on_disk(plan), plan.workers * plan.worker_threads + plan.device_threads,
                    plan.workers, plan.cpu_buffer + plan.device_buffer, plan.cpu_buffer, plan.look_ahead);
}

/// A condition that a plan must satisfy to be searched.
struct Constraint {
  std::string name;  ///< the constraint in messages
  /// The reason for which a plan fails; empty if it passes.
  std::function<std::string(const plan::Plan&)> why_not;
  /// Whether each field passes or fails by itself and all defaults pass. Such a constraint is applied to each
  /// field while the space is made.
  bool by_field = false;
};

/// Plans that train the same mini-batches as every other exact plan.
Constraint exact_only();
/// Plans that guarantee at least `least`.
Constraint at_least(plan::Exactness least);
/// Plans that a device with these abilities executes.
Constraint runnable_only(const plan::Abilities& device);
/// Plans that the host executes with the graph in its memory.
Constraint runnable_only();
/// Plans that the runtime executes for the profile's job, on its device.
Constraint runnable_only(const profiles::Profile& profile);

/// Limits of an epoch's peak memory.
struct MemoryLimits {
  double host_bytes = std::numeric_limits<double>::infinity();
  double device_bytes = std::numeric_limits<double>::infinity();  ///< of each device
};

/// The profile as if the machine's host had at most limits.host_bytes of memory, so that host caches of the
/// disk, which fill the free memory, keep to the limit, too.
profiles::Profile with_host_memory(profiles::Profile profile, const MemoryLimits& limits);

/// Plans for which the profile has all numbers that the simulation needs, and that fit into the machine's
/// memory and into the limits.
Constraint fits_memory(const profiles::Profile& profile, const MemoryLimits& limits = {});

/// What a space is made from.
struct SpaceRequest {
  plan::Cores cores;
  std::int64_t batches = 1;  ///< mini-batches of an epoch: the maximum of any buffer
  std::vector<Constraint> constraints = {exact_only(), runnable_only()};
  /// Values to try instead of those of plan/values.h, by field path, as text.
  std::map<std::string, std::vector<std::string>> values;
};

/// Thrown if no plan satisfies a request. make_space() determines why.
class NoPlans : public std::runtime_error {
 public:
  NoPlans() : std::runtime_error("no plan is left") {}
};

/// A plan of a space: for each dimension the position of its value among the dimension's values; -1 if the
/// field does not matter and keeps its default.
using Point = std::vector<int>;

/// A searched field.
struct Dimension {
  plan::Field field;
  std::size_t position = 0;    ///< in plan::plan_fields() and plan::rules()
  std::vector<double> values;  ///< ascending; positions of names for a category
  bool log_scale = false;

  bool is_category() const { return field.kind == plan::FieldKind::category; }
};

/// The plans of a search, as a grid of the values of each field. It is made from the table of plan/rules.h: a
/// number has steps through its range (on a log scale if they span more than a decade), an enumeration or
/// switch its values. Fields that do not matter beside others (a cache's budget without a cache) keep their
/// defaults, so that the grid holds each plan once.
class Space {
 public:
  /// Throws NoPlans if the space is empty, and InputError if `values` name an unknown field or value.
  explicit Space(SpaceRequest request);

  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  const SpaceRequest& request() const { return request_; }

  /// The number of plans of the grid, including those that constraints over several fields exclude.
  std::int64_t size() const { return size_; }
  /// The plan with this number, 0 … size()-1.
  Point at(std::int64_t number) const;
  /// The number of a plan. Precondition: the point is in the grid.
  std::int64_t number_of(const Point& point) const;

  /// The resolved plan. It has the name of the preset with the same categories, if there is one.
  plan::Plan plan_at(const Point& point) const;
  /// The point nearest to a plan among those with its categories; nothing if the space has none of them.
  std::optional<Point> nearest(const plan::Plan& plan) const;
  /// The point with the same values where they matter; nothing if its categories contradict each other.
  /// Values of fields that do not matter are ignored.
  std::optional<Point> normalised(const Point& point) const;
  /// The reason for which a point is excluded; empty if it is feasible.
  std::string why_not(const Point& point) const;
  bool is_feasible(const Point& point) const { return why_not(point).empty(); }

  /// The points one step away: one number moved up or down by one value, or one category changed to another
  /// compatible value, with the nearest numbers. The point itself is not among them.
  std::vector<Point> neighbours(const Point& point) const;

  /// The points that differ from `point` only in this dimension's number, in ascending order, `point`
  /// included. Only `point` if the dimension is a category or does not matter.
  std::vector<Point> along(const Point& point, std::size_t dimension) const;

  /// A value of a dimension, and the number of plans of the grid that have it.
  struct Choice {
    int position = -1;
    std::int64_t plans = 0;
  };

  /// The values of `dimension`, ascending, among the points that agree with `point` in all dimensions before
  /// it; only -1 if the dimension does not matter there, none if there is no such point.
  std::vector<Choice> choices_after(const Point& point, std::size_t dimension) const;

  /// Whether the space's plans differ in this dimension.
  bool varies(std::size_t dimension) const;

  /// One point for each combination of categories, with the smallest numbers.
  std::vector<Point> family_starts() const;

  /// The point at coordinates() coordinates in [0, 1). The first one chooses among all combinations of
  /// categories with equal probability, each of the others one number.
  Point at_coordinates(const std::vector<double>& coordinates) const;
  int coordinates() const;

  /// A point as inputs of a proposal model: numbers from 0 to 1 along the dimension's (log) scale, categories
  /// as positions, -1 if the field does not matter.
  std::vector<double> encode(const Point& point) const;

 private:
  /// Plans with the same categories.
  struct Family {
    Point categories;                       ///< -1 for numbers
    std::vector<std::vector<int>> choices;  ///< values of each dimension that is a number; empty: only -1
    std::int64_t first = 0;                 ///< plans of the family are first … first+size-1
    std::int64_t size = 1;
    std::string name;
  };

  void make_dimensions();
  Dimension dimension_of(std::size_t position) const;
  bool is_searched(std::size_t dimension, const plan::Plan& plan) const;
  bool is_consistent(const Point& point) const;
  void make_families(std::size_t next, Point& point);
  void add_family(const Point& point);
  std::vector<int> choices_of(const Point& point, std::size_t dimension) const;
  static std::vector<Choice> choices_in(const Family& family, std::size_t dimension);
  bool passes_by_field(const Point& point) const;
  bool may_pass(const Point& point, std::size_t last) const;
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

/// Returns Space(request). Throws InputError that names the constraints that exclude each other if the space
/// is empty.
Space make_space(const SpaceRequest& request);

}  // namespace gnomon::tuner
