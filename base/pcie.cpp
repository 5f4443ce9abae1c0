#include "base/pcie.h"

#include <algorithm>
#include <cctype>
#include <fstream>

namespace gnomon::base {
namespace {

/// Returns the number at the beginning of a file, or 0 if there is none.
double number_in(const std::filesystem::path& file) {
  double number = 0;
  std::ifstream(file) >> number;
  return number;
}

}  // namespace

PcieLink pcie_link(std::string address, const std::filesystem::path& devices) {
  std::transform(address.begin(), address.end(), address.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  const auto own = devices / address;
  std::error_code error;
  const auto slot = std::filesystem::canonical(own, error).parent_path();
  PcieLink link{1e9 * number_in(own / "max_link_speed"), static_cast<int>(number_in(own / "max_link_width"))};
  if (const double speed = error ? 0 : 1e9 * number_in(slot / "max_link_speed"); speed > 0) {
    link.transfers_per_s = std::min(link.transfers_per_s, speed);
  }
  if (const int lanes = error ? 0 : static_cast<int>(number_in(slot / "max_link_width")); lanes > 0) {
    link.lanes = std::min(link.lanes, lanes);
  }
  return link;
}

}  // namespace gnomon::base
