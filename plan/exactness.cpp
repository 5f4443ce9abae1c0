#include "plan/exactness.h"

namespace gnomon::plan {

Exactness exactness_of(const Plan& plan) {
  if (changes_training(plan)) {
    return Exactness::approximate;
  }
  if (!trains_in_order(plan)) {
    return Exactness::batches;
  }
  // The gradients of several devices are averaged, so that an update trains several mini-batches. The
  // products of padded mini-batches may be rounded otherwise.
  return plan.devices == 1 && !plan.graphs ? Exactness::bits : Exactness::order;
}

std::string_view description_of(Exactness exactness) {
  switch (exactness) {
    case Exactness::approximate:
      return "trains other mini-batches or with older embeddings; accuracy may differ";
    case Exactness::batches:
      return "trains the same mini-batches in an order that depends on timing; repeated trainings differ";
    case Exactness::order:
      return "trains in an order that does not depend on timing; repeated trainings end with the same bits";
    case Exactness::bits:
      break;
  }
  return "trains each mini-batch as the update of its index; all such plans end with the same bits";
}

}  // namespace gnomon::plan
