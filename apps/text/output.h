#pragma once

#include "base/document.h"

namespace gnomon::apps {

/// Prints a command's one document on stdout, indented.
void print_json(const base::Json& document);

}  // namespace gnomon::apps
