#pragma once

#include <cstdint>
#include <string>

namespace gnomon::apps {

/// Numbers for tables.
std::string format_seconds(double seconds);    ///< three digits: "1.23 ms", "12.3 s", "3 min 05 s"
std::string format_bytes(double bytes);        ///< "1.5 GiB"
std::string format_count(std::int64_t count);  ///< "1,234,567"
std::string format_percent(double share);      ///< 0.123 as "12.3 %"
std::string format_number(double value);       ///< four significant digits

}  // namespace gnomon::apps
