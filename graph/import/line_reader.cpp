#include "graph/import/line_reader.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/error.h"

namespace gnomon::graph {
namespace {

constexpr std::string_view separators = " \t,;";

template <class T>
bool take_number(std::string_view& text, T& value) {
  const auto start = text.find_first_not_of(separators);
  if (start == std::string_view::npos) {
    return false;
  }
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + start, last, value);
  if (error != std::errc{} || (end != last && separators.find(*end) == std::string_view::npos)) {
    return false;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  text.remove_prefix(std::min(text.find_first_not_of(separators), text.size()));
  return true;
}

}  // namespace

LineReader::LineReader(const std::filesystem::path& path) : path_(path.string()), buffer_(1 << 20) {
  if (std::filesystem::is_directory(path)) {
    throw base::InputError(path_, "cannot be read: it is a directory");
  }
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    throw base::InputError(
        path_, std::string("cannot be read: ") + (errno != 0 ? std::strerror(errno) : "not a file"));
  }
  file_ = std::shared_ptr<gzFile_s>(file, gzclose);
  gzbuffer(file, 1 << 18);
}

LineReader::LineReader(const std::filesystem::path& path, TextPiece piece)
    : path_(path.string()),
      buffer_(std::move(piece.text)),
      end_(buffer_.size()),
      at_end_(true),
      line_number_(piece.lines_before) {}

TextPiece LineReader::take_piece(std::size_t bytes) {
  const auto last_newline = [&] {
    return static_cast<const char*>(::memrchr(buffer_.data() + begin_, '\n', end_ - begin_));
  };
  while (!at_end_ && (end_ - begin_ < bytes || last_newline() == nullptr)) {
    fill();
  }
  const char* const begin = buffer_.data() + begin_;
  TextPiece piece{{begin, at_end_ ? buffer_.data() + end_ : last_newline() + 1}, line_number_};
  line_number_ += std::count(piece.text.begin(), piece.text.end(), '\n');
  begin_ += piece.text.size();
  return piece;
}

bool LineReader::fill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) {
    buffer_.resize(2 * buffer_.size());
  }
  const int got = gzread(file_.get(), buffer_.data() + end_, static_cast<unsigned>(buffer_.size() - end_));
  int code = Z_OK;
  const char* const message = gzerror(file_.get(), &code);
  if (got < 0 || code == Z_BUF_ERROR) {
    throw base::InputError(path_, code == Z_BUF_ERROR ? "is truncated: its gzip stream has no end"
                                                      : std::string("cannot be decompressed: ") + message);
  }
  end_ += static_cast<std::size_t>(got);
  at_end_ = got == 0;
  return !at_end_;
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = begin_;
  for (;;) {
    const auto* const newline =
        static_cast<const char*>(std::memchr(buffer_.data() + searched, '\n', end_ - searched));
    if (newline != nullptr) {
      line = {buffer_.data() + begin_, static_cast<std::size_t>(newline - buffer_.data()) - begin_};
      begin_ += line.size() + 1;
      break;
    }
    const std::size_t seen = end_ - begin_;
    if (at_end_ || !fill()) {
      if (begin_ == end_) {
        return false;
      }
      line = {buffer_.data() + begin_, end_ - begin_};
      begin_ = end_;
      break;
    }
    searched = seen;
  }
  if (++line_number_ == 1) {
    remove_byte_order_mark(line);
  }
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  if (line_number_ == 1 && line.find('\r') != std::string_view::npos) {
    throw base::InputError(path_, "has lines that end with \\r alone; convert them with: tr '\\r' '\\n'");
  }
  return true;
}

void LineReader::remove_byte_order_mark(std::string_view& line) const {
  if (line.starts_with("\xFE\xFF") || line.starts_with("\xFF\xFE")) {
    throw base::InputError(path_, "is in UTF-16; save it as UTF-8");
  }
  if (line.starts_with("\xEF\xBB\xBF")) {
    line.remove_prefix(3);
  }
}

bool LineReader::next_content(std::string_view& line) {
  while (next(line)) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.empty() && line[0] != '#' && line[0] != '%') {
      return true;
    }
  }
  return false;
}

void LineReader::fail(const std::string& what) const {
  throw base::InputError(path_ + ": line " + std::to_string(line_number_), what);
}

void LineReader::fail_expected(const std::string& expected, std::string_view line) const {
  std::string shown;
  for (const char c : line.substr(0, 40)) {
    shown += c >= ' ' && c <= '~' ? c : '?';
  }
  fail("must be " + expected + ", not \"" + shown + "\"");
}

bool take_integer(std::string_view& text, std::int64_t& value) { return take_number(text, value); }
bool take_float(std::string_view& text, float& value) { return take_number(text, value); }

}  // namespace gnomon::graph
