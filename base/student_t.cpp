#include "base/student_t.h"

namespace gnomon::base {

double student_t_975(std::int64_t degrees) {
  if (degrees <= 1) {
    return 12.706204736432095;  // tan(0.475 pi)
  }
  if (degrees == 2) {
    return 4.302652729911275;  // 0.95 sqrt(2 / (1 - 0.95^2))
  }
  const double n = static_cast<double>(degrees);
  const double z = 1.959963984540054;
  const double z2 = z * z;
  const double term1 = z * (z2 + 1) / 4;
  const double term2 = z * (5 * z2 * z2 + 16 * z2 + 3) / 96;
  const double term3 = z * (3 * z2 * z2 * z2 + 19 * z2 * z2 + 17 * z2 - 15) / 384;
  const double term4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
  return z + (term1 + (term2 + (term3 + term4 / n) / n) / n) / n;
}

}  // namespace gnomon::base
