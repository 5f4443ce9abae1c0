#pragma once

#include <optional>
#include <string>

#include "serve/message.h"

namespace gnomon::serve {

/// Access control. A page of another site must neither read answers nor start work: its requests carry its
/// Origin or, if its name was made to resolve to this machine (DNS rebinding), its Host.
struct Guard {
  std::string host = "127.0.0.1";  ///< the address that the server listens on
  std::string token;               ///< required in requests for data; empty: none

  /// The reason to refuse the request; none if it is accepted.
  std::optional<Response> refuse(const Request& request) const;
};

/// Whether a listening address can be reached from this machine only.
bool is_loopback(const std::string& host);

}  // namespace gnomon::serve
