#include "runtime/training/stretch.h"

namespace gnomon::runtime {

plan::Plan in_given_order(plan::Plan plan) {
  plan.macro.passes = 1;  // further ones are in the order
  if (plan.schedule != plan::Schedule::sequential && plan.order == plan::Order::as_ready) {
    plan.order = plan::Order::index;
    if (plan.uses_cpu_route() && plan.schedule != plan::Schedule::macro_batch) {
      plan.schedule = plan::Schedule::pipelined;
      plan.route = plan::Route::cpu;
    }
  }
  return plan;
}

}  // namespace gnomon::runtime
