#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"

namespace gnomon::apps {

/// The value at a path such as "machine.cpu.cores" or "workload.worker_efficiency[1].value". Throws
/// InputError naming `where`, with the fields there are, where the path leaves the document.
base::Json& field_at(base::Json& document, const std::string& path, const std::string& where);

/// `text` as a value of the same kind as `present`: text stays text, all else is JSON. Whether the field can
/// take it is for whoever parses the document again.
base::Json value_like(const base::Json& present, const std::string& text);

/// One `--set PATH=VALUES`.
struct Sweep {
  std::string path;
  std::vector<std::string> values;
};

/// Values are given one by one, "1,2,4"; as a range, "lo:hi:step", both ends included; or as a range of
/// factors, "lo:hi:*k". Throws InputError when the text is neither, or stands for more than 100,000 values.
Sweep parse_sweep(const std::string& text);

/// One choice of a value for each sweep.
struct Setting {
  std::string path;
  std::string value;
};

/// Every combination of the sweeps' values, the last sweep turning fastest; one empty combination without
/// sweeps. Throws InputError above 100,000.
std::vector<std::vector<Setting>> combinations(const std::vector<Sweep>& sweeps);

}  // namespace gnomon::apps
