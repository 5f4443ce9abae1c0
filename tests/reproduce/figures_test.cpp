#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "plan/plan.h"
#include "reproduce/figures/claims.h"
#include "reproduce/figures/drawn.h"
#include "reproduce/figures/figure_document.h"
#include "reproduce/reproduce.h"
#include "sim/simulator.h"

namespace gnomon::reproduce {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// The papers' own counts of figures and tables; the survey's are divided between its three systems, the
// thesis's between its two.
TEST(Figures, EveryFigureOfEveryPaperIsListed) {
  const std::vector<std::pair<std::string, std::size_t>> counts{
      {"morphgl", 18}, {"neutronorch", 24}, {"a3gnn", 11}, {"hanoi", 22},
      {"joestar", 22}, {"gnnlab", 10},      {"ducati", 5}, {"pytorch-direct", 12}};
  for (const auto& [paper, count] : counts) {
    const auto document = find_figures(paper);
    EXPECT_EQ(document.figures.size(), count) << paper;
    EXPECT_EQ(document.paper, paper);
    EXPECT_THAT(known_papers(), HasSubstr(paper));
  }
  EXPECT_THROW(find_figures("nothing"), base::InputError);
}

FiguresDocument document_of(const std::string& figure) {
  const std::string text = R"({"schema": "gnomon.figures/1", "paper": "p", "figures": [)" + figure + "]}";
  auto document = base::from_document<FiguresDocument>(base::parse_json(text, "d"), "d");
  check(document, "d");
  return document;
}

TEST(Figures, DocumentsAreChecked) {
  const auto wrong = [](const std::string& figure) { return [figure] { document_of(figure); }; };
  const std::string head = R"({"id": "F1", "shows": "s", "verdict": "predicted", "given": "g", )";
  EXPECT_THAT(wrong(R"({"id": "F1", "shows": "s", "verdict": "not"})"),
              ThrowsMessage<base::InputError>(HasSubstr("d: F1: needs")));
  EXPECT_THAT(wrong(head + R"("panels": [{"y_label": "y"}]})"),
              ThrowsMessage<base::InputError>(HasSubstr("needs one of profiles, table, draw and measure")));
  const std::string panels = R"("panels": [{"measure": "x", "y_label": "y"}])";
  EXPECT_THAT(wrong(head + panels + "}"), ThrowsMessage<base::InputError>(HasSubstr("measured_on")));
  EXPECT_THAT(wrong(head + R"("measured_on": {"job": {}}, )" + panels + "}"),
              ThrowsMessage<base::InputError>(HasSubstr("needs one of planted and rmat")));
  EXPECT_NO_THROW(document_of(head + R"("measured_on": {"rmat": {}, "job": {}}, )" + panels + "}"));
  EXPECT_THAT(
      wrong(head + R"("panels": [{"draw": "x", "y_label": "y"}], "claims": [{"text": "t", "where": "w",
                             "quantity": "difference", "of": {"series": "a"}, "above": 0}]})"),
      ThrowsMessage<base::InputError>(HasSubstr(".over: is missing")));
  EXPECT_THAT(wrong(head + R"("panels": [{"draw": "x", "y_label": "y"}],
                             "claims": [{"text": "t", "where": "w", "of": {"series": "a"}}]})"),
              ThrowsMessage<base::InputError>(HasSubstr("could not fail")));
  EXPECT_THAT(wrong(head + R"("panels": [{"draw": "x", "y_label": "y", "colour": 1}]})"),
              ThrowsMessage<base::InputError>(HasSubstr("colour")));
  EXPECT_THAT(wrong(R"({"id": "F1", "shows": "s", "verdict": "not", "why": "w"},
                       {"id": "F1", "shows": "s", "verdict": "not", "why": "w"})"),
              ThrowsMessage<base::InputError>(HasSubstr("there twice")));
}

/// Two lines that cross at x = 3: a falls from 8 to 2 over 1 … 4, b is 4.
std::vector<Chart> crossing_lines() {
  Chart chart;
  chart.title = "lines";
  chart.series = {{"a", false, {{1, 8}, {2, 6}, {4, 2}}}, {"b", false, {{1, 4}, {2, 4}, {4, 4}}}};
  return {chart};
}

ClaimSource claim_of(Quantity quantity, SideSource of, std::optional<SideSource> over = std::nullopt) {
  ClaimSource claim;
  claim.quantity = quantity;
  claim.of = std::move(of);
  claim.over = std::move(over);
  claim.above = 0;
  return claim;
}

SideSource whole(const std::string& series) { return {series, std::nullopt, "", std::nullopt, false}; }
SideSource at(const std::string& series, double x) { return {series, x, "", std::nullopt, false}; }
SideSource least(const std::string& series) { return {series, std::nullopt, "", Pick::min, false}; }

TEST(Claims, AreComputedFromTheLines) {
  const auto charts = crossing_lines();
  const auto value = [&](const ClaimSource& claim) { return decide(claim, charts).value.value(); };
  EXPECT_EQ(value(claim_of(Quantity::crossing, whole("a"), whole("b"))), 3);
  EXPECT_EQ(value(claim_of(Quantity::least_at, whole("a"))), 4);
  EXPECT_EQ(value(claim_of(Quantity::ratio, at("a", 2), at("b", 4))), 1.5);
  EXPECT_EQ(value(claim_of(Quantity::ratio, least("a"), at("b", 1))), 0.5);
  // 2, 1.5 and 0.5 at the three points.
  auto ratio = claim_of(Quantity::ratio, whole("a"), whole("b"));
  EXPECT_NEAR(value(ratio), 4.0 / 3, 1e-12);
  ratio.pick = Pick::max;
  EXPECT_EQ(value(ratio), 2);
  // 4, 2 and -2.
  auto difference = claim_of(Quantity::difference, whole("a"), whole("b"));
  EXPECT_NEAR(value(difference), 4.0 / 3, 1e-12);
  difference.pick = Pick::min;
  EXPECT_EQ(value(difference), -2);
  // a leads b by the inverse.
  auto lead = claim_of(Quantity::ratio, whole("a"));
  lead.of->lead = true;
  lead.pick = Pick::min;
  EXPECT_EQ(value(lead), 0.5);
}

TEST(Claims, HoldByWhatIsAsked) {
  const auto charts = crossing_lines();
  auto claim = claim_of(Quantity::ratio, at("a", 1), at("b", 1));
  claim.printed = 2.5;
  claim.above = 1;
  EXPECT_EQ(decide(claim, charts).holds, true);
  EXPECT_NEAR(decide(claim, charts).error.value(), -0.2, 1e-12);
  claim.below = 1.9;
  EXPECT_EQ(decide(claim, charts).holds, false);
  claim.below.reset();
  claim.within = 0.19;
  EXPECT_EQ(decide(claim, charts).holds, false);
  claim.within = 0.21;
  EXPECT_EQ(decide(claim, charts).holds, true);
  // A line never is below itself.
  const auto never = decide(claim_of(Quantity::crossing, whole("a"), whole("a")), charts);
  EXPECT_EQ(never.holds, false);
  EXPECT_FALSE(never.value.has_value());
  // A point that is not there is no answer.
  EXPECT_FALSE(decide(claim_of(Quantity::ratio, at("a", 7)), charts).holds.has_value());
  auto lacking = charts;
  lacking.front().missing = {"b: too dear"};
  EXPECT_THAT(decide(claim_of(Quantity::ratio, at("a", 7)), lacking).why_not, HasSubstr("b: too dear"));
  EXPECT_THROW(decide(claim_of(Quantity::ratio, whole("c")), charts), base::InputError);
}

/// One figure of a paper.
DrawnFigure drawn_figure(const std::string& paper, const std::string& id) {
  sim::Simulator simulator;
  return draw_figures(simulator, paper, {id}, {}).figures.at(0);
}

double y_at(const DrawnFigure& figure, std::size_t chart, const std::string& series, double x) {
  for (const auto& point : figure.charts.at(chart).find(series)->points) {
    if (std::abs(point.x - x) < 1e-9) {
      return point.y;
    }
  }
  throw std::out_of_range(figure.id + ": no point of " + series);
}

class EveryFigure : public testing::TestWithParam<std::string> {};

// No series is empty, as it would be if its plan or field had another name.
TEST_P(EveryFigure, IsDrawnAsItsVerdictSays) {
  sim::Simulator simulator;
  for (const auto& figure : draw_figures(simulator, GetParam(), {"all"}, {}).figures) {
    const bool drawn = figure.verdict == Verdict::reproduced || figure.verdict == Verdict::predicted;
    EXPECT_NE(figure.charts.empty(), drawn) << figure.id;
    EXPECT_EQ(figure.why.empty(), figure.verdict != Verdict::not_drawn) << figure.id;
    EXPECT_TRUE(drawn || figure.verdict == Verdict::not_drawn || !figure.not_measured.empty()) << figure.id;
    for (const auto& chart : figure.charts) {
      EXPECT_NE(chart.spans.empty(), chart.kind == ChartKind::timeline) << figure.id;
      EXPECT_NE(chart.series.empty(), chart.kind != ChartKind::timeline) << figure.id;
      for (const auto& series : chart.series) {
        EXPECT_FALSE(series.points.empty()) << figure.id << ": " << series.name;
        EXPECT_TRUE(std::all_of(series.points.begin(), series.points.end(),
                                [](const ChartPoint& point) { return std::isfinite(point.y); }));
      }
    }
    for (const auto& claim : figure.claims) {
      EXPECT_NE(claim.holds.has_value(), !claim.why_not.empty()) << figure.id << ": " << claim.text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Papers, EveryFigure,
                         testing::Values("morphgl", "neutronorch", "a3gnn", "hanoi", "joestar",
                                         "pytorch-direct", "gnnlab", "ducati"),
                         [](const auto& paper) { return paper.param.substr(0, paper.param.find('-')); });

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
  EXPECT_EQ(figure.printed_numbers, 6);
}

// SALIENT's epoch is 33.40 s with 7 workers and falls as their number grows: 25.98 s with 9. The straight
// line between the two meets DUCATI's 30.49 s at 8.78 cores.
TEST(MorphglF8, SalientPassesDucatiWhereItsWorkersDo) {
  const auto figure = drawn_figure("morphgl", "F8");
  const double with_ten = 33.40 * 7 / 9;
  EXPECT_NEAR(y_at(figure, 0, "SALIENT", 10), with_ten, 0.01 * with_ten);
  EXPECT_NEAR(y_at(figure, 0, "DUCATI", 2), y_at(figure, 0, "DUCATI", 16), 1e-6);
  EXPECT_NEAR(figure.claims[0].value.value(), 8 + 2 * (33.40 - 30.49) / (33.40 - with_ten), 0.1);
  EXPECT_EQ(figure.claims[0].holds, false);
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
  EXPECT_EQ(figure.printed_numbers, 7);
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
  EXPECT_EQ(tenth.claims[0].holds, true);
  EXPECT_NEAR(y_at(paper.figures.at(2), 0, "the most used tenth", 0), 75, 1e-9);
}

TEST(MeasuredFigures, NeedAProfileOrAMeasurement) {
  const auto figure = drawn_figure("gnnlab", "F16");
  EXPECT_THAT(figure.not_measured, HasSubstr("--measure"));
  EXPECT_TRUE(figure.charts.empty());
  EXPECT_FALSE(figure.claims.at(0).holds.has_value());
  EXPECT_THAT(figure.claims.at(0).why_not, HasSubstr("--measure"));
  sim::Simulator simulator;
  const profiles::Profile empty;
  EXPECT_THAT(
      [&] {
        draw_figures(simulator, "gnnlab", {"F16"}, {}, {&empty, {}});
      },
      ThrowsMessage<base::InputError>(HasSubstr("has no hit curves")));
  // A profile has no trainings.
  const auto trained = draw_figures(simulator, "neutronorch", {"F17"}, {}, {&empty, {}});
  EXPECT_THAT(trained.figures.at(0).not_measured, HasSubstr("a profile does not hold it"));
}

// What is measured enters as a function, and claims are decided on its charts.
TEST(MeasuredFigures, AreDrawnFromTheirMeasurement) {
  std::vector<std::string> asked;
  const auto measure = [&](const PanelSource& panel, const MeasuredOn& on) {
    asked.push_back(panel.measure);
    Chart chart;
    chart.measured_on = "a graph, fanouts of " + std::to_string(on.job.layers()) + " hops";
    chart.categories = {"own"};
    double accuracy = 90;
    for (const auto& series : panel.series) {
      chart.series.push_back({series.name, false, {{0, accuracy, 0.5}}});
      accuracy -= 0.6;
    }
    return chart;
  };
  sim::Simulator simulator;
  const auto figure = draw_figures(simulator, "neutronorch", {"F17"}, {}, {nullptr, measure}).figures.at(0);
  EXPECT_THAT(asked, ::testing::ElementsAre("accuracy_by_epoch", "test_accuracy", "staleness"));
  EXPECT_EQ(figure.verdict, Verdict::measured);
  EXPECT_EQ(figure.not_measured, "");
  EXPECT_EQ(figure.charts.at(1).title, "test");
  EXPECT_THAT(figure.charts.at(1).measured_on, HasSubstr("3 hops"));
  EXPECT_EQ(figure.charts.at(1).series.at(0).points.at(0).deviation, 0.5);
  EXPECT_NEAR(figure.claims.at(0).value.value(), 0.6, 1e-9);
  EXPECT_EQ(figure.claims.at(0).holds, true);
}

// The features of planted graphs tell as much as those of the data sets do: the accuracy of an MLP on arxiv
// and Products (Hu et al., "Open Graph Benchmark", NeurIPS 2020) and of raw features on Reddit (Hamilton et
// al., "Inductive Representation Learning on Large Graphs", NIPS 2017).
TEST(MeasuredFigures, PlantedGraphsHaveTheFeaturesOfTheirDataSets) {
  const std::map<std::string, double> published{
      {"planted like arxiv", 0.555}, {"planted like Products", 0.6106}, {"planted like Reddit", 0.585}};
  int planted = 0;
  for (const char* paper : {"neutronorch", "a3gnn", "hanoi", "joestar"}) {
    for (const auto& figure : find_figures(paper).figures) {
      if (figure.measured_on && figure.measured_on->planted) {
        ++planted;
        const auto& graph = *figure.measured_on->planted;
        EXPECT_NEAR(graph::feature_accuracy(graph), published.at(graph.name), 0.005) << paper << figure.id;
      }
    }
  }
  EXPECT_EQ(planted, 7);
}

// Hanoi's Table 4.3 is predicted, and counted where it can be.
TEST(MeasuredFigures, OfWhichAPartIsPredictedSayWhatIsLeftOut) {
  const auto figure = drawn_figure("hanoi", "T4.3");
  EXPECT_EQ(figure.charts.size(), 1U);
  EXPECT_EQ(figure.claims.at(0).holds, true);
  EXPECT_FALSE(figure.claims.at(1).holds.has_value());
  EXPECT_THAT(figure.not_measured, HasSubstr("--measure"));
}

// The rules decide: a figure of plans that no device executes gives the refusal as the reason, whether it is
// asked to measure or not.
TEST(MeasuredFigures, OfPlansThatDoNotRunGiveTheRefusal) {
  const auto host = plan::abilities_of(plan::DeviceKind::host);
  const auto refusal = plan::refusal_of(plan::find_plan("mariusgnn"), host);
  int measured = 0;
  const auto measure = [&](const PanelSource& panel, const MeasuredOn&) {
    ++measured;
    Chart chart;
    chart.categories = {"own"};
    for (const auto& series : panel.series) {
      chart.series.push_back({series.name, false, {{0, 1}}});
    }
    return chart;
  };
  sim::Simulator simulator;
  const auto figure = draw_figures(simulator, "hanoi", {"T4.2"}, {}, {nullptr, measure}).figures.at(0);
  EXPECT_EQ(measured, refusal.empty() ? 1 : 0);
  EXPECT_THAT(figure.not_measured, HasSubstr(refusal));
  EXPECT_EQ(figure.charts.size(), refusal.empty() ? 1U : 0U);
}

TEST(DrawFigures, NamesWhatThereIs) {
  sim::Simulator simulator;
  EXPECT_THAT(
      [&] { draw_figures(simulator, "morphgl", {"F99"}, {}); },
      ThrowsMessage<base::InputError>(HasSubstr("\"F99\" is not in morphgl; use all or some of F1, F2")));
  const auto two = draw_figures(simulator, "morphgl", {"T3", "F2"}, {});
  ASSERT_EQ(two.figures.size(), 2U);  // in the paper's order
  EXPECT_EQ(two.figures[0].id, "F2");
  EXPECT_TRUE(two.figures[0].charts.empty());
}

TEST(DrawFigures, SayHowManyClaimsHold) {
  DrawnFigure figure;
  EXPECT_EQ(figure.verdict_on_claims(), "");
  figure.claims.resize(3);
  figure.claims[0].holds = true;
  figure.claims[1].holds = false;
  figure.claims[1].text = "water is dry";
  EXPECT_EQ(figure.verdict_on_claims(), "1 of 2 claims holds here; not so: water is dry.");
  figure.claims[1].holds = true;
  EXPECT_EQ(figure.verdict_on_claims(), "All 2 claims hold here.");
}

}  // namespace
}  // namespace gnomon::reproduce
