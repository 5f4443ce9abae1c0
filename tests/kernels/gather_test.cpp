#include "kernels/cpu/gather.h"

#include "tests/fixtures/sparse_features.h"
#include "tests/kernels/gather_contract.h"

namespace gnomon::kernels {
namespace {

struct CpuGather {
  static std::vector<std::byte> rows(const graph::Features& features,
                                     const std::vector<graph::VertexId>& vertices) {
    std::vector<std::byte> out(vertices.size() * static_cast<std::size_t>(features.row_bytes()));
    cpu::gather_rows(features, vertices, out.data());
    return out;
  }
  static std::vector<std::int64_t> labels(const std::vector<std::int32_t>& labels_of,
                                          const std::vector<graph::VertexId>& vertices) {
    std::vector<std::int64_t> out(vertices.size());
    cpu::gather_labels(labels_of, vertices, out.data());
    return out;
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Cpu, GatherContract, CpuGather);

TEST(GatherRows, TakesElementsOfAnySize) {
  const test::RandomSeed seed(7);
  std::mt19937_64 random(seed);
  std::vector<std::byte> rows(64 * 50);
  std::generate(rows.begin(), rows.end(), [&] { return static_cast<std::byte>(random()); });
  const std::vector<graph::VertexId> vertices{3, 0, 49, 3, 17};
  for (std::int64_t bytes = 0; bytes <= 64; ++bytes) {
    std::vector<std::byte> expected;
    for (const auto vertex : vertices) {
      const auto first = rows.begin() + vertex * bytes;
      expected.insert(expected.end(), first, first + bytes);
    }
    std::vector<std::byte> out(expected.size() + 1, std::byte{0x5A});
    cpu::gather_rows(rows.data(), bytes, vertices, out.data());
    EXPECT_EQ(out.back(), std::byte{0x5A}) << bytes << " bytes";
    out.pop_back();
    EXPECT_EQ(out, expected) << bytes << " bytes";
  }
}

// Outputs just below and from the size at which stores become non-temporal; rows begin and end anywhere in a
// cache line.
TEST(GatherRows, LargeOutputsOfAnyRowSizeAndAddress) {
  const test::RandomSeed seed(11);
  std::mt19937_64 random(seed);
  constexpr std::int64_t num_rows = 300;
  for (const std::int64_t bytes : {2, 12, 18, 64, 100, 256, 267, 512, 2980}) {
    std::vector<std::byte> rows(num_rows * bytes);
    std::generate(rows.begin(), rows.end(), [&] { return static_cast<std::byte>(random()); });
    const std::int64_t streamed = (cpu::min_streamed_bytes() + bytes - 1) / bytes;
    for (const std::int64_t count : {streamed - 1, streamed}) {
      std::vector<graph::VertexId> vertices(static_cast<std::size_t>(count));
      std::generate(vertices.begin(), vertices.end(),
                    [&] { return static_cast<std::int64_t>(random() % num_rows); });
      for (const std::int64_t shift : {0, 1, 4, 16}) {
        std::vector<std::byte> out(static_cast<std::size_t>(count * bytes + shift + 1), std::byte{0x5A});
        cpu::gather_rows(rows.data(), bytes, vertices, out.data() + shift);
        EXPECT_EQ(out.back(), std::byte{0x5A}) << bytes << " bytes, shift " << shift;
        for (std::int64_t i = 0; i < count; ++i) {
          ASSERT_EQ(std::memcmp(out.data() + shift + i * bytes,
                                rows.data() + vertices[static_cast<std::size_t>(i)] * bytes,
                                static_cast<std::size_t>(bytes)),
                    0)
              << bytes << " bytes, shift " << shift << ", row " << i;
        }
      }
    }
  }
}

TEST(GatherEntries, AreTheRowsOfTheVertices) {
  const test::RandomSeed seed(3);
  std::mt19937_64 random(seed);
  for (const auto type : {graph::FeatureType::fp32, graph::FeatureType::fp16, graph::FeatureType::bf16}) {
    for (const auto kind : {test::Values::normal, test::Values::ones}) {
      const auto graph = test::in_sparse_form(
          test::with_features(test::hub_graph(96), test::mostly_zero(97, 200, 3, kind, random()), 200, type));
      const auto& features = graph.features;
      std::vector<graph::VertexId> vertices(40);
      std::generate(vertices.begin(), vertices.end(),
                    [&] { return static_cast<graph::VertexId>(random() % 97); });
      std::vector<std::int64_t> indptr(vertices.size() + 1, -1);
      cpu::gather_row_pointers(features, vertices, indptr.data());
      const auto entries = static_cast<std::size_t>(indptr.back());
      std::vector<std::int32_t> columns(entries, -1);
      std::vector<std::byte> values(
          features.data == nullptr ? 0 : entries * static_cast<std::size_t>(bytes_of(type)));
      cpu::gather_entries(features, vertices, columns.data(), values.data());
      const graph::Features gathered{
          values.empty() ? nullptr : values.data(), type, std::ssize(vertices), 200, indptr, columns};
      for (std::size_t i = 0; i < vertices.size(); ++i) {
        ASSERT_EQ(test::dense_row(gathered, static_cast<graph::VertexId>(i)),
                  test::dense_row(features, vertices[i]));
      }
      cpu::gather_row_pointers(features, {}, indptr.data());
      EXPECT_EQ(indptr.front(), 0);
    }
  }
}

}  // namespace
}  // namespace gnomon::kernels
