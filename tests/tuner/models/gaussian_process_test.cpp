#include "tuner/models/gaussian_process.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numbers>
#include <random>
#include <sstream>
#include <string>

#include "tests/random_seed.h"

namespace gnomon::tuner {
namespace {

Samples random_samples(std::mt19937_64& random, int numbers, int categories, int count) {
  std::uniform_real_distribution<double> uniform(0, 1);
  Samples samples;
  samples.columns.assign(static_cast<std::size_t>(numbers), Column::number);
  samples.columns.insert(samples.columns.end(), static_cast<std::size_t>(categories), Column::category);
  for (int i = 0; i < count; ++i) {
    auto& row = samples.rows.emplace_back();
    for (const Column column : samples.columns) {
      row.push_back(column == Column::number ? uniform(random) : static_cast<double>(random() % 3));
    }
    samples.values.push_back(std::sin(5 * row.front()) + row.back() + 0.1 * uniform(random));
  }
  return samples;
}

Kernel random_kernel(std::mt19937_64& random, std::size_t columns) {
  std::uniform_real_distribution<double> uniform(0.3, 1.5);
  Kernel kernel{uniform(random), {}, 0.01 * uniform(random)};
  for (std::size_t c = 0; c < columns; ++c) {
    kernel.scales.push_back(uniform(random));
  }
  return kernel;
}

using Matrix = std::vector<std::vector<double>>;

/// The kernel straight from the textbook.
double covariance(const Samples& samples, const Kernel& kernel, const std::vector<double>& a,
                  const std::vector<double>& b) {
  double squares = 0;
  double different = 0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    if (samples.columns[c] == Column::number) {
      squares += std::pow((a[c] - b[c]) / kernel.scales[c], 2);
    } else if (a[c] != b[c]) {
      different += kernel.scales[c];
    }
  }
  const double r = std::sqrt(squares);
  return kernel.variance * (1 + std::sqrt(5.0) * r + 5.0 / 3 * squares) * std::exp(-std::sqrt(5.0) * r) *
         std::exp(-different);
}

/// Solves by Gauss-Jordan elimination; `log_determinant` gets the logarithm of the determinant.
std::vector<double> solve(Matrix a, std::vector<double> b, double& log_determinant) {
  const std::size_t n = a.size();
  log_determinant = 0;
  for (std::size_t k = 0; k < n; ++k) {
    log_determinant += std::log(a[k][k]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i != k) {
        const double factor = a[i][k] / a[k][k];
        for (std::size_t j = k; j < n; ++j) {
          a[i][j] -= factor * a[k][j];
        }
        b[i] -= factor * b[k];
      }
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    b[k] /= a[k][k];
  }
  return b;
}

Matrix covariances(const Samples& samples, const Kernel& kernel) {
  Matrix matrix(samples.rows.size(), std::vector<double>(samples.rows.size()));
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    for (std::size_t j = 0; j < matrix.size(); ++j) {
      matrix[i][j] =
          covariance(samples, kernel, samples.rows[i], samples.rows[j]) + (i == j ? kernel.noise : 0.0);
    }
  }
  return matrix;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

TEST(GaussianProcess, PosteriorIsThatOfTheDenseFormulas) {
  const test::RandomSeed seed(20);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 10; ++round) {
    const auto samples = random_samples(random, 1 + round % 4, 1 + round % 3, 12);
    const auto kernel = random_kernel(random, samples.columns.size());
    const auto asked = random_samples(random, 1 + round % 4, 1 + round % 3, 8).rows;
    const auto found = GaussianProcess(samples, kernel).at(asked);
    const auto matrix = covariances(samples, kernel);
    for (std::size_t q = 0; q < asked.size(); ++q) {
      std::vector<double> cross;
      for (const auto& row : samples.rows) {
        cross.push_back(covariance(samples, kernel, row, asked[q]));
      }
      double ignored = 0;
      const auto weights = solve(matrix, cross, ignored);
      EXPECT_NEAR(found[q].mean, dot(weights, samples.values), 1e-6);
      EXPECT_NEAR(found[q].variance, kernel.variance - dot(weights, cross), 1e-6);
    }
  }
}

TEST(GaussianProcess, LikelihoodIsThatOfTheDenseFormulas) {
  const test::RandomSeed seed(20);
  std::mt19937_64 random(seed);
  const auto samples = random_samples(random, 3, 2, 15);
  const auto kernel = random_kernel(random, 5);
  double log_determinant = 0;
  const auto weights = solve(covariances(samples, kernel), samples.values, log_determinant);
  EXPECT_NEAR(log_likelihood(samples, kernel).value,
              -dot(weights, samples.values) / 2 - log_determinant / 2 - 7.5 * std::log(2 * std::numbers::pi),
              1e-6);
}

TEST(GaussianProcess, GradientIsThatOfFiniteDifferences) {
  const test::RandomSeed seed(20);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 5; ++round) {
    const auto samples = random_samples(random, 3, 2, 20);
    const auto kernel = random_kernel(random, 5);
    const auto gradient = log_likelihood(samples, kernel).gradient;
    ASSERT_EQ(gradient.size(), 7U);
    const auto value_with = [&](std::size_t parameter, double log_step) {
      Kernel moved = kernel;
      double& number = parameter == 0   ? moved.variance
                       : parameter == 6 ? moved.noise
                                        : moved.scales[parameter - 1];
      number *= std::exp(log_step);
      return log_likelihood(samples, moved).value;
    };
    for (std::size_t parameter = 0; parameter < gradient.size(); ++parameter) {
      const double difference = (value_with(parameter, 1e-5) - value_with(parameter, -1e-5)) / 2e-5;
      EXPECT_NEAR(gradient[parameter], difference, 1e-5 * std::max(1.0, std::abs(difference)));
    }
  }
}

TEST(GaussianProcess, FittingFindsWhatMatters) {
  const test::RandomSeed seed(20);
  std::mt19937_64 random(seed);
  auto samples = random_samples(random, 3, 1, 60);
  for (std::size_t i = 0; i < samples.rows.size(); ++i) {
    samples.values[i] = std::sin(6 * samples.rows[i][1]);
  }
  const Kernel start{1, {0.5, 0.5, 0.5, 0.5}, 1e-2};
  const Kernel fitted = fit_kernel(samples, start, 60);
  EXPECT_GT(log_likelihood(samples, fitted).value, log_likelihood(samples, start).value);
  EXPECT_LT(2 * fitted.scales[1], fitted.scales[0]);  // the number that matters has the shorter length
  EXPECT_LT(2 * fitted.scales[1], fitted.scales[2]);
  EXPECT_LT(fitted.scales[3], 0.2);  // the category hardly counts
  const auto at = GaussianProcess(samples, fitted).at({{0.5, 0.37, 0.5, 1}}).front();
  EXPECT_NEAR(at.mean, std::sin(6 * 0.37), 0.02);
}

TEST(GaussianProcess, RepeatedRowsAreNotSingular) {
  Samples samples{{Column::number}, {{0.5}, {0.5}, {0.5}}, {1, 1, 1}};
  EXPECT_NEAR(GaussianProcess(samples, {1, {1}, 1e-6}).at({{0.5}}).front().mean, 1, 1e-3);
}

TEST(ExpectedImprovement, IsTheIntegral) {
  for (const double mean : {-1.0, 0.0, 2.0}) {
    for (const double deviation : {0.1, 1.5}) {
      const double best = 0.4;
      double integral = 0;
      double below = 0;
      const double step = deviation / 2000;
      for (double y = mean - 9 * deviation; y < best; y += step) {
        const double z = (y + step / 2 - mean) / deviation;
        const double share = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi) / deviation * step;
        integral += (best - y - step / 2) * share;
        below += share;
      }
      EXPECT_NEAR(expected_improvement({mean, deviation * deviation}, best), integral, 1e-3 * deviation);
      EXPECT_NEAR(probability_within({mean, deviation * deviation}, best), std::min(1.0, below), 1e-3);
    }
  }
  EXPECT_EQ(expected_improvement({1, 0}, 3), 2);
  EXPECT_EQ(expected_improvement({3, 0}, 1), 0);
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  char buffer[4096];
  while (pipe != nullptr && std::fgets(buffer, sizeof buffer, pipe.get()) != nullptr) {
    text += buffer;
  }
  return text;
}

std::string list_of(const std::vector<double>& values) {
  std::ostringstream text;
  text.precision(17);
  for (const double value : values) {
    text << value << ",";
  }
  return "[" + text.str() + "]";
}

std::string list_of(const Matrix& rows) {
  std::string text;
  for (const auto& row : rows) {
    text += list_of(row) + ",";
  }
  return "[" + text + "]";
}

/// A Python that has scikit-learn: GNOMON_PYTHON, the tuner comparison's own, or the first on the path.
std::string python_with_sklearn() {
  const char* asked = std::getenv("GNOMON_PYTHON");
  for (const std::string& python : {std::string(asked != nullptr ? asked : "python3"),
                                    std::string(SOURCE_DIR) + "/build/tuners-venv/bin/python"}) {
    if (output_of(python + " -c 'import sklearn; print(1)' 2>/dev/null") == "1\n") {
      return python;
    }
  }
  return "";
}

TEST(GaussianProcess, AgreesWithScikitLearn) {
  const auto python = python_with_sklearn();
  if (python.empty()) {
    GTEST_SKIP() << "no scikit-learn here; bench/compare_tuners.py makes an environment that has it";
  }
  const test::RandomSeed seed(20);
  std::mt19937_64 random(seed);
  const auto samples = random_samples(random, 4, 0, 25);
  const auto kernel = random_kernel(random, 4);
  const auto asked = random_samples(random, 4, 0, 5).rows;
  const auto found = GaussianProcess(samples, kernel).at(asked);
  std::ostringstream script;
  script.precision(17);
  script << "from sklearn.gaussian_process import GaussianProcessRegressor as G;"
         << "from sklearn.gaussian_process.kernels import Matern, ConstantKernel as C;"
         << "g=G(C(" << kernel.variance << ")*Matern(length_scale=" << list_of(kernel.scales)
         << ",nu=2.5),alpha=" << kernel.noise << ",optimizer=None).fit(" << list_of(samples.rows) << ","
         << list_of(samples.values) << ");m,s=g.predict(" << list_of(asked) << ",return_std=True);"
         << "print(*[repr(float(v)) for v in [g.log_marginal_likelihood_value_,*m,*(s**2)]])";
  std::istringstream output(output_of(python + " -c '" + script.str() + "'"));
  double expected = 0;
  ASSERT_TRUE(output >> expected);
  EXPECT_NEAR(log_likelihood(samples, kernel).value, expected, 1e-6);
  for (const auto& normal : found) {
    ASSERT_TRUE(output >> expected);
    EXPECT_NEAR(normal.mean, expected, 1e-6);
  }
  for (const auto& normal : found) {
    ASSERT_TRUE(output >> expected);
    EXPECT_NEAR(normal.variance, expected, 1e-6);
  }
}

}  // namespace
}  // namespace gnomon::tuner
