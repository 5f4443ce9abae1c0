#include "tuner/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/document.h"
#include "base/error.h"
#include "base/processes.h"
#include "profiles/more_cores.h"
#include "tuner/search/point_facts.h"

namespace gnomon::tuner {
namespace {

constexpr std::int64_t short_epoch = 400;  ///< mini-batches
constexpr int evaluations = 16;

void scale(profiles::StageTime& time, double factor) {
  for (double* seconds :
       {&time.mean_s, &time.deviation_s, &time.p5_s, &time.p50_s, &time.p95_s, &time.interval_s}) {
    *seconds *= factor;
  }
}

void scale(std::optional<double>& quantity, double factor) {
  if (quantity) {
    *quantity *= factor;
  }
}

/// The best plan of a short search on a profile, or why there is none, as a document to pass between
/// processes.
base::Json search_document(const profiles::Profile& profile, const SearchSetup& setup) {
  try {
    const Space space = make_space(setup.request(profile));
    PointFacts facts(profile, space);
    const auto evaluate = one_by_one([&](const plan::Plan& plan) { return setup.predict(profile, plan); });
    const auto found = search({profile, space, facts, 0}, StrategyKind::automatic,
                              {.evaluations = evaluations}, evaluate, {});
    return {{"plan", base::to_document(found.best.plan)}};
  } catch (const base::Interrupted&) {
    throw;
  } catch (const base::InputError&) {
    return base::Json::object();  // the constraints leave no plan there
  } catch (const base::Failure&) {
    return base::Json::object();  // no plan keeps to the limits there
  } catch (const std::exception& error) {
    return {{"why_not", error.what()}};
  }
}

/// The shortest epoch of any of the plans; infinite if none is possible.
double best_epoch_s(const profiles::Profile& profile, const std::vector<plan::Plan>& plans,
                    const SearchSetup& setup) {
  double best_s = std::numeric_limits<double>::infinity();
  for (const auto& plan : plans) {
    try {
      best_s = std::min(best_s, setup.predict(profile, plan).epoch_s);
    } catch (const base::InputError&) {
      // The plan is invalid with the change; another one may not be.
    }
  }
  return best_s;
}

/// best_epoch_s() or why there is none, as a document.
base::Json epoch_document(const profiles::Profile& profile, const std::vector<plan::Plan>& plans,
                          const SearchSetup& setup) {
  try {
    const double epoch_s = best_epoch_s(profile, plans, setup);
    return std::isfinite(epoch_s) ? base::Json{{"epoch_s", epoch_s}}
                                  : base::Json{{"why_not", "no plan that was tried is possible there"}};
  } catch (const base::Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    return {{"why_not", error.what()}};
  }
}

/// The changed profiles, the unchanged one first.
std::vector<Change> variants_of(const profiles::Profile& profile) {
  auto variants = changes_of(profile);
  variants.insert(variants.begin(), Change{"", profile});
  return variants;
}

/// Calls `work` for each variant, in parallel, and returns its documents.
std::vector<base::Json> for_each(const std::vector<Change>& variants, const SearchSetup& setup,
                                 const std::function<base::Json(const profiles::Profile&)>& work) {
  const auto one = [&](std::int64_t number) {
    return work(variants[static_cast<std::size_t>(number)].profile).dump();
  };
  std::vector<base::Json> documents;
  for (const auto& text :
       base::in_processes(std::ssize(variants), setup.processes, one, {}, "what would help")) {
    documents.push_back(base::Json::parse(text));
  }
  return documents;
}

}  // namespace

std::vector<Change> changes_of(const profiles::Profile& profile) {
  std::vector<Change> changes;
  const auto add = [&](std::string name, const auto& apply) {
    apply(changes.emplace_back(std::move(name), profile).profile);
  };
  const bool has_link = plan::has_link(profile.machine.device.kind);
  const int more = std::max(1, std::min(8, profile.machine.cpu.cores));
  add(std::to_string(more) + (more == 1 ? " more core" : " more cores"), [&](profiles::Profile& p) {
    const auto measured = profiles::measured_on(p);
    p.machine.cpu.cores += more;
    p = profiles::extended(std::move(p), measured).profile;
  });
  add("CPU preparation twice as fast", [](profiles::Profile& p) {
    scale(p.workload.cpu_batch, 0.5);
    scale(p.workload.parts.cpu_sample_s, 0.5);
  });
  add("training twice as fast", [](profiles::Profile& p) { scale(p.workload.train, 0.5); });
  if (has_link) {
    add("twice the link's bandwidth", [](profiles::Profile& p) {
      auto& workload = p.workload;
      scale(workload.transfer, 0.5);
      if (workload.device_batch.mean_s > 0) {
        scale(workload.device_batch, 1 - 0.5 * workload.device_batch_link_s / workload.device_batch.mean_s);
      }
      workload.device_batch_link_s /= 2;
      scale(workload.parts.device_sample_link_s, 0.5);
      scale(p.machine.link.bandwidth_bytes_per_s, 2);
    });
  }
  if (has_link && profile.machine.device.memory_bytes) {
    add("twice the device's memory", [](profiles::Profile& p) { scale(p.machine.device.memory_bytes, 2); });
  }
  return changes;
}

profiles::Profile shortened(profiles::Profile profile, std::int64_t batches) {
  profile.workload.batches = std::min(profile.workload.batches, batches);
  return profile;
}

std::vector<Sensitivity> sensitivities(const profiles::Profile& profile, const plan::Plan& plan,
                                       const SearchSetup& setup) {
  const auto here = shortened(profile, short_epoch);
  const auto variants = variants_of(here);
  const auto searches = for_each(
      variants, setup, [&](const profiles::Profile& changed) { return search_document(changed, setup); });
  std::vector<plan::Plan> plans{plan};
  for (const auto& document : searches) {
    if (document.contains("plan")) {
      plans.push_back(base::from_document<plan::Plan>(document["plan"], "plan"));
    }
  }
  const auto epochs = for_each(variants, setup, [&](const profiles::Profile& changed) {
    return epoch_document(changed, plans, setup);
  });
  std::vector<Sensitivity> found;
  for (std::size_t i = 1; i < variants.size(); ++i) {
    auto& each = found.emplace_back(Sensitivity{.change = variants[i].name});
    for (const auto* document : {&searches[i], &epochs[i], &epochs[0]}) {
      if (each.why_not.empty()) {
        each.why_not = document->value("why_not", std::string());
      }
    }
    if (each.why_not.empty()) {
      each.share = epochs[i]["epoch_s"].get<double>() / epochs[0]["epoch_s"].get<double>() - 1;
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Sensitivity& a, const Sensitivity& b) {
    return a.share.value_or(HUGE_VAL) < b.share.value_or(HUGE_VAL);
  });
  return found;
}

}  // namespace gnomon::tuner
