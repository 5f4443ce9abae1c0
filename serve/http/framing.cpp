#include "serve/http/framing.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "serve/message.h"

namespace gnomon::serve {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view head_end = "\r\n\r\n";

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  const auto end = text.find_last_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

/// The value of a Content-Length header; none if it is not a number.
std::optional<std::size_t> length_of(std::string_view text) {
  std::size_t length = 0;
  const auto [rest, fault] = std::from_chars(text.data(), text.data() + text.size(), length);
  return fault == std::errc() && rest == text.data() + text.size() ? std::optional(length) : std::nullopt;
}

/// The headers that determine the length of the body.
struct Body {
  std::size_t bytes = 0;
  bool is_told = false;
  bool is_wrong = false;
};

void read_header(std::string_view line, Body& body) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) {
    return;
  }
  const auto name = trimmed(line.substr(0, colon));
  if (same_word(name, "transfer-encoding")) {
    body.is_wrong = true;
  } else if (same_word(name, "content-length")) {
    const auto length = length_of(trimmed(line.substr(colon + 1)));
    body.is_wrong =
        body.is_wrong || !length || *length > max_body_bytes || (body.is_told && *length != body.bytes);
    body.bytes = length.value_or(0);
    body.is_told = true;
  }
}

}  // namespace

Frame Framing::framed_by(std::string_view head) {
  Body body;
  for (std::size_t begin = head.find(line_end); begin + line_end.size() < head.size();) {
    begin += line_end.size();
    const auto end = head.find(line_end, begin);
    read_header(head.substr(begin, end - begin), body);
    begin = end;
  }
  return {.bytes = head.size() + (body.is_wrong ? 0 : body.bytes), .is_last = body.is_wrong};
}

Frame Framing::frame(std::string_view sent) {
  if (found_.bytes == 0) {
    const auto from = searched_ < head_end.size() ? 0 : searched_ - head_end.size() + 1;
    const auto end = sent.substr(0, max_head_bytes).find(head_end, from);
    searched_ = std::min(sent.size(), max_head_bytes);
    if (end != std::string_view::npos) {
      found_ = framed_by(sent.substr(0, end + head_end.size()));
    } else if (sent.size() >= max_head_bytes) {
      return {true, sent.size(), true};
    } else {
      return {};
    }
  }
  Frame frame = found_;
  frame.is_whole = frame.is_last || sent.size() >= frame.bytes;
  frame.bytes = frame.is_last ? sent.size() : frame.bytes;
  return frame;
}

}  // namespace gnomon::serve
