#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "graph/import/import.h"
#include "graph/import/source.h"

/// Which import options apply to which formats. An option without effect is an error, because the user
/// expects it to have one.
namespace gnomon::graph {

/// A field of ImportOptions that does not apply to every format.
struct OptionRule {
  std::string_view field;   ///< "content.split.seed"
  std::string_view option;  ///< of the command line, "--seed"
  /// By format (npz, ogb, matrix_market, edge_list, graphsaint): why it does not apply and what would be
  /// right; empty where it applies.
  std::array<std::string_view, 5> refused;
};

/// The fields that do not apply to every format.
std::span<const OptionRule> option_rules();

/// Throws InputError for the first option that was given but has no effect on this format or beside the other
/// options. It names the option, the format and what would be right. Precondition: options.format is not
/// automatic.
void check_options(const ImportOptions& options);

/// Throws InputError for an option that has no effect on this source, whose arrays and split are those of the
/// input data.
void check_effects(const ImportOptions& options, const GraphSource& source);

/// Throws InputError if the option of a field was given; `why` it has no effect.
void refuse_if_given(const ImportOptions& options, std::string_view field, const std::string& why);

}  // namespace gnomon::graph
