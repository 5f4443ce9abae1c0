#pragma once

#include <string>
#include <vector>

#include "base/document.h"

namespace gnomon::base {

/// A cell of comma-separated values: the text, quoted where it must be (RFC 4180).
std::string csv_cell(const std::string& text);

/// Rows of flat objects as comma-separated values: the first row's keys as the heading, numbers with all
/// their digits.
std::string csv_of(const std::vector<Json>& rows);

}  // namespace gnomon::base
