#include "graph/store/store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>

#include "base/atomic_file.h"
#include "graph/generate/generate.h"
#include "tests/fixtures/message_of.h"
#include "tests/fixtures/small_disk.h"
#include "tests/fixtures/temporary_directory.h"
#include "tests/graph/graph_parts.h"

namespace gnomon::graph {
namespace {

GraphParts sample_parts() {
  GraphParts parts;
  parts.name = "sample";
  parts.num_vertices = 5;
  parts.edges = ring_edges(5);
  parts.edge_options.undirected = true;
  parts.feature_columns = 3;
  for (int i = 0; i < 15; ++i) {
    parts.features.push_back(static_cast<float>(i) * 0.5F);
  }
  parts.labels = {0, 1, -1, 2, 1};
  parts.train = {0, 3};
  parts.valid = {1};
  parts.test = {4};
  return parts;
}

void expect_same(const Graph& one, const Graph& other) {
  EXPECT_EQ(one.name, other.name);
  EXPECT_EQ(to_vector(one.indptr), to_vector(other.indptr));
  EXPECT_EQ(to_vector(one.indices), to_vector(other.indices));
  EXPECT_EQ(to_vector(one.labels), to_vector(other.labels));
  EXPECT_EQ(one.num_classes, other.num_classes);
  EXPECT_EQ(to_vector(one.train), to_vector(other.train));
  EXPECT_EQ(to_vector(one.valid), to_vector(other.valid));
  EXPECT_EQ(to_vector(one.test), to_vector(other.test));
  ASSERT_EQ(one.features.type, other.features.type);
  ASSERT_EQ(one.features.rows, other.features.rows);
  ASSERT_EQ(one.features.columns, other.features.columns);
  const auto bytes = static_cast<std::size_t>(one.features.rows * one.features.row_bytes());
  EXPECT_TRUE(bytes == 0 || std::memcmp(one.features.data, other.features.data, bytes) == 0);
}

TEST(Store, KeepsTheGraphInARoundTrip) {
  for (const auto type : {FeatureType::fp32, FeatureType::fp16, FeatureType::bf16}) {
    const test::TemporaryDirectory directory;
    auto parts = sample_parts();
    parts.feature_type = type;
    const Graph graph = make_graph(parts);
    write_store(graph, directory / "g");
    const Graph opened = open_store(directory / "g");
    validate(opened, true);
    expect_same(opened, graph);
    EXPECT_EQ(opened.directory, directory / "g");
  }
}

/// Turns a store into one of version 1: ids of 64 bits, data behind headers of 128 bytes.
void make_version_1(const std::filesystem::path& store) {
  const Graph graph = open_store(store);
  const auto ids = to_vector(graph.indices);
  for (const auto& entry : std::filesystem::directory_iterator(store)) {
    if (entry.path().extension() != ".npy") {
      continue;
    }
    const MappedNpy npy = map_npy(entry.path());
    const bool is_ids = entry.path().filename() == "indices.npy";
    const auto header = format_npy_header(is_ids ? DType::int64 : npy.header.type, npy.header.shape);
    const auto data = is_ids ? std::as_bytes(std::span(ids))
                             : std::span(npy.file.data() + npy.header.data_offset, npy.header.data_bytes());
    std::string text =
        header.substr(0, 127) + "\n" + std::string(reinterpret_cast<const char*>(data.data()), data.size());
    text[8] = 118;
    text[9] = 0;
    base::write_file_atomically(entry.path(), text);
  }
  std::string meta = base::read_file(store / "meta.json");
  meta.replace(meta.find("gnomon.graph/2"), 14, "gnomon.graph/1");
  base::write_file_atomically(store / "meta.json", meta);
}

TEST(Store, Version1IsReadAndConverted) {
  const test::TemporaryDirectory directory;
  PlantedPartition options{.vertices = 300, .average_degree = 12, .classes = 3, .feature_columns = 5};
  generate(options, directory / "g");
  const Graph graph = open_store(directory / "g");
  std::filesystem::copy(directory / "g", directory / "old");
  make_version_1(directory / "old");
  const Graph old = open_store(directory / "old");
  validate(old, true);
  EXPECT_FALSE(old.indices.is_narrow());
  EXPECT_EQ(read_store_meta(directory / "old").version, 1);
  expect_same(old, graph);
  write_store(old, directory / "new");
  const Graph converted = open_store(directory / "new");
  EXPECT_TRUE(converted.indices.is_narrow());
  EXPECT_EQ(read_store_meta(directory / "new").version, 2);
  EXPECT_EQ(read_store_meta(directory / "new").provenance.made_by,
            read_store_meta(directory / "g").provenance.made_by);
  expect_same(converted, graph);
  for (const auto& entry : std::filesystem::directory_iterator(directory / "g")) {
    EXPECT_EQ(base::read_file(directory / "new" / entry.path().filename()), base::read_file(entry.path()))
        << entry.path();
  }
}

TEST(Store, IdsThatAreNoVerticesAreNotConverted) {
  const test::TemporaryDirectory directory;
  const std::vector<std::int64_t> indptr{0, 1, 2};
  const std::vector<VertexId> indices{1, -1};
  Graph graph;
  graph.name = "g";
  graph.indptr = indptr;
  graph.indices = indices;
  EXPECT_EQ(test::message_of("", [&] { write_store(graph, directory / "g"); }),
            "g: indices: vertex -1 is out of range; use 0 to 1");
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

/// Frees what std::aligned_alloc returned.
struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};

TEST(Store, RowsAreReadPastThePageCache) {
  const test::TemporaryDirectory directory;
  for (const std::int64_t columns : {64, 100, 128, 300, 2048}) {  // 256 to 8192 bytes a row
    const auto store = directory / std::to_string(columns);
    generate(PlantedPartition{.vertices = 200, .average_degree = 2, .classes = 2, .feature_columns = columns},
             store);
    const Graph graph = open_store(store);
    const int file = ::open((store / "features.npy").c_str(), O_RDONLY | O_DIRECT);
    if (file < 0) {
      GTEST_SKIP() << "the file system has no direct I/O";
    }
    const std::int64_t block = 512;
    const std::int64_t row_bytes = graph.features.row_bytes();
    for (const VertexId row : {0, 1, 7, 133, 199}) {
      const std::int64_t begin = 4096 + row * row_bytes;
      const std::int64_t first = begin / block * block;
      const std::int64_t blocks = (begin + row_bytes - first + block - 1) / block;
      const std::int64_t needed = (row_bytes + block - 1) / block;
      EXPECT_LE(blocks, block % row_bytes == 0 || row_bytes % block == 0 ? needed : needed + 1);
      const auto bytes = static_cast<std::size_t>(blocks * block);
      const std::size_t pages = (bytes + 4095) / 4096;
      const std::unique_ptr<std::byte, Free> memory(
          static_cast<std::byte*>(std::aligned_alloc(4096, 4096 * pages)));
      ASSERT_GE(::pread(file, memory.get(), bytes, first), begin + row_bytes - first) << std::strerror(errno);
      EXPECT_EQ(std::memcmp(memory.get() + (begin - first), graph.features.row(row),
                            static_cast<std::size_t>(row_bytes)),
                0);
    }
    ::close(file);
  }
}

TEST(Store, NeedsNoFeaturesLabelsOrEdges) {
  const test::TemporaryDirectory directory;
  GraphParts parts;
  parts.num_vertices = 3;
  const Graph graph = make_graph(parts);
  write_store(graph, directory / "g");
  expect_same(open_store(directory / "g"), graph);
  validate(open_store(directory / "g"), false);
}

TEST(Store, CopiesOutliveTheFirst) {
  const test::TemporaryDirectory directory;
  write_store(make_graph(sample_parts()), directory / "g");
  Graph copy;
  {
    const Graph opened = open_store(directory / "g");
    copy = opened;
  }
  std::filesystem::remove_all(directory / "g");
  validate(copy, true);
}

TEST(Store, OpeningDoesNotReadTheContents) {
  // Files of 100 GB that are all hole: reading them would outlast the test.
  const test::TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "g");
  const std::int64_t vertices = 200'000'000;
  const std::int64_t columns = 128;
  const auto hole = [&](const char* name, DType type, const std::vector<std::int64_t>& shape) {
    std::ofstream(directory / "g" / name, std::ios::binary) << format_npy_header(type, shape);
    const NpyHeader header{type, shape, npy_header_bytes};
    std::filesystem::resize_file(directory / "g" / name, npy_header_bytes + header.data_bytes());
  };
  hole("indptr.npy", DType::int64, {vertices + 1});
  hole("indices.npy", DType::int64, {0});
  hole("features.npy", DType::float32, {vertices, columns});
  for (const char* split : {"train.npy", "valid.npy", "test.npy"}) {
    hole(split, DType::int64, {0});
  }
  base::write_document(directory / "g/meta.json",
                       StoreMeta{"huge", vertices, 0, 0, columns, FeatureType::fp32, {}});
  const Graph graph = open_store(directory / "g");
  EXPECT_EQ(graph.num_vertices(), vertices);
  EXPECT_EQ(graph.features.row_bytes(), 512);
}

TEST(Store, AnExistingDirectoryIsLeftAlone) {
  const test::TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "g");
  EXPECT_EQ(
      test::message_of(directory.path(), [&] { write_store(make_graph(sample_parts()), directory / "g"); }),
      "g: already exists; give a new name or remove it first");
  EXPECT_TRUE(std::filesystem::is_empty(directory / "g"));
}

/// Each fault on disk that opening finds. The act spoils the store in `g`.
class StoreFaults : public testing::Test {
 protected:
  StoreFaults() { write_store(make_graph(sample_parts()), directory_ / "g"); }
  std::filesystem::path file(const char* name) const { return directory_ / "g" / name; }
  template <class T>
  void replace(const char* name, DType type, std::vector<T> elements, std::int64_t columns = 0) const {
    NpyWriter writer(file(name), type, columns);
    writer.write(std::span<const T>(elements));
    writer.finish();
  }
  std::string open_error() const {
    return test::message_of(directory_.path(), [&] { open_store(directory_ / "g"); });
  }
  std::string validate_error(bool for_training = false) const {
    return test::message_of(directory_.path(), [&] { validate(open_store(directory_ / "g"), for_training); });
  }
  test::TemporaryDirectory directory_;
};

TEST_F(StoreFaults, TruncatedAndMissingFilesAreNamed) {
  std::filesystem::resize_file(file("indices.npy"), 4096 + 36);
  EXPECT_EQ(open_error(), "g/indices.npy: is truncated: 4132 bytes, where shape (10,) needs 4136");
  std::filesystem::resize_file(file("indices.npy"), 60);
  EXPECT_EQ(open_error(), "g/indices.npy: is truncated inside its .npy header");
  std::filesystem::resize_file(file("indices.npy"), 0);
  EXPECT_EQ(open_error(), "g/indices.npy: is not a .npy file");
  std::filesystem::remove(file("indices.npy"));
  EXPECT_EQ(open_error(), "g/indices.npy: cannot be read: No such file or directory");
}

TEST_F(StoreFaults, WrongTypesAndShapesAreNamed) {
  replace<std::int32_t>("indptr.npy", DType::int32, {0, 1, 2, 3, 4, 10});
  EXPECT_EQ(open_error(), "g/indptr.npy: has type <i4; must be <i8");
  replace<std::int64_t>("indptr.npy", DType::int64, {0, 2, 10});
  EXPECT_EQ(open_error(), "g/indptr.npy: has shape (3,); must be (6,)");
  replace<std::int64_t>("indptr.npy", DType::int64, {0, 2, 4, 6, 8, 11});
  EXPECT_EQ(open_error(), "g/indptr.npy: ends with 11; must be num_edges 10");
  replace<std::int64_t>("indptr.npy", DType::int64, {1, 2, 4, 6, 8, 10});
  EXPECT_EQ(open_error(), "g/indptr.npy: begins with 1; must be 0");
  replace<std::int64_t>("indptr.npy", DType::int64, {0, 2, 4, 6, 8, 10});
  replace<float>("features.npy", DType::float32, {1, 2, 3, 4}, 2);
  EXPECT_EQ(open_error(), "g/features.npy: has shape (2, 2); must be (5, 3)");
}

TEST_F(StoreFaults, FortranOrderAndForeignTypesAreRefused) {
  const auto write_header = [&](const std::string& descr, const std::string& order) {
    std::string header = format_npy_header(DType::float32, {5, 3});
    header.replace(header.find("<f4"), 3, descr);
    header.replace(header.find("False"), 5, order);
    std::ofstream(file("features.npy"), std::ios::binary) << header << std::string(60, '\0');
  };
  write_header("<f4", "True ");
  EXPECT_EQ(open_error(),
            "g/features.npy: is in Fortran order; save it in C order (numpy.ascontiguousarray)");
  write_header(">f4", "False");
  EXPECT_EQ(open_error(), "g/features.npy: type >f4 cannot be read; use a little-endian bool, int or float");
  write_header("<f4", "False");
  EXPECT_EQ(open_error(), "no error");
}

TEST_F(StoreFaults, WrongMetadataIsNamed) {
  const auto spoil = [&](const std::string& from, const std::string& to) {
    std::string text = base::read_file(file("meta.json"));
    text.replace(text.find(from), from.size(), to);
    base::write_file_atomically(file("meta.json"), text);
  };
  spoil("gnomon.graph/2", "gnomon.graph/9");
  EXPECT_EQ(open_error(),
            "g/meta.json: schema: \"gnomon.graph/9\" cannot be read here; must be \"gnomon.graph/2\"");
  spoil("gnomon.graph/9", "gnomon.graph/2");
  spoil("\"num_edges\": 10", "\"num_edges\": 12");
  EXPECT_EQ(open_error(), "g/indices.npy: has shape (10,); must be (12,)");
  spoil("\"num_edges\": 12", "\"colour\": 10");
  EXPECT_EQ(open_error(), "g/meta.json: num_edges: is missing");
}

TEST_F(StoreFaults, FallingOffsetsAndIdsOutOfRangeAreNamed) {
  EXPECT_EQ(validate_error(true), "no error");
  replace<std::int64_t>("indptr.npy", DType::int64, {0, 2, 5, 4, 8, 10});
  EXPECT_EQ(validate_error(), "g/indptr.npy: not monotone at position 3: 4 after 5");
  replace<std::int64_t>("indptr.npy", DType::int64, {0, 2, 4, 6, 8, 10});
  replace<std::int64_t>("indices.npy", DType::int64, {1, 4, 0, 5, 1, 3, 2, 4, 0, -3});
  EXPECT_EQ(validate_error(), "g/indices.npy: vertex 5 at position 3 is out of range; use 0 to 4");
  replace<std::int64_t>("indices.npy", DType::int64, {1, 4, 0, 2, 1, 3, 2, 4, 0, -3});
  EXPECT_EQ(validate_error(), "g/indices.npy: vertex -3 at position 9 is out of range; use 0 to 4");
  replace<std::uint32_t>("indices.npy", DType::uint32, {1, 4, 0, 2, 1, 3, 7, 4, 0, 3});
  EXPECT_EQ(validate_error(), "g/indices.npy: vertex 7 at position 6 is out of range; use 0 to 4");
}

TEST_F(StoreFaults, WrongFeaturesAndLabelsAreNamed) {
  std::vector<float> features(15, 1.0F);
  features[7] = std::numeric_limits<float>::quiet_NaN();
  replace("features.npy", DType::float32, features, 3);
  EXPECT_EQ(validate_error(), "g/features.npy: NaN or infinite in row 2; features must be finite");
  features[7] = -std::numeric_limits<float>::infinity();
  replace("features.npy", DType::float32, features, 3);
  EXPECT_EQ(validate_error(), "g/features.npy: NaN or infinite in row 2; features must be finite");
  features[7] = std::numeric_limits<float>::denorm_min();
  replace("features.npy", DType::float32, features, 3);
  replace<std::int32_t>("labels.npy", DType::int32, {0, 1, 2, 3, 0});
  EXPECT_EQ(validate_error(),
            "g/labels.npy: label 3 of vertex 3 is out of range; use 0 to 2, or -1 for unknown");
  replace<std::int32_t>("labels.npy", DType::int32, {0, 1, 2, 1, -2});
  EXPECT_EQ(validate_error(),
            "g/labels.npy: label -2 of vertex 4 is out of range; use 0 to 2, or -1 for unknown");
}

TEST_F(StoreFaults, WrongSplitsAreNamed) {
  replace<std::int64_t>("valid.npy", DType::int64, {1, 1});
  EXPECT_EQ(validate_error(), "g/valid.npy: vertex 1 is repeated; list each vertex once");
  replace<std::int64_t>("valid.npy", DType::int64, {1, 3});
  EXPECT_EQ(validate_error(), "g/valid.npy: vertex 3 is also in the split train; splits must be disjoint");
  replace<std::int64_t>("valid.npy", DType::int64, {5});
  EXPECT_EQ(validate_error(), "g/valid.npy: vertex 5 is out of range; use 0 to 4");
  replace<std::int64_t>("valid.npy", DType::int64, {2, 1});
  EXPECT_EQ(validate_error(), "g/valid.npy: vertex 1 follows 2; must be ascending");
  replace<std::int64_t>("valid.npy", DType::int64, {});
  replace<std::int64_t>("train.npy", DType::int64, {0, 2});
  EXPECT_EQ(validate_error(), "no error");
  EXPECT_EQ(validate_error(true), "g/train.npy: vertex 2 has no label (-1); training vertices need one");
  replace<std::int64_t>("train.npy", DType::int64, {});
  EXPECT_EQ(validate_error(true), "g/train.npy: is empty; training needs at least one vertex");
}

TEST(Validate, TrainingNeedsFeaturesAndLabels) {
  auto parts = sample_parts();
  parts.labels.clear();
  EXPECT_EQ(test::message_of("", [&] { validate(make_graph(parts), true); }),
            "sample: labels: is missing; training needs labels");
  parts.features.clear();
  parts.feature_columns = 0;
  EXPECT_EQ(test::message_of("", [&] { validate(make_graph(parts), true); }),
            "sample: features: is missing; training needs features");
}

TEST(Validate, TheFirstFaultOfManyBlocksIsNamed) {
  GraphParts parts;
  parts.num_vertices = 300000;
  parts.labels.assign(300000, 0);
  parts.labels[270001] = -5;
  parts.labels[123456] = -4;
  EXPECT_EQ(test::message_of("", [&] { validate(make_graph(parts), false); }),
            "graph: labels: label -4 of vertex 123456 is out of range; use 0 to 0, or -1 for unknown");
}

TEST(FullDisk, IsAFailureAndLeavesNothing) {
  const test::SmallDisk disk;
  if (!disk.mounted()) {
    GTEST_SKIP() << "mounting a small tmpfs needs root";
  }
  const auto& path = disk.directory().path();
  const auto failure_of = [&](auto act) { return test::message_of<base::Failure>(path, act); };
  PlantedPartition many_features{.vertices = 4000, .average_degree = 2};
  EXPECT_NE(
      failure_of([&] { generate(many_features, path / "g"); }).find("features.npy: cannot write: No space"),
      std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(path));
  PlantedPartition many_edges{.vertices = 4000, .average_degree = 100};
  EXPECT_NE(failure_of([&] {
              generate(many_edges, path / "g");
            }).find("indices.npy: cannot reserve 1604096 bytes: No space"),
            std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(path));
  const Graph graph = generate_in_memory(many_edges);
  EXPECT_NE(failure_of([&] { write_store(graph, path / "g"); }).find("indices.npy: cannot write: No space"),
            std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(path));
}

}  // namespace
}  // namespace gnomon::graph
