#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "base/atomic_file.h"
#include "base/document.h"
#include "graph/graph.h"
#include "program.h"

namespace gnomon::apps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void expect_one_line(const Outcome& outcome, int code, const std::string& part) {
  EXPECT_EQ(outcome.code, code) << outcome.error;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr(part));
}

TEST(Import, WritesAStoreThatInfoDescribes) {
  const Workplace place;
  place.write("edges.txt", "# a path\n0 1\n1 2\n");
  const auto imported =
      run_gnomon({"import", "edges", "edges.txt", "store", "--undirected", "--json"}, place.path());
  ASSERT_EQ(imported.code, 0) << imported.error;
  const auto document = base::Json::parse(imported.out);
  EXPECT_EQ(document["vertices"], 3);
  EXPECT_EQ(document["edges"], 4);
  EXPECT_EQ(document["degrees"]["most"], 2);
  EXPECT_EQ(document["name"], "edges");

  const auto checked = run_gnomon({"info", "store", "--check", "--json"}, place.path());
  ASSERT_EQ(checked.code, 0) << checked.error;
  auto with_check = base::Json::parse(checked.out);
  EXPECT_EQ(with_check["trainable"], false);
  EXPECT_THAT(with_check["why_not_trainable"].get<std::string>(), HasSubstr("features"));
  EXPECT_THAT(run_gnomon({"info", "store"}, place.path()).out, HasSubstr("vertices  3\n"));
}

TEST(Import, EveryDirectionOfTheEdges) {
  // A vertex's degree is how many it gathers from.
  const Workplace place;
  place.write("star.txt", "0 1\n0 2\n0 3\n");
  const auto most_degree = [&](const std::string& store, const std::vector<std::string>& flags) {
    std::vector<std::string> words{"import", "edges", "star.txt", store, "--json"};
    words.insert(words.end(), flags.begin(), flags.end());
    const auto imported = run_gnomon(words, place.path());
    EXPECT_EQ(imported.code, 0) << imported.error;
    const auto document = base::Json::parse(imported.out);
    return std::pair(document["edges"].get<int>(), document["degrees"]["most"].get<int>());
  };
  EXPECT_EQ(most_degree("in", {}), std::pair(3, 1));
  EXPECT_EQ(most_degree("out", {"--reverse"}), std::pair(3, 3));
  EXPECT_EQ(most_degree("both", {"--undirected"}), std::pair(6, 3));
}

TEST(Import, ReordersAndSaysSo) {
  const Workplace place;
  place.write("edges.txt", "5 1\n5 2\n2 0\n");
  const auto imported =
      run_gnomon({"import", "edges", "edges.txt", "store", "--reorder", "degree", "--json"}, place.path());
  ASSERT_EQ(imported.code, 0) << imported.error;
  const auto document = base::Json::parse(imported.out);
  EXPECT_EQ(document["order"], "degree");
  EXPECT_EQ(document["renamed"], true);
  EXPECT_THAT(run_gnomon({"info", "store"}, place.path()).out, HasSubstr("order     degree"));
  const auto graph = graph::open_store(place.path() / "store");
  EXPECT_THAT(graph.original_ids, ElementsAre(5, 2, 0, 1, 3, 4));
  expect_one_line(run_gnomon({"import", "edges", "edges.txt", "other", "--reorder", "size"}, place.path()), 2,
                  "order: \"size\" is not known; use one of none, degree, rcm");
  const auto generated = run_gnomon({"generate", "sbm", "made", "--vertices", "200", "--classes", "4",
                                     "--feature-columns", "8", "--reorder", "rcm"},
                                    place.path());
  ASSERT_EQ(generated.code, 0) << generated.error;
  EXPECT_THAT(generated.out, HasSubstr("order     rcm"));
}

TEST(Import, BadInputLeavesNothingBehind) {
  const Workplace place;
  place.write("edges.txt", "0 1\n1 two\n");
  expect_one_line(run_gnomon({"import", "edges", "edges.txt", "store"}, place.path()), 2, "edges.txt");
  expect_one_line(run_gnomon({"import", "edges", "missing.txt", "store"}, place.path()), 2, "missing.txt");
  expect_one_line(run_gnomon({"import", "cobol", "edges.txt", "store"}, place.path()), 2,
                  "FORMAT: \"cobol\" is not known; use auto, npz, ogb, graphsaint, mtx or edges");
  expect_one_line(run_gnomon({"import", "edges", "edges.txt", "store", "--self-loops", "some"}, place.path()),
                  2, "self_loops: \"some\" is not known; use one of keep, remove, add");
  EXPECT_THAT(place.names(), ElementsAre("edges.txt"));
}

TEST(Generate, IsAFunctionOfItsSeed) {
  const Workplace place;
  const auto make = [&](const std::string& store, const std::string& seed) {
    const auto outcome = run_gnomon({"generate", "sbm", store, "--vertices", "500", "--classes", "4",
                                     "--feature-columns", "8", "--seed", seed, "--json"},
                                    place.path());
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_GT(base::Json::parse(outcome.out)["best_accuracy"].get<double>(), 0.3);
    return base::read_file(place.path() / store / "indices.npy");
  };
  const auto first = make("a", "1");
  EXPECT_EQ(make("b", "1"), first);
  EXPECT_NE(make("c", "2"), first);
}

TEST(Generate, RmatHonoursItsFlags) {
  const Workplace place;
  const auto outcome = run_gnomon({"generate", "rmat", "store", "--scale", "8", "--directed",
                                   "--feature-type", "bf16", "--feature-columns", "6", "--json"},
                                  place.path());
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  const auto document = base::Json::parse(outcome.out);
  EXPECT_EQ(document["vertices"], 256);
  EXPECT_EQ(document["feature_type"], "bf16");
  EXPECT_EQ(document["feature_columns"], 6);
  expect_one_line(
      run_gnomon({"generate", "rmat", "other", "--scale", "8", "--feature-type", "fp8"}, place.path()), 2,
      "feature_type: \"fp8\" is not known; use one of fp32, fp16, bf16");
}

TEST(Generate, BadOptionsAndTakenNamesAreRefused) {
  const Workplace place;
  place.write("taken", "");
  expect_one_line(run_gnomon({"generate", "sbm", "store", "--vertices", "1"}, place.path()), 2,
                  "vertices: 1 is out of range; use 2 to ");
  expect_one_line(run_gnomon({"generate", "sbm", "store", "--vertices", "many"}, place.path()), 2,
                  "vertices: must be an integer, not \"many\"");
  expect_one_line(run_gnomon({"generate", "rmat", "taken", "--scale", "4"}, place.path()), 2,
                  "taken: already exists");
  expect_one_line(run_gnomon({"generate", "sbm"}, place.path()), 2, "DST is required");
  expect_one_line(run_gnomon({"generate", "lattice", "store"}, place.path()), 2, "lattice");
  expect_one_line(run_gnomon({"generate"}, place.path()), 2, "no kind of graph given; use sbm or rmat");
  EXPECT_THAT(place.names(), ElementsAre("taken"));
}

TEST(Convert, KeepsTheGraphAndWhatItsStoreTells) {
  const Workplace place;
  ASSERT_EQ(
      run_gnomon({"generate", "rmat", "old", "--scale", "7", "--feature-columns", "3"}, place.path()).code,
      0);
  const auto converted = run_gnomon({"convert", "old", "new", "--json"}, place.path());
  ASSERT_EQ(converted.code, 0) << converted.error;
  auto document = base::Json::parse(converted.out);
  auto before = base::Json::parse(run_gnomon({"info", "old", "--json"}, place.path()).out);
  EXPECT_EQ(document["version"], 2);
  EXPECT_EQ(document["provenance"]["made_by"], "generate rmat");
  before.erase("path");
  document.erase("path");
  EXPECT_EQ(document, before);
  EXPECT_EQ(base::read_file(place.path() / "new" / "indices.npy"),
            base::read_file(place.path() / "old" / "indices.npy"));
  const auto ordered =
      run_gnomon({"convert", "old", "ordered", "--reorder", "degree", "--json"}, place.path());
  EXPECT_EQ(base::Json::parse(ordered.out)["order"], "degree");
  EXPECT_EQ(run_gnomon({"info", "ordered", "--check"}, place.path()).code, 0);
  expect_one_line(run_gnomon({"convert", "old", "new"}, place.path()), 2, "new: already exists");
  expect_one_line(run_gnomon({"convert", "nowhere", "other"}, place.path()), 2, "nowhere");
  expect_one_line(run_gnomon({"convert", "old", "other", "--reorder", "size"}, place.path()), 2,
                  "--reorder: \"size\" is not known");
}

TEST(Convert, RoundsFeaturesToATypeThatIsAskedFor) {
  const Workplace place;
  const auto run = [&](const std::vector<std::string>& arguments) {
    return run_gnomon(arguments, place.path());
  };
  ASSERT_EQ(run({"generate", "rmat", "fp32", "--scale", "7", "--feature-columns", "3"}).code, 0);
  ASSERT_EQ(
      run({"generate", "rmat", "bf16", "--scale", "7", "--feature-columns", "3", "--feature-type", "bf16"})
          .code,
      0);
  const auto features = [&](const char* store) {
    return base::read_file(place.path() / store / "features.npy");
  };
  const auto converted = run({"convert", "fp32", "rounded", "--feature-type", "bf16", "--json"});
  ASSERT_EQ(converted.code, 0) << converted.error;
  EXPECT_EQ(base::Json::parse(converted.out)["feature_type"], "bf16");
  EXPECT_EQ(features("rounded"), features("bf16"));
  EXPECT_THAT(run({"info", "rounded"}).out, testing::HasSubstr("3 columns, bf16"));
  EXPECT_EQ(run({"info", "rounded", "--check"}).code, 0);
  ASSERT_EQ(run({"convert", "rounded", "wide", "--feature-type", "fp32"}).code, 0);
  ASSERT_EQ(run({"convert", "wide", "again", "--feature-type", "bf16", "--reorder", "degree"}).code, 0);
  ASSERT_EQ(run({"convert", "bf16", "ordered", "--reorder", "degree"}).code, 0);
  EXPECT_EQ(features("again"), features("ordered"));
  expect_one_line(run({"convert", "fp32", "other", "--feature-type", "int8"}), 2,
                  "--feature-type: \"int8\" is not known; use one of fp32, fp16, bf16");
  ASSERT_EQ(run({"generate", "rmat", "bare", "--scale", "4", "--feature-columns", "0"}).code, 0);
  expect_one_line(run({"convert", "bare", "other", "--feature-type", "bf16"}), 2,
                  "--feature-type: has no effect: bare has no features");
}

class Partition : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run({"generate", "rmat", "store", "--scale", "12", "--feature-columns", "4"}).code, 0);
  }
  Outcome run(const std::vector<std::string>& arguments) const { return run_gnomon(arguments, place.path()); }
  base::Json document(const std::vector<std::string>& arguments) const {
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    return base::Json::parse(outcome.out);
  }
  /// A partition that takes a while, from the moment on at which it has begun.
  std::unique_ptr<RunningProgram> begin() const {
    const auto begun_before = begun();
    auto program = std::make_unique<RunningProgram>(
        GNOMON_PROGRAM,
        std::vector<std::string>{"partition", "store", "--parts", "8", "--passes", "1000", "-o", "parts"},
        place.path());
    const auto is_new = [&](const std::string& name) { return !begun_before.contains(name); };
    while (std::ranges::none_of(begun(), is_new)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return program;
  }
  /// The temporary directories of partitions.
  std::set<std::string> begun() const {
    auto names = place.names();
    std::erase_if(names, [](const std::string& name) { return !name.starts_with("parts.tmp"); });
    return {names.begin(), names.end()};
  }

  Workplace place;
};

TEST_F(Partition, WritesPartsAndDescribesThemAgain) {
  for (const std::string method : {"random", "gnn_aware"}) {
    const auto made =
        document({"partition", "store", "--parts", "8", "--method", method, "-o", method, "--json"});
    EXPECT_EQ(made["schema"], "gnomon.partition_report/1");
    EXPECT_EQ(made["partition"]["method"], method);
    EXPECT_EQ(made["macro_batches"].size(), 2U);
    EXPECT_EQ(made, document({"partition", "store", "--from", method, "--json"}));
    ASSERT_EQ(made["simulated"].size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      const auto& each = made["macro_batches"][i];
      EXPECT_EQ(each["parts"], 4);
      EXPECT_EQ(each["vertices"], made["simulated"][i]["vertices"]);
      const double simulated = made["simulated"][i]["bytes"].get<double>();
      EXPECT_NEAR(each["bytes"].get<double>(), simulated, 0.05 * simulated) << method;
    }
  }
  const auto cut = [&](const std::string& method) {
    return document({"partition", "store", "--from", method, "--json"})["quality"]["cut_share"].get<double>();
  };
  EXPECT_LT(cut("gnn_aware"), cut("random"));
  const auto text = run({"partition", "store", "--from", "random", "--resident", "2", "--hub-ratio", "0.1"});
  EXPECT_EQ(text.code, 0) << text.error;
  EXPECT_THAT(text.out, HasSubstr("parts     8, random\n"));
  EXPECT_THAT(text.out, HasSubstr("macro-batches of an epoch: 4, of 2 parts each, plus hubs, 10.0 % of"));
  EXPECT_THAT(text.out, HasSubstr("simulated"));
}

TEST_F(Partition, WritesAStoreThatIsOrderedByPart) {
  run({"partition", "store", "--parts", "8", "-o", "parts"});
  const auto made = document({"partition", "store", "--from", "parts", "--store", "by_part", "--json"});
  EXPECT_EQ(made, document({"partition", "store", "--from", "parts", "--json"}));
  const auto meta = base::parse_json(base::read_file(place.path() / "by_part" / "meta.json"), "meta.json");
  EXPECT_EQ(meta["parts"]["request"], made["partition"]);
  expect_one_line(run({"partition", "store", "--parts", "5000", "--store", "by_part"}), 2, "by_part");
}

TEST_F(Partition, BadInputLeavesNothingBehind) {
  const auto refuses = [&](const std::vector<std::string>& flags, const std::string& why) {
    std::vector<std::string> words{"partition", "store", "-o", "parts"};
    words.insert(words.end(), flags.begin(), flags.end());
    expect_one_line(run(words), 2, why);
  };
  refuses({"--method", "best"}, "--method: \"best\" is not known; use one of random, metis, gnn_aware");
  refuses({"--parts", "5000"}, "parts: 5000 is out of range; use 1 to 4096");
  refuses({"--parts", "3", "--resident", "4"},
          "resident: 4 is out of range; use 1 to 3, the number of parts");
  refuses({"--method", "random", "--passes", "3"},
          "--passes: has no effect on method \"random\"; use \"gnn_aware\"");
  refuses({"--hub-ratio", "2"}, "--hub-ratio");
  refuses({"--from", "parts"}, "--from");
  expect_one_line(run({"partition", "nowhere"}), 2, "nowhere");
  expect_one_line(run({"partition", "store", "--from", "nowhere"}), 2, "nowhere/partition.json");
  expect_one_line(run({"partition", "store", "-o", "store"}), 2, "store: already exists");
  EXPECT_THAT(place.names(), ElementsAre("store"));
}

TEST_F(Partition, CtrlCLeavesNothingBehind) {
  const auto program = begin();
  program->signal(SIGINT);
  EXPECT_EQ(program->wait().code, 1);
  EXPECT_THAT(place.names(), ElementsAre("store"));
}

TEST_F(Partition, KilledProgramsLeaveNoPartition) {
  for (const int wait_ms : {0, 20}) {
    const auto program = begin();
    std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
    program->signal(SIGKILL);
    EXPECT_EQ(program->wait().code, 128 + SIGKILL);
    EXPECT_FALSE(std::filesystem::exists(place.path() / "parts"));
  }
  // A limit on the size of files: the program is killed while it writes the parts.
  const auto killed =
      RunningProgram(GNOMON_PROGRAM, {"partition", "store", "-o", "parts"}, place.path(), 8192).wait();
  EXPECT_EQ(killed.code, 128 + SIGXFSZ) << killed.error;
  EXPECT_FALSE(std::filesystem::exists(place.path() / "parts"));
  EXPECT_EQ(run({"partition", "store", "-o", "parts"}).code, 0);
}

TEST(Info, BrokenStoresAreNamed) {
  const Workplace place;
  ASSERT_EQ(
      run_gnomon({"generate", "rmat", "store", "--scale", "4", "--feature-columns", "4"}, place.path()).code,
      0);
  expect_one_line(run_gnomon({"info", "nowhere"}, place.path()), 2, "nowhere");
  expect_one_line(run_gnomon({"info", "--check"}, place.path()), 2, "--check: needs a graph store");
  std::filesystem::resize_file(place.path() / "store" / "indices.npy", 90);
  expect_one_line(run_gnomon({"info", "store"}, place.path()), 2, "indices.npy");
}

}  // namespace
}  // namespace gnomon::apps
