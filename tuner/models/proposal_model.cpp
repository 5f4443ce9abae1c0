#include "tuner/models/proposal_model.h"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "tuner/models/boosted_trees.h"

namespace gnomon::tuner {
namespace {

/// Standardises values to mean 0 and variance 1, and restores predictions.
class Standard {
 public:
  Standard() = default;
  explicit Standard(const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    for (const double value : values) {
      mean_ += value / count;
    }
    double squares = 0;
    for (const double value : values) {
      squares += (value - mean_) * (value - mean_) / count;
    }
    deviation_ = squares > 1e-24 ? std::sqrt(squares) : 1;
  }

  double deviation() const { return deviation_; }
  std::vector<double> scaled(std::vector<double> values) const {
    for (double& value : values) {
      value = (value - mean_) / deviation_;
    }
    return values;
  }
  std::vector<Normal> restored(std::vector<Normal> normals) const {
    for (Normal& normal : normals) {
      normal.mean = mean_ + deviation_ * normal.mean;
      normal.variance *= deviation_ * deviation_;
    }
    return normals;
  }

 private:
  double mean_ = 0;
  double deviation_ = 1;
};

class GaussianModel final : public ProposalModel {
 public:
  explicit GaussianModel(const Space& space) {
    const auto& dimensions = space.dimensions();
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      if (dimensions[d].values.size() > 1 && space.varies(d)) {
        kept_.push_back(d);
        columns_.push_back(dimensions[d].is_category() ? Column::category : Column::number);
      }
    }
    kernel_.scales.assign(columns_.size(), 0.7);
  }

  double learn(const std::vector<std::vector<double>>& codes, const std::vector<double>& values) override {
    standard_ = Standard(values);
    Samples samples{columns_, rows_of(codes), standard_.scaled(values)};
    if (5 * codes.size() >= 6 * fitted_at_) {
      kernel_ = fit_kernel(samples, kernel_, 30);
      fitted_at_ = codes.size();
    }
    const double evidence = log_likelihood(samples, kernel_).value -
                            static_cast<double>(codes.size()) * std::log(standard_.deviation());
    process_.emplace(std::move(samples), kernel_);
    return evidence;
  }

  std::vector<Normal> at(const std::vector<std::vector<double>>& codes) const override {
    return standard_.restored(process_->at(rows_of(codes)));
  }

 private:
  /// A number that does not apply is set to the midpoint, as the categories encode that it does not apply.
  std::vector<std::vector<double>> rows_of(const std::vector<std::vector<double>>& codes) const {
    std::vector<std::vector<double>> rows;
    for (const auto& code : codes) {
      auto& row = rows.emplace_back();
      for (std::size_t c = 0; c < kept_.size(); ++c) {
        const double value = code[kept_[c]];
        row.push_back(columns_[c] == Column::number && value < 0 ? 0.5 : value);
      }
    }
    return rows;
  }

  std::vector<std::size_t> kept_;
  std::vector<Column> columns_;
  Kernel kernel_;
  Standard standard_;
  std::size_t fitted_at_ = 0;
  std::optional<GaussianProcess> process_;
};

class TreesModel final : public ProposalModel {
 public:
  explicit TreesModel(std::uint64_t seed) : seed_(seed) {}

  double learn(const std::vector<std::vector<double>>& codes, const std::vector<double>& values) override {
    standard_ = Standard(values);
    trees_.emplace(rows_of(codes), standard_.scaled(values), TreesOptions{.seed = seed_});
    return 0;
  }

  std::vector<Normal> at(const std::vector<std::vector<double>>& codes) const override {
    return standard_.restored(trees_->at(rows_of(codes)));
  }

 private:
  static std::vector<std::vector<double>> rows_of(std::vector<std::vector<double>> codes) {
    for (auto& code : codes) {
      for (double& value : code) {
        value = value < 0 ? std::numeric_limits<double>::quiet_NaN() : value;
      }
    }
    return codes;
  }

  std::uint64_t seed_;
  Standard standard_;
  std::optional<BoostedTrees> trees_;
};

}  // namespace

std::unique_ptr<ProposalModel> make_gaussian_model(const Space& space) {
  return std::make_unique<GaussianModel>(space);
}

std::unique_ptr<ProposalModel> make_trees_model(std::uint64_t seed) {
  return std::make_unique<TreesModel>(seed);
}

}  // namespace gnomon::tuner
