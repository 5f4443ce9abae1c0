#pragma once

#include <filesystem>

namespace gnomon::graph {

/// Throws InputError for a file of a format that is read in Python: Parquet, Feather, torch.save and pickle.
/// The message has the three lines of Python that convert it. Formats are known by their first and last
/// bytes.
void refuse_foreign_file(const std::filesystem::path& path);

}  // namespace gnomon::graph
