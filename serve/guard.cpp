#include "serve/guard.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/document.h"

namespace gnomon::serve {
namespace {

/// "localhost:8080" and "[::1]:8080" without the port.
std::string without_port(const std::string& host) {
  const auto colon = host.rfind(':');
  const auto bracket = host.rfind(']');
  const bool has_port = colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  return has_port ? host.substr(0, colon) : host;
}

constexpr std::array<std::string_view, 4> loopback{"127.0.0.1", "localhost", "::1", "[::1]"};

/// Constant-time comparison, so that the time does not reveal the position of the first difference.
bool same_secret(const std::string& given, const std::string& wanted) {
  unsigned difference = given.size() == wanted.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size() && !wanted.empty(); ++i) {
    difference |= static_cast<unsigned char>(given[i] ^ wanted[i % wanted.size()]);
  }
  return difference == 0;
}

bool is_asked_host(const std::string& host, const Guard& guard) {
  const auto name = without_port(host);
  // With a token any Host is accepted: a page of another site does not know the token.
  return !guard.token.empty() || is_loopback(name) || name == guard.host;
}

}  // namespace

Response refusal(int status, const std::string& text) {
  return {status, "application/json",
          base::Json{{"error", text}}.dump(-1, ' ', false, base::Json::error_handler_t::replace)};
}

bool is_loopback(const std::string& host) { return std::ranges::find(loopback, host) != loopback.end(); }

std::optional<Response> Guard::refuse(const Request& request) const {
  const auto asked = request.header("host");
  if (!is_asked_host(asked, *this)) {
    return refusal(403, "the header Host names another machine");
  }
  const auto origin = request.header("origin");
  if (!origin.empty() && origin != "http://" + asked) {
    return refusal(403, "the request comes from a page of another origin");
  }
  if (request.header("sec-fetch-site") == "cross-site" && request.path.starts_with("/api/")) {
    return refusal(403, "the request comes from another site");
  }
  if (request.body.size() > max_body_bytes) {
    return refusal(413, "the request is too large");
  }
  if (request.method == "POST" && !request.header("content-type").starts_with("application/json")) {
    return refusal(415, "the body must be application/json");
  }
  if (!token.empty() && request.path.starts_with("/api/") &&
      !same_secret(request.header("authorization"), "Bearer " + token)) {
    return refusal(401, "the token is missing or wrong; open the address that gnomon serve printed");
  }
  return std::nullopt;
}

}  // namespace gnomon::serve
