#include "nn/direct_pass.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/custom_function.h>

#include <string>
#include <thread>
#include <vector>

#include "nn/gradients.h"
#include "tests/launches/double_device.h"
#include "tests/launches/toy_training.h"
#include "tests/nn/take_gradients.h"
#include "tests/nn/tensors.h"

// Gradients on the double of a GPU.

namespace gnomon::nn {
namespace {

using plan::ModelKind;
using test::double_device;
using test::job_of;
using test::take_gradients;

Model model_of(const plan::Job& job) {
  return Model(job, test::toy().features.columns, test::toy().num_classes, double_device());
}

/// A mini-batch of the toy graph, whose features are gathered or read where they are stored.
/// `batches` must outlive it.
TensorBatch batch_of(test::Batches& batches, const plan::Job& job, bool is_stored) {
  const auto& prepared = batches.prepare(2);
  auto data = test::on_double_device(runtime::view_of(prepared), job);
  if (is_stored) {
    const auto& features = test::toy().features;
    const at::IntArrayRef vertices(prepared.batch.vertices);
    data.stored = cuda_stored_features({features.data_bytes().data(), features.row_bytes()}, features.type,
                                       features.columns, test::on_double(at::tensor(vertices, at::kLong)));
    data.features.reset();
  }
  return data;
}

void expect_bits_of_autograd(const plan::Job& job, bool is_stored) {
  SCOPED_TRACE(std::string(base::name_of(job.model)) + ", hidden " + std::to_string(job.hidden) +
               ", dropout " + std::to_string(job.dropout) + (is_stored ? ", stored" : ", gathered"));
  const auto model = model_of(job);
  test::Batches batches(job);
  const auto data = batch_of(batches, job, is_stored);
  const DropoutSpec dropout{job.dropout, {5, base::Purpose::dropout, 2, 3}};
  const auto logits = model.forward(data, dropout);
  const auto gradient = test::on_double(random_tensor(logits.sizes(), 4));
  compute_gradients(logits, gradient);
  const auto expected = take_gradients(model);

  ASSERT_TRUE(DirectPass::can_run(model, data));
  const DirectPass pass(model, data, dropout);
  EXPECT_TRUE(at::equal(pass.logits().cpu(), logits.detach().cpu()));
  pass.compute_gradients(gradient);
  const auto found = take_gradients(model);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_GT(expected[i].abs().max().item<float>(), 0) << "weight " << i;
    EXPECT_TRUE(at::equal(found[i], expected[i])) << "weight " << i;
  }
}

TEST(DirectPass, HasTheBitsOfAutograd) {
  for (const auto model : {ModelKind::sage, ModelKind::gcn}) {
    for (const double probability : {0.0, 0.3}) {
      auto job = job_of(model);
      job.dropout = probability;
      for (const bool is_stored : {false, true}) {
        expect_bits_of_autograd(job, is_stored);
      }
    }
  }
}

/// The first layer of GCN multiplies before it aggregates if that makes rows short.
TEST(DirectPass, HasTheBitsOfAutogradWhereProductsAreAggregated) {
  auto job = job_of(ModelKind::gcn);
  job.hidden = 2;
  job.dropout = 0.3;
  expect_bits_of_autograd(job, false);
  test::Batches batches(job);
  EXPECT_FALSE(DirectPass::can_run(model_of(job), batch_of(batches, job, true))) << "products of stored rows";
}

TEST(DirectPass, IsForPlainLayers) {
  const auto can_run = [](const plan::Job& job) {
    test::Batches batches(job);
    return DirectPass::can_run(model_of(job),
                               test::on_double_device(runtime::view_of(batches.prepare(0)), job));
  };
  EXPECT_TRUE(can_run(job_of(ModelKind::sage)));
  EXPECT_TRUE(can_run(job_of(ModelKind::gcn)));
  EXPECT_FALSE(can_run(job_of(ModelKind::gat)));
  EXPECT_FALSE(can_run(job_of(ModelKind::sage, plan::Norm::layer)));
  auto skipping = job_of(ModelKind::sage);
  skipping.skip = true;
  EXPECT_FALSE(can_run(skipping));
}

/// The identity, whose gradient notes the thread that computes it.
struct NoteThread : torch::autograd::Function<NoteThread> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            std::thread::id* noted) {
    context->saved_data["noted"] = reinterpret_cast<std::int64_t>(noted);
    return x.clone();
  }
  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               torch::autograd::tensor_list gradients) {
    // Saved data holds integers only. NOLINTNEXTLINE(performance-no-int-to-ptr)
    *reinterpret_cast<std::thread::id*>(context->saved_data["noted"].toInt()) = std::this_thread::get_id();
    return {gradients[0], {}};
  }
};

TEST(ComputeGradients, OfADeviceOnTheCallingThread) {
  auto x = test::on_double(random_tensor({3}, 1));
  x.set_requires_grad(true);
  std::thread::id noted;
  NoteThread::apply(x, &noted).backward(test::on_double(at::ones({3})));
  EXPECT_NE(noted, std::this_thread::get_id()) << "otherwise the function is not needed";
  compute_gradients(NoteThread::apply(x, &noted), test::on_double(at::ones({3})));
  EXPECT_EQ(noted, std::this_thread::get_id());
  EXPECT_TRUE(at::equal(x.grad().cpu(), at::full({3}, 2.0)));
}

}  // namespace
}  // namespace gnomon::nn
