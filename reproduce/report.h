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
  std::string cell;  ///< identifies the number within table and machine: "GraphSAGE/PA"
  std::string unit;
  std::optional<double> printed;  ///< none if no number is printed for the cell
  double predicted = 0;
  Measure measure = Measure::relative;

  std::optional<double> error() const;
};

/// A property that the predictions are asked to have, such as the order of systems in each row of a table.
struct Finding {
  std::string what;
  std::string asked;
  double value = 0;
  std::string unit;
  bool holds = false;
};

/// Cells without a prediction, and the reason.
struct Unpredicted {
  std::string table;
  std::string cells;
  std::string reason;
};

/// One paper's printed tables beside their predictions.
struct Report {
  std::string paper;
  std::string source;
  std::string main_table;  ///< the table whose mean absolute error the report gives
  std::vector<Row> rows;
  std::vector<Finding> findings;
  std::vector<Unpredicted> not_predicted;

  /// Returns the mean absolute error of a table's rows with a printed number; none without such a row.
  std::optional<double> mean_absolute_error(const std::string& table) const;
  /// Returns the different tables of the rows, in their order.
  std::vector<std::string> tables() const;
};

/// `{"schema", "paper", "source", "rows": [{"table", "machine", "cell", "unit", "printed", "predicted",
/// "error"}], "mean_absolute_error", "mean_absolute_error_of", "tables", "findings", "not_predicted"}`;
/// absent numbers are null.
base::Json to_json(const Report& report);

}  // namespace gnomon::reproduce
