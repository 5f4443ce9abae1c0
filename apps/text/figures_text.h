#pragma once

#include <filesystem>
#include <string>

#include "base/document.h"
#include "reproduce/figures/drawn.h"

namespace gnomon::apps {

/// The numbers of each figure, and its claims.
std::string figures_text(const reproduce::DrawnPaper& paper);

/// Every figure of a paper with its verdict, without drawing it; empty for a paper without a list.
std::string list_of_figures(const std::string& paper);

/// The document, each figure with the sentence on its claims as "on_claims".
base::Json figures_json(const reproduce::DrawnPaper& paper);

/// Writes one page that needs no network. Atomic. Throws InputError as require_charts(), and base::Failure.
void write_figures_page(const std::filesystem::path& path, const reproduce::DrawnPaper& paper);

}  // namespace gnomon::apps
