#include "nn/safetensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "base/document.h"
#include "base/error.h"
#include "nn/learner.h"
#include "tests/fixtures/message_of.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::nn {
namespace {

plan::Job job_of(std::uint64_t seed) {
  plan::Job job;
  job.model = plan::ModelKind::sage;
  job.fanouts = {5, 5};
  job.hidden = 8;
  job.norm = plan::Norm::batch;
  job.skip = true;
  job.seed = seed;
  return job;
}

TEST(Safetensors, AModelsStateSurvivesARoundTrip) {
  const test::TemporaryDirectory directory;
  const auto path = directory.path() / "weights.safetensors";
  const Model written(job_of(1), 11, 5);
  copy_values({at::rand({8})}, {written.buffers()[0]});
  write_safetensors(path, named(written, written.state()));
  const Model read(job_of(2), 11, 5);
  ASSERT_NE(hash_of(read.state()), hash_of(written.state()));
  load_safetensors(path, read);
  EXPECT_EQ(hash_of(read.state()), hash_of(written.state()));
}

/// The file's bytes by the format's description, read independently of read_safetensors.
TEST(Safetensors, TheFileIsAsTheFormatSays) {
  const test::TemporaryDirectory directory;
  const auto path = directory.path() / "two.safetensors";
  write_safetensors(path, {{"a.weight", at::tensor({1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F}).view({3, 2}).t()},
                           {"b", at::tensor({-0.5F})}});
  const auto bytes = base::read_file(path);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  ASSERT_EQ(length % 8, 0U);
  const auto header = base::Json::parse(bytes.substr(8, length));
  EXPECT_EQ(header["__metadata__"], (base::Json{{"format", "pt"}}));
  EXPECT_EQ(header["a.weight"], (base::Json{{"dtype", "F32"}, {"shape", {2, 3}}, {"data_offsets", {0, 24}}}));
  EXPECT_EQ(header["b"], (base::Json{{"dtype", "F32"}, {"shape", {1}}, {"data_offsets", {24, 28}}}));
  ASSERT_EQ(bytes.size(), 8 + length + 28);
  std::array<float, 7> values{};
  std::memcpy(values.data(), bytes.data() + 8 + length, 28);
  EXPECT_EQ(values, (std::array<float, 7>{1, 3, 5, 2, 4, 6, -0.5F}));
}

std::string file_of(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

TEST(Safetensors, ReadsOtherTypesOfNumbers) {
  const test::TemporaryDirectory directory;
  const auto path = directory.path() / "half.safetensors";
  base::write_file_atomically(path, file_of(R"({"x":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})",
                                            std::string("\x00\x3C\x00\xC0", 4)));
  const auto tensors = read_safetensors(path);
  ASSERT_EQ(tensors.size(), 1U);
  EXPECT_TRUE(at::equal(tensors[0].values, at::tensor({1.0F, -2.0F})));
}

TEST(Safetensors, DamagedFilesAreRefusedWithTheTensorsName) {
  const test::TemporaryDirectory directory;
  const auto path = directory.path() / "bad.safetensors";
  const auto message = [&](const std::string& bytes) {
    base::write_file_atomically(path, bytes);
    return test::message_of(directory.path(), [&] { read_safetensors(path); });
  };
  const auto of_x = [](const std::string& entry) { return file_of("{\"x\":" + entry + "}", "12345678"); };
  EXPECT_NE(message("short").find("is not a safetensors file"), std::string::npos);
  EXPECT_NE(message(std::string(8, '\xFF') + "{}").find("is not a safetensors file"), std::string::npos);
  EXPECT_NE(message(file_of("[1]", "")).find("is not a safetensors file"), std::string::npos);
  for (const char* entry : {R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})",
                            R"({"dtype":"F32","shape":[2],"data_offsets":[4,12]})",
                            R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})",
                            R"({"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]})",
                            R"({"dtype":"F32","shape":[2],"data_offsets":[0]})"}) {
    EXPECT_NE(message(of_x(entry)).find("x: data_offsets: do not fit"), std::string::npos) << entry;
  }
  EXPECT_NE(message(of_x(R"({"dtype":"I64","shape":[1],"data_offsets":[0,8]})")).find("x: dtype: is I64"),
            std::string::npos);
}

TEST(Safetensors, AnotherModelsFileIsRefused) {
  const test::TemporaryDirectory directory;
  const auto path = directory.path() / "weights.safetensors";
  const Model model(job_of(1), 11, 5);
  const auto message = [&](std::vector<NamedTensor> tensors) {
    write_safetensors(path, tensors);
    return test::message_of(directory.path(), [&] { load_safetensors(path, model); });
  };
  auto tensors = named(model, model.state());
  tensors.pop_back();
  EXPECT_NE(message(tensors).find("has no tensor layers.0.norm.running_var"), std::string::npos);
  tensors = named(model, model.state());
  tensors.push_back({"layers.9.weight", at::zeros({1})});
  EXPECT_NE(message(tensors).find("layers.9.weight: is not a tensor of the job's model"), std::string::npos);
  tensors = named(model, model.state());
  tensors[2].values = at::zeros({9});
  EXPECT_NE(message(tensors).find("layers.0.bias: has another shape"), std::string::npos);
}

}  // namespace
}  // namespace gnomon::nn
