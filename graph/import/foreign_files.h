#pragma once

#include <filesystem>

namespace gnomon::graph {

/// Throws InputError for a file that is to be converted in Python: Parquet, Feather, torch.save, pickle and a
/// single .npy array. The message has the three lines that do so. Formats are known by their first and last
/// bytes.
void refuse_foreign_file(const std::filesystem::path& path);

}  // namespace gnomon::graph
