#include "apps/packed_prediction.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace gnomon::apps {
namespace {

class Packer {
 public:
  template <class T>
  void operator()(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void operator()(const std::string& text) {
    (*this)(text.size());
    bytes += text;
  }
  template <class T>
  void operator()(const std::vector<T>& values) {
    (*this)(values.size());
    for (const T& value : values) {
      (*this)(value);
    }
  }
  std::string bytes;
};

class Unpacker {
 public:
  explicit Unpacker(const std::string& bytes) : at_(bytes.data()) {}
  template <class T>
  void operator()(T& value) {
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
  }
  void operator()(std::string& text) {
    const auto size = take_size();
    text.assign(at_, size);
    at_ += size;
  }
  template <class T>
  void operator()(std::vector<T>& values) {
    values.resize(take_size());
    for (T& value : values) {
      (*this)(value);
    }
  }

 private:
  std::size_t take_size() {
    std::size_t size = 0;
    (*this)(size);
    return size;
  }
  const char* at_;
};

/// Every member, in one order for both ways.
template <class Prediction, class Visit>
void visit_members(Prediction& prediction, Visit& visit) {
  visit(prediction.epoch_s);
  visit(prediction.lower_bound_s);
  visit(prediction.cpu_utilisation);
  visit(prediction.link_utilisation);
  visit(prediction.device_utilisation);
  visit(prediction.blocked_on_cpu_s);
  visit(prediction.blocked_on_device_s);
  visit(prediction.cpu_batches);
  visit(prediction.bound_by);
  visit(prediction.disk_utilisation);
  visit(prediction.reduce_utilisation);
  visit(prediction.memory);
  visit(prediction.use);
  visit(prediction.timeline);
}

}  // namespace

std::string pack(const sim::Prediction& prediction) {
  Packer packer;
  visit_members(prediction, packer);
  return std::move(packer.bytes);
}

sim::Prediction unpack(const std::string& bytes) {
  sim::Prediction prediction;
  Unpacker unpacker(bytes);
  visit_members(prediction, unpacker);
  return prediction;
}

}  // namespace gnomon::apps
