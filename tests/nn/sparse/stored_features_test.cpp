#include "nn/sparse/stored_features.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <torch/types.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cpu/dropout.h"
#include "kernels/device/stored-inl.h"
#include "nn/feature_types.h"
#include "nn/sparse/device_stored_features.h"
#include "tests/kernels/instruction_set.h"
#include "tests/kernels/sparse/host_sparse_kernels.h"
#include "tests/kernels/sparse/test_blocks.h"
#include "tests/random_seed.h"

// Whoever reads stored rows gets the bits of gathering, converting, dropout and spmm one by one.

namespace gnomon::kernels {
namespace {

constexpr std::int64_t num_vertices = 500;

graph::Features features_of(const at::Tensor& table) {
  return {static_cast<const std::byte*>(table.const_data_ptr()), nn::feature_type(table.scalar_type()),
          table.size(0), table.size(1)};
}

DropoutRule rule_of(std::uint32_t threshold) { return {{11, base::Purpose::dropout, 2, 3, 4, 0}, threshold}; }

/// The gathered copy after dropout, in fp32.
at::Tensor copied(const at::Tensor& table, const at::Tensor& vertices, const DropoutRule& rule) {
  auto x = table.index_select(0, vertices).to(at::kFloat).contiguous();
  auto* values = x.mutable_data_ptr<float>();
  if (rule.threshold > 0) {
    cpu::dropout(rule, 0, x.numel(), values, values);
  }
  return x;
}

/// The device's way, on the host. Every third vertex's row lies in a cache; in place of the row that is not
/// to be read then lies something else.
struct CachedRows {
  explicit CachedRows(const at::Tensor& table) : all(table.clone()) {
    std::vector<std::int64_t> chosen;
    for (std::int64_t v = 0; v < table.size(0); ++v) {
      slots.push_back(v % 3 == 0 ? static_cast<std::int32_t>(chosen.size()) : -1);
      if (v % 3 == 0) {
        chosen.push_back(v);
        all[v].fill_(77);
      }
    }
    cached = table.index_select(0, torch::tensor(chosen));
  }
  device::Rows rows() const {
    return {static_cast<const std::byte*>(all.const_data_ptr()), all.size(1) * all.element_size(),
            slots.data(), static_cast<const std::byte*>(cached.const_data_ptr())};
  }
  at::Tensor all, cached;
  std::vector<std::int32_t> slots;
};

struct DropoutCase {
  at::ScalarType type;
  std::int64_t columns;
  std::uint32_t threshold;
};

std::vector<DropoutCase> dropout_cases() {
  std::vector<DropoutCase> all;
  for (const auto type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    for (const std::int64_t columns : {1, 3, 4, 8, 20, 100, 129, 300}) {
      for (const std::uint32_t threshold : {0U, 20000U, 32768U}) {
        all.push_back({type, columns, threshold});
      }
    }
  }
  return all;
}

/// Compares all that `stored` gives with the copy, whose products `kernels` computes.
void check(const nn::StoredFeatures& stored, const at::Tensor& x, const Block& block, const DropoutRule& rule,
           const nn::SparseKernels& kernels) {
  ASSERT_EQ(stored.size(0), x.size(0));
  ASSERT_EQ(stored.size(1), x.size(1));
  for (const auto& [first, count] :
       {std::pair<std::int64_t, std::int64_t>{0, x.size(0)}, {16, 100}, {7, 1}, {33, 0}}) {
    auto out = torch::full({count, x.size(1)}, -1.0F);
    stored.read(first, rule, out);
    EXPECT_TRUE(torch::equal(out, x.narrow(0, first, count))) << count << " rows from " << first;
  }
  const auto own = with_kernels(*nn::sparse_block(std::make_shared<const Block>(block)), kernels);
  const auto row_scale = torch::rand({block.num_destinations});
  const auto column_scale = torch::rand({block.num_sources});
  for (const auto& columns : {at::Tensor(), column_scale}) {
    for (const auto& rows : {at::Tensor(), row_scale}) {
      const auto expected = kernels.spmm(*own, nn::RowsOf::destinations, rows, columns,
                                         x.narrow(0, 0, block.num_sources).contiguous());
      EXPECT_TRUE(torch::equal(stored.spmm(*own, rows, columns, rule), expected))
          << (rows.defined() ? "rows' scale " : "") << (columns.defined() ? "columns' scale" : "");
    }
  }
  EXPECT_TRUE(torch::equal(stored.own_and_mean(*own, rule),
                           kernels.own_and_mean(*own, x.narrow(0, 0, block.num_sources).contiguous())));
}

/// Compares what devices fuse for GCN.
void check_gcn(const nn::StoredFeatures& stored, const at::Tensor& x, const Block& block,
               const DropoutRule& rule, const nn::SparseKernels& kernels) {
  const auto own = with_kernels(*nn::sparse_block(std::make_shared<const Block>(block)), kernels);
  const auto degrees = torch::randint(50, {block.num_sources}).to(at::kFloat);
  EXPECT_TRUE(
      torch::equal(stored.gcn_propagate(*own, degrees, rule),
                   kernels.gcn_propagate(*own, degrees, x.narrow(0, 0, block.num_sources).contiguous())));
}

/// Calls act(case, table, vertices, the copy, a block of fewer sources than vertices).
template <class Act>
void for_cases(const Act& act) {
  const test::RandomSeed seed;
  at::manual_seed(seed);
  for (const DropoutCase& each : dropout_cases()) {
    SCOPED_TRACE(std::string(at::toString(each.type)) + " x " + std::to_string(each.columns) +
                 ", threshold " + std::to_string(each.threshold));
    const auto table = torch::randn({num_vertices, each.columns}).to(each.type);
    const auto vertices = torch::randint(num_vertices, {240}, torch::kLong);
    act(table, vertices, rule_of(each.threshold), copied(table, vertices, rule_of(each.threshold)),
        random_block(150, 200, seed));
  }
}

class StoredFeatures : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    if (!choose_instruction_set(GetParam())) {
      GTEST_SKIP() << "this machine lacks the instruction set";
    }
  }
};

TEST_P(StoredFeatures, AreReadAsCopiedOnes) {
  for_cases([](const auto& table, const auto& vertices, const auto& rule, const auto& x, const Block& block) {
    check(*nn::stored_features(features_of(table), vertices), x, block, rule, nn::cpu_sparse_kernels());
  });
}

TEST_P(StoredFeatures, OfAllVerticesAreThoseOfEveryId) {
  for_cases([](const auto& table, const auto&, const auto& rule, const auto&, const Block& block) {
    const auto ids = torch::arange(num_vertices);
    check(*nn::stored_features(features_of(table), {}), copied(table, ids, rule), block, rule,
          nn::cpu_sparse_kernels());
    const auto some = torch::randint(num_vertices, {30}, torch::kLong);
    auto rows = torch::empty({30, table.size(1)});
    nn::stored_features(features_of(table), {})->read_rows(some, rows);
    EXPECT_TRUE(torch::equal(rows, table.index_select(0, some).to(torch::kFloat)));
  });
}

TEST_P(StoredFeatures, KeptElementsFollowTheRule) {
  const auto rule = rule_of(24000);
  for (const std::int64_t first : {std::int64_t{0}, std::int64_t{64}, (std::int64_t{1} << 35) - 1024}) {
    for (const std::int64_t count : {0, 1, 8, 13, 333, 2048}) {
      std::vector<std::uint8_t> bits(static_cast<std::size_t>((count + 7) / 8) + 1, 0xA5);
      cpu::kept_elements(rule, first, count, bits.data());
      for (std::int64_t i = 0; i < count; ++i) {
        const auto words = rule.words((first + i) / dropout_block);
        const bool is_kept = (bits[static_cast<std::size_t>(i / 8)] >> (i % 8) & 1) != 0;
        ASSERT_EQ(is_kept, !rule.is_dropped(words, (first + i) % dropout_block)) << first << " + " << i;
      }
      EXPECT_EQ(bits.back(), 0xA5) << "written beyond the last of " << count;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, StoredFeatures,
                         testing::Values(HWY_AVX3, HWY_AVX2, HWY_STATIC_TARGET));

TEST(StoredRowsOnThreads, SameBitsForAnyNumber) {
  const Block block = random_block(3000, 4000, 8);
  const auto shared = nn::view_of(block);
  const auto table = torch::randn({5000, 64});
  const auto stored = nn::stored_features(features_of(table), torch::randperm(5000, torch::kLong));
  const int threads_before = at::get_num_threads();
  at::set_num_threads(1);
  const auto expected = stored->spmm(*shared, {}, {}, rule_of(30000));
  for (const int threads : {2, 3, 8}) {
    at::set_num_threads(threads);
    EXPECT_TRUE(torch::equal(stored->spmm(*shared, {}, {}, rule_of(30000)), expected)) << threads;
  }
  at::set_num_threads(threads_before);
}

using HostDeviceRows = nn::DeviceStoredFeatures<HostLaunches>;

TEST(DeviceStoredFeatures, AreReadAsCopiedOnes) {
  const HostSparseKernels kernels(HostLaunches{2});
  for_cases(
      [&](const auto& table, const auto& vertices, const auto& rule, const auto& x, const Block& block) {
        const CachedRows memory(table);
        const auto type = features_of(table).type;
        const HostDeviceRows cached(memory.rows(), type, table.size(1), vertices, HostLaunches{2});
        check(cached, x, block, rule, kernels);
        check_gcn(cached, x, block, rule, kernels);
        device::Rows plain;
        plain.all = static_cast<const std::byte*>(table.const_data_ptr());
        plain.row_bytes = memory.rows().row_bytes;
        check(HostDeviceRows(plain, type, table.size(1), vertices, HostLaunches{2}), x, block, rule, kernels);
      });
}

TEST(DeviceStoredFeatures, EveryNumberOf16BitsIsConverted) {
  std::vector<std::uint16_t> numbers(1 << 16);
  std::iota(numbers.begin(), numbers.end(), std::uint16_t{0});
  for (const auto type : {at::kHalf, at::kBFloat16}) {
    const auto table = torch::from_blob(numbers.data(), {1 << 16, 1}, type);
    const auto vertices = torch::arange(1 << 16);
    device::Rows rows;
    rows.all = static_cast<const std::byte*>(table.const_data_ptr());
    rows.row_bytes = 2;
    auto found = torch::empty({1 << 16, 1});
    HostDeviceRows(rows, nn::feature_type(type), 1, vertices).read(0, {}, found);
    const auto expected = table.to(at::kFloat);
    EXPECT_TRUE(torch::equal(found.isnan(), expected.isnan()));
    const auto bits_of = [](const at::Tensor& x) { return x.nan_to_num(0).view(at::kInt); };
    EXPECT_TRUE(torch::equal(bits_of(found), bits_of(expected)));  // as bits, so that 0 is not -0
  }
}

}  // namespace
}  // namespace gnomon::kernels
