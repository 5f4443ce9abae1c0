#pragma once

#include <cmath>
#include <limits>

#include "kernels/device/cross_entropy.h"
#include "kernels/device/label_sets_loss.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {
namespace passes {

/// Threads that share a row of logits: thread i takes the classes i, i + lanes, …
inline constexpr std::int64_t lanes_of_row = 8;

/// Whether a logit counts as larger than another one.
constexpr bool is_larger(float value, std::int64_t index, float than, std::int64_t than_index) {
  const bool is_nan = value != value;
  const bool than_is_nan = than != than;
  if (is_nan != than_is_nan) {
    return is_nan;
  }
  return value > than || ((is_nan || value == than) && index < than_index);
}

/// The partial result of one thread for its share of a row: the largest logit and its class, and Σ exp(logit
/// − largest).
struct PartOfRow {
  float largest;
  float sum;
  std::int64_t best;

  /// Returns the combined result of two shares. The largest logit of an empty share is −∞.
  constexpr PartOfRow with(const PartOfRow& other) const {
    const bool other_is_best = is_larger(other.largest, other.best, largest, best);
    const float above = other_is_best ? other.largest : largest;
    const float below = other_is_best ? largest : other.largest;
    const float sum_above = other_is_best ? other.sum : sum;
    const float sum_below = other_is_best ? sum : other.sum;
    const float scale = sum_below == 0 ? 0 : std::exp(below - above);
    return {above, sum_above + sum_below * scale, other_is_best ? other.best : best};
  }
};

/// The seeds and the sums of a step: those of the state, if its mini-batch is padded.
struct StepSeeds {
  std::int64_t known_seeds;
  MetricSums known_sums;
  const StepState* state;  ///< null: the known ones

  constexpr std::int64_t seeds() const { return state == nullptr ? known_seeds : state->seeds; }
  constexpr MetricSums sums() const { return state == nullptr ? known_sums : state->sums; }
};

/// Index i is thread i % lanes of row i / lanes.
struct ReduceLogits {
  StepOutputs outputs;
  PartOfRow* parts;

  constexpr void operator()(std::int64_t i) const {
    const float* row = outputs.logits + i / lanes_of_row * outputs.classes;
    PartOfRow part{-std::numeric_limits<float>::infinity(), 0, outputs.classes};
    for (std::int64_t c = i % lanes_of_row; c < outputs.classes; c += lanes_of_row) {
      part = part.with({row[c], 1, c});
    }
    parts[i] = part;
  }
};

/// Index i is class i % classes of seed i / classes; the first class adds the seed's metrics.
template <class Atomics>
struct LogitGradient {
  StepOutputs outputs;
  const PartOfRow* parts;
  float* gradient;
  StepSeeds step;

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t seed = i / outputs.classes;
    const std::int64_t seeds = step.seeds();
    if (seed >= seeds) {
      gradient[i] = 0;
      return;
    }
    const std::int64_t c = i - seed * outputs.classes;
    PartOfRow row = parts[seed * lanes_of_row];
    for (std::int64_t lane = 1; lane < lanes_of_row; ++lane) {
      row = row.with(parts[seed * lanes_of_row + lane]);
    }
    const std::int64_t label = outputs.labels[seed];
    const float share = std::exp(outputs.logits[i] - row.largest) / row.sum;
    gradient[i] = (share - (c == label ? 1.0F : 0.0F)) / static_cast<float>(seeds);
    if (c == 0) {
      const MetricSums sums = step.sums();
      const float of_label = outputs.logits[seed * outputs.classes + label];
      sums.losses[seed] += static_cast<double>(std::log(row.sum) - (of_label - row.largest));
      if (row.best == label) {
        Atomics::add(sums.correct, std::int64_t{1});
      }
    }
  }
};

/// The share of one thread of a row with a label set: the sum of its classes' losses, and how many of them
/// are not predicted as they should be.
struct PartOfSet {
  double loss;
  std::int64_t wrong;
};

/// Index i is thread i % lanes of row i / lanes.
struct ReduceSetLosses {
  StepOutputs outputs;
  StepSeeds step;
  PartOfSet* parts;

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t seed = i / lanes_of_row;
    PartOfSet part{0, 0};
    if (seed < step.seeds()) {  // padding has no labels
      const float* row = outputs.logits + seed * outputs.classes;
      const std::uint8_t* set = outputs.label_sets + outputs.labels[seed] * outputs.classes;
      for (std::int64_t c = i % lanes_of_row; c < outputs.classes; c += lanes_of_row) {
        part.loss += static_cast<double>(binary_cross_entropy(row[c], falling_exp(row[c]), set[c]));
        part.wrong += is_predicted_as(row[c], set[c]) ? 0 : 1;
      }
    }
    parts[i] = part;
  }
};

/// Index i is class i % classes of seed i / classes; the first class adds the seed's metrics.
template <class Atomics>
struct SetGradient {
  StepOutputs outputs;
  const PartOfSet* parts;
  float* gradient;
  StepSeeds step;

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t seed = i / outputs.classes;
    const std::int64_t seeds = step.seeds();
    if (seed >= seeds) {
      gradient[i] = 0;
      return;
    }
    const std::int64_t c = i - seed * outputs.classes;
    const std::uint8_t target = outputs.label_sets[outputs.labels[seed] * outputs.classes + c];
    const float logit = outputs.logits[i];
    gradient[i] = binary_cross_entropy_gradient(logit, falling_exp(logit), target) /
                  (static_cast<float>(seeds) * static_cast<float>(outputs.classes));
    if (c == 0) {
      const MetricSums sums = step.sums();
      PartOfSet row = parts[seed * lanes_of_row];
      for (std::int64_t lane = 1; lane < lanes_of_row; ++lane) {
        row.loss += parts[seed * lanes_of_row + lane].loss;
        row.wrong += parts[seed * lanes_of_row + lane].wrong;
      }
      sums.losses[seed] += row.loss / static_cast<double>(outputs.classes);
      if (row.wrong == 0) {
        Atomics::add(sums.correct, std::int64_t{1});
      }
    }
  }
};

template <class Executor>
void set_loss_of(Executor& executor, const StepOutputs& outputs, float* gradient, const StepSeeds& step) {
  const auto parts = make_array<PartOfSet>(executor, outputs.seeds * lanes_of_row);
  executor.for_each(parts.count, ReduceSetLosses{outputs, step, parts.data});
  executor.for_each(outputs.seeds * outputs.classes,
                    SetGradient<typename Executor::Atomics>{outputs, parts.data, gradient, step});
}

template <class Executor>
void cross_entropy_of(Executor& executor, const StepOutputs& outputs, float* gradient,
                      const StepSeeds& step) {
  if (outputs.label_sets != nullptr) {
    set_loss_of(executor, outputs, gradient, step);
    return;
  }
  const auto parts = make_array<PartOfRow>(executor, outputs.seeds * lanes_of_row);
  executor.for_each(parts.count, ReduceLogits{outputs, parts.data});
  executor.for_each(outputs.seeds * outputs.classes,
                    LogitGradient<typename Executor::Atomics>{outputs, parts.data, gradient, step});
}

}  // namespace passes

template <class Executor>
void cross_entropy(Executor& executor, const StepOutputs& outputs, float* gradient, const MetricSums& sums) {
  passes::cross_entropy_of(executor, outputs, gradient, {outputs.seeds, sums, nullptr});
}

template <class Executor>
void cross_entropy(Executor& executor, const StepOutputs& outputs, float* gradient, const StepState* state) {
  passes::cross_entropy_of(executor, outputs, gradient, {outputs.seeds, {}, state});
}

}  // namespace gnomon::kernels::device
