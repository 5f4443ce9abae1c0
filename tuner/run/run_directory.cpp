#include "tuner/run/run_directory.h"

#include "base/error.h"

namespace gnomon::tuner {
namespace {

namespace fs = std::filesystem;

/// "graphs/arxiv.csv.gz" and "graphs/arxiv/" are both "arxiv".
std::string short_name(const fs::path& data) {
  auto name = (data.has_filename() ? data : data.parent_path()).filename().string();
  name = name.substr(0, name.find('.', 1));
  return name.empty() || name == "/" ? "run" : name;
}

/// Whether this call made the directory. Throws Failure if it cannot be made.
bool make(const fs::path& directory) {
  std::error_code error;
  const bool made = fs::create_directories(directory, error);
  if (error) {
    throw base::Failure(directory.string(), "cannot be made: " + error.message());
  }
  return made;
}

}  // namespace

RunFiles make_run_directory(const std::string& asked, const fs::path& data) {
  if (!asked.empty()) {
    if (fs::exists(asked) && !fs::is_directory(asked)) {
      throw base::InputError(asked, "is a file; name a directory for the run");
    }
    make(asked);
    return {asked};
  }
  const auto name = short_name(data);
  for (int counter = 1;; ++counter) {
    const auto directory = fs::path("runs") / (name + "-" + std::to_string(counter));
    if (!fs::exists(directory) && make(directory)) {
      return {directory};
    }
  }
}

}  // namespace gnomon::tuner
