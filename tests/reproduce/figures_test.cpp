#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "plan/plan.h"
#include "reproduce/figures/drawn.h"
#include "reproduce/figures/figure_document.h"
#include "reproduce/reproduce.h"
#include "sim/simulator.h"
#include "tests/reproduce/drawn_figure.h"

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

// Figures and tables by the sections that they are printed in: each of a kind in the order of their numbers.
TEST(Figures, StandInTheOrderOfTheirSections) {
  std::vector<std::string> ids;
  for (const auto& figure : find_figures("morphgl").figures) {
    ids.push_back(figure.id);
  }
  EXPECT_THAT(ids, ::testing::ElementsAre("F1", "F2", "F3", "F4", "F5", "F6", "T1", "T2", "T3", "F7", "T4",
                                          "F8", "T5", "T6", "T7", "T8", "F9", "F10"));
  for (const auto& paper : {"neutronorch", "hanoi", "joestar", "a3gnn"}) {
    std::map<char, double> last;
    for (const auto& figure : find_figures(paper).figures) {
      const auto dot = figure.id.find('.');
      const double number = dot == std::string::npos ? std::stod(figure.id.substr(1))
                                                     : 100 * std::stod(figure.id.substr(1, dot - 1)) +
                                                           std::stod(figure.id.substr(dot + 1));
      EXPECT_GT(number, last[figure.id[0]]) << paper << " " << figure.id;
      last[figure.id[0]] = number;
    }
  }
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
  EXPECT_THAT(
      wrong(head + R"("panels": [{"y_label": "y"}]})"),
      ThrowsMessage<base::InputError>(HasSubstr("needs one of profiles, table, draw, measure and from")));
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
  EXPECT_THAT(wrong(head + R"("panels": [{"draw": "x", "y_label": "y"}],
                             "claims": [{"text": "t", "where": "w", "of": {"series": "a"}, "printed": 1,
                                         "limit": true}]})"),
              ThrowsMessage<base::InputError>(HasSubstr("could not fail")));
  EXPECT_THAT(wrong(head + R"("panels": [{"from": "x", "y_label": "y"}]})"),
              ThrowsMessage<base::InputError>(HasSubstr(".derived: belongs to from")));
  EXPECT_THAT(wrong(head + R"("panels": [{"from": "x", "derived": "lost", "y_label": "y"}]})"),
              ThrowsMessage<base::InputError>(HasSubstr(".base: belongs to lost")));
  EXPECT_THAT(wrong(head + R"("panels": [{"draw": "x", "y_label": "y", "colour": 1}]})"),
              ThrowsMessage<base::InputError>(HasSubstr("colour")));
  EXPECT_THAT(wrong(R"({"id": "F1", "shows": "s", "verdict": "not", "why": "w"},
                       {"id": "F1", "shows": "s", "verdict": "not", "why": "w"})"),
              ThrowsMessage<base::InputError>(HasSubstr("there twice")));
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
      EXPECT_NE(claim.holds().has_value(), !claim.why_not.empty()) << figure.id << ": " << claim.text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Papers, EveryFigure,
                         testing::Values("morphgl", "neutronorch", "a3gnn", "hanoi", "joestar",
                                         "pytorch-direct", "gnnlab", "ducati"),
                         [](const auto& paper) { return paper.param.substr(0, paper.param.find('-')); });

TEST(MeasuredFigures, NeedAProfileOrAMeasurement) {
  const auto figure = drawn_figure("gnnlab", "F16");
  EXPECT_THAT(figure.not_measured, HasSubstr("--measure"));
  EXPECT_TRUE(figure.charts.empty());
  EXPECT_FALSE(figure.claims.at(0).holds().has_value());
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
  EXPECT_THAT(asked, ::testing::ElementsAre("accuracy_by_epoch", "test_accuracy", "accuracy_by_setting",
                                            "staleness_by_setting", "staleness"));
  EXPECT_EQ(figure.verdict, Verdict::measured);
  EXPECT_EQ(figure.not_measured, "");
  EXPECT_EQ(figure.charts.at(1).title, "test");
  EXPECT_THAT(figure.charts.at(1).measured_on, HasSubstr("3 hops"));
  EXPECT_EQ(figure.charts.at(1).series.at(0).points.at(0).deviation, 0.5);
  EXPECT_NEAR(figure.claims.at(0).value.value(), 0.6, 1e-9);
  EXPECT_EQ(figure.claims.at(0).direction, true);
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
  EXPECT_EQ(figure.claims.at(0).direction, true);
  EXPECT_FALSE(figure.claims.at(1).holds().has_value());
  EXPECT_EQ(figure.not_measured, "counted (it is measured: --measure)");
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
  EXPECT_EQ(figure.charts.size(), refusal.empty() ? 2U : 0U);  // and what follows from it
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
  EXPECT_EQ(figure.verdict_on_claims(), "None of its claims can be computed here.");
  figure.claims[0].direction = true;
  EXPECT_EQ(figure.verdict_on_claims(), "1 of 1 claim points the way the paper says.");
  figure.claims[1].direction = false;
  figure.claims[1].text = "water is dry";
  figure.claims[2].text = "ten times";
  figure.claims[2].size = false;
  figure.claims[2].error = -0.82;
  EXPECT_EQ(figure.verdict_on_claims(),
            "1 of 2 claims point the way the paper says; not so: water is dry. 0 of 1 printed size is met "
            "within 20 %; not so: ten times, -82 %.");
}

}  // namespace
}  // namespace gnomon::reproduce
