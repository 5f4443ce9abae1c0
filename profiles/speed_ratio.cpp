#include "profiles/speed_ratio.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "profiles/stage_work.h"

namespace gnomon::profiles {
namespace {

/// Derivatives of the logarithm of a time with respect to the logarithms of a machine's speeds, by index.
using Gradient = std::map<std::size_t, double>;

void add(Gradient& sum, const std::map<std::size_t, double>& terms, double factor) {
  for (const auto& [place, term] : terms) {
    sum[place] += factor * term;
  }
}

/// One kind of work on both machines.
struct Term {
  Work work;
  double from_s = 0, to_s = 0;
  std::map<std::size_t, double> from_weights, to_weights;
};

struct Cost {
  double seconds = 0;
  std::map<std::size_t, double> weights;
};

std::optional<Cost> cost_on(const Executor& machine, const Amount& amount) {
  const auto own = machine.is_gpu ? on_gpu(amount) : std::optional(amount);
  const auto rate = own ? rate_at(machine.speeds, own->work, own->size) : std::nullopt;
  if (!rate) {
    return std::nullopt;
  }
  return Cost{own->count / rate->per_s, rate->weights};
}

/// A part on both machines.
struct Part {
  double seconds = 0;
  std::vector<Term> terms{};
  double from_s = 0, to_s = 0;  ///< of all terms
  double left_out_s = 0;        ///< of work for which only the measured machine has a speed

  double factor() const { return to_s / from_s; }
};

Part part_of(const MeasuredPart& measured, const Executor& from, const Executor& to,
             std::vector<Work>& left_out) {
  Part part{.seconds = measured.seconds};
  for (const Amount& amount : measured.work) {
    auto before = cost_on(from, amount);
    auto after = cost_on(to, amount);
    if (before && after) {
      part.from_s += before->seconds;
      part.to_s += after->seconds;
      part.terms.push_back({amount.work, before->seconds, after->seconds, std::move(before->weights),
                            std::move(after->weights)});
    } else if (before || after) {
      part.left_out_s += before ? before->seconds : 0;
      if (std::find(left_out.begin(), left_out.end(), amount.work) == left_out.end()) {
        left_out.push_back(amount.work);
      }
    }
  }
  return part;
}

/// The sum of squares of the half widths of both machines' speeds times their derivatives.
double squares_of_speeds(const Gradient& from_gradient, Gradient to_gradient, const Executor& from,
                         const Executor& to) {
  double squares = 0;
  for (const auto& [place, by_from] : from_gradient) {
    const Speed& speed = from.speeds.speeds[place];
    double derivative = by_from;
    for (auto& [other, by_to] : to_gradient) {
      if (to.speeds.speeds[other] == speed) {
        derivative += by_to;
        by_to = 0;
      }
    }
    squares += std::pow(derivative * speed.interval, 2);
  }
  for (const auto& [place, derivative] : to_gradient) {
    squares += std::pow(derivative * to.speeds.speeds[place].interval, 2);
  }
  return squares;
}

/// Of a host's cores, apart from any device.
bool is_of_cores(Work work) { return work <= Work::operations; }

/// The mean square of how far the kinds' ratios of times are from the stage's, by their logarithms.
double squared_spread(double factor, const Executor& from, const Executor& to) {
  double squares = 0;
  int kinds = 0;
  for (const Speed& speed : from.speeds.speeds) {
    if (is_of_cores(speed.work) && speed.threads == 1) {
      const Amount one{speed.work, speed.size.value_or(1), 1};
      const auto before = cost_on(from, one);
      const auto after = cost_on(to, one);
      if (before && after) {
        squares += std::pow(std::log(after->seconds / before->seconds / factor), 2);
        ++kinds;
      }
    }
  }
  return kinds > 0 ? squares / kinds : 0;
}

double interval_of(const std::vector<Part>& parts, double factor, double total_s, const Executor& from,
                   const Executor& to) {
  if (from.speeds == to.speeds && from.is_gpu == to.is_gpu) {
    return 0;
  }
  Gradient from_gradient;
  Gradient to_gradient;
  for (const Part& part : parts) {
    const double share = part.seconds * part.factor() / total_s;
    for (const Term& term : part.terms) {
      add(from_gradient, term.from_weights, share * term.from_s / part.from_s);
      add(to_gradient, term.to_weights, -share * term.to_s / part.to_s);
    }
  }
  const double variance =
      std::pow(unexplained_share, 2) * squared_spread(factor, from, to) + std::pow(visit_deviation, 2);
  return std::sqrt(std::pow(model_half_width, 2) * variance +
                   squares_of_speeds(from_gradient, std::move(to_gradient), from, to));
}

/// The kinds of work by their share of the new time.
std::vector<Work> largest(const std::vector<Part>& parts, double total_s) {
  constexpr double least_share = 0.1;
  std::map<Work, double> seconds;
  for (const Part& part : parts) {
    for (const Term& term : part.terms) {
      seconds[term.work] += part.seconds * term.to_s / part.from_s;
    }
  }
  std::vector<Work> kinds;
  for (const auto& [work, taken_s] : seconds) {
    if (taken_s >= least_share * total_s) {
      kinds.push_back(work);
    }
  }
  std::stable_sort(kinds.begin(), kinds.end(), [&](Work a, Work b) { return seconds[a] > seconds[b]; });
  return kinds;
}

}  // namespace

std::optional<SpeedRatio> speed_ratio(std::span<const MeasuredPart> parts, const Executor& from,
                                      const Executor& to) {
  SpeedRatio ratio;
  std::vector<Part> known;
  double before_s = 0;
  double after_s = 0;
  for (const MeasuredPart& measured : parts) {
    if (measured.seconds <= 0) {
      continue;
    }
    auto part = part_of(measured, from, to, ratio.left_out);
    if (part.from_s <= 0 || part.to_s <= 0 || part.left_out_s > part.from_s) {
      return std::nullopt;
    }
    before_s += part.seconds;
    after_s += part.seconds * part.factor();
    known.push_back(std::move(part));
  }
  if (known.empty()) {
    return std::nullopt;
  }
  ratio.factor = after_s / before_s;
  ratio.interval = interval_of(known, ratio.factor, after_s, from, to);
  ratio.by = largest(known, after_s);
  return ratio;
}

std::optional<double> speedup_of(std::span<const Amount> work, const MachineSpeeds& speeds, int threads) {
  // The smallest probes are steps of microseconds: beside other processes they wait for members that have
  // lost their core, which takes longer than a step, but not than a stage.
  constexpr double least_speedup = 0.5;
  int all = 1;
  for (const Speed& speed : speeds.speeds) {
    all = std::max(all, speed.threads);
  }
  double alone_s = 0;
  double together_s = 0;
  for (const Amount& amount : work) {
    if (const auto alone = rate_at(speeds, amount.work, amount.size)) {
      const auto together = rate_at(speeds, amount.work, amount.size, all);
      const double seconds = amount.count / alone->per_s;
      alone_s += seconds;
      // Operations are called by one thread, so there is no rate of several.
      together_s += seconds / (together ? std::max(least_speedup, together->per_s / alone->per_s) : 1);
    }
  }
  if (all == 1 || together_s <= 0) {
    return std::nullopt;
  }
  return std::pow(alone_s / together_s, std::log(threads) / std::log(all));
}

std::optional<SpeedupRatio> speedup_ratio(std::span<const Amount> work, const MachineSpeeds* from,
                                          const MachineSpeeds& to, int threads) {
  const auto ratio_of = [&](std::span<const Amount> some) -> std::optional<double> {
    const auto before = from != nullptr ? speedup_of(some, *from, threads) : std::optional(1.0);
    const auto after = speedup_of(some, to, threads);
    return before && after ? std::optional(*after / *before) : std::nullopt;
  };
  const auto factor = ratio_of(work);
  if (!factor) {
    return std::nullopt;
  }
  if (threads == 1) {
    return SpeedupRatio{*factor, 0};
  }
  double squares = 0;
  double alone_s = 0;
  for (const Amount& amount : work) {
    const auto alone = rate_at(to, amount.work, amount.size);
    const auto own = alone ? ratio_of(std::span(&amount, 1)) : std::nullopt;
    if (own) {
      const double seconds = amount.count / alone->per_s;
      squares += seconds * std::pow(std::log(*own / *factor), 2);
      alone_s += seconds;
    }
  }
  const double spread = alone_s > 0 ? squares / alone_s : 0;
  return SpeedupRatio{*factor, model_half_width * std::sqrt(std::pow(unexplained_share, 2) * spread +
                                                            std::pow(visit_deviation, 2))};
}

std::string text_of(const std::vector<Work>& kinds) {
  std::string text;
  for (const Work kind : kinds) {
    text += (text.empty() ? "" : ", ") + std::string(base::name_of(kind));
  }
  return text;
}

}  // namespace gnomon::profiles
