#pragma once

#include "nn/feature_types.h"
#include "runtime/cache/fill_cache-inl.h"
#include "runtime/preparation/batch_maker-inl.h"
#include "runtime/preparation/complete_rows.h"

// Included where an executor's kernels are declared.

namespace gnomon::runtime {

template <class H>
at::Tensor complete_rows(H& hardware, const BatchData& data, const kernels::device::Rows& cached) {
  namespace device = kernels::device;
  const auto count = std::ssize(data.split.places);
  at::Tensor features;
  hardware.run([&] {
    auto executor = hardware.make_executor(1);
    const auto gathered = uploaded<std::byte>(executor, {data.features.data(), data.features.size()});
    const auto places = uploaded<std::int64_t>(executor, data.split.places);
    const auto slots = uploaded<std::int32_t>(executor, data.split.slots);
    const auto rows = device::make_array<std::byte>(executor, count * cached.row_bytes);
    device::gather_rows(executor, {gathered.data, cached.row_bytes, slots.data, cached.cached},
                        device::Reads::shifted, places.data, count, rows.data);
    const auto type = nn::scalar_type(data.feature_type);
    features = tensor_on(rows, {count, data.columns}, hardware.tensor_device(), type);
  });
  return features;
}

}  // namespace gnomon::runtime
