#include "tuner/search/journal.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "base/document.h"
#include "base/error.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::tuner {
namespace {

/// A prediction that holds every value of the table.
sim::Prediction full_prediction() {
  sim::Prediction prediction;
  prediction.consumption = {.energy_j = 1, .price = 1};
  return prediction;
}

/// The places of all values below `json`.
std::vector<base::Json::json_pointer> values_of(
    const base::Json& json, const base::Json::json_pointer& at = base::Json::json_pointer()) {
  if (!json.is_object()) {
    return {at};
  }
  std::vector<base::Json::json_pointer> all;
  for (const auto& [name, value] : json.items()) {
    const auto below = values_of(value, at / name);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

class JournalFile : public ::testing::Test {
 protected:
  /// What a search that is resumed is told of a plan for which `prediction` was written down.
  sim::Prediction resumed(const sim::Prediction& prediction) {
    std::filesystem::remove(path);
    const std::vector<plan::Plan> plans(1);
    {
      Journal journal(path, search);
      journal.recording([&](const std::vector<plan::Plan>&) { return std::vector{prediction}; })(plans);
    }
    Journal journal(path, search);
    return journal
        .recording([](const std::vector<plan::Plan>&) -> std::vector<sim::Prediction> {
          throw base::Failure("journal", "was not asked");
        })(plans)
        .front();
  }

  const base::Json search = {{"seed", 1}};
  const test::TemporaryDirectory directory;
  const std::filesystem::path path = directory / "journal";
};

TEST_F(JournalFile, AChangedFieldShowsInDocumentPacketAndJournal) {
  const auto usual = full_prediction();
  const auto document = base::write_value(usual);
  const auto places = values_of(document);
  EXPECT_GE(places.size(), 34U) << "times, shares, consumption and both memories";
  for (const auto& place : places) {
    SCOPED_TRACE(place.to_string());
    auto changed = document;
    auto& value = changed[place];
    if (value.is_string()) {
      value = place.to_string() == "/memory/shortage" ? "device_memory" : "disk";
    } else if (value.is_number_float()) {
      value = 0.1 + 0.2;
    } else {
      value = 7;
    }
    sim::Prediction prediction;
    base::read_value(changed, prediction, "prediction", {});
    EXPECT_EQ(base::write_value(prediction), changed);
    EXPECT_NE(sim::pack(prediction), sim::pack(usual));
    EXPECT_EQ(base::write_value(sim::unpack(sim::pack(prediction))), changed);
    EXPECT_EQ(sim::pack(resumed(prediction)), sim::pack(prediction)) << "to the last bit";
  }
}

TEST_F(JournalFile, KeepsInfinity) {
  auto prediction = full_prediction();
  prediction.epoch_s = prediction.memory.missing_bytes = std::numeric_limits<double>::infinity();
  prediction.lower_bound_s = -prediction.epoch_s;
  prediction.blocked_on_cpu_s = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(sim::pack(resumed(prediction)), sim::pack(prediction));
}

TEST_F(JournalFile, AnswersKnownPlansInAnyOrderAndOnlyThose) {
  std::vector<plan::Plan> plans(4);
  for (int i = 0; i < std::ssize(plans); ++i) {
    plans[static_cast<std::size_t>(i)].workers = i + 1;
  }
  const auto by_workers = [](const std::vector<plan::Plan>& asked) {
    std::vector<sim::Prediction> predictions;
    for (const auto& plan : asked) {
      predictions.emplace_back().epoch_s = plan.workers;
    }
    return predictions;
  };
  {
    Journal journal(path, search);
    journal.recording(by_workers)({plans[0], plans[1], plans[2]});
  }
  std::vector<int> asked;
  Journal journal(path, search);
  EXPECT_EQ(journal.resumed(), 3U);
  const auto evaluate = journal.recording([&](const std::vector<plan::Plan>& unknown) {
    for (const auto& plan : unknown) {
      asked.push_back(plan.workers);
    }
    return by_workers(unknown);
  });
  const auto predictions = evaluate({plans[3], plans[2], plans[0]});
  ASSERT_EQ(predictions.size(), 3U);
  EXPECT_EQ(predictions[0].epoch_s, 4);
  EXPECT_EQ(predictions[1].epoch_s, 3);
  EXPECT_EQ(predictions[2].epoch_s, 1);
  evaluate({plans[3]});
  EXPECT_EQ(asked, std::vector{4}) << "once, and then recorded too";
}

TEST_F(JournalFile, OfAnEarlierVersionIsRefused) {
  std::ofstream(path) << R"({"schema":"gnomon.journal/1","seed":1})"
                      << "\n";
  try {
    const Journal journal(path, search);
    FAIL() << "was read";
  } catch (const base::InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("gnomon.journal/1"), std::string::npos) << message;
    EXPECT_NE(message.find("must be \"gnomon.journal/2\""), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace gnomon::tuner
