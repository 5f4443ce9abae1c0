#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "base/document.h"
#include "base/fork_server.h"
#include "base/progress.h"
#include "serve/state.h"

namespace gnomon::serve {

/// Simulates or tunes: {"work": "explore" | "trace" | "tune", "state": …, "budget": …} or {"work": "run",
/// "run", "profile"} in, a document out. Throws what explore(), tune() and predicted_run() throw.
base::Json perform(const base::Json& work, const Offer& offer, const base::Progress& progress);

/// The rows of a state by arithmetic: {"rows": as `gnomon explore --json`, "order", "timelines": []}. Any
/// thread may call it.
base::Json computed_rows(const State& state);

/// How perform() is called; throws Interrupted soon after `stop` is set.
using Perform = std::function<base::Json(const base::Json& work, const base::Progress& progress,
                                         const std::atomic<bool>* stop)>;

/// perform() in a separate process for each call, from any thread. `server` runs serve_work() and outlives
/// the result.
Perform perform_apart(const base::ForkServer& server);
/// What such a process does.
base::ForkServer::Serve serve_work(Offer offer);

}  // namespace gnomon::serve
