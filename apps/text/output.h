#pragma once

#include "base/document.h"

namespace gnomon::apps {

/// Prints a command's one document on stdout, indented.
void print_json(const base::Json& document);

/// Rows of flat objects as comma-separated values: the first row's keys as the heading, numbers with all
/// their digits, text quoted where it must be (RFC 4180).
std::string csv_of(const std::vector<base::Json>& rows);

}  // namespace gnomon::apps
