#include "graph/store/checked_store.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "base/atomic_file.h"
#include "base/crc32.h"
#include "base/document.h"
#include "base/error.h"
#include "graph/generate/generate.h"
#include "tests/fixtures/graphs.h"
#include "tests/fixtures/message_of.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::graph {
namespace {

using std::chrono::hours;
namespace fs = std::filesystem;

class CheckedStore : public testing::Test {
 protected:
  void SetUp() override {
    generate(test::tiny_partition(), store_);
    make_old();
  }
  /// As if nothing had changed for an hour.
  void make_old() const {
    for (const auto& entry : fs::directory_iterator(store_)) {
      fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - hours(1));
    }
  }
  /// Makes the last index of indices.npy invalid.
  void damage() const {
    std::fstream file(store_ / "indices.npy", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-8, std::ios::end);
    const std::int64_t id = -1;
    file.write(reinterpret_cast<const char*>(&id), sizeof(id));
  }
  bool passes() const {
    try {
      validate_once(open_store(store_), true);
      return true;
    } catch (const base::InputError&) {
      return false;
    }
  }
  const test::TemporaryDirectory directory_;
  const fs::path store_ = directory_.path() / "store";
};

TEST_F(CheckedStore, IsNotReadAgainUntilAFileChanges) {
  EXPECT_TRUE(passes());
  EXPECT_TRUE(fs::exists(store_ / "checked.json"));
  const auto before = fs::last_write_time(store_ / "indices.npy");
  damage();
  fs::last_write_time(store_ / "indices.npy", before);  // only content that is read would tell
  EXPECT_TRUE(passes());
  fs::last_write_time(store_ / "indices.npy", before + hours(1));
  EXPECT_FALSE(passes());
}

TEST_F(CheckedStore, IsNotMarkedIfItIsAtFault) {
  damage();
  make_old();
  EXPECT_FALSE(passes());
  EXPECT_FALSE(fs::exists(store_ / "checked.json"));
}

TEST_F(CheckedStore, IsNotMarkedWhileItsFilesAreNew) {
  fs::last_write_time(store_ / "labels.npy", fs::file_time_type::clock::now());
  EXPECT_TRUE(passes());
  EXPECT_FALSE(fs::exists(store_ / "checked.json"));
}

TEST_F(CheckedStore, ADamagedMarkIsWrittenAnew) {
  EXPECT_TRUE(passes());
  std::ofstream(store_ / "checked.json") << "{";
  EXPECT_TRUE(passes());
  EXPECT_GT(fs::file_size(store_ / "checked.json"), 10);
}

TEST_F(CheckedStore, ChecksumsDecideWhereOnlyTimesDiffer) {
  EXPECT_TRUE(passes());
  damage();
  auto mark = base::parse_json(base::read_file(store_ / "checked.json"), "");
  for (auto& file : mark["files"]) {
    if (file["name"] == "indices.npy") {
      const auto content = base::read_file(store_ / "indices.npy");
      EXPECT_NE(file["crc32"][0], base::crc32(std::as_bytes(std::span(content))));
      file["crc32"][0] = base::crc32(std::as_bytes(std::span(content)));
    }
  }
  std::ofstream(store_ / "checked.json") << mark;
  make_old();
  EXPECT_TRUE(passes()) << "as the checksums are those of a store that was checked";
  damage();
  make_old();
  EXPECT_TRUE(passes()) << "and the mark has the new times";
  fs::remove(store_ / "checked.json");
  EXPECT_FALSE(passes());
}

TEST_F(CheckedStore, ContentThatChangesSilentlyIsFound) {
  const Graph graph = open_store(store_);
  verify(graph, true);
  EXPECT_TRUE(fs::exists(store_ / "checked.json"));
  verify(graph, true);
  const auto before = fs::last_write_time(store_ / "features.npy");
  {
    std::fstream file(store_ / "features.npy", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(5000);
    file.put('\x01');  // a valid number
  }
  fs::last_write_time(store_ / "features.npy", before);
  const auto bytes = std::to_string(fs::file_size(store_ / "features.npy") - 1);
  EXPECT_EQ(test::message_of(directory_.path(), [&] { verify(graph, true); }),
            "store/features.npy: bytes 0 to " + bytes +
                " changed since the store was checked, though the file's time did not; restore the file, or "
                "remove checked.json if that was meant");
}

TEST_F(CheckedStore, StillNeedsWhatTrainingNeeds) {
  EXPECT_TRUE(passes());
  Graph graph = open_store(store_);
  graph.train = {};
  EXPECT_THROW(validate_once(graph, true), base::InputError);
  validate_once(graph, false);
}

}  // namespace
}  // namespace gnomon::graph
