#include "tuner/models/actor_critic.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/philox.h"

namespace gnomon::tuner {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Weights = Eigen::Map<const MatrixXd>;

/// Number of cosines whose sum is an ordered field's logit curve.
constexpr std::size_t max_cosines = 5;

Index index_of(std::size_t number) { return static_cast<Index>(number); }

/// The parameters as the two layers' matrices; the last column of each is the bias.
struct Layers {
  Weights hidden;
  Weights outputs;
};

Layers layers_of(const std::vector<double>& parameters, std::size_t inputs, std::size_t hidden,
                 std::size_t outputs) {
  return {{parameters.data(), index_of(hidden), index_of(inputs + 1)},
          {parameters.data() + hidden * (inputs + 1), index_of(outputs), index_of(hidden + 1)}};
}

/// The hidden layer's outputs, one column per state, with a final row of ones for the bias.
MatrixXd activations(const Weights& weights, const MatrixXd& states) {
  MatrixXd answer(weights.rows() + 1, states.cols());
  const auto inputs = weights.cols() - 1;
  answer.topRows(weights.rows()) =
      ((weights.leftCols(inputs) * states).colwise() + weights.col(inputs)).array().tanh();
  answer.row(weights.rows()).setOnes();
  return answer;
}

VectorXd column_of(const std::vector<double>& values) {
  return Eigen::Map<const VectorXd>(values.data(), std::ssize(values));
}

/// Choices' logits from a head's weights: the choices themselves, or cosines over an ordered field's choices
/// (constant ones left out, as they change no probability).
std::vector<double> curves_of(const PolicyField& field, std::size_t outputs) {
  const MatrixXd identity = MatrixXd::Identity(index_of(field.choices), index_of(outputs));
  std::vector<double> curves(identity.data(), identity.data() + identity.size());
  for (std::size_t k = 0; field.ordered && k < outputs; ++k) {
    for (std::size_t c = 0; c < field.choices; ++c) {
      const double place = (static_cast<double>(c) + 0.5) / static_cast<double>(field.choices);
      curves[k * field.choices + c] =
          std::numbers::sqrt2 * std::cos(std::numbers::pi * static_cast<double>(k + 1) * place);
    }
  }
  return curves;
}

/// The logits' weights of the allowed choices, one row each.
MatrixXd allowed_curves(const std::vector<double>& curves, std::size_t choices, const Allowed& allowed) {
  const Weights all(curves.data(), index_of(choices), std::ssize(curves) / index_of(choices));
  MatrixXd rows(std::ssize(allowed.choices), all.cols());
  for (Index i = 0; i < rows.rows(); ++i) {
    rows.row(i) = all.row(allowed.choices[static_cast<std::size_t>(i)]);
  }
  return rows;
}

VectorXd softmax(const VectorXd& logits) {
  const VectorXd powers = (logits.array() - logits.maxCoeff()).exp();
  return powers / powers.sum();
}

/// The loss of one decision, and its derivatives with respect to the allowed choices' logits and the value.
struct DecisionLoss {
  double loss = 0;
  VectorXd by_logits;
  double by_value = 0;
};

DecisionLoss loss_of(const Decision& decision, const VectorXd& probabilities, double value,
                     const PolicyTerms& terms) {
  DecisionLoss result;
  const auto taken = index_of(decision.taken);
  const double ratio = std::exp(std::log(probabilities(taken)) - decision.log_probability);
  const double free = ratio * decision.advantage;
  const double clipped = std::clamp(ratio, 1 - terms.clip, 1 + terms.clip) * decision.advantage;
  result.by_logits = VectorXd::Zero(probabilities.size());
  if (free <= clipped) {
    result.by_logits = free * probabilities;
    result.by_logits(taken) -= free;
  }
  const double off = value - decision.goal;
  result.by_value = 2 * terms.value_weight * off;
  result.loss = terms.value_weight * off * off - std::min(free, clipped);
  if (probabilities.size() > 1) {
    const double weight = terms.entropy_weight / std::log(static_cast<double>(probabilities.size()));
    const VectorXd logs = probabilities.array().max(1e-300).log();
    const double entropy = -probabilities.dot(logs);
    result.loss -= weight * entropy;
    result.by_logits.array() += weight * probabilities.array() * (logs.array() + entropy);
  }
  return result;
}

}  // namespace

ActorCritic::ActorCritic(std::size_t inputs, std::vector<PolicyField> fields, std::size_t hidden,
                         std::uint64_t seed)
    : inputs_(inputs), hidden_(hidden), fields_(std::move(fields)) {
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    heads_.push_back(outputs_);
    outputs_ += outputs_of(f);
    curves_.push_back(curves_of(fields_[f], outputs_of(f) - 1));
  }
  parameters_.assign(hidden_ * (inputs_ + 1) + outputs_ * (hidden_ + 1), 0.0);
  base::RandomStream random({.seed = seed, .purpose = base::Purpose::initialise});
  const double scale = std::sqrt(3.0 / static_cast<double>(std::max<std::size_t>(1, fields_.size())));
  for (std::size_t i = 0; i < hidden_ * inputs_; ++i) {
    parameters_[i] = scale * (2 * random.uniform() - 1);
  }
}

/// The actor's outputs, plus one for the critic.
std::size_t ActorCritic::outputs_of(std::size_t field) const {
  const auto& [choices, ordered] = fields_[field];
  return 1 + (ordered ? std::min(choices - 1, max_cosines) : choices);
}

std::vector<double> ActorCritic::probabilities(const std::vector<double>& state, std::size_t field,
                                               const Allowed& allowed) const {
  const auto layers = layers_of(parameters_, inputs_, hidden_, outputs_);
  const VectorXd weights =
      layers.outputs.middleRows(index_of(heads_[field]), index_of(outputs_of(field) - 1)) *
      activations(layers.hidden, column_of(state));
  const VectorXd found = softmax(allowed_curves(curves_[field], fields_[field].choices, allowed) * weights +
                                 column_of(allowed.logs));
  return {found.begin(), found.end()};
}

double ActorCritic::value(const std::vector<double>& state, std::size_t field) const {
  const auto layers = layers_of(parameters_, inputs_, hidden_, outputs_);
  const auto last = index_of(heads_[field] + outputs_of(field) - 1);
  return layers.outputs.row(last).dot(activations(layers.hidden, column_of(state)).col(0));
}

PolicyLoss ActorCritic::loss(const std::vector<Decision>& decisions, const PolicyTerms& terms) const {
  const auto layers = layers_of(parameters_, inputs_, hidden_, outputs_);
  MatrixXd states(index_of(inputs_), std::ssize(decisions));
  for (Index i = 0; i < states.cols(); ++i) {
    states.col(i) = column_of(decisions[static_cast<std::size_t>(i)].state);
  }
  const MatrixXd answers = activations(layers.hidden, states);
  const double share = 1 / std::max(1.0, static_cast<double>(decisions.size()));
  double loss = 0;
  MatrixXd by_outputs = MatrixXd::Zero(index_of(outputs_), states.cols());
  for (Index i = 0; i < states.cols(); ++i) {
    const Decision& decision = decisions[static_cast<std::size_t>(i)];
    const auto head = index_of(heads_[decision.field]);
    const auto logits = index_of(outputs_of(decision.field) - 1);
    const VectorXd outputs = layers.outputs.middleRows(head, logits + 1) * answers.col(i);
    const MatrixXd curves =
        allowed_curves(curves_[decision.field], fields_[decision.field].choices, decision.allowed);
    const auto one =
        loss_of(decision, softmax(curves * outputs.head(logits) + column_of(decision.allowed.logs)),
                outputs(logits), terms);
    loss += share * one.loss;
    by_outputs.col(i).segment(head, logits) = share * (curves.transpose() * one.by_logits);
    by_outputs(head + logits, i) = share * one.by_value;
  }
  PolicyLoss result{loss, std::vector<double>(parameters_.size())};
  Eigen::Map<MatrixXd> by_hidden(result.gradient.data(), index_of(hidden_), index_of(inputs_ + 1));
  Eigen::Map<MatrixXd> by_head(result.gradient.data() + by_hidden.size(), index_of(outputs_),
                               index_of(hidden_ + 1));
  by_head = by_outputs * answers.transpose();
  const auto units = answers.topRows(index_of(hidden_));
  const MatrixXd back = (layers.outputs.leftCols(index_of(hidden_)).transpose() * by_outputs).array() *
                        (1 - units.array().square());
  by_hidden.leftCols(index_of(inputs_)) = back * states.transpose();
  by_hidden.rightCols(1) = back.rowwise().sum();
  return result;
}

}  // namespace gnomon::tuner
