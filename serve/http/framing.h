#pragma once

#include <cstddef>
#include <string_view>

namespace gnomon::serve {

/// Maximum size of the request line and the headers together, in bytes.
inline constexpr std::size_t max_head_bytes = 1 << 14;

/// Where the first request ends in the bytes that a client has sent so far.
struct Frame {
  bool is_whole = false;  ///< the request is complete
  std::size_t bytes = 0;  ///< its length, if it is complete
  /// The request will be refused, or its end is unknown (too large, chunked, contradictory lengths): no
  /// further request can be read from this connection.
  bool is_last = false;
};

/// Finds the end of a request incrementally, as its bytes arrive. Scans the head only once.
class Framing {
 public:
  /// `sent`: all bytes received so far, from the beginning of the request. May include further requests. Must
  /// begin with the bytes of the last call.
  Frame frame(std::string_view sent);

 private:
  Frame framed_by(std::string_view head);

  std::size_t searched_ = 0;
  Frame found_{};  ///< once the head is complete: `bytes` is the length of the request
};

}  // namespace gnomon::serve
