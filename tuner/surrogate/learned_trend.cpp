#include "tuner/surrogate/learned_trend.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace gnomon::tuner {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Ridge penalty of a weight of 1 (per standard deviation), in mean squared errors. Chosen from 0.001, 0.01,
/// 0.03 and 0.1 by the error on unseen graphs (bench/surrogates.py).
constexpr double ridge = 0.1;

MatrixXd logarithms(const std::vector<std::vector<double>>& rows, std::size_t count) {
  MatrixXd logs(static_cast<Index>(rows.size()), static_cast<Index>(count));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < count; ++c) {
      logs(static_cast<Index>(r), static_cast<Index>(c)) = std::log1p(rows[r][c]);
    }
  }
  return logs;
}

VectorXd deviations(const MatrixXd& centred) {
  return (centred.colwise().squaredNorm() / static_cast<double>(centred.rows())).cwiseSqrt();
}

}  // namespace

double LearnedTrend::at(const std::vector<double>& row) const {
  double value = constant;
  for (std::size_t c = 0; c < weights.size(); ++c) {
    value += weights[c] * std::log1p(row[c]);
  }
  return value;
}

LearnedTrend fit_trend(const std::vector<std::vector<double>>& rows, const std::vector<double>& values,
                       std::size_t count) {
  const MatrixXd logs = logarithms(rows, count);
  const Eigen::RowVectorXd means = logs.colwise().mean();
  MatrixXd standard = logs.rowwise() - means;
  const VectorXd spread = deviations(standard);
  const VectorXd scale = (spread.array() > 1e-9).select(spread.cwiseMax(1e-9).cwiseInverse(), 0);
  standard *= scale.asDiagonal();
  const auto targets = VectorXd::Map(values.data(), std::ssize(values));
  const double mean = targets.mean();
  const auto size = static_cast<double>(values.size());
  const MatrixXd normal =
      standard.transpose() * standard + ridge * size * MatrixXd::Identity(standard.cols(), standard.cols());
  const VectorXd weights =
      normal.ldlt().solve(standard.transpose() * (targets.array() - mean).matrix()).cwiseProduct(scale);
  return {mean - means.dot(weights), {weights.begin(), weights.end()}};
}

std::vector<double> trend_importance(const LearnedTrend& trend, const std::vector<std::vector<double>>& rows,
                                     const std::vector<double>& values, std::size_t columns) {
  const MatrixXd logs = logarithms(rows, trend.weights.size());
  const auto weights = VectorXd::Map(trend.weights.data(), std::ssize(trend.weights));
  const VectorXd told = (logs * weights).array() + trend.constant;
  const auto targets = VectorXd::Map(values.data(), std::ssize(values));
  const double variance = (targets.array() - targets.mean()).square().sum();
  const double explained = variance > 0 ? std::max(0.0, 1 - (targets - told).squaredNorm() / variance) : 0;
  const VectorXd moves = deviations(logs.rowwise() - logs.colwise().mean()).cwiseProduct(weights.cwiseAbs());
  std::vector<double> importance(columns);
  for (Index c = 0; c < moves.size() && moves.sum() > 0; ++c) {
    importance[static_cast<std::size_t>(c)] = explained * moves[c] / moves.sum();
  }
  return importance;
}

}  // namespace gnomon::tuner
