#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"

namespace gnomon::reproduce {

/// The table of rows of which a user gave the baselines.
inline constexpr const char* given_table = "given";

/// How a prediction is compared with a printed number.
enum class Measure : std::uint8_t {
  relative,  ///< predicted / printed - 1
  absolute,  ///< predicted - printed, in the number's own unit (points of a percentage, batches)
};

/// A printed number and its prediction.
struct Row {
  std::string table;
  std::string machine;
  std::string cell;  ///< what the number belongs to within table and machine: "GraphSAGE/PA"
  std::string unit;
  std::optional<double> printed;  ///< none: predicted for a machine whose number nobody printed
  double predicted = 0;
  Measure measure = Measure::relative;

  std::optional<double> error() const;
};

/// Something that must hold of the predictions, such as the order of systems in each row of a table.
struct Finding {
  std::string what;
  std::string asked;
  double value = 0;
  std::string unit;
  bool holds = false;
};

/// Cells that are not predicted, and why.
struct Unpredicted {
  std::string table;
  std::string cells;
  std::string reason;
};

/// One paper's tables side by side with their predictions.
struct Report {
  std::string paper;
  std::string source;
  std::string main_table;  ///< whose rows the mean absolute error is of
  std::vector<Row> rows;
  std::vector<Finding> findings;
  std::vector<Unpredicted> not_predicted;

  /// Mean of the absolute errors of a table's rows that have one; none without any.
  std::optional<double> mean_absolute_error(const std::string& table) const;
  /// The tables of the rows, each once, in their order.
  std::vector<std::string> tables() const;
};

/// `{"schema", "paper", "source", "rows": [{"table", "machine", "cell", "unit", "printed", "predicted",
/// "error"}], "mean_absolute_error", "mean_absolute_error_of", "tables", "findings", "not_predicted"}`; what
/// there is not is null.
base::Json to_json(const Report& report);

}  // namespace gnomon::reproduce
