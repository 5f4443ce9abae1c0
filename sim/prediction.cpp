#include "sim/prediction.h"

#include <utility>

#include "base/packed.h"

namespace gnomon::sim {
namespace {

template <class Self, class Fields>
void visit(Self& prediction, Fields& fields) {
  Prediction::fields(prediction, fields);
  fields("timeline", prediction.timeline);
}

}  // namespace

std::string pack(const Prediction& prediction) {
  base::Packer packer;
  visit(prediction, packer);
  return std::move(packer.bytes);
}

Prediction unpack(const std::string& bytes) {
  Prediction prediction;
  base::Unpacker unpacker(bytes);
  visit(prediction, unpacker);
  return prediction;
}

}  // namespace gnomon::sim
