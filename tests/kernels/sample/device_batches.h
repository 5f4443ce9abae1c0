#pragma once

#include "kernels/block.h"
#include "kernels/device/sampler.h"

namespace gnomon::kernels {

/// A device's batch on the host; first_of(array, n) reads the first n values of an array of the device.
template <class FirstOf>
MiniBatch to_host(const device::MiniBatch& batch, const FirstOf& first_of) {
  MiniBatch host;
  host.num_seeds = batch.num_seeds;
  host.vertices = first_of(batch.vertices, batch.num_vertices);
  for (const auto& block : batch.blocks) {
    host.blocks.push_back({block.num_destinations,
                           block.num_sources,
                           first_of(block.indptr, block.num_destinations + 1),
                           first_of(block.indices, block.num_edges),
                           {}});
  }
  return host;
}

}  // namespace gnomon::kernels
