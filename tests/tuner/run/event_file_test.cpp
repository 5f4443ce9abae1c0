#include "tuner/run/event_file.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/fixtures/graphs.h"
#include "tests/fixtures/temporary_directory.h"
#include "tuner/run/training.h"

namespace gnomon::tuner {
namespace {

namespace fs = std::filesystem;

/// CRC-32C bit by bit, from the highest bit of the polynomial, as its definition has it.
std::uint32_t crc_by_definition(const std::string& bytes) {
  const auto reflected = [](std::uint32_t value, int bits) {
    std::uint32_t result = 0;
    for (int i = 0; i < bits; ++i) {
      result |= ((value >> i) & 1U) << (bits - 1 - i);
    }
    return result;
  };
  std::uint32_t remainder = 0xFFFFFFFFU;
  for (const char byte : bytes) {
    remainder ^= reflected(static_cast<unsigned char>(byte), 8) << 24;
    for (int bit = 0; bit < 8; ++bit) {
      const bool carries = (remainder >> 31) != 0;
      remainder = (remainder << 1) ^ (carries ? 0x1EDC6F41U : 0U);
    }
  }
  return ~reflected(remainder, 32);
}

TEST(Crc32c, IsThatOfTheStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);  // RFC 3720, B.4
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  EXPECT_EQ(crc32c(""), 0U);
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += static_cast<char>(i * i);
    ASSERT_EQ(crc32c(text), crc_by_definition(text));
  }
}

/// Reads a message of protocol buffers field by field.
class Message {
 public:
  explicit Message(std::string bytes) : bytes_(std::move(bytes)) {}
  bool is_at_end() const { return at_ == bytes_.size(); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.at(at_++));
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80U) == 0) {
        return value;
      }
    }
  }
  template <class T>
  T fixed() {
    T value{};
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string take(std::size_t count) {
    EXPECT_LE(at_ + count, bytes_.size());
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  std::string text() { return take(varint()); }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

struct Event {
  double wall_time = 0;
  std::int64_t step = 0;
  std::string file_version;
  std::map<std::string, float> scalars;
};

void parse_value(const std::string& bytes, Event& event) {
  Message value(bytes);
  EXPECT_EQ(value.varint(), 1U << 3 | 2);
  const auto tag = value.text();
  EXPECT_EQ(value.varint(), 2U << 3 | 5);
  EXPECT_TRUE(event.scalars.emplace(tag, value.fixed<float>()).second) << tag;
  EXPECT_TRUE(value.is_at_end());
}

Event parse_event(const std::string& bytes) {
  Event event;
  Message message(bytes);
  while (!message.is_at_end()) {
    switch (message.varint()) {
      case 1 << 3 | 1:
        event.wall_time = message.fixed<double>();
        break;
      case 2 << 3 | 0:
        event.step = static_cast<std::int64_t>(message.varint());
        break;
      case 3 << 3 | 2:
        event.file_version = message.text();
        break;
      case 5 << 3 | 2: {
        Message summary(message.text());
        while (!summary.is_at_end()) {
          EXPECT_EQ(summary.varint(), 1U << 3 | 2);
          parse_value(summary.text(), event);
        }
        break;
      }
      default:
        ADD_FAILURE() << "an unknown field";
        return event;
    }
  }
  return event;
}

std::uint32_t masked(const std::string& bytes) {
  const auto crc = crc_by_definition(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8U;
}

std::vector<Event> read_events(const fs::path& path) {
  Message file(base::read_file(path));
  std::vector<Event> events;
  while (!file.is_at_end()) {
    const auto length_bytes = file.take(8);
    EXPECT_EQ(file.fixed<std::uint32_t>(), masked(length_bytes));
    std::uint64_t length = 0;
    std::memcpy(&length, length_bytes.data(), 8);
    const auto data = file.take(length);
    EXPECT_EQ(file.fixed<std::uint32_t>(), masked(data));
    events.push_back(parse_event(data));
  }
  return events;
}

TEST(EventFile, HoldsTheScalarsOfEachStep) {
  const test::TemporaryDirectory directory;
  const auto before = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch());
  EventFile file(directory.path() / "new" / "events");
  EXPECT_TRUE(file.path().filename().string().starts_with("events.out.tfevents."));
  file.append(1, {{"loss/train", 0.75}, {"accuracy/valid", std::numeric_limits<double>::quiet_NaN()}});
  file.append(300, {{"loss/train", -1e-3}, {std::string(200, 'x'), 2}});
  const auto events = read_events(file.path());
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].file_version, "brain.Event:2");
  EXPECT_EQ(events[1].step, 1);
  EXPECT_EQ(events[1].scalars, (std::map<std::string, float>{{"loss/train", 0.75F}}));
  EXPECT_EQ(events[2].step, 300);
  EXPECT_EQ(events[2].scalars,
            (std::map<std::string, float>{{"loss/train", -1e-3F}, {std::string(200, 'x'), 2.0F}}));
  for (const auto& event : events) {
    EXPECT_GE(event.wall_time, before.count());
    EXPECT_LT(event.wall_time, before.count() + 60);
  }
}

TEST(EventFile, FilesOfOneDirectoryDoNotOverwriteEachOther) {
  const test::TemporaryDirectory directory;
  EXPECT_NE(EventFile(directory.path()).path(), EventFile(directory.path()).path());
  base::write_file_atomically(directory.path() / "file", "");
  EXPECT_THROW(EventFile(directory.path() / "file" / "inside"), base::Failure);
}

TEST(EventFile, ATrainingWritesItsMetrics) {
  const test::TemporaryDirectory directory;
  const auto graph = test::planted_graph(300, 8);
  TrainingRun run;
  run.files = make_run_directory((directory.path() / "run").string(), "x");
  run.job.fanouts = {4, 3};
  run.job.hidden = 8;
  run.job.epochs = 3;
  run.job.lr_schedule = plan::LrSchedule::cosine;
  run.job.metrics = {plan::Metric::accuracy, plan::Metric::roc_auc};
  run.plan = plan::resolve(plan::find_plan("device"), {1}, "device");
  run.tensorboard = directory.path() / "events";
  const auto result = run_training(graph, run);
  const auto events = read_events(fs::directory_iterator(run.tensorboard)->path());
  ASSERT_EQ(events.size(), 5U);  // version, three epochs, test
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& epoch = result.report.epochs[i];
    const auto& event = events[i + 1];
    EXPECT_EQ(event.step, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(event.scalars.at("loss/train"), static_cast<float>(epoch.loss));
    EXPECT_EQ(event.scalars.at("accuracy/valid"), static_cast<float>(epoch.valid_accuracy));
    EXPECT_EQ(event.scalars.at("roc_auc/valid"), static_cast<float>(epoch.valid_metrics[1].value));
    EXPECT_EQ(event.scalars.at("seconds/epoch"), static_cast<float>(epoch.seconds));
    EXPECT_EQ(event.scalars.at("learning_rate"),
              static_cast<float>(plan::learning_rate(run.job, static_cast<std::int64_t>(i))));
  }
  EXPECT_EQ(events[4].scalars.at("accuracy/test"), static_cast<float>(result.report.test_accuracy));
}

}  // namespace
}  // namespace gnomon::tuner
