#pragma once

#include <filesystem>

namespace gnomon::runtime {

/// Creates a run's directory if needed, and removes what a killed run may have left there: temporary files
/// and, unless the run is resumed, its checkpoint. Throws base::Failure if it cannot be created.
void open_run_directory(const std::filesystem::path& directory, bool resume);

}  // namespace gnomon::runtime
