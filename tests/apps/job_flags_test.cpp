#include "apps/flags/job_flags.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace gnomon::apps {
namespace {

plan::Job parse(std::vector<std::string> words, const plan::Job& defaults = {}) {
  CLI::App app;
  JobFlags flags(app, defaults);
  std::string data;
  app.add_option("DATA", data);
  std::reverse(words.begin(), words.end());
  app.parse(words);
  return flags.job();
}

TEST(JobFlags, NoFlagsGiveTheDefaults) {
  plan::Job defaults;
  defaults.hidden = 77;
  EXPECT_EQ(parse({}, defaults), defaults);
}

TEST(JobFlags, EveryFieldHasAFlag) {
  const auto job = parse({"--model",
                          "gat",
                          "--fanouts",
                          "-1,5",
                          "store",
                          "--batch-size",
                          "64",
                          "--weighted",
                          "--hidden",
                          "32",
                          "--heads",
                          "2",
                          "--dropout",
                          "0.1",
                          "--learning-rate",
                          "0.01",
                          "--weight-decay",
                          "5e-4",
                          "--norm",
                          "batch",
                          "--skip",
                          "--lr-schedule",
                          "step",
                          "--lr-step-epochs",
                          "4",
                          "--lr-decay",
                          "0.5",
                          "--warmup-epochs",
                          "1",
                          "--metrics",
                          "roc_auc,f1_macro",
                          "--epochs",
                          "3",
                          "--patience",
                          "2",
                          "--seed",
                          "18000000000000000000",
                          "--matmul-precision",
                          "medium"});
  plan::Job expected;
  expected.model = plan::ModelKind::gat;
  expected.fanouts = {-1, 5};
  expected.weighted = true;
  expected.batch_size = 64;
  expected.hidden = 32;
  expected.heads = 2;
  expected.dropout = 0.1;
  expected.learning_rate = 0.01;
  expected.weight_decay = 5e-4;
  expected.norm = plan::Norm::batch;
  expected.skip = true;
  expected.lr_schedule = plan::LrSchedule::step;
  expected.lr_step_epochs = 4;
  expected.lr_decay = 0.5;
  expected.warmup_epochs = 1;
  expected.metrics = {plan::Metric::roc_auc, plan::Metric::f1_macro};
  expected.epochs = 3;
  expected.patience = 2;
  expected.matmul_precision = plan::MatmulPrecision::medium;
  expected.seed = 18000000000000000000U;
  EXPECT_EQ(job, expected);
  CLI::App app;
  const JobFlags flags(app, {});
  EXPECT_EQ(app.get_options().size(), base::write_value(plan::Job{}).size() + 1);  // and --help
}

TEST(JobFlags, OnlyNamedFieldsReplaceThoseOfABase) {
  CLI::App app;
  JobFlags flags(app, {});
  app.parse("--epochs 50", false);
  plan::Job base;
  base.hidden = 12;
  base.seed = 9;
  auto expected = base;
  expected.epochs = 50;
  EXPECT_EQ(flags.job_over(base), expected);
}

TEST(JobFlags, RefusesWhatTheDocumentWouldRefuse) {
  EXPECT_THROW(parse({"--batch-size", "0"}), CLI::ValidationError);
  EXPECT_THROW(parse({"--dropout", "1"}), CLI::ValidationError);
  EXPECT_THROW(parse({"--dropout", "nan"}), CLI::ValidationError);
  EXPECT_THROW(parse({"--hidden", "many"}), CLI::ConversionError);
  EXPECT_THROW(parse({"--model", "mlp"}), base::InputError);
  EXPECT_THROW(parse({"--fanouts", "5,0"}), base::InputError);
  EXPECT_THROW(parse({"--model", "gat", "--heads", "3"}), base::InputError);
  EXPECT_THROW(parse({"--norm", "group"}), base::InputError);
  EXPECT_THROW(parse({"--metrics", "roc_auc,recall"}), base::InputError);
  EXPECT_THROW(parse({"--metrics", "accuracy,accuracy"}), base::InputError);
  EXPECT_THROW(parse({"--metrics", ""}), base::InputError);
}

std::string fault_of(const std::vector<std::string>& words) {
  try {
    parse(words);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(JobFlags, ListsHaveAValueBetweenAllCommas) {
  for (const std::string list : {"10,,5", "10,5,", ",5", ","}) {
    EXPECT_EQ(fault_of({"--fanouts", list}),
              "--fanouts: \"" + list + "\" lacks a value between or beside its commas");
  }
  EXPECT_EQ(fault_of({"--fanouts", "10,5.5"}), "--fanouts: \"5.5\" is not a whole number");
  EXPECT_EQ(fault_of({"--metrics", "accuracy,"}),
            "--metrics: \"accuracy,\" lacks a value between or beside its commas");
}

TEST(JobFlags, RangesAreWrittenAsNumbers) {
  EXPECT_EQ(fault_of({"--batch-size", "0"}), "--batch-size: 0 is out of range; use 1 to 16777216");
  EXPECT_EQ(fault_of({"--learning-rate", "-1"}), "--learning-rate: -1 is out of range; use 0 to 1000");
}

}  // namespace
}  // namespace gnomon::apps
