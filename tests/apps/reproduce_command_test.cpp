#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "program.h"

namespace gnomon::apps {
namespace {

using ::testing::HasSubstr;

base::Json printed_document(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  return base::parse_json(outcome.out, "stdout");
}

TEST(ReproduceCommand, PrintsRowsAndTheirMean) {
  const auto document = printed_document(run_gnomon({"reproduce", "morphgl", "--json"}));
  ASSERT_FALSE(document["rows"].empty());
  for (const auto& row : document["rows"]) {
    for (const char* key : {"table", "machine", "cell", "printed", "predicted", "error"}) {
      EXPECT_TRUE(row.contains(key)) << key;
    }
  }
  EXPECT_LE(document["mean_absolute_error"].get<double>(), 0.06);
}

TEST(ReproduceCommand, PrintsTablesForPeople) {
  const auto outcome = run_gnomon({"reproduce", "ducati"});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("PA/2,2,2+128 DUCATI"));
  EXPECT_THAT(outcome.out, HasSubstr("not predicted: tableVIII, DGL, SOTA: inputs"));
}

TEST(ReproduceCommand, DrawsFiguresAsTextAndDocumentAndPage) {
  const Workplace place;
  const auto text = run_gnomon({"reproduce", "neutronorch", "T3", "F1", "--html", "page.html"}, place.path());
  EXPECT_EQ(text.code, 0) << text.error;
  EXPECT_THAT(text.out, HasSubstr("F1: A tree of systems\nnot drawn: a drawing\n"));
  EXPECT_THAT(text.out, HasSubstr("GPU samples, pipelined"));
  EXPECT_THAT(text.out, HasSubstr("[direction yes, size yes] Pipelining saves 43.1 % with GPU sampling"));
  const auto page = base::read_file(place / "page.html");
  EXPECT_THAT(page, HasSubstr("gnomon.drawn_figures/1"));
  EXPECT_THAT(page, HasSubstr("GPU samples, pipelined"));
  EXPECT_EQ(page.find("src="), std::string::npos);  // nothing to load
  const auto document = printed_document(run_gnomon({"reproduce", "neutronorch", "T3", "--json"}));
  ASSERT_EQ(document["figures"].size(), 1U);
  EXPECT_EQ(document["figures"][0]["verdict"], "predicted");
  EXPECT_EQ(document["figures"][0]["charts"][0]["series"][0]["points"].size(), 4U);
  EXPECT_TRUE(document["figures"][0]["claims"][0]["direction"].get<bool>());
  EXPECT_THAT(document["figures"][0]["on_claims"].get<std::string>(),
              HasSubstr("claims point the way the paper says"));
}

TEST(ReproduceCommand, MeasuresFiguresOnOnesOwnGraph) {
  const Workplace place;
  ASSERT_EQ(
      run_gnomon({"generate", "rmat", "store", "--scale", "9", "--feature-columns", "8"}, place.path()).code,
      0);
  const auto text = run_gnomon(
      {"reproduce", "gnnlab", "F16", "T4", "--measure", "store", "--html", "page.html"}, place.path());
  EXPECT_EQ(text.code, 0) << text.error;
  EXPECT_THAT(text.out, HasSubstr("measured on rmat: 512 vertices"));
  EXPECT_THAT(text.out, HasSubstr("not possible: random walks"));
  EXPECT_THAT(base::read_file(place / "page.html"), HasSubstr("by random weights"));
  const auto document =
      printed_document(run_gnomon({"reproduce", "gnnlab", "F16", "--measure=store", "--json"}, place.path()));
  EXPECT_EQ(document["figures"][0]["verdict"], "measured");
  EXPECT_GT(document["figures"][0]["claims"][0]["value"].get<double>(), 0);
}

TEST(ReproduceCommand, DrawsWhatWasMeasuredBefore) {
  const Workplace place;
  const auto measured = run_gnomon({"reproduce", "hanoi", "T4.3", "--json", "--measure"});
  place.write("measured.json", measured.out);
  const std::vector<std::string> drawing{"reproduce",  "hanoi",         "T4.3",
                                         "--measured", "measured.json", "--json"};
  EXPECT_EQ(printed_document(run_gnomon(drawing, place.path())), printed_document(measured));
  const auto wrong = run_gnomon({"reproduce", "ducati", "F19", "--measured", "measured.json"}, place.path());
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.error, HasSubstr("has figures of hanoi, not of ducati"));
  auto both = drawing;
  both.emplace_back("--measure");
  EXPECT_EQ(run_gnomon(both, place.path()).code, 2);
}

TEST(ReproduceCommand, MeasuresOnAGeneratedGraphWithoutData) {
  const auto document = printed_document(run_gnomon({"reproduce", "hanoi", "T4.3", "--json", "--measure"}));
  ASSERT_EQ(document["figures"][0]["charts"].size(), 2U);
  EXPECT_THAT(document["figures"][0]["charts"][1]["measured_on"].get<std::string>(), HasSubstr("like arxiv"));
  EXPECT_TRUE(document["figures"][0]["claims"][1].contains("direction"));
}

TEST(ReproduceCommand, TakesAnotherMachinesColumns) {
  const Workplace place;
  place.write("rows.json", R"([
    {"machine": "M", "model": "GAT", "dataset": "UK", "system": "SALIENT", "epoch_s": 40},
    {"machine": "M", "model": "GAT", "dataset": "UK", "system": "DUCATI", "epoch_s": 50},
    {"machine": "M", "model": "GAT", "dataset": "UK", "system": "MorphGL", "epoch_s": 30}])");
  const auto document = printed_document(
      run_gnomon({"reproduce", "morphgl", "--baselines", "rows.json", "--json"}, place.path()));
  ASSERT_EQ(document["rows"].size(), 1U);
  EXPECT_EQ(document["rows"][0]["printed"], 30);
  EXPECT_GT(document["rows"][0]["predicted"].get<double>(), 20);
  EXPECT_LT(document["rows"][0]["predicted"].get<double>(), 40);
}

TEST(CatalogCommand, ListsAndPrints) {
  const auto list = run_gnomon({"catalog"});
  EXPECT_EQ(list.code, 0) << list.error;
  EXPECT_THAT(list.out, HasSubstr("aws-g5.2xlarge"));
  EXPECT_THAT(list.out, HasSubstr("neutronorch/Reddit"));
  const auto document = printed_document(run_gnomon({"catalog", "--json"}));
  EXPECT_GE(document["machines"].size(), 12U);
  EXPECT_EQ(printed_document(run_gnomon({"catalog", "gnnlab"}))["schema"], "gnomon.machine/1");
  EXPECT_EQ(printed_document(run_gnomon({"catalog", "neutronorch/Reddit"}))["schema"], "gnomon.profile/1");
  EXPECT_EQ(run_gnomon({"catalog", "nothing"}).code, 2);
}

// What the catalog prints can be given back as files; a machine's columns come first.
TEST(CatalogCommand, ExploresProfilesOnMachines) {
  const Workplace place;
  place.write("p.json", run_gnomon({"catalog", "neutronorch/Reddit"}).out);
  place.write("m.json", run_gnomon({"catalog", "aws-p4d.24xlarge"}).out);
  const auto rows = printed_document(run_gnomon({"explore", "p.json", "neutronorch/Orkut", "--plan",
                                                 "salient,gnnlab", "--machine", "m.json,morphgl-D", "--json"},
                                                place.path()))["rows"];
  ASSERT_EQ(rows.size(), 8U);
  EXPECT_EQ(rows[0]["profile"], "p.json");
  EXPECT_EQ(rows[0]["machine"], "m.json");
  EXPECT_EQ(rows[2]["machine"], "morphgl-D");
  EXPECT_EQ(rows[6]["profile"], "neutronorch/Orkut");
  EXPECT_EQ(rows[0]["workers"], 47);
  EXPECT_EQ(rows[2]["workers"], 7);
  for (const auto& row : rows) {
    ASSERT_TRUE(row["epoch_s"].is_number()) << row.dump();
  }
  // 47 workers batch faster than 7, and a device of more bandwidth trains in less time.
  EXPECT_LT(rows[0]["epoch_s"].get<double>(), rows[2]["epoch_s"].get<double>());
  EXPECT_EQ(rows[1]["bound_by"], "device");
  EXPECT_LT(rows[1]["epoch_s"].get<double>(), rows[3]["epoch_s"].get<double>());
  EXPECT_EQ(run_gnomon({"explore", "p.json", "--machine", "nothing"}, place.path()).code, 2);
}

// An A10G and an A100 read their memories at 600 and 1,935 GB/s, the paper's A30 at 933.
TEST(ExploreCommand, ScalesAPapersWorkloadToOtherMachinesAndSaysBy) {
  const std::vector<std::string> command{"explore",   "morphgl/A/GraphSAGE/PA",
                                         "--machine", "aws-g5.2xlarge,azure-NC24ads-A100-v4",
                                         "--plan",    "device"};
  auto as_json = command;
  as_json.emplace_back("--json");
  const auto rows = printed_document(run_gnomon(as_json))["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_GT(rows[0]["epoch_s"].get<double>(), 1.5 * rows[1]["epoch_s"].get<double>());
  for (const auto& row : rows) {
    const auto scaled = row["scaled"].get<std::string>();
    EXPECT_THAT(scaled, HasSubstr("cpu_batch kept (no specification gives a core's speed)"));
    EXPECT_THAT(scaled, HasSubstr("train x"));
    EXPECT_THAT(scaled, HasSubstr("device memory bandwidth 933 to "));
    EXPECT_THAT(scaled, HasSubstr("link bandwidth 15.75 to "));
  }
  EXPECT_THAT(rows[0]["scaled"].get<std::string>(), HasSubstr("933 to 600 GB/s"));
  EXPECT_THAT(run_gnomon(command).out, HasSubstr("\nmachine aws-g5.2xlarge: cpu_batch kept ("));
  auto as_csv = command;
  as_csv.emplace_back("--csv");
  EXPECT_THAT(run_gnomon(as_csv).out, HasSubstr("train x"));
}

// Reddit's rows are 561 MB, its adjacency lists more; a plan that does not fit says by how much.
TEST(ExploreCommand, SaysWhichMemoryIsShortByHowMuch) {
  const auto rows =
      printed_document(run_gnomon({"explore", "neutronorch/Reddit", "--plan", "salient", "--set",
                                   "machine.cpu.memory_bytes=5e8,1e12", "--json"}))["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[0]["epoch_s"].is_null());
  EXPECT_EQ(rows[0]["short_of"], "host_memory");
  EXPECT_GT(rows[0]["missing_bytes"].get<double>(), 6e7);
  EXPECT_THAT(rows[0]["why_not"].get<std::string>(), HasSubstr("host memory: "));
  EXPECT_FALSE(rows[1]["epoch_s"].is_null());
  EXPECT_TRUE(rows[1]["short_of"].is_null());
  EXPECT_EQ(rows[1]["scaled"], "");
}

TEST(ReproduceCommand, WrongInputIsOneLine) {
  const Workplace place;
  place.write("empty.json", R"({"rows": []})");
  place.write("half.json", R"([{"machine": "M", "model": "GAT", "dataset": "UK", "system": "DUCATI",
                                "epoch_s": 50}])");
  const auto expect_wrong = [&](std::vector<std::string> arguments, const char* part) {
    arguments.insert(arguments.begin(), "reproduce");
    const auto outcome = run_gnomon(arguments, place.path());
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.error, HasSubstr(part));
  };
  expect_wrong({"nothing"}, "\"nothing\" is not known; use one of morphgl");
  expect_wrong({"morphgl", "--baselines", "none.json"}, "none.json");
  expect_wrong({"morphgl", "--baselines", "empty.json"}, "empty.json: has no rows with numbers");
  expect_wrong({"morphgl", "--baselines", "half.json"}, "SALIENT and DUCATI");
  expect_wrong({"ducati", "--baselines", "half.json"}, "has no rows of the baselines of ducati");
  expect_wrong({"hanoi", "--baselines", "half.json"}, "nothing of this paper");
  expect_wrong({"ducati", "--cross-validate"}, "only morphgl");
  expect_wrong({"ducati", "F1"}, "\"F1\" is not in ducati; use all or some of F17");
  expect_wrong({"all", "F1"}, "must be one paper");
  expect_wrong({"morphgl", "F1", "--baselines", "half.json"}, "belongs to the tables");
  expect_wrong({"gnnlab", "F16", "--measure", "nowhere"}, "nowhere: does not exist");
  expect_wrong({"gnnlab", "F16", "--measure=nowhere"}, "nowhere: does not exist");
  expect_wrong({"gnnlab", "F16", "--profile", "p.json", "--measure"}, "use one of them");
}

}  // namespace
}  // namespace gnomon::apps
