#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/reproduce/drawn_figure.h"

/// Figures beside numbers that are computed by hand from what the papers print.
namespace gnomon::reproduce {
namespace {

// Numbers that stand in a paper's text are marked in a chart of the figure, and not in the list of claims
// alone.
TEST(PrintedNumbersOfPapers, StandInTheirCharts) {
  const std::vector<std::pair<std::string, std::string>> figures{
      {"morphgl", "F10"},     {"morphgl", "T4"},      {"neutronorch", "F2"}, {"neutronorch", "F7"},
      {"neutronorch", "F12"}, {"neutronorch", "F16"}, {"neutronorch", "T6"}, {"hanoi", "F4.13"},
      {"hanoi", "T4.2"},      {"joestar", "T5.7"},    {"gnnlab", "F15"},     {"pytorch-direct", "F8"}};
  for (const auto& [paper, id] : figures) {
    const auto document = find_figures(paper);
    const auto& panels = document.figure(id).panels;
    EXPECT_TRUE(
        std::any_of(panels.begin(), panels.end(), [](const auto& panel) { return !panel.printed.empty(); }))
        << paper << " " << id;
  }
}

// The baselines' lines are their epochs of Table 4, and MorphGL's is the best of all.
TEST(MorphglF10, BaselinesAreTheirPrintedEpochs) {
  const auto figure = drawn_figure("morphgl", "F10");
  const double salient[] = {53.63, 19.34, 33.40};
  const double ducati[] = {20.44, 14.11, 30.49};
  for (const std::size_t i : {0, 1, 2}) {
    // Its first batch is a worker's alone: one more of them for seven workers, of 407 on TW.
    EXPECT_NEAR(y_at(figure, i, "SALIENT", 0.5), salient[i], 0.02 * salient[i]);
    EXPECT_NEAR(y_at(figure, i, "DUCATI", 0.5), ducati[i], 0.01 * ducati[i]);
    EXPECT_EQ(figure.charts[i].find("DUCATI-Δ")->points.size(), 21U);
    // Without batches of the CPU's own, the ratio sweep is DUCATI.
    EXPECT_NEAR(y_at(figure, i, "DUCATI-Δ", 0), ducati[i], 0.001 * ducati[i]);
  }
  EXPECT_EQ(figure.claims.size(), 6U);
  EXPECT_EQ(figure.printed_numbers, 6);  // the factors, and not again the marks of three of them
}

// 1.37 times DUCATI's 20.44 s, and 1.05 times MorphGL's epoch as a level.
TEST(MorphglF10, TheSixFactorsAreMarkedInSeconds) {
  const auto figure = drawn_figure("morphgl", "F10");
  for (const auto& chart : figure.charts) {
    EXPECT_EQ(std::count_if(chart.series.begin(), chart.series.end(),
                            [](const ChartSeries& series) { return series.printed; }),
              2)
        << chart.title;
  }
  const auto& all = figure.charts[0].series;
  const auto mark = std::find_if(all.begin(), all.end(),
                                 [](const auto& series) { return series.printed && !series.level; });
  const auto level = std::find_if(all.begin(), all.end(), [](const auto& series) { return series.level; });
  EXPECT_EQ(mark->points.front().x, 0.5);
  EXPECT_NEAR(mark->points.front().y, 1.37 * 20.44, 0.01);
  EXPECT_NEAR(level->points.front().y, 20.4, 0.1);
}

// The mean over machine A's nine cells of SALIENT's epoch over MorphGL's, which both are in its panel.
TEST(MorphglT4, MeansAreThoseOfTheCells) {
  const auto figure = drawn_figure("morphgl", "T4");
  double sum = 0;
  for (int x = 0; x < 9; ++x) {
    sum += y_at(figure, 0, "SALIENT", x) / y_at(figure, 0, "MorphGL", x);
  }
  EXPECT_EQ(figure.charts.at(2).title, "machine A, mean");
  EXPECT_EQ(figure.charts.at(2).categories.at(0), "SALIENT");
  EXPECT_NEAR(y_at(figure, 2, "times MorphGL", 0), sum / 9, 1e-9);
}

// SALIENT's epoch is 33.40 s with 7 workers and falls as their number grows: 25.98 s with 9. The straight
// line between the two meets DUCATI's 30.49 s at 8.78 cores.
TEST(MorphglF8, SalientPassesDucatiWhereItsWorkersDo) {
  const auto figure = drawn_figure("morphgl", "F8");
  const double with_ten = 33.40 * 7 / 9;
  EXPECT_NEAR(y_at(figure, 0, "SALIENT", 10), with_ten, 0.01 * with_ten);
  EXPECT_NEAR(y_at(figure, 0, "DUCATI", 2), y_at(figure, 0, "DUCATI", 16), 1e-6);
  EXPECT_NEAR(figure.claims[0].value.value(), 8 + 2 * (33.40 - 30.49) / (33.40 - with_ten), 0.1);
  EXPECT_EQ(figure.claims[0].direction, false);
  EXPECT_EQ(figure.claims[0].size, true);
}

TEST(MorphglT3, SizesAreThoseOfRowsAndLists) {
  const auto figure = drawn_figure("morphgl", "T3");
  EXPECT_NEAR(y_at(figure, 0, "size", 0), 8 * (3e9 + 111e6) / 1073741824, 0.01);
  EXPECT_NEAR(y_at(figure, 0, "size", 1), 111e6 * 128 * 2 / 1073741824, 0.01);
  EXPECT_EQ(figure.printed_numbers, 6);
  EXPECT_LT(figure.mean_error.value(), 0.06);
}

// Profiling an epoch's 407 mini-batches costs SALIENT's and DUCATI's epochs, 10.89 and 16.69 s, and the
// copies.
TEST(MorphglT8, ProfilingRunsEachStageAlone) {
  const auto figure = drawn_figure("morphgl", "T8");
  const auto& categories = figure.charts[0].categories;
  const auto place = std::find(categories.begin(), categories.end(), "A GraphSAGE/TW") - categories.begin();
  const double stages_s = 10.89 + 16.69;
  EXPECT_GT(y_at(figure, 0, "profiling", static_cast<double>(place)), stages_s);
  EXPECT_LT(y_at(figure, 0, "profiling", static_cast<double>(place)), 1.3 * stages_s);
}

// Three stages of 2.28, 2.84 and 2.76 s over 16 mini-batches: their sum, and the longest with the first
// mini-batch of the others. One GPU that samples and trains takes 3.53 s.
TEST(NeutronOrchT3, PipeliningIsTheLongestStageAndTheFirstBatch) {
  const auto figure = drawn_figure("neutronorch", "T3");
  EXPECT_NEAR(y_at(figure, 0, "epoch", 0), 7.88, 1e-6);
  EXPECT_NEAR(y_at(figure, 0, "epoch", 1), 2.84 + (2.28 + 2.76) / 16, 1e-6);
  EXPECT_NEAR(y_at(figure, 0, "epoch", 2), 6.22, 1e-6);
  EXPECT_NEAR(y_at(figure, 0, "epoch", 3), 3.53 + 2.69 / 16, 1e-6);
  EXPECT_LT(figure.mean_error.value(), 0.1);
}

// Five systems' epochs on Products and four on Wikipedia with three layers (Table 6), over the predicted
// ones.
TEST(NeutronOrchT6, MeansAreOfGraphsThenSystems) {
  const auto figure = drawn_figure("neutronorch", "T6");
  const double products = (28.1 + 20.1 + 21.8 + 10.5 + 26.2) / 5 / y_at(figure, 0, "NeutronOrch", 0);
  const double wikipedia = (1669.1 + 1362.3 + 1209.2 + 1152.4) / 4 / y_at(figure, 1, "NeutronOrch", 0);
  EXPECT_NEAR(y_at(figure, 2, "mean of both graphs", 0), (products + wikipedia) / 2, 1e-9);
  // With five layers every baseline ran out of memory on Wikipedia.
  EXPECT_NEAR(y_at(figure, 2, "mean of both graphs", 2), y_at(figure, 2, "Products", 2), 1e-12);
}

TEST(NeutronOrchF12, SpeedUpsAreThoseOfTheEpochs) {
  const auto figure = drawn_figure("neutronorch", "F12");
  EXPECT_EQ(figure.charts.at(2).title, "Products, speed-up");
  EXPECT_NEAR(y_at(figure, 2, "GNNLab", 8), y_at(figure, 0, "GNNLab", 1) / y_at(figure, 0, "GNNLab", 8),
              1e-12);
}

// One chart a data set: cells of others are left out, and what all names have in common.
TEST(GnnlabT6, HasOneScaleADataSet) {
  const auto figure = drawn_figure("gnnlab", "T6");
  EXPECT_EQ(figure.charts.at(0).title, "epochs from its own stages, PR");
  EXPECT_THAT(figure.charts[0].categories, ::testing::ElementsAre("GCN/PR", "GraphSAGE/PR", "PinSAGE/PR"));
}

TEST(PyTorchDirectF8, ARowOfWholeLinesIsReadAlike) {
  const auto figure = drawn_figure("pytorch-direct", "F8");
  EXPECT_NEAR(y_at(figure, 0, "shifted", 1024), 95.1, 1e-9);
  EXPECT_NEAR(y_at(figure, 0, "naive", 1024), 95.1, 1e-9);
  EXPECT_LT(y_at(figure, 0, "naive", 1028), y_at(figure, 0, "shifted", 1028));
}

// 6.4 GB and 7 % of 53 GB of 16 GB.
TEST(GnnlabF11, IsTheShareOfTheSizes) {
  EXPECT_NEAR(y_at(drawn_figure("gnnlab", "F11"), 0, "both", 0), 100 * (6.4 + 0.07 * 53) / 16, 1e-9);
}

TEST(HanoiT44, SizesOfTheMagGraphs) {
  const auto figure = drawn_figure("hanoi", "T4.4");
  EXPECT_NEAR(y_at(figure, 0, "size", 5), (8 * (244e6 + 3.5e9) + 244e6 * 768 * 2) / 1e9, 0.01);
  EXPECT_EQ(figure.printed_numbers, 6);  // the claim's is one of them
}

// A graph with three curves: on the straight lines between their points.
profiles::Profile profile_with_curves() {
  profiles::Profile profile;
  auto& workload = profile.workload;
  workload.features.overlap = {0.6, 0.75};
  workload.graph = "own";
  workload.batch_vertices = 1000;
  workload.features.curves = {{plan::CachePolicy::out_degree, {{0.1, 0.4}}},
                              {plan::CachePolicy::presample, {{0.1, 0.8}}},
                              {plan::CachePolicy::optimal, {{0.1, 0.85}}}};
  return profile;
}

TEST(GnnlabF16, IsReadOffTheMeasuredCurves) {
  sim::Simulator simulator;
  auto profile = profile_with_curves();
  const auto paper = draw_figures(simulator, "gnnlab", {"F15", "F16", "T4"}, {}, {&profile, {}});
  const auto& curves = paper.figures.at(0);
  EXPECT_NEAR(y_at(curves, 0, "PreSC", 5), 40, 1e-9);
  EXPECT_NEAR(y_at(curves, 0, "Random", 5), 5, 1e-9);
  // With 500 columns the cache holds a fiftieth of the rows.
  EXPECT_NEAR(y_at(curves, 1, "Degree", 500), 1000 * 500 * 4 * (1 - 0.08) / 1e6, 1e-9);
  const auto& tenth = paper.figures.at(1);
  EXPECT_NEAR(y_at(tenth, 0, "Optimal", 0), 85, 1e-9);
  EXPECT_EQ(tenth.charts[0].categories.at(0), "own");
  EXPECT_NEAR(tenth.claims[0].value.value(), 2, 1e-9);
  EXPECT_EQ(tenth.claims[0].direction, true);
  EXPECT_EQ(tenth.claims[0].size, false);
  EXPECT_NEAR(y_at(paper.figures.at(2), 0, "the most used tenth", 0), 75, 1e-9);
}

}  // namespace
}  // namespace gnomon::reproduce
