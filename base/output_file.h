#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace gnomon::base {

/// Throws InputError unless a file can be written at `path`: its directory exists and takes a new file, and
/// `path` is neither a directory nor a device. Leaves no file behind. For checks before the work whose result
/// the file will hold.
void check_output(const std::filesystem::path& path);

/// Calls `write` with `path`. If it throws Failure, calls it again with a file of the same name in a new
/// directory below the temporary directory. Returns why `path` was not written and where the result is kept
/// instead; empty if all is well.
std::string try_write_output(const std::filesystem::path& path,
                             const std::function<void(const std::filesystem::path&)>& write);

/// Like try_write_output, but throws the text as a Failure.
void write_output(const std::filesystem::path& path,
                  const std::function<void(const std::filesystem::path&)>& write);

/// Writes `text` to `path` atomically, or keeps it elsewhere as above.
void write_output(const std::filesystem::path& path, std::string_view text);

}  // namespace gnomon::base
