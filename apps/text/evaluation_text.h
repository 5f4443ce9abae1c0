#pragma once

#include <string>

#include "base/document.h"
#include "runtime/training/evaluation.h"

namespace gnomon::apps {

/// A table with a row for each split that has vertices.
std::string text_of(const runtime::Evaluation& evaluation);

/// The document "gnomon.evaluation/1".
base::Json to_document(const runtime::Evaluation& evaluation, const std::string& run,
                       const std::string& data);

}  // namespace gnomon::apps
