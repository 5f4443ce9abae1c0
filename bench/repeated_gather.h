#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/device/gather.h"

namespace gnomon::bench {

/// Gathers of random rows that no cache of a device holds: each takes other rows, and the host waits once for
/// all of them. The ids are in the memory of the executor, which must outlive it.
template <class Executor>
class RepeatedGather {
 public:
  static constexpr std::int64_t rows_of_gather = 200'000;
  static constexpr std::int64_t gathers = 10;

  RepeatedGather(Executor& executor, std::int64_t num_rows, std::int64_t row_bytes)
      : executor_(executor),
        ids_(kernels::device::make_array<std::int64_t>(executor, rows_of_gather * gathers)),
        out_(kernels::device::make_array<std::byte>(executor, rows_of_gather * row_bytes)) {
    std::mt19937_64 random(1);
    std::vector<std::int64_t> ids(static_cast<std::size_t>(ids_.count));
    std::generate(ids.begin(), ids.end(),
                  [&] { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(num_rows)); });
    executor.upload(ids_.data, ids.data(), ids.size() * sizeof(std::int64_t));
  }

  /// `wait` waits for the executor's work.
  template <class Wait>
  void run(const kernels::device::Rows& rows, kernels::device::Reads reads, const Wait& wait) {
    for (std::int64_t i = 0; i < gathers; ++i) {
      kernels::device::gather_rows(executor_, rows, reads, ids_of(i), rows_of_gather, out_.data);
    }
    wait();
  }
  /// The same by the rows' places.
  template <class Wait>
  void run_by_place(const kernels::device::Rows& rows, std::int64_t table_rows, kernels::device::Reads reads,
                    const Wait& wait) {
    for (std::int64_t i = 0; i < gathers; ++i) {
      kernels::device::gather_rows_by_place(executor_, rows, table_rows, reads, ids_of(i), rows_of_gather,
                                            out_.data);
    }
    wait();
  }

  const std::byte* last() const { return out_.data; }
  std::int64_t bytes() const { return gathers * out_.count; }

 private:
  const std::int64_t* ids_of(std::int64_t gather) const { return ids_.data + gather * rows_of_gather; }

  Executor& executor_;
  kernels::device::Array<std::int64_t> ids_;
  kernels::device::Array<std::byte> out_;
};

}  // namespace gnomon::bench
