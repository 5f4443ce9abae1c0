#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace gnomon::tuner {

/// The kind of an input column: a number, or a category whose values are only equal or different.
enum class Column : std::uint8_t { number, category };

/// Covariance of two rows a and b (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006,
/// section 4.2):
///
///     variance * (1 + r' + r'^2 / 3) exp(-r') * exp(-sum of scales[c] over categories c in which a and b
///     differ)
///
/// with r' = sqrt(5) times the distance over the numbers, each divided by its scale: a Matern 5/2 kernel with
/// a length scale for every number. `noise` is a variance that is added to each observation.
struct Kernel {
  double variance = 1;
  std::vector<double> scales;  ///< one per column: a number's length scale, a category's weight
  double noise = 1e-4;
};

/// Observations: rows of inputs and one value for each row.
struct Samples {
  std::vector<Column> columns;
  std::vector<std::vector<double>> rows;
  std::vector<double> values;
};

/// The logarithm of the marginal likelihood and its derivatives with respect to the logarithms of the
/// kernel's variance, scales and noise, in this order.
struct Likelihood {
  double value = 0;
  std::vector<double> gradient;
};

/// Throws std::domain_error if the kernel's matrix is singular in double precision.
Likelihood log_likelihood(const Samples& samples, const Kernel& kernel);

/// The kernel with the highest posterior probability, given the samples and a wide normal prior on each
/// logarithm, by at most `steps` steps of BFGS from `start`. The values should have mean 0 and variance 1.
Kernel fit_kernel(const Samples& samples, Kernel start, int steps);

struct Normal {
  double mean = 0;
  double variance = 0;
};

/// A Gaussian process with prior mean 0, conditioned on its samples.
class GaussianProcess {
 public:
  GaussianProcess(Samples samples, Kernel kernel);
  ~GaussianProcess();
  GaussianProcess(GaussianProcess&&) noexcept;
  GaussianProcess& operator=(GaussianProcess&&) noexcept;

  /// The posterior at each row, without noise.
  std::vector<Normal> at(const std::vector<std::vector<double>>& rows) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The expected improvement of a normal value over `best` when smaller is better (Jones, Schonlau and Welch,
/// Journal of Global Optimization 13, 1998).
double expected_improvement(const Normal& value, double best);

/// The probability that a normal value is at most `limit`, for constraints that are predicted themselves.
double probability_within(const Normal& value, double limit);

}  // namespace gnomon::tuner
