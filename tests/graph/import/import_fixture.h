#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "graph/import/import.h"
#include "tests/fixtures/message_of.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::graph {

/// Imports into stores in a directory of the test's own.
class ImportFixture : public testing::Test {
 protected:
  Graph import(const ImportOptions& options) {
    const auto destination = directory_ / ("g" + std::to_string(made_++));
    notes_ = import_graph(options, destination);
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

  ImportOptions options_for(const std::string& file) const {
    ImportOptions options;
    options.source = directory_ / file;
    return options;
  }

  test::TemporaryDirectory directory_;
  std::vector<std::string> notes_;  ///< of the last import

 private:
  int made_ = 0;
};

}  // namespace gnomon::graph
