#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "apps/commands/commands.h"
#include "apps/exploration.h"
#include "apps/format.h"
#include "apps/interrupt.h"
#include "apps/output.h"
#include "apps/progress_bar.h"
#include "apps/run_directory.h"
#include "apps/table.h"
#include "base/error.h"
#include "tuner/sensitivity.h"
#include "tuner/surrogate/learned.h"
#include "tuner/surrogate/observed.h"

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

/// What was learned from how much, and how well.
std::string summary(const Learned& learned) {
  std::string text;
  if (learned.has_speed()) {
    text += fmt::format(
        "{} plans on {} graphs; on graphs that were left out R2 is {:.3f} of throughput's logarithm and "
        "{:.3f} "
        "of memory's\n",
        learned.samples, learned.graphs.size(), learned.throughput.held_out_r2, learned.memory.held_out_r2);
  }
  if (const auto& accuracy = learned.accuracy) {
    text += fmt::format(
        "accuracy from {} runs on {} graphs; runs that were left out are off by {:.2f} points "
        "(R2 {:.3f})",
        accuracy->runs, accuracy->graphs.size(), 100 * accuracy->known_error, accuracy->model.held_out_r2);
    text += accuracy->unseen_error ? fmt::format(", whole graphs by {:.2f}\n", 100 * *accuracy->unseen_error)
                                   : std::string("\n");
  }
  return text;
}

/// Inputs by their weight in all of some models, and what they are for each; those that none uses left out.
std::string inputs_table(const std::vector<tuner::LearnedInput>& inputs,
                         const std::vector<std::pair<std::string, const tuner::LearnedModel*>>& models) {
  std::vector<std::size_t> order(inputs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto weight = [&](std::size_t i) {
    double sum = 0;
    for (const auto& [name, model] : models) {
      sum += model->importance[i];
    }
    return sum;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return weight(a) > weight(b); });
  std::vector<std::string> heading = {"input", "least", "most"};
  for (const auto& [name, model] : models) {
    heading.push_back("for " + name);
  }
  Table table(heading);
  for (const std::size_t i : order) {
    if (weight(i) > 0) {
      std::vector<std::string> row = {inputs[i].name, fmt::format("{:g}", inputs[i].least),
                                      fmt::format("{:g}", inputs[i].most)};
      for (const auto& [name, model] : models) {
        row.push_back(format_percent(model->importance[i]));
      }
      table.add_row(row);
    }
  }
  return table.text();
}

/// The presets and random plans on each profile, by arithmetic.
class Learner {
 public:
  explicit Learner(CLI::App& parent)
      : app_(subcommand(parent, "learn",
                        "Learn throughput and memory from profiles of several graphs, accuracy from runs",
                        "gnomon surrogate learn a.json b.json c.json d.json e.json -o surrogate.json")) {
    app_.add_option("PROFILES", profiles_, "What gnomon profile wrote, of five graphs or more");
    app_.add_option("--runs", runs_, "Directories of gnomon train, ten or more that differ, for accuracy");
    app_.add_option("-o,--out", out_, "Write what was learned to this file")->required();
    app_.add_option("--samples", samples_, "Random plans of each profile, beside the presets")
        ->check(CLI::Range(10, 100000));
    app_.add_option("--seed", seed_, "Seed of the plans that are drawn and of the models");
  }

  bool asked() const { return app_.parsed(); }

  void run() const {
    if (profiles_.empty() && runs_.empty()) {
      throw base::InputError("learn", "needs profiles or --runs");
    }
    Learned learned;
    if (!profiles_.empty()) {
      learned = tuner::learn(samples(), seed_);
    }
    if (!runs_.empty()) {
      learned.accuracy = tuner::learn_accuracy(recorded_runs(), seed_);
    }
    base::write_document(out_, learned);
    std::cout << summary(learned) << "written to " << out_ << "\n";
  }

 private:
  std::vector<tuner::LearnedSample> samples() const {
    std::vector<tuner::LearnedSample> samples;
    ProgressBar bar;
    const auto progress = interruptible(bar.progress(), stop_on_interrupt());
    for (const auto& name : profiles_) {
      base::report(progress, "predicting plans", &name - profiles_.data(), std::ssize(profiles_));
      add_samples(profiles::read_profile(name), samples);
    }
    return samples;
  }

  std::vector<tuner::RecordedRun> recorded_runs() const {
    std::vector<tuner::RecordedRun> runs;
    for (const auto& directory : runs_) {
      runs.push_back(tuner::read_recorded_run(RunFiles{directory}.report()));
    }
    return runs;
  }

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
  std::vector<std::string> runs_;
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
      if (learned.accuracy) {
        document["accuracy"]["model"].erase("members");
      }
      print_json(document);
      return;
    }
    std::cout << summary(learned);
    if (learned.has_speed()) {
      std::cout << inputs_table(learned.inputs,
                                {{"throughput", &learned.throughput}, {"memory", &learned.memory}});
    }
    if (const auto& accuracy = learned.accuracy) {
      std::cout << inputs_table(accuracy->inputs, {{"accuracy", &accuracy->model}});
    }
  }

 private:
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
    const auto& workload = profile.workload;
    std::optional<tuner::AccuracyPredictor> accuracy;
    if (learned.accuracy) {
      accuracy.emplace(*learned.accuracy, tuner::sizes_of(workload), workload.job);
    }
    std::vector<Row> rows;
    std::vector<std::vector<double>> inputs;
    for (const auto& plan : plans_ == "all" ? plan::runnable_presets() : plans_of(plans_)) {
      rows.push_back({sim::resolve_on(profile, plan), {}, {}});
      inputs.push_back(tuner::learned_inputs(profile, rows.back().plan));
      if (accuracy) {
        rows.back().accuracy = accuracy->of(rows.back().plan);
      }
    }
    if (learned.has_speed()) {
      const auto forecasts = tuner::forecast(learned, inputs);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].speed = forecasts[i];
      }
    }
    if (json_) {
      print_json(document(profile, rows));
    } else {
      print(profile, rows);
    }
  }

 private:
  /// A plan and what is predicted of it, as far as it was learned.
  struct Row {
    plan::Plan plan;
    std::optional<tuner::LearnedForecast> speed;
    std::optional<tuner::AccuracyForecast> accuracy;

    std::vector<std::string> outside() const {
      std::vector<std::string> texts;
      if (speed) {
        texts = speed->outside;
      }
      if (accuracy) {
        texts.insert(texts.end(), accuracy->outside.begin(), accuracy->outside.end());
      }
      return texts;
    }
  };

  static double epoch_s(const profiles::Profile& profile, const tuner::LearnedForecast& forecast) {
    return static_cast<double>(profile.workload.batches) / forecast.batches_per_s;
  }

  static void print(const profiles::Profile& profile, const std::vector<Row>& rows) {
    Table table({"plan", "epoch", "+-", "memory", "+-", "accuracy", "+-", "simulated"});
    std::string outside;
    for (const Row& row : rows) {
      std::vector<std::string> cells = {row.plan.name, "-", "-", "-", "-", "-", "-"};
      if (const auto& speed = row.speed) {
        cells[1] = format_seconds(epoch_s(profile, *speed));
        cells[2] = format_percent(speed->batches_per_s_error);
        cells[3] = format_bytes(speed->memory_bytes);
        cells[4] = format_percent(speed->memory_error);
      }
      if (const auto& accuracy = row.accuracy) {
        cells[5] = format_percent(accuracy->accuracy);
        cells[6] = format_percent(accuracy->error);
      }
      cells.push_back(format_seconds(sim::predict_quickly(profile, row.plan).epoch_s));
      table.add_row(cells);
      for (const auto& text : row.outside()) {
        outside += fmt::format("not learned: {}, {}\n", row.plan.name, text);
      }
    }
    std::cout << table.text() << outside;
  }

  static base::Json document(const profiles::Profile& profile, const std::vector<Row>& all) {
    base::Json rows = base::Json::array();
    for (const Row& row : all) {
      base::Json json = {{"plan", row.plan.name},
                         {"simulated_s", sim::predict_quickly(profile, row.plan).epoch_s},
                         {"outside", row.outside()}};
      if (const auto& speed = row.speed) {
        json.update({{"epoch_s", epoch_s(profile, *speed)},
                     {"epoch_error", speed->batches_per_s_error},
                     {"memory_bytes", speed->memory_bytes},
                     {"memory_error", speed->memory_error}});
      }
      if (const auto& accuracy = row.accuracy) {
        json.update({{"accuracy", accuracy->accuracy}, {"accuracy_error", accuracy->error}});
      }
      rows.push_back(json);
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
