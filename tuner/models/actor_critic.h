#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gnomon::tuner {

/// A field whose value a policy chooses.
struct PolicyField {
  std::size_t choices = 1;
  bool ordered = false;  ///< neighbouring choices are similar: their logits form a smooth curve
};

/// The allowed choices of a field, ascending, and the logarithm of each one's prior weight (not normalised).
struct Allowed {
  std::vector<int> choices;
  std::vector<double> logs;
};

/// One choice, with its training targets.
struct Decision {
  std::vector<double> state;  ///< the choices before it
  std::size_t field = 0;
  Allowed allowed;
  std::size_t taken = 0;       ///< a position in `allowed`
  double log_probability = 0;  ///< of the choice when it was made
  double advantage = 0;        ///< how much better it turned out than expected
  double goal = 0;             ///< target of the critic
};

/// The weights of the loss (Schulman et al., Proximal Policy Optimization Algorithms, arXiv 1707.06347,
/// equation 9): the mean over decisions of
///
///     -min(r A, clip(r, 1 - clip, 1 + clip) A) + value_weight (V - goal)^2 - entropy_weight H
///
/// with r the choice's probability over that of `log_probability`, A the advantage, V the critic's value and
/// H the entropy of the allowed choices relative to its maximum.
struct PolicyTerms {
  double clip = 0.2;
  double value_weight = 0.5;
  double entropy_weight = 0.01;
};

struct PolicyLoss {
  double value = 0;
  std::vector<double> gradient;  ///< by parameters()
};

/// An actor and a critic on one hidden layer of tanh. Each field has its own outputs: the logits of its
/// choices (for an ordered field, the weights of its first cosines) and the critic's value of the state. All
/// outputs are 0 at first, so that choices follow their prior weights.
class ActorCritic {
 public:
  /// `inputs`: length of a state; `seed`: of the hidden layer's first weights.
  ActorCritic(std::size_t inputs, std::vector<PolicyField> fields, std::size_t hidden, std::uint64_t seed);

  /// The probability of each allowed choice.
  std::vector<double> probabilities(const std::vector<double>& state, std::size_t field,
                                    const Allowed& allowed) const;
  /// The critic's value.
  double value(const std::vector<double>& state, std::size_t field) const;

  PolicyLoss loss(const std::vector<Decision>& decisions, const PolicyTerms& terms) const;

  const std::vector<double>& parameters() const { return parameters_; }
  void set_parameters(std::vector<double> parameters) { parameters_ = std::move(parameters); }

 private:
  std::size_t outputs_of(std::size_t field) const;

  std::size_t inputs_;
  std::size_t hidden_;
  std::vector<PolicyField> fields_;
  /// Of each field: weights of the logits, choices x (outputs - 1).
  std::vector<std::vector<double>> curves_;
  std::vector<std::size_t> heads_;  ///< where each field's outputs begin
  std::size_t outputs_ = 0;
  std::vector<double> parameters_;  ///< hidden x (inputs + 1), then outputs x (hidden + 1), column by column
};

}  // namespace gnomon::tuner
