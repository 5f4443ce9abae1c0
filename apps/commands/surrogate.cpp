#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "apps/commands/commands.h"
#include "apps/flags/number_checks.h"
#include "apps/flags/output_flag.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/format.h"
#include "apps/text/output.h"
#include "apps/text/table.h"
#include "base/error.h"
#include "base/output_file.h"
#include "base/stop.h"
#include "plan/disk_plans.h"
#include "tuner/explore/exploration.h"
#include "tuner/run/run_directory.h"
#include "tuner/surrogate/forecasts.h"
#include "tuner/surrogate/learned.h"
#include "tuner/surrogate/samples.h"

namespace gnomon::apps {
namespace {

using tuner::Learned;

CLI::App& subcommand(CLI::App& parent, const char* name, const char* summary, const char* example) {
  auto& app = *parent.add_subcommand(name, summary);
  app.group("Actions");
  app.footer(std::string("Example:\n  ") + example);
  return app;
}

/// How much was learned, and how well.
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
    if (accuracy->runs_at_majority > 0) {
      text += fmt::format(
          "{} of them only reach the majority-class accuracy: they predict the most frequent class\n",
          accuracy->runs_at_majority);
    }
  }
  for (const auto& doubt : tuner::doubts_of(learned)) {
    text += doubt + "\n";
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
  std::vector<std::string> heading = {"input", "minimum", "maximum"};
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

/// gnomon surrogate learn
class LearnAction {
 public:
  explicit LearnAction(CLI::App& parent)
      : app_(subcommand(
            parent, "learn",
            "Train a surrogate: throughput and memory from profiles of several graphs, accuracy from runs",
            "gnomon surrogate learn a.json b.json c.json d.json e.json -o surrogate.json")) {
    app_.add_option("PROFILES", profiles_, "Profiles of at least five graphs, written by gnomon profile");
    app_.add_option("--runs", runs_,
                    "Run directories of gnomon train, at least ten different runs, to learn accuracy from");
    add_output(app_, "-o,--out", out_, "Write the surrogate to this file")->required();
    app_.add_option("--samples", samples_, "Random plans for each profile, in addition to the presets")
        ->check(in_range(10, 100000));
    app_.add_option("--seed", seed_, "Random seed of the plans and the models");
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
    base::write_output(out_, [&](const auto& file) { base::write_document(file, learned); });
    std::cout << summary(learned) << "written to " << out_ << "\n";
  }

 private:
  std::vector<tuner::LearnedSample> samples() const {
    std::vector<profiles::Profile> profiles;
    for (const auto& name : profiles_) {
      profiles.push_back(profiles::read_profile(name));
    }
    ProgressBar bar;
    return tuner::samples_of(profiles, {samples_, seed_},
                             base::stoppable(bar.progress(), &stop_on_interrupt()));
  }

  std::vector<tuner::RecordedRun> recorded_runs() const {
    std::vector<tuner::RecordedRun> runs;
    for (const auto& directory : runs_) {
      runs.push_back(tuner::read_recorded_run(tuner::RunFiles{directory}.report()));
    }
    return runs;
  }

  CLI::App& app_;
  std::vector<std::string> profiles_;
  std::vector<std::string> runs_;
  std::string out_;
  int samples_ = 100;
  std::uint64_t seed_ = 0;
};

/// gnomon surrogate show
class ShowAction {
 public:
  explicit ShowAction(CLI::App& parent)
      : app_(subcommand(parent, "show", "Show what was learned and which inputs matter most",
                        "gnomon surrogate show surrogate.json")) {
    app_.add_option("FILE", file_, "Surrogate written by gnomon surrogate learn")->required();
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

/// gnomon surrogate predict
class PredictAction {
 public:
  explicit PredictAction(CLI::App& parent)
      : app_(subcommand(parent, "predict", "Predict plans on another graph, and compare with the simulator",
                        "gnomon surrogate predict surrogate.json profile.json --plan all")) {
    app_.add_option("FILE", file_, "Surrogate written by gnomon surrogate learn")->required();
    app_.add_option("PROFILE", profile_, "Profile of the graph; its stage times are not used")->required();
    app_.add_option("--plan", plans_, "Presets or plan files, separated by commas, or all runnable presets");
    app_.add_flag("--json", json_, "Print one JSON document");
  }

  bool asked() const { return app_.parsed(); }

  void run() const {
    const auto learned = tuner::read_learned(file_);
    const auto profile = profiles::read_profile(profile_);
    const auto plans = plans_ == "all" ? plan::runnable_presets_in_memory() : tuner::plans_of(plans_);
    const auto forecasts = tuner::forecasts_of(learned, profile, plans);
    if (json_) {
      print_json(to_document(forecasts, tuner::doubts_of(learned)));
      return;
    }
    print(forecasts);
    for (const auto& doubt : tuner::doubts_of(learned)) {
      std::cout << doubt << "\n";
    }
  }

 private:
  static void print(const std::vector<tuner::PlanForecast>& forecasts) {
    Table table({"plan", "epoch", "+-", "memory", "+-", "accuracy", "+-", "simulated"});
    std::string outside;
    for (const auto& forecast : forecasts) {
      std::vector<std::string> cells = {forecast.plan.name, "-", "-", "-", "-", "-", "-"};
      if (forecast.epoch_s) {
        cells[1] = format_seconds(*forecast.epoch_s);
        cells[2] = format_percent(forecast.speed->batches_per_s_error);
      }
      if (forecast.memory_bytes) {
        cells[3] = format_bytes(*forecast.memory_bytes);
        cells[4] = format_percent(forecast.speed->memory_error);
      }
      if (const auto& accuracy = forecast.accuracy) {
        cells[5] = format_percent(accuracy->accuracy);
        cells[6] = format_percent(accuracy->error);
        if (tuner::is_at_majority(accuracy->accuracy, accuracy->majority_share)) {
          outside += fmt::format(
              "only the majority-class accuracy: {}, {} is always predicting the most frequent class\n",
              forecast.plan.name, format_percent(*accuracy->majority_share));
        }
      }
      cells.push_back(format_seconds(forecast.simulated_s));
      table.add_row(cells);
      for (const auto& text : forecast.outside()) {
        outside += fmt::format("not learned: {}, {}\n", forecast.plan.name, text);
      }
    }
    std::cout << table.text() << outside;
  }

  CLI::App& app_;
  std::string file_;
  std::string profile_;
  std::string plans_ = "all";
  bool json_ = false;
};

struct Surrogates {
  explicit Surrogates(CLI::App& app) : learner(app), shower(app), predictor(app) {
    app.require_subcommand(0, 1);  // run() refuses none and an unknown one
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

  LearnAction learner;
  ShowAction shower;
  PredictAction predictor;
};

}  // namespace

Action add_surrogate(CLI::App& app) {
  const auto surrogates = std::make_shared<Surrogates>(app);
  return [surrogates] { surrogates->run(); };
}

}  // namespace gnomon::apps
