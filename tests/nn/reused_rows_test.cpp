#include "nn/reused_rows.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <random>

#include "kernels/cpu/sample/sampler.h"
#include "nn/models.h"
#include "nn/tensor_batch.h"
#include "tests/fixtures/graphs.h"
#include "tests/random_seed.h"

namespace gnomon::nn {
namespace {

using plan::ModelKind;

constexpr std::int64_t width = 13;
constexpr std::int64_t hidden = 6;

plan::Job job_of(ModelKind model) {
  plan::Job job;
  job.model = model;
  job.fanouts = {4, 3};
  job.hidden = hidden;
  job.seed = 3;
  return job;
}

/// Random features of which two thirds are 0.
at::Tensor random_features(std::int64_t rows, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  auto features = at::zeros({rows, width});
  auto* values = features.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < features.numel(); ++i) {
    values[i] = random() % 3 == 0 ? value(random) : 0;
  }
  return features;
}

SparseFeatures sparse_form(const at::Tensor& dense) {
  std::vector<std::int64_t> indptr = {0};
  std::vector<std::int32_t> indices;
  std::vector<float> values;
  for (std::int64_t row = 0; row < dense.size(0); ++row) {
    for (std::int64_t column = 0; column < dense.size(1); ++column) {
      if (const float value = dense[row][column].item<float>(); value != 0) {
        indices.push_back(static_cast<std::int32_t>(column));
        values.push_back(value);
      }
    }
    indptr.push_back(std::ssize(indices));
  }
  return {std::make_shared<const SparseBlock>(dense.size(1), at::tensor(indptr, at::kLong),
                                              at::tensor(indices, at::kInt)),
          at::tensor(values, at::kFloat)};
}

/// One sampled hop of a skewed graph, with dense and with sparse features.
class Rows : public testing::TestWithParam<ModelKind> {
 protected:
  Rows() : graph_(test::skewed_graph(60, 4)) {
    std::vector<graph::VertexId> seeds;
    for (graph::VertexId vertex = 0; vertex < 60; vertex += 2) {
      seeds.push_back(vertex);
    }
    kernels::cpu::Sampler sampler(graph_, {5});
    sampler.sample({1, 0, 0}, seeds, sampled_);
    dense_.features = random_features(std::ssize(sampled_.vertices), seed_);
    dense_.degrees = at::empty({std::ssize(sampled_.vertices)});
    for (std::size_t i = 0; i < sampled_.vertices.size(); ++i) {
      dense_.degrees[static_cast<std::int64_t>(i)] = static_cast<float>(graph_.degree(sampled_.vertices[i]));
    }
    dense_.blocks = {view_of(sampled_.blocks[0])};
    sparse_ = dense_;
    sparse_.features = at::Tensor();
    sparse_.sparse = sparse_form(dense_.features);
  }

  /// The layer in double precision, by its definition.
  at::Tensor reference(const std::vector<at::Tensor>& parameters) const {
    const auto& block = sampled_.blocks[0];
    const auto x = dense_.features.to(at::kDouble);
    const auto degree = [&](std::int64_t v) { return dense_.degrees[v].item<double>(); };
    auto out = at::zeros({block.num_destinations, hidden}, at::kDouble);
    for (std::int64_t v = 0; v < block.num_destinations; ++v) {
      const auto begin = block.indptr[static_cast<std::size_t>(v)];
      const auto drawn = static_cast<double>(block.indptr[static_cast<std::size_t>(v) + 1] - begin);
      auto sum = at::zeros({width}, at::kDouble);
      for (std::int64_t edge = 0; edge < static_cast<std::int64_t>(drawn); ++edge) {
        const std::int64_t u = block.indices[static_cast<std::size_t>(begin + edge)];
        sum += GetParam() == ModelKind::sage ? x[u] / drawn : x[u] / std::sqrt(degree(u) + 1);
      }
      const auto weight = [&](std::size_t i) { return parameters[i].detach().to(at::kDouble); };
      if (GetParam() == ModelKind::sage) {
        out[v] = at::matmul(x[v], weight(0)) + at::matmul(sum, weight(1)) + weight(2);
      } else {
        const double scale = drawn > 0 ? degree(v) / drawn / std::sqrt(degree(v) + 1) : 0;
        out[v] = at::matmul(sum * scale + x[v] / (degree(v) + 1), weight(0)) + weight(1);
      }
    }
    return out;
  }

  const test::RandomSeed seed_{5};
  graph::Graph graph_;
  kernels::MiniBatch sampled_;
  TensorBatch dense_, sparse_;
};

INSTANTIATE_TEST_SUITE_P(Models, Rows, testing::Values(ModelKind::gcn, ModelKind::sage),
                         [](const auto& tested) { return std::string(base::name_of(tested.param)); });

TEST_P(Rows, AreThoseOfTheLayerInDoublePrecision) {
  const Model model(job_of(GetParam()), width, 3);
  const auto& parameters = model.layer(0).parameters();
  const auto expected = reference(parameters);
  for (const auto* batch : {&dense_, &sparse_}) {
    const auto rows = bottom_rows(model, parameters, *batch, {});
    EXPECT_LT((rows.outputs.to(at::kDouble) - expected).abs().max().item<double>(), 1e-5);
    EXPECT_FALSE(rows.outputs.requires_grad());
  }
}

// By the parameters that are given, whatever the model's have become.
TEST_P(Rows, AreComputedWithTheGivenParameters) {
  const Model model(job_of(GetParam()), width, 3);
  std::vector<at::Tensor> kept;
  for (const auto& parameter : model.layer(0).parameters()) {
    kept.push_back(parameter.detach().clone());
    parameter.detach().mul_(3);
  }
  const auto rows = bottom_rows(model, kept, dense_, {});
  EXPECT_LT((rows.outputs.to(at::kDouble) - reference(kept)).abs().max().item<double>(), 1e-5);
}

TEST_P(Rows, HaveTheGradientsOfTheirProducts) {
  const Model model(job_of(GetParam()), width, 3);
  const auto& parameters = model.layer(0).parameters();
  const auto upstream = random_features(sampled_.blocks[0].num_destinations, seed_ + 1).narrow(1, 0, hidden);
  const auto operands = bottom_rows(model, parameters, dense_, {}).operands;
  std::vector<at::Tensor> exact;
  for (const auto& parameter : parameters) {
    exact.push_back(parameter.detach().to(at::kDouble).requires_grad_());
  }
  auto out = exact.back().unsqueeze(0).expand({upstream.size(0), hidden});
  for (std::size_t i = 0; i < operands.size(); ++i) {
    out = out + at::matmul(operands[i].dense.to(at::kDouble), exact[i]);
  }
  (out * upstream.to(at::kDouble)).sum().backward();
  for (const auto* batch : {&dense_, &sparse_}) {
    auto rows = bottom_rows(model, parameters, *batch, {});
    rows.outputs = at::full_like(rows.outputs, 0.5);  // stale
    for (const auto& parameter : parameters) {
      parameter.mutable_grad() = at::Tensor();
    }
    const auto reused = reuse(rows, parameters);
    EXPECT_TRUE(at::equal(reused.detach(), rows.outputs));
    (reused * upstream).sum().backward();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      EXPECT_LT((parameters[i].grad().to(at::kDouble) - exact[i].grad()).abs().max().item<double>(), 1e-5);
    }
  }
}

TEST_P(Rows, AreSelectedInAnyOrder) {
  const Model model(job_of(GetParam()), width, 3);
  const auto which = at::tensor({7, 0, 3, 7}, at::kLong);
  for (const auto* batch : {&dense_, &sparse_}) {
    const auto rows = bottom_rows(model, model.layer(0).parameters(), *batch, {});
    const auto chosen = select(rows, which);
    EXPECT_TRUE(at::equal(chosen.outputs, rows.outputs.index_select(0, which)));
    for (std::size_t i = 0; i < rows.operands.size(); ++i) {
      const auto whole = [](const Operand& o) { return o.sparse.defined() ? to_dense(o.sparse) : o.dense; };
      EXPECT_TRUE(at::equal(whole(chosen.operands[i]), whole(rows.operands[i]).index_select(0, which)));
    }
  }
}

TEST(ReusedRows, SparseOnesAreJoinedInOrder) {
  const test::RandomSeed seed;
  const auto first = random_features(4, seed), second = random_features(3, seed + 1);
  const auto joined = concatenate({sparse_form(first), sparse_form(second)});
  EXPECT_TRUE(at::equal(to_dense(joined), at::cat({first, second})));
}

TEST(ReusedRows, AttentionHasNone) {
  auto job = job_of(ModelKind::gat);
  job.heads = 2;
  const Model model(job, width, 3);
  EXPECT_TRUE(model.layer(0).operands(at::zeros({1, width}), {}).empty());
}

}  // namespace
}  // namespace gnomon::nn
