#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::apps {

/// What a finished program left behind.
struct Outcome {
  int code = -1;      ///< exit code; 128 + signal when it was killed
  std::string out;    ///< all of stdout
  std::string error;  ///< all of stderr
};

using Workplace = test::TemporaryDirectory;

/// A program that is running; killed with the object when nobody waited for it.
class RunningProgram {
 public:
  /// `max_file_bytes`: a write behind it, to any file, kills the program with SIGXFSZ.
  RunningProgram(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                 const std::filesystem::path& directory, std::optional<std::size_t> max_file_bytes = {});
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  void signal(int number) const;
  /// Returns when it has ended; once.
  Outcome wait();

 private:
  Workplace streams_;
  pid_t child_ = -1;
};

/// Runs the built gnomon with these arguments, in `directory`, and waits for it.
Outcome run_gnomon(const std::vector<std::string>& arguments,
                   const std::filesystem::path& directory = std::filesystem::temp_directory_path());

/// Runs any program by its path.
Outcome run_program_at(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                       const std::filesystem::path& directory);

/// A small valid profile document of a machine with four cores and no GPU.
base::Json small_profile();

}  // namespace gnomon::apps
