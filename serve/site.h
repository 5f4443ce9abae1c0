#pragma once

#include "serve/guard.h"
#include "serve/message.h"
#include "serve/tunings.h"
#include "serve/work.h"

namespace gnomon::serve {

/// The live page: from request to response, without sockets. Thread-safe.
///
/// | request | response |
/// |---|---|
/// | GET /, /common.js, /app.js, /style.css, /chart.js | the page |
/// | GET /api/offer | profiles, machines, plans and runs to choose from |
/// | GET /api/runs | the runs that exist now |
/// | POST /api/profile {"profile", "machine"} | the profile's document, scaled to the machine |
/// | POST /api/compute STATE | rows computed by arithmetic |
/// | POST /api/explore STATE | the rows of `gnomon explore --json`, and the timelines of the plans drawn |
/// | POST /api/csv STATE, /api/trace STATE | what `gnomon explore --csv` and `--trace` write |
/// | POST /api/tune {"state", "budget"} | {"number"} of a search |
/// | POST /api/tuning {"number", "cancel"} | the progress of a search, or its result |
/// | POST /api/run {"run"} | the current state of a training |
/// | POST /api/predicted {"run", "profile"} | the simulation of an epoch of a training |
///
/// Answers to /api/compute and /api/explore hold "elapsed_s", the time from the request to the answer.
class Site {
 public:
  Site(Offer offer, Guard guard, Perform perform)
      : offer_(std::move(offer)), guard_(std::move(guard)), perform_(perform), tunings_(std::move(perform)) {}

  /// Throws only std::bad_alloc: errors are returned in the response.
  Response answer(const Request& request);

 private:
  Response answer_asset(const std::string& path) const;
  Response answer_post(const std::string& path, const base::Json& body);
  base::Json offer() const;
  base::Json runs() const;
  base::Json explored(const base::Json& body, const char* work);
  Response start_tuning(const base::Json& body);
  Response look_at_tuning(const base::Json& body);

  Offer offer_;
  Guard guard_;
  Perform perform_;
  Tunings tunings_;
};

}  // namespace gnomon::serve
