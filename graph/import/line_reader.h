#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct gzFile_s;

namespace gnomon::graph {

/// A run of complete lines of a text file.
struct TextPiece {
  std::vector<char> text;
  std::int64_t lines_before = 0;  ///< in the file
};

/// Reads a text file line by line, plain or gzip (detected from the content), through a buffer of 1 MiB or
/// the length of the longest line. A byte order mark of UTF-8 at the beginning is left out. Throws
/// InputError, naming the file, if it cannot be read, its gzip stream is truncated or damaged, or it is in
/// UTF-16.
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& path);
  /// Reads a piece of the file.
  LineReader(const std::filesystem::path& path, TextPiece piece);

  /// Reads the next line without its line break; it is valid until the next call. Returns false at the end of
  /// the file.
  bool next(std::string_view& line);
  /// Reads the next line that is neither blank nor a comment, which begins with # or %; blanks in front are
  /// removed.
  bool next_content(std::string_view& line);
  /// Takes the next complete lines, at least `bytes` bytes if that many remain. Empty at the end of the file.
  TextPiece take_piece(std::size_t bytes);
  /// The number of the line that was read last, from 1.
  std::int64_t line_number() const { return line_number_; }
  /// Throws InputError "FILE: line N: what" for the line that was read last.
  [[noreturn]] void fail(const std::string& what) const;
  /// Throws InputError for a line that should have been `expected`.
  [[noreturn]] void fail_expected(const std::string& expected, std::string_view line) const;

 private:
  bool fill();
  void remove_byte_order_mark(std::string_view& line) const;
  std::string path_;
  std::shared_ptr<gzFile_s> file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  std::int64_t line_number_ = 0;
};

/// Parses one number at the front of `text` and removes it with the separators (blank, tab, comma, semicolon)
/// around it. Returns false and leaves `text` unchanged if there is none or if it is followed by other
/// characters.
bool take_integer(std::string_view& text, std::int64_t& value);
bool take_float(std::string_view& text, float& value);

}  // namespace gnomon::graph
