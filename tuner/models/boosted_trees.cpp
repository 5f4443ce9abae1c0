#include "tuner/models/boosted_trees.h"

#include <xgboost/c_api.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/philox.h"

namespace gnomon::tuner {
namespace {

void check(int code) {
  if (code != 0) {
    throw base::Failure("XGBoost", XGBGetLastError());
  }
}

struct FreeMatrix {
  void operator()(void* matrix) const { XGDMatrixFree(matrix); }
};
struct FreeBooster {
  void operator()(void* booster) const { XGBoosterFree(booster); }
};
using Matrix = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

Matrix matrix_of(const std::vector<std::vector<double>>& rows) {
  std::vector<float> flat;
  for (const auto& row : rows) {
    flat.insert(flat.end(), row.begin(), row.end());
  }
  DMatrixHandle handle = nullptr;
  check(XGDMatrixCreateFromMat(flat.data(), rows.size(), rows.front().size(), not_a_number, &handle));
  return Matrix(handle);
}

void set(const Booster& booster, const char* name, const std::string& value) {
  check(XGBoosterSetParam(booster.get(), name, value.c_str()));
}

/// Bootstrap counts: how often each row occurs in a sample with replacement of the same size.
std::vector<float> bootstrap_weights(std::size_t rows, std::uint64_t seed, int member) {
  base::RandomStream random({.seed = seed,
                             .purpose = base::Purpose::simulate,
                             .epoch = 1U << 20,
                             .batch = static_cast<std::uint64_t>(member)});
  std::vector<float> weights(rows, 0.0F);
  for (std::size_t i = 0; i < rows; ++i) {
    weights[random.below(rows)] += 1;
  }
  return weights;
}

/// All members share the matrix, as it keeps the columns sorted; each member sets its own weights.
Booster train(const Matrix& matrix, std::size_t rows, const TreesOptions& options, int member) {
  if (options.members > 1) {
    const auto weights = bootstrap_weights(rows, options.seed, member);
    check(XGDMatrixSetFloatInfo(matrix.get(), "weight", weights.data(), weights.size()));
  }
  DMatrixHandle handle = matrix.get();
  BoosterHandle made = nullptr;
  check(XGBoosterCreate(&handle, 1, &made));
  Booster booster(made);
  set(booster, "objective", "reg:squarederror");
  set(booster, "tree_method", "exact");
  set(booster, "max_depth", std::to_string(options.depth));
  set(booster, "eta", std::to_string(options.rate));
  set(booster, "min_child_weight", "0.5");
  set(booster, "lambda", "0.1");
  set(booster, "base_score", "0");
  set(booster, "nthread", "1");
  set(booster, "verbosity", "0");
  for (int round = 0; round < options.rounds; ++round) {
    check(XGBoosterUpdateOneIter(booster.get(), round, matrix.get()));
  }
  return booster;
}

std::vector<float> predict(const Booster& booster, const Matrix& matrix, std::size_t rows) {
  bst_ulong count = 0;
  const float* found = nullptr;
  check(XGBoosterPredict(booster.get(), matrix.get(), 0, 0, 0, &count, &found));
  return {found, found + std::min<std::size_t>(count, rows)};
}

/// Adds a model's gain by column; XGBoost names its columns f0, f1 …
void add_gains(const Booster& booster, std::vector<double>& gains) {
  bst_ulong features = 0;
  bst_ulong dimensions = 0;
  const char** names = nullptr;
  const bst_ulong* shape = nullptr;
  const float* scores = nullptr;
  check(XGBoosterFeatureScore(booster.get(), R"({"importance_type": "total_gain"})", &features, &names,
                              &dimensions, &shape, &scores));
  for (bst_ulong i = 0; i < features; ++i) {
    gains.at(std::strtoul(names[i] + 1, nullptr, 10)) += static_cast<double>(scores[i]);
  }
}

}  // namespace

struct BoostedTrees::State {
  std::vector<Booster> members;
  std::size_t columns = 0;
};

BoostedTrees::BoostedTrees() : state_(std::make_unique<State>()) {}
BoostedTrees::~BoostedTrees() = default;
BoostedTrees::BoostedTrees(BoostedTrees&&) noexcept = default;
BoostedTrees& BoostedTrees::operator=(BoostedTrees&&) noexcept = default;

BoostedTrees::BoostedTrees(const std::vector<std::vector<double>>& rows, const std::vector<double>& values,
                           const TreesOptions& options)
    : BoostedTrees() {
  state_->columns = rows.front().size();
  const Matrix matrix = matrix_of(rows);
  const std::vector<float> labels(values.begin(), values.end());
  check(XGDMatrixSetFloatInfo(matrix.get(), "label", labels.data(), labels.size()));
  for (int member = 0; member < options.members; ++member) {
    state_->members.push_back(train(matrix, rows.size(), options, member));
  }
}

std::vector<Normal> BoostedTrees::at(const std::vector<std::vector<double>>& rows) const {
  const Matrix matrix = matrix_of(rows);
  std::vector<Normal> found(rows.size());
  std::vector<double> squares(rows.size());
  const double share = 1.0 / static_cast<double>(state_->members.size());
  for (const Booster& member : state_->members) {
    const auto values = predict(member, matrix, rows.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto value = static_cast<double>(values[i]);
      found[i].mean += value * share;
      squares[i] += value * value * share;
    }
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].variance = std::max(0.0, squares[i] - found[i].mean * found[i].mean);
  }
  return found;
}

std::vector<double> BoostedTrees::importance() const {
  std::vector<double> gains(state_->columns, 0);
  for (const Booster& member : state_->members) {
    add_gains(member, gains);
  }
  double sum = 0;
  for (const double gain : gains) {
    sum += gain;
  }
  for (double& gain : gains) {
    gain /= sum > 0 ? sum : 1;
  }
  return gains;
}

std::vector<std::string> BoostedTrees::save() const {
  std::vector<std::string> texts;
  for (const Booster& member : state_->members) {
    bst_ulong length = 0;
    const char* text = nullptr;
    check(XGBoosterSaveModelToBuffer(member.get(), R"({"format": "json"})", &length, &text));
    texts.emplace_back(text, length);
  }
  return texts;
}

BoostedTrees BoostedTrees::load(const std::vector<std::string>& members, std::size_t columns) {
  BoostedTrees trees;
  trees.state_->columns = columns;
  for (const std::string& text : members) {
    BoosterHandle made = nullptr;
    check(XGBoosterCreate(nullptr, 0, &made));
    Booster booster(made);
    if (XGBoosterLoadModelFromBuffer(made, text.data(), text.size()) != 0) {
      throw base::InputError("surrogate", "holds a model that XGBoost cannot read");
    }
    set(booster, "nthread", "1");  // OpenMP's threads do not survive a fork
    trees.state_->members.push_back(std::move(booster));
  }
  return trees;
}

}  // namespace gnomon::tuner
