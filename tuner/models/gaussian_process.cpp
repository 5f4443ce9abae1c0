#include "tuner/models/gaussian_process.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

namespace gnomon::tuner {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Added to the diagonal, relative to the variance, against rounding.
constexpr double jitter = 1e-10;

/// The parts of the covariance of two rows.
struct Covariance {
  double value = 0;
  /// Derivative with respect to the log of a length scale, divided by the squared scaled difference.
  double slope = 0;
};

Covariance covariance(const std::vector<Column>& columns, const Kernel& kernel, const std::vector<double>& a,
                      const std::vector<double>& b) {
  double squares = 0;
  double exponent = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (columns[c] == Column::category) {
      exponent += a[c] != b[c] ? kernel.scales[c] : 0;
    } else {
      const double scaled = (a[c] - b[c]) / kernel.scales[c];
      squares += scaled * scaled;
    }
  }
  const double distance = std::sqrt(5 * squares);
  const double scale = kernel.variance * std::exp(-distance - exponent);
  return {scale * (1 + distance + distance * distance / 3), scale * (1 + distance) * 5 / 3};
}

MatrixXd covariances(const Samples& samples, const Kernel& kernel, double noise) {
  const auto count = std::ssize(samples.rows);
  MatrixXd matrix(count, count);
  for (Index j = 0; j < count; ++j) {
    for (Index i = j; i < count; ++i) {
      matrix(i, j) = covariance(samples.columns, kernel, samples.rows[static_cast<std::size_t>(i)],
                                samples.rows[static_cast<std::size_t>(j)])
                         .value;
    }
    matrix(j, j) += noise + jitter * kernel.variance;
  }
  return matrix;
}

Eigen::LLT<MatrixXd> factorise(const Samples& samples, const Kernel& kernel) {
  Eigen::LLT<MatrixXd> factor(covariances(samples, kernel, kernel.noise));
  if (factor.info() != Eigen::Success) {
    throw std::domain_error("the Gaussian process's covariance matrix is singular");
  }
  return factor;
}

Eigen::Map<const VectorXd> vector_of(const std::vector<double>& values) {
  return {values.data(), std::ssize(values)};
}

/// Adds the contribution of one pair of rows, times `weight`, to `gradient`.
void add_pair(const Samples& samples, const Kernel& kernel, std::size_t i, std::size_t j, double weight,
              std::vector<double>& gradient) {
  const auto& a = samples.rows[i];
  const auto& b = samples.rows[j];
  const auto [value, slope] = covariance(samples.columns, kernel, a, b);
  gradient[0] += weight * value;
  for (std::size_t c = 0; c < samples.columns.size(); ++c) {
    if (samples.columns[c] == Column::category) {
      gradient[1 + c] -= a[c] != b[c] ? weight * value * kernel.scales[c] : 0;
    } else {
      const double scaled = (a[c] - b[c]) / kernel.scales[c];
      gradient[1 + c] += weight * slope * scaled * scaled;
    }
  }
}

VectorXd logs_of(const Kernel& kernel) {
  VectorXd logs(std::ssize(kernel.scales) + 2);
  logs(0) = std::log(kernel.variance);
  for (std::size_t c = 0; c < kernel.scales.size(); ++c) {
    logs(static_cast<Index>(c) + 1) = std::log(kernel.scales[c]);
  }
  logs(logs.size() - 1) = std::log(kernel.noise);
  return logs;
}

Kernel kernel_of(const VectorXd& logs) {
  Kernel kernel;
  kernel.variance = std::exp(logs(0));
  for (Index c = 1; c + 1 < logs.size(); ++c) {
    kernel.scales.push_back(std::exp(logs(c)));
  }
  kernel.noise = std::exp(logs(logs.size() - 1));
  return kernel;
}

/// The objective of fit_kernel: the negative log posterior.
class Objective {
 public:
  explicit Objective(const Samples& samples) : samples_(samples) {
    const auto size = std::ssize(samples.columns) + 2;
    centre_ = VectorXd::Constant(size, std::log(0.7));
    width_ = VectorXd::Constant(size, 1.0);
    centre_(0) = 0;
    centre_(size - 1) = std::log(1e-4);
    width_(size - 1) = 2;
  }

  double operator()(const VectorXd& logs, VectorXd& gradient) const {
    const VectorXd off = (logs - centre_).cwiseQuotient(width_);
    if (off.cwiseAbs().maxCoeff() > 6) {
      return std::numeric_limits<double>::infinity();
    }
    const auto likelihood = log_likelihood(samples_, kernel_of(logs));
    gradient = off.cwiseQuotient(width_) - vector_of(likelihood.gradient);
    return 0.5 * off.squaredNorm() - likelihood.value;
  }

 private:
  const Samples& samples_;
  VectorXd centre_;
  VectorXd width_;
};

/// Minimises by BFGS with a backtracking line search (Nocedal and Wright, Numerical Optimization, chapter 6).
template <class Function>
VectorXd minimise(const Function& function, VectorXd x, int steps) {
  VectorXd gradient;
  double value = function(x, gradient);
  MatrixXd inverse = MatrixXd::Identity(x.size(), x.size()) * 0.1;
  for (int step = 0; step < steps && gradient.norm() > 1e-3; ++step) {
    const VectorXd direction = -(inverse * gradient);
    const double slope = direction.dot(gradient);
    double length = std::min(1.0, 2.0 / direction.cwiseAbs().maxCoeff());
    VectorXd next_gradient = gradient;
    VectorXd next = x + length * direction;
    double next_value = function(next, next_gradient);
    for (int halving = 0; halving < 20 && !(next_value <= value + 1e-4 * length * slope); ++halving) {
      length /= 2;
      next = x + length * direction;
      next_value = function(next, next_gradient);
    }
    if (!(next_value < value)) {
      break;
    }
    const VectorXd moved = next - x;
    const VectorXd turned = next_gradient - gradient;
    if (const double curvature = moved.dot(turned); curvature > 1e-12) {
      const MatrixXd project =
          MatrixXd::Identity(x.size(), x.size()) - moved * turned.transpose() / curvature;
      inverse = project * inverse * project.transpose() + moved * moved.transpose() / curvature;
    }
    x = next;
    value = next_value;
    gradient = next_gradient;
  }
  return x;
}

double normal_density(double z) {
  return std::exp(-z * z / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}

double normal_below(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

}  // namespace

Likelihood log_likelihood(const Samples& samples, const Kernel& kernel) {
  const auto factor = factorise(samples, kernel);
  const auto values = vector_of(samples.values);
  const VectorXd weights = factor.solve(values);
  const auto count = values.size();
  Likelihood likelihood;
  likelihood.value = -values.dot(weights) / 2 - factor.matrixLLT().diagonal().array().log().sum() -
                     static_cast<double>(count) * std::log(2 * std::numbers::pi) / 2;
  const MatrixXd inverse = factor.solve(MatrixXd::Identity(count, count));
  likelihood.gradient.assign(samples.columns.size() + 2, 0);
  double trace = 0;
  for (Index j = 0; j < count; ++j) {
    for (Index i = j; i < count; ++i) {
      const double weight = (weights(i) * weights(j) - inverse(i, j)) * (i == j ? 0.5 : 1.0);
      add_pair(samples, kernel, static_cast<std::size_t>(i), static_cast<std::size_t>(j), weight,
               likelihood.gradient);
    }
    trace += (weights(j) * weights(j) - inverse(j, j)) / 2;
  }
  likelihood.gradient.front() += trace * jitter * kernel.variance;
  likelihood.gradient.back() = trace * kernel.noise;
  return likelihood;
}

Kernel fit_kernel(const Samples& samples, Kernel start, int steps) {
  return kernel_of(minimise(Objective(samples), logs_of(start), steps));
}

struct GaussianProcess::State {
  Samples samples;
  Kernel kernel;
  Eigen::LLT<MatrixXd> factor;
  VectorXd weights;
};

GaussianProcess::GaussianProcess(Samples samples, Kernel kernel) : state_(std::make_unique<State>()) {
  state_->factor = factorise(samples, kernel);
  state_->weights = state_->factor.solve(vector_of(samples.values));
  state_->samples = std::move(samples);
  state_->kernel = std::move(kernel);
}

GaussianProcess::~GaussianProcess() = default;
GaussianProcess::GaussianProcess(GaussianProcess&&) noexcept = default;
GaussianProcess& GaussianProcess::operator=(GaussianProcess&&) noexcept = default;

std::vector<Normal> GaussianProcess::at(const std::vector<std::vector<double>>& rows) const {
  const auto& [samples, kernel, factor, weights] = *state_;
  MatrixXd cross(weights.size(), std::ssize(rows));
  for (Index j = 0; j < cross.cols(); ++j) {
    for (Index i = 0; i < cross.rows(); ++i) {
      cross(i, j) = covariance(samples.columns, kernel, samples.rows[static_cast<std::size_t>(i)],
                               rows[static_cast<std::size_t>(j)])
                        .value;
    }
  }
  const VectorXd means = cross.transpose() * weights;
  factor.matrixL().solveInPlace(cross);
  std::vector<Normal> found;
  for (Index j = 0; j < cross.cols(); ++j) {
    found.push_back({means(j), std::max(0.0, kernel.variance - cross.col(j).squaredNorm())});
  }
  return found;
}

double expected_improvement(const Normal& value, double best) {
  const double deviation = std::sqrt(value.variance);
  const double gain = best - value.mean;
  if (deviation <= 0) {
    return std::max(0.0, gain);
  }
  const double z = gain / deviation;
  return gain * normal_below(z) + deviation * normal_density(z);
}

double probability_within(const Normal& value, double limit) {
  const double deviation = std::sqrt(value.variance);
  return deviation > 0 ? normal_below((limit - value.mean) / deviation) : (value.mean <= limit ? 1.0 : 0.0);
}

}  // namespace gnomon::tuner
