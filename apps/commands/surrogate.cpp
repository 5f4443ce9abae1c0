#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <numeric>

#include "apps/commands/commands.h"
#include "apps/exploration.h"
#include "apps/format.h"
#include "apps/interrupt.h"
#include "apps/output.h"
#include "apps/progress_bar.h"
#include "apps/table.h"
#include "base/error.h"
#include "tuner/learned.h"
#include "tuner/observed.h"
#include "tuner/sensitivity.h"

namespace gnomon::apps {
namespace {

using tuner::Learned;

CLI::App& subcommand(CLI::App& parent, const char* name, const char* summary, const char* example) {
  auto& app = *parent.add_subcommand(name, summary);
  app.group("Actions");
  app.footer(std::string("Example:\n  ") + example);
  return app;
}

/// Epochs are cut to so many batches: throughput hardly depends on more.
constexpr std::int64_t most_batches = 400;

tuner::SpaceRequest request_of(const profiles::Profile& profile) {
  tuner::SpaceRequest request;
  request.cores = profiles::cores_of(profile);
  request.batches = profile.workload.batches;
  request.constraints.push_back(tuner::fits_memory(profile));
  return request;
}

/// The presets and random plans on each profile, by arithmetic.
class Learner {
 public:
  explicit Learner(CLI::App& parent)
      : app_(subcommand(parent, "learn", "Learn throughput and memory from profiles of several graphs",
                        "gnomon surrogate learn a.json b.json c.json d.json e.json -o surrogate.json")) {
    app_.add_option("PROFILES", profiles_, "What gnomon profile wrote, of five graphs or more")->required();
    app_.add_option("-o,--out", out_, "Write what was learned to this file")->required();
    app_.add_option("--samples", samples_, "Random plans of each profile, beside the presets")
        ->check(CLI::Range(10, 100000));
    app_.add_option("--seed", seed_, "Seed of the plans that are drawn and of the models");
  }

  bool asked() const { return app_.parsed(); }

  void run() const {
    std::vector<tuner::LearnedSample> samples;
    {
      ProgressBar bar;
      const auto progress = interruptible(bar.progress(), stop_on_interrupt());
      for (const auto& name : profiles_) {
        base::report(progress, "predicting plans", &name - profiles_.data(), std::ssize(profiles_));
        add_samples(profiles::read_profile(name), samples);
      }
    }
    const auto learned = tuner::learn(samples, seed_);
    base::write_document(out_, learned);
    std::cout << fmt::format(
        "{} plans on {} graphs; on graphs that were left out R2 is {:.3f} of throughput's "
        "logarithm and {:.3f} of memory's\nwritten to {}\n",
        learned.samples, learned.graphs.size(), learned.throughput.held_out_r2, learned.memory.held_out_r2,
        out_);
  }

 private:
  void add_samples(const profiles::Profile& whole, std::vector<tuner::LearnedSample>& samples) const {
    const auto profile = tuner::shortened(whole, most_batches);
    const auto space = tuner::make_space(request_of(profile));
    const auto add = [&](const plan::Plan& plan) {
      samples.push_back(tuner::sample_of(profile, plan, sim::predict_quickly(profile, plan)));
    };
    for (const auto& preset : plan::runnable_presets()) {
      add(sim::resolve_on(profile, preset));
    }
    base::RandomStream random({.seed = seed_, .purpose = base::Purpose::simulate, .epoch = 7});
    for (const auto& point : tuner::random_points(space, {}, random, static_cast<std::size_t>(samples_))) {
      add(space.plan_at(point));
    }
  }

  CLI::App& app_;
  std::vector<std::string> profiles_;
  std::string out_;
  int samples_ = 100;
  std::uint64_t seed_ = 0;
};

/// What was learned, from what, and which inputs matter.
class Shower {
 public:
  explicit Shower(CLI::App& parent)
      : app_(subcommand(parent, "show", "Say what was learned, and which inputs matter most",
                        "gnomon surrogate show surrogate.json")) {
    app_.add_option("FILE", file_, "What learn wrote")->required();
    app_.add_flag("--json", json_, "Print one JSON document, without the trees");
  }

  bool asked() const { return app_.parsed(); }

  void run() const {
    const auto learned = tuner::read_learned(file_);
    if (json_) {
      auto document = base::to_document(learned);
      document["throughput"].erase("members");
      document["memory"].erase("members");
      print_json(document);
      return;
    }
    std::cout << fmt::format(
                     "{} plans on {} graphs\nheld-out R2: throughput {:.3f}, memory {:.3f} (of "
                     "logarithms)\n",
                     learned.samples, learned.graphs.size(), learned.throughput.held_out_r2,
                     learned.memory.held_out_r2)
              << inputs_table(learned);
  }

 private:
  static std::string inputs_table(const Learned& learned) {
    std::vector<std::size_t> order(learned.inputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto weight = [&](std::size_t i) {
      return learned.throughput.importance[i] + learned.memory.importance[i];
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return weight(a) > weight(b); });
    Table table({"input", "least", "most", "for throughput", "for memory"});
    for (const std::size_t i : order) {
      const auto& input = learned.inputs[i];
      if (weight(i) > 0) {
        table.add_row({input.name, fmt::format("{:g}", input.least), fmt::format("{:g}", input.most),
                       format_percent(learned.throughput.importance[i]),
                       format_percent(learned.memory.importance[i])});
      }
    }
    return table.text();
  }

  CLI::App& app_;
  std::string file_;
  bool json_ = false;
};

/// Plans on another graph.
class Predictor {
 public:
  explicit Predictor(CLI::App& parent)
      : app_(subcommand(parent, "predict", "Predict plans on another graph, beside the simulator",
                        "gnomon surrogate predict surrogate.json profile.json --plan all")) {
    app_.add_option("FILE", file_, "What learn wrote")->required();
    app_.add_option("PROFILE", profile_, "A profile, whose stages' times are not looked at")->required();
    app_.add_option("--plan", plans_, "Presets or plan files, separated by commas, or all that gnomon runs");
    app_.add_flag("--json", json_, "Print one JSON document");
  }

  bool asked() const { return app_.parsed(); }

  void run() const {
    const auto learned = tuner::read_learned(file_);
    const auto profile = profiles::read_profile(profile_);
    std::vector<plan::Plan> plans;
    std::vector<std::vector<double>> inputs;
    for (const auto& plan : plans_ == "all" ? plan::runnable_presets() : plans_of(plans_)) {
      plans.push_back(sim::resolve_on(profile, plan));
      inputs.push_back(tuner::learned_inputs(profile, plans.back()));
    }
    const auto forecasts = tuner::forecast(learned, inputs);
    if (json_) {
      print_json(document(profile, plans, forecasts));
    } else {
      print(profile, plans, forecasts);
    }
  }

 private:
  static double epoch_s(const profiles::Profile& profile, const tuner::LearnedForecast& forecast) {
    return static_cast<double>(profile.workload.batches) / forecast.batches_per_s;
  }

  static void print(const profiles::Profile& profile, const std::vector<plan::Plan>& plans,
                    const std::vector<tuner::LearnedForecast>& forecasts) {
    Table table({"plan", "epoch", "+-", "memory", "+-", "simulated"});
    std::string outside;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const auto& one = forecasts[i];
      table.add_row({plans[i].name, format_seconds(epoch_s(profile, one)),
                     format_percent(one.batches_per_s_error), format_bytes(one.memory_bytes),
                     format_percent(one.memory_error),
                     format_seconds(sim::predict_quickly(profile, plans[i]).epoch_s)});
      for (const auto& text : one.outside) {
        outside += fmt::format("not learned: {}, {}\n", plans[i].name, text);
      }
    }
    std::cout << table.text() << outside;
  }

  static base::Json document(const profiles::Profile& profile, const std::vector<plan::Plan>& plans,
                             const std::vector<tuner::LearnedForecast>& forecasts) {
    base::Json rows = base::Json::array();
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const auto& one = forecasts[i];
      rows.push_back({{"plan", plans[i].name},
                      {"epoch_s", epoch_s(profile, one)},
                      {"epoch_error", one.batches_per_s_error},
                      {"memory_bytes", one.memory_bytes},
                      {"memory_error", one.memory_error},
                      {"simulated_s", sim::predict_quickly(profile, plans[i]).epoch_s},
                      {"outside", one.outside}});
    }
    return {{"schema", "gnomon.forecasts/1"}, {"rows", rows}};
  }

  CLI::App& app_;
  std::string file_;
  std::string profile_;
  std::string plans_ = "all";
  bool json_ = false;
};

struct Surrogates {
  explicit Surrogates(CLI::App& app) : learner(app), shower(app), predictor(app) {
    app.require_subcommand(0, 1);  // none or an unknown one is told by run()
  }

  void run() const {
    if (learner.asked()) {
      learner.run();
    } else if (shower.asked()) {
      shower.run();
    } else if (predictor.asked()) {
      predictor.run();
    } else {
      throw base::InputError("no action given; use learn, show or predict");
    }
  }

  Learner learner;
  Shower shower;
  Predictor predictor;
};

}  // namespace

Action add_surrogate(CLI::App& app) {
  const auto surrogates = std::make_shared<Surrogates>(app);
  return [surrogates] { surrogates->run(); };
}

}  // namespace gnomon::apps
