#include "graph/import/option_rules.h"

#include <gtest/gtest.h>

#include <set>

#include "graph/import/split_files.h"
#include "tests/graph/files.h"
#include "tests/graph/graph_parts.h"
#include "tests/graph/import/import_fixture.h"
#include "tests/graph/import/scipy_files.h"

namespace gnomon::graph {
namespace {

/// A small graph in each format, and files that options name.
class ImportOptionRules : public ImportFixture {
 protected:
  ImportOptionRules() {
    write_text(directory_ / "e.txt", "0 1 0.5\n1 2 2\n");
    write_text(directory_ / "m.mtx",
               "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n2 3 2\n");
    write_zip(directory_ / "x.npz", {{"edge_index", integers({2, 2}, {0, 1, 1, 2})}});
    std::filesystem::create_directories(directory_ / "ogb/raw");
    write_gzip(directory_ / "ogb/raw/edge.csv.gz", "0,1\n1,2\n");
    write_gzip(directory_ / "ogb/raw/num-node-list.csv.gz", "3\n");
    std::filesystem::create_directories(directory_ / "saint");
    write_zip(directory_ / "saint/adj_full.npz", scipy_arrays("csr"));
    write_text(directory_ / "f.npy", floats({3, 1}, {1, 2, 3}));
    write_text(directory_ / "l.npy", integers({3}, {0, 1, 0}));
    write_text(directory_ / "ids.txt", "0\n1\n2\n");
  }
  ImportOptions of(Format format) const {
    return options_for(format == Format::npz             ? "x.npz"
                       : format == Format::ogb           ? "ogb"
                       : format == Format::matrix_market ? "m.mtx"
                       : format == Format::graphsaint    ? "saint"
                                                         : "e.txt");
  }
  /// Sets the field of a rule to a value that is valid where it applies.
  void give(ImportOptions& options, std::string_view field) const {
    if (field == "relabel") {
      options.relabel = true;
    } else if (field == "header") {
      options.header = Header::no;
    } else if (field == "ids") {
      options.ids = IdKind::names;
    } else if (field == "vertices") {
      options.vertices = directory_ / "ids.txt";
    } else if (field == "features") {
      options.features = directory_ / "f.npy";
    } else if (field == "labels") {
      options.labels = directory_ / "l.npy";
    } else if (field == "train_ids") {
      options.train_ids = directory_ / "ids.txt";
    } else if (field == "mask") {
      options.mask = 1;
    } else if (field == "ogb_split") {
      options.ogb_split = "time";
    } else {
      options.train_ids = directory_ / "none.txt";
      (field == "valid_ids" ? options.valid_ids : options.test_ids) = directory_ / "ids.txt";
    }
  }
};

constexpr Format formats[] = {Format::npz, Format::ogb, Format::matrix_market, Format::edge_list,
                              Format::graphsaint};
const std::string names_of_formats[] = {"npz", "ogb", "mtx (Matrix Market)", "edges (an edge list)",
                                        "graphsaint"};

TEST_F(ImportOptionRules, EachFormatRefusesWhatDoesNotApply) {
  write_text(directory_ / "none.txt", "");
  for (const auto& rule : option_rules()) {
    for (std::size_t i = 0; i < std::size(formats); ++i) {
      SCOPED_TRACE(std::string(rule.option) + " " + names_of_formats[i]);
      auto options = of(formats[i]);
      give(options, rule.field);
      if (rule.refused[i].empty()) {
        // mask and ogb_split need data that have several.
        if (rule.field != "mask" && rule.field != "ogb_split") {
          import(options);
        }
        continue;
      }
      const auto message = error(options);
      const bool needs_train = rule.field == "valid_ids" || rule.field == "test_ids";
      EXPECT_EQ(message, (needs_train ? "--train-ids" : std::string(rule.option)) + ": does not apply to " +
                             names_of_formats[i] + ", " + std::string(rule.refused[i]));
    }
  }
}

TEST_F(ImportOptionRules, EveryRuleIsOfAField) {
  auto document = base::write_value(ImportOptions{});
  std::set<std::string_view> fields;
  for (const auto& rule : option_rules()) {
    EXPECT_TRUE(document.contains(rule.field)) << rule.field;
    EXPECT_TRUE(fields.insert(rule.field).second) << rule.field;
    EXPECT_TRUE(rule.option.starts_with("--")) << rule.option;
  }
}

TEST_F(ImportOptionRules, DefaultsThatAreNamedAreRefusedToo) {
  auto options = of(Format::edge_list);
  import(options);
  options.named = {{"mask", "--mask"}};
  EXPECT_EQ(error(options),
            "--mask: does not apply to edges (an edge list), which has no splits; give one with "
            "--train-ids, --valid-ids and --test-ids");
  options.named = {{"content.split.seed", "--split-seed"}};
  EXPECT_EQ(error(options), "--split-seed: has no effect: nothing is drawn at random; leave it out");
}

TEST_F(ImportOptionRules, OptionsThatNeedAnotherSayWhich) {
  auto options = of(Format::edge_list);
  options.content.edges = {.undirected = true, .reverse = true};
  EXPECT_EQ(error(options),
            "--reverse: has no effect: --undirected adds the reverse of every edge; leave it out");

  options = of(Format::edge_list);
  options.content.edges.duplicates = Duplicates::sum;
  EXPECT_EQ(error(options), "--duplicates sum: needs edge weights; add --edge-weights, or use remove");
  options.edge_weights = "given";
  EXPECT_EQ(weighted_rows_of(import(options)), (WeightedRows{{}, {{0, 0.5F}}, {{1, 2.0F}}}));

  options = of(Format::edge_list);
  options.content.feature_type = FeatureType::fp16;
  EXPECT_EQ(
      error(options),
      "--feature-type: needs features, and e.txt has none; add --features FILE.npy or --random-features N");
  options.random_features = 4;
  import(options);
  options = of(Format::edge_list);
  options.content.feature_form = FeatureForm::sparse;
  EXPECT_EQ(
      error(options),
      "--feature-form: needs features, and e.txt has none; add --features FILE.npy or --random-features N");
  options = of(Format::ogb);
  options.content.normalise_features = RowNorm::l1;
  EXPECT_EQ(error(options),
            "--normalise-features: needs features, and ogb/raw/edge.csv.gz has none; add --features "
            "FILE.npy or --random-features N");
  options = of(Format::edge_list);
  options.features = directory_ / "f.npy";
  options.random_features = 4;
  EXPECT_EQ(error(options), "--random-features: has no effect: e.txt has 1 feature columns; leave it out");
}

TEST_F(ImportOptionRules, SplitOptionsApplyToTheirSplit) {
  auto options = of(Format::edge_list);
  options.labels = directory_ / "l.npy";
  options.content.split.train_per_class = 1;
  EXPECT_EQ(error(options), "--train-per-class: applies to --split per_class only; add that");
  options.content.split.method = SplitMethod::per_class;
  options.content.split.valid_per_class = 0;
  import(options);
  options.content.split.valid_share = 0.1;
  EXPECT_EQ(error(options), "--valid-share: applies to --split ratio only; leave it out");

  options = of(Format::edge_list);
  options.content.split.method = SplitMethod::ratio;
  EXPECT_EQ(error(options),
            "--split: needs labels to draw a split, and e.txt has none; add --labels FILE.npy or "
            "--random-classes N");
  options.random_classes = 2;
  import(options);
  options.train_ids = directory_ / "ids.txt";
  EXPECT_EQ(error(options), "--train-ids: has no effect: --split ratio draws another split; leave it out");
  options.content.split = {.train_share = 0.5};
  EXPECT_EQ(error(options),
            "--train-share: has no effect: the data's own split is used; leave it out, or add --split ratio");
  options.content.split = {.seed = 3};
  options.random_classes = 0;
  EXPECT_EQ(error(options), "--seed: has no effect: nothing is drawn at random; leave it out");
  options.random_classes = 2;
  import(options);
}

TEST_F(ImportOptionRules, MasksOfNpz) {
  auto options = of(Format::npz);
  options.mask = 1;
  EXPECT_EQ(error(options), "--mask: has no effect: x.npz has no masks; leave it out");
  const Arrays one{{"edge_index", integers({2, 2}, {0, 1, 1, 2})},
                   {"train_mask", truths({3}, {1, 0, 0})},
                   {"val_mask", truths({3}, {0, 1, 0})},
                   {"test_mask", truths({3}, {0, 0, 1})}};
  write_zip(directory_ / "x.npz", one);
  EXPECT_EQ(error(options), "x.npz: train_mask: has no mask 1; use 0 to 0");
  options.mask = 0;
  options.named = {{"mask", "--mask"}};
  EXPECT_EQ(error(options), "--mask: has no effect: x.npz has one split only; leave it out");
  options.named = {};
  options.train_ids = directory_ / "ids.txt";
  EXPECT_EQ(error(options), "--train-ids: has no effect: x.npz has a split (train_mask); leave it out");
}

}  // namespace
}  // namespace gnomon::graph
