#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "graph/import/import.h"
#include "tests/fixtures/message_of.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::graph {

/// Imports into stores in a directory of the test's own.
class ImportFixture : public testing::Test {
 protected:
  Graph import(const ImportOptions& options) {
    const auto destination = directory_ / ("g" + std::to_string(made_++));
    import_graph(options, destination);
    Graph graph = open_store(destination);
    validate(graph, false);
    return graph;
  }
  /// The error of an import, which must leave nothing behind.
  std::string error(const ImportOptions& options) {
    const auto count = [&] {
      return std::distance(std::filesystem::directory_iterator(directory_.path()), {});
    };
    const auto before = count();
    const std::string message = test::message_of(directory_.path(), [&] { import(options); });
    EXPECT_EQ(count(), before) << message;
    return message;
  }

  test::TemporaryDirectory directory_;

 private:
  int made_ = 0;
};

}  // namespace gnomon::graph
