#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace gnomon::serve {

/// Maximum size of a request's body.
inline constexpr std::size_t max_body_bytes = 1 << 18;

/// What the server needs of an HTTP request.
struct Request {
  std::string method = "GET";
  std::string path = "/";
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;

  /// The value of a header; empty if it is absent.
  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};

/// A response with `{"error": text}`.
Response refusal(int status, const std::string& text);

}  // namespace gnomon::serve
