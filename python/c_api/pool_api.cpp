// The functions of gnomon.h for memory pools.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

#include "base/error.h"
#include "python/c_api/gnomon.h"
#include "python/c_api/status.h"
#include "python/c_api/tensors.h"

struct gnomon_pool {
  std::shared_ptr<gnomon::c_api::MemoryPool> pool;
};

using namespace gnomon::c_api;

extern "C" {

gnomon_status gnomon_pool_new(int32_t max_kept, gnomon_pool** pool) {
  return guarded([&] {
    require(pool, "pool");
    if (max_kept < 0) {
      throw gnomon::base::InputError("max_kept", "is negative");
    }
    *pool = new gnomon_pool{std::make_shared<MemoryPool>(static_cast<std::size_t>(max_kept))};
    return GNOMON_OK;
  });
}

void gnomon_pool_free(gnomon_pool* pool) { delete pool; }

gnomon_status gnomon_tensor_new(gnomon_pool* pool, int32_t ndim, const int64_t* shape,
                                gnomon_dl_managed** tensor) {
  return guarded([&] {
    require(pool, "pool");
    require(shape, "shape");
    require(tensor, "tensor");
    constexpr std::int32_t max_dimensions = 8;
    if (ndim < 1 || ndim > max_dimensions) {
      throw gnomon::base::InputError("ndim", "must be 1 to 8");
    }
    const std::span sizes(shape, static_cast<std::size_t>(ndim));
    if (*std::min_element(sizes.begin(), sizes.end()) < 0) {
      throw gnomon::base::InputError("shape", "is negative");
    }
    *tensor = make_tensor(pool->pool, float_type, sizes).release();
    return GNOMON_OK;
  });
}

}  // extern "C"
