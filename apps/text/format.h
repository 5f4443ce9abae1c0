#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gnomon::apps {

/// Numbers for tables.
std::string format_seconds(double seconds);  ///< three digits: "1.23 ms", "12.3 s", "3 min 05 s"
/// "1.23 s +-4.5 %", with the half width of its confidence interval in seconds over it, if that is known.
std::string format_with_interval(double seconds, const std::optional<double>& interval_s);
std::string format_bytes(double bytes);                         ///< "1.5 GiB"
std::string format_bytes_or_none(std::optional<double> bytes);  ///< or "-"
std::string format_count(std::int64_t count);                   ///< "1,234,567"
std::string format_percent(double share);                       ///< 0.123 as "12.3 %"
std::string format_change(double share);                        ///< 0.0123 as "+1.2 %"
/// Four significant digits without an exponent: "12,346", "12.35", "0.00001235"; numbers within rounding
/// error of 0 are "0".
std::string format_number(double value);
/// A count with its noun: "1 mini-batch", "1,200 mini-batches".
std::string format_counted(std::int64_t count, std::string_view one, std::string_view many);

}  // namespace gnomon::apps
