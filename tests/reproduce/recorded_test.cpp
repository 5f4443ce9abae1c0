#include "reproduce/figures/recorded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/temporary_directory.h"
#include "reproduce/figures/drawn.h"

namespace gnomon::reproduce {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// What a measurement of Hanoi's T4.2 found: accuracies of 90, 87 and 80 %.
constexpr const char* figure_text = R"({"id": "T4.2", "claims": [{"text": "older words"}], "charts": [
  {"title": "MariusGNN", "kind": "bars", "categories": ["planted"], "measured_on": "a graph",
   "series": [{"name": "in memory", "points": [{"x": 0, "y": 90}]},
              {"name": "1/8 resident", "points": [{"x": 0, "y": 87, "deviation": 0.5}]},
              {"name": "1/16 resident", "points": [{"x": 0, "y": 80}]},
              {"name": "1/16 resident", "printed": true, "points": [{"x": 0, "y": 1}]}]}]})";

class Recorded : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) {
    const auto path = place_ / "record.json";
    base::write_file_atomically(path, text);
    return path;
  }

  RecordedCharts charts() {
    return {write(R"({"schema": "gnomon.drawn_figures/1", "paper": "hanoi", "figures": [)" +
                  std::string(figure_text) + "]}"),
            "hanoi"};
  }

 private:
  base::TemporaryDirectory place_;
};

TEST_F(Recorded, ChartsAreFoundByFigureAndPanel) {
  const auto recorded = charts();
  const auto chart = recorded.find("T4.2", "MariusGNN");
  ASSERT_TRUE(chart.has_value());
  EXPECT_EQ(chart->series.size(), 3U);  // printed numbers come from the document
  EXPECT_EQ(chart->series[1].points[0].deviation, 0.5);
  EXPECT_FALSE(recorded.find("T4.2", "lost").has_value());
  EXPECT_FALSE(recorded.find("F4.2", "MariusGNN").has_value());
}

// Claims are decided anew on the recorded charts, and derived panels are computed from them.
TEST_F(Recorded, FiguresAreDrawnAsIfTheyWereMeasured) {
  const auto recorded = charts();
  sim::Simulator simulator;
  const auto paper = draw_figures(simulator, "hanoi", {"T4.2", "F4.2"}, {}, {nullptr, {}, &recorded});
  const auto& other = paper.figures.at(0);
  EXPECT_THAT(other.not_measured, HasSubstr("not in the record"));
  const auto& figure = paper.figures.at(1);
  EXPECT_EQ(figure.not_measured, "");
  EXPECT_EQ(figure.charts.at(0).measured_on, "a graph");
  EXPECT_NEAR(figure.claims.at(0).value.value(), 3, 1e-12);
  EXPECT_EQ(figure.claims.at(0).direction, true);
  EXPECT_EQ(figure.claims.at(0).size, true);  // 2.5 points are printed
  EXPECT_NEAR(figure.claims.at(1).value.value(), 7, 1e-12);
  EXPECT_EQ(figure.claims.at(1).size, false);  // 1
  EXPECT_NEAR(figure.charts.at(1).find("1/16 resident")->points.at(0).y, 10, 1e-12);
}

TEST_F(Recorded, RecordsOfSeveralPapersAreReadToo) {
  const auto path = write(R"({"schema": "gnomon.measured_figures/1", "papers": {"hanoi": [)" +
                          std::string(figure_text) + "]}}");
  EXPECT_TRUE(RecordedCharts(path, "hanoi").find("T4.2", "MariusGNN").has_value());
  EXPECT_FALSE(RecordedCharts(path, "joestar").find("T4.2", "MariusGNN").has_value());
}

TEST_F(Recorded, OtherDocumentsAreRefused) {
  const auto reading = [this](const std::string& text) {
    return [this, text] { RecordedCharts(write(text), "hanoi"); };
  };
  EXPECT_THAT(reading("[]"), ThrowsMessage<base::InputError>(HasSubstr("is no record of figures")));
  EXPECT_THAT(reading(R"({"schema": 1})"),
              ThrowsMessage<base::InputError>(HasSubstr("is no record of figures")));
  EXPECT_THAT(reading(R"({"schema": "gnomon.drawn_figures/1", "paper": "ducati"})"),
              ThrowsMessage<base::InputError>(HasSubstr("has figures of ducati, not of hanoi")));
  EXPECT_THAT(reading(R"({"schema": "gnomon.drawn_figures/1", "paper": "hanoi",
                          "figures": [{"id": "F1", "charts": [{"titel": "x"}]}]})"),
              ThrowsMessage<base::InputError>(HasSubstr("titel")));
}

}  // namespace
}  // namespace gnomon::reproduce
