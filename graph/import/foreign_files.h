#pragma once

#include <filesystem>

namespace gnomon::graph {

/// Throws InputError for a file that must be converted in Python first: Parquet, Feather, torch.save, pickle
/// or a single .npy array. The message contains the three lines of Python that convert it. Formats are
/// recognised by their first and last bytes.
void refuse_foreign_file(const std::filesystem::path& path);

}  // namespace gnomon::graph
