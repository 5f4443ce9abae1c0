#include "base/output_file.h"

#include <optional>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/temporary_directory.h"

namespace gnomon::base {
namespace {

namespace fs = std::filesystem;

void check_directory_of(const fs::path& path) {
  const auto directory = path.parent_path();
  std::error_code unknown;
  if (directory.empty() || fs::is_directory(directory, unknown)) {
    return;
  }
  if (fs::exists(directory, unknown)) {
    throw InputError(path.string(), directory.string() + " is not a directory");
  }
  throw InputError(path.string(), "the directory " + directory.string() +
                                      " does not exist; make it, or name a file in another one");
}

/// The file in which the result is kept; none if that failed, too.
std::optional<fs::path> kept(const fs::path& path, const std::function<void(const fs::path&)>& write) {
  try {
    const auto file = new_temporary_directory() / path.filename();
    write(file);
    return file;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

void check_output(const fs::path& path) {
  if (path.empty()) {
    throw InputError("the name of the output file is empty");
  }
  check_directory_of(path);
  std::error_code unknown;
  if (fs::is_directory(path, unknown) || !path.has_filename()) {
    throw InputError(path.string(), "is a directory; name a file in it");
  }
  if (fs::exists(path, unknown) && !fs::is_regular_file(path, unknown)) {
    throw InputError(path.string(), "is not a regular file; name another one");
  }
  try {
    const AtomicFile attempt(path);
  } catch (const Failure& failure) {
    throw InputError(failure.what());
  }
}

std::string try_write_output(const fs::path& path, const std::function<void(const fs::path&)>& write) {
  try {
    write(path);
    return "";
  } catch (const Failure& failure) {
    const auto file = kept(path, write);
    return failure.what() + (file ? "; the result is kept in " + file->string() : std::string());
  }
}

void write_output(const fs::path& path, const std::function<void(const fs::path&)>& write) {
  if (const auto fault = try_write_output(path, write); !fault.empty()) {
    throw Failure(fault);
  }
}

void write_output(const fs::path& path, std::string_view text) {
  write_output(path, [text](const fs::path& file) { write_file_atomically(file, text); });
}

}  // namespace gnomon::base
