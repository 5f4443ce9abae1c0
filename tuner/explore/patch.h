#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"

namespace gnomon::tuner {

/// The value at a path such as "machine.cpu.cores" or "workload.worker_efficiency[1].value". Throws
/// InputError that names `where` and the existing fields if there is no such path.
base::Json& field_at(base::Json& document, const std::string& path, const std::string& where);

/// Converts `text` to the kind of value of `present`: a string stays a string, anything else is parsed as
/// JSON. It is validated when the document is parsed again.
base::Json value_like(const base::Json& present, const std::string& text);

/// A field and the values to sweep, "PATH=VALUES".
struct Sweep {
  std::string path;
  std::vector<std::string> values;
};

/// Values are given one by one, "1,2,4"; as a range, "lo:hi:step", both ends included; or as a range of
/// factors, "lo:hi:*k". Throws InputError if the text is none of these, or has more than 100,000 values.
Sweep parse_sweep(const std::string& text);

/// A field and its value.
struct Setting {
  std::string path;
  std::string value;
};

/// All combinations of the sweeps' values, the last sweep changing fastest; without sweeps one empty
/// combination. Throws InputError above 100,000.
std::vector<std::vector<Setting>> combinations(const std::vector<Sweep>& sweeps);

}  // namespace gnomon::tuner
