#include "runtime/training/run_directory.h"

#include <string>
#include <system_error>

#include "base/error.h"
#include "runtime/training/checkpoint.h"

namespace gnomon::runtime {
namespace {

/// Removes temporary files of a checkpoint or log.
void remove_temporaries(const std::filesystem::path& directory) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().filename().string().find(".tmp-") != std::string::npos) {
      std::error_code ignored;
      std::filesystem::remove(entry.path(), ignored);
    }
  }
}

}  // namespace

void open_run_directory(const std::filesystem::path& directory, bool resume) {
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed) {
    throw base::Failure(directory.string(), "cannot be created: " + failed.message());
  }
  remove_temporaries(directory);
  if (!resume) {
    std::filesystem::remove(checkpoint_path(directory));  // or a later resume would mix two runs
  }
}

}  // namespace gnomon::runtime
