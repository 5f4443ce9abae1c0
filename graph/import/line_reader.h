#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct gzFile_s;

namespace gnomon::graph {

/// Lines of a text file, plain or gzip (told by its content), through a buffer of 1 MiB, or as long as the
/// longest line. Throws InputError naming the file: cannot be read, gzip truncated or damaged.
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& path);

  /// The next line without its end; valid until the next call. False at the end of the file.
  bool next(std::string_view& line);
  /// Throws InputError "FILE: line N: what" for the line that was read last.
  [[noreturn]] void fail(const std::string& what) const;
  /// Throws the error that `expected` was not found on this line.
  [[noreturn]] void fail_expected(const std::string& expected, std::string_view line) const;

 private:
  bool fill();
  std::string path_;
  std::shared_ptr<gzFile_s> file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  std::int64_t line_number_ = 0;
};

/// Takes one integer and the separators (blank, tab, comma, semicolon) around it off the front of `text`.
/// False, leaving `text` as it is, when there is none, or when something else follows it.
bool take_integer(std::string_view& text, std::int64_t& value);
bool take_float(std::string_view& text, float& value);

}  // namespace gnomon::graph
