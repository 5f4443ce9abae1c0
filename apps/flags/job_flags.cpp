#include "apps/flags/job_flags.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/document.h"
#include "base/error.h"

namespace gnomon::apps {
namespace {

/// The --help text of each field.
const std::map<std::string, std::string>& help() {
  static const std::map<std::string, std::string> texts = {
      {"model", "Model: gcn, sage or gat"},
      {"fanouts", "Sampled neighbours per hop, from the seeds outwards, one number per layer; -1 for all"},
      {"weighted", "Sample neighbours by edge weight (see gnomon import --edge-weights)"},
      {"batch_size", "Training vertices in a mini-batch"},
      {"hidden", "Width of hidden layers"},
      {"heads", "Attention heads (gat)"},
      {"norm", "Normalise the outputs of hidden layers: none, batch or layer"},
      {"skip", "Add a skip connection round each layer"},
      {"dropout", "Dropout probability"},
      {"learning_rate", "Learning rate of Adam"},
      {"weight_decay", "L2 penalty, as in torch.optim.Adam (not decoupled)"},
      {"lr_schedule", "Learning rate after the warm-up: constant, step or cosine"},
      {"lr_step_epochs", "Epochs between two steps of --lr-schedule step"},
      {"lr_decay", "Factor of each step of --lr-schedule step"},
      {"warmup_epochs", "Epochs in which the learning rate rises linearly"},
      {"epochs", "Number of epochs"},
      {"patience",
       "Stop after this many epochs without a better validation metric (the first of --metrics); 0 to never "
       "stop early"},
      {"metrics",
       "Metrics to report: accuracy, roc_auc, f1_micro, f1_macro; the first one chooses the best epoch "
       "(default on multi-label graphs: f1_micro)"},
      {"matmul_precision",
       "Matrix multiplication: highest (fp32), high (TF32 on GPUs) or medium (bf16, also on CPUs)"},
      {"seed", "Random seed"}};
  return texts;
}

/// With the short name that scripts of PyG's examples use.
std::string flag_of(std::string field) {
  std::replace(field.begin(), field.end(), '_', '-');
  return "--" + field + (field == "learning-rate" ? ",--lr" : "");
}

/// The words between commas. Throws InputError if one is missing.
std::vector<std::string> split(const std::string& flag, const std::string& list) {
  std::vector<std::string> words;
  std::istringstream stream(list + ",");
  for (std::string word; std::getline(stream, word, ',');) {
    if (word.empty()) {
      throw base::InputError(flag, "\"" + list + "\" lacks a value between or beside its commas");
    }
    words.push_back(word);
  }
  return words;
}

template <class T>
struct IsEnumVector : std::false_type {};
template <class T>
struct IsEnumVector<std::vector<T>> : std::is_enum<T> {};

/// Declares one option for each field: the field table that parses job documents also makes the flags.
class OptionFields {
 public:
  OptionFields(CLI::App& app, std::map<std::string, CLI::Option*>& options) : app_(app), options_(options) {}

  template <class T>
  void operator()(const char* name, T& value, base::Range range = {}) {
    const auto flag = flag_of(name);
    const auto known = help().find(name);
    const std::string text = known == help().end() ? "" : known->second;
    CLI::Option* option = nullptr;
    if constexpr (std::is_enum_v<T>) {
      option = app_.add_option_function<std::string>(
          flag, [&value, flag](const std::string& word) { value = base::value_of<T>(flag, word); }, text);
      option->default_str(std::string(base::name_of(value)));
    } else if constexpr (IsEnumVector<T>::value) {
      option = app_.add_option_function<std::string>(
          flag, [&value, flag](const std::string& list) { value = values_of(value, flag, list); }, text);
      option->default_str(names_of(value));
    } else if constexpr (std::is_same_v<T, bool>) {
      option = app_.add_flag(flag, value, text);
    } else if constexpr (base::IsVector<T>::value) {
      option = app_.add_option_function<std::string>(
          flag, [&value, flag, range](const std::string& list) { value = numbers_of<T>(flag, list, range); },
          text);
      option->type_name("INT,...")->default_str(base::Json(value).dump());
    } else {
      option = app_.add_option(flag, value, text);
      option->check([flag, range](const std::string& word) { return fault(word, range); });
    }
    options_[name] = option->group("Job");
  }

 private:
  template <class T>
  static std::vector<T> values_of(const std::vector<T>&, const std::string& flag, const std::string& list) {
    std::vector<T> values;
    for (const auto& word : split(flag, list)) {
      values.push_back(base::value_of<T>(flag, word));
    }
    return values;
  }
  template <class T>
  static T numbers_of(const std::string& flag, const std::string& list, base::Range range) {
    T values;
    for (const auto& word : split(flag, list)) {
      if (const auto wrong = fault(word, range); !wrong.empty()) {
        throw base::InputError(flag, wrong);
      }
      typename T::value_type number{};
      if (!CLI::detail::lexical_cast(word, number)) {
        throw base::InputError(flag, "\"" + word + "\" is not a whole number");
      }
      values.push_back(number);
    }
    return values;
  }
  template <class T>
  static std::string names_of(const std::vector<T>& values) {
    std::string list;
    for (const auto value : values) {
      list += (list.empty() ? "" : ",") + std::string(base::name_of(value));
    }
    return list;
  }

  /// What is wrong with a number on the command line; empty if nothing is. Words that are not numbers are
  /// left to the conversion, which reports them.
  static std::string fault(const std::string& word, base::Range range) {
    char* end = nullptr;
    const double number = std::strtod(word.c_str(), &end);
    if (end == word.c_str() || *end != '\0' || (number >= range.min && number <= range.max)) {
      return "";
    }
    return word + " is out of range; use " + base::range_text(range);
  }

  CLI::App& app_;
  std::map<std::string, CLI::Option*>& options_;
};

}  // namespace

JobFlags::JobFlags(CLI::App& app, plan::Job defaults) : given_(std::move(defaults)) {
  OptionFields fields(app, options_);
  plan::Job::fields(given_, fields);
}

plan::Job JobFlags::job() const { return job_over(given_); }

plan::Job JobFlags::job_over(const plan::Job& base) const {
  auto json = base::write_value(base);
  const auto given = base::write_value(given_);
  for (const auto& [name, option] : options_) {
    if (option->count() > 0) {
      json[name] = given[name];
    }
  }
  plan::Job job;
  base::read_value(json, job, "job", {});
  plan::check(job, "job");
  if (options_.at("heads")->count() > 0 && job.model != plan::ModelKind::gat) {
    throw base::InputError("--heads", "applies to --model gat only; leave it out");
  }
  return job;
}

void JobFlags::fit_to(const graph::Graph& graph, plan::Job& job) const {
  if (graph.is_multilabel() && options_.at("metrics")->count() == 0) {
    job.metrics = {plan::Metric::f1_micro};
  }
}

bool JobFlags::any() const {
  return std::any_of(options_.begin(), options_.end(),
                     [](const auto& option) { return option.second->count() > 0; });
}

}  // namespace gnomon::apps
