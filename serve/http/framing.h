#pragma once

#include <cstddef>
#include <string_view>

namespace gnomon::serve {

/// Maximum size of a request's line and headers together.
inline constexpr std::size_t max_head_bytes = 1 << 14;

/// Where the first request ends in the bytes that a client has sent so far.
struct Frame {
  bool is_whole = false;  ///< nothing more is needed to answer it
  std::size_t bytes = 0;  ///< that it takes of what was sent, if it is whole
  /// It will be refused, or its end cannot be known (too large, chunked, wrong lengths): no further request
  /// of this connection can be found.
  bool is_last = false;
};

/// Finds the end of a request, byte after byte as they come, without looking at any of its head twice.
class Framing {
 public:
  /// `sent`: all bytes of the request so far, and perhaps of further ones. It may only have grown since the
  /// last call.
  Frame frame(std::string_view sent);

 private:
  Frame framed_by(std::string_view head);

  std::size_t searched_ = 0;
  Frame found_{};  ///< whose bytes are those that are needed, once the head has ended
};

}  // namespace gnomon::serve
