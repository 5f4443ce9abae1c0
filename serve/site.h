#pragma once

#include "serve/guard.h"
#include "serve/message.h"
#include "serve/tunings.h"
#include "serve/work.h"

namespace gnomon::serve {

/// The live page: from request to response, without sockets. Any thread may call it.
///
/// | request | response |
/// |---|---|
/// | GET /, /common.js, /app.js, /style.css, /chart.js | the page |
/// | GET /api/offer | profiles, machines, plans and runs to choose from |
/// | POST /api/profile {"profile", "machine"} | the profile's document, as it is there |
/// | POST /api/compute STATE | rows computed by arithmetic |
/// | POST /api/explore STATE | the rows of `gnomon explore --json`, and the timelines of the plans drawn |
/// | POST /api/csv STATE, /api/trace STATE | what `gnomon explore --csv` and `--trace` write |
/// | POST /api/tune {"state", "budget"} | {"number"} of a search |
/// | POST /api/tuning {"number", "cancel"} | how it goes, or its result |
/// | POST /api/run {"run"} | a training, as it goes on |
/// | POST /api/predicted {"run", "profile"} | an epoch of that training, simulated |
class Site {
 public:
  Site(Offer offer, Guard guard, Perform perform)
      : offer_(std::move(offer)), guard_(std::move(guard)), perform_(perform), tunings_(std::move(perform)) {}

  /// Never throws but bad_alloc: what is wrong with a request is told in its response.
  Response answer(const Request& request);

 private:
  Response answer_asset(const std::string& path) const;
  Response answer_post(const std::string& path, const base::Json& body);
  base::Json offer() const;
  base::Json explored(const base::Json& body, const char* work);
  Response start_tuning(const base::Json& body);
  Response look_at_tuning(const base::Json& body);

  Offer offer_;
  Guard guard_;
  Perform perform_;
  Tunings tunings_;
};

}  // namespace gnomon::serve
