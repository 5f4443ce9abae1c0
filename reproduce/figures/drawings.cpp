#include "reproduce/figures/drawings.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace gnomon::reproduce {
namespace {

using Drawing = Chart (*)(const DrawingContext&);

Chart morphgl_epochs_a(const DrawingContext& context) { return draw_morphgl_epochs(context, "A"); }
Chart morphgl_epochs_b(const DrawingContext& context) { return draw_morphgl_epochs(context, "B"); }

Chart neutronorch_depth_products(const DrawingContext& context) {
  return draw_neutronorch_depth(context, "Products");
}
Chart neutronorch_depth_wikipedia(const DrawingContext& context) {
  return draw_neutronorch_depth(context, "Wikipedia");
}

constexpr std::array<std::pair<std::string_view, Drawing>, 20> drawings{
    {{"morphgl_sizes", draw_morphgl_sizes},
     {"morphgl_epochs_a", morphgl_epochs_a},
     {"morphgl_epochs_b", morphgl_epochs_b},
     {"morphgl_rounds", draw_morphgl_rounds},
     {"morphgl_cpu_shares", draw_morphgl_cpu_shares},
     {"morphgl_device_memory", draw_morphgl_device_memory},
     {"morphgl_preprocessing", draw_morphgl_preprocessing},
     {"morphgl_buffer", draw_morphgl_buffer},
     {"neutronorch_pipelining", draw_neutronorch_pipelining},
     {"neutronorch_placements", draw_neutronorch_placements},
     {"neutronorch_placement_epochs", draw_neutronorch_placement_epochs},
     {"neutronorch_depth_products", neutronorch_depth_products},
     {"neutronorch_depth_wikipedia", neutronorch_depth_wikipedia},
     {"neutronorch_depth_means", draw_neutronorch_depth_means},
     {"hanoi_sizes", draw_hanoi_sizes},
     {"hanoi_degrees", draw_hanoi_degrees},
     {"zero_copy", draw_zero_copy},
     {"gnnlab_memory", draw_gnnlab_memory},
     {"ducati_shares", draw_ducati_shares},
     {"ducati_feature_cache", draw_ducati_feature_cache}}};

}  // namespace

Chart draw(const std::string& name, const DrawingContext& context) {
  for (const auto& [known, drawing] : drawings) {
    if (known == name) {
      return drawing(context);
    }
  }
  throw base::InputError("draw", "\"" + name + "\" is not a drawing");
}

}  // namespace gnomon::reproduce
