#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/partition/parts.h"
#include "runtime/disk/array_file.h"
#include "runtime/macro/macro_loader.h"
#include "runtime/macro/resident_hubs.h"
#include "runtime/macro/spare_arrays.h"
#include "runtime/macro/stored_lists.h"

namespace gnomon::runtime {

class MacroBuild;

/// Reads macro-batches from a store whose vertices are ordered by part (MariusGNN, Waleffe et al., EuroSys
/// 2023; Hanoi: Huang, PhD thesis, MIT, 2025, chapter 4). A macro-batch consists of `resident` parts, drawn
/// anew in each epoch, and the hubs, which stay in memory. Each part is read as a whole, sequentially, with
/// direct I/O, while another thread adds the lists that have been read. Of two parts the lists are read
/// before the features of the first, so that there is something to read while the last lists are added.
/// Adjacency lists keep only neighbours within the macro-batch.
class DiskParts final : public MacroLoader {
 public:
  /// Precondition: check_macro().
  DiskParts(const graph::Graph& graph, plan::Job job, plan::Plan plan);

  std::vector<MacroGroup> groups(std::int64_t epoch) const override;
  std::shared_ptr<MacroBatch> load(const MacroLayout& layout, std::int64_t group,
                                   std::int64_t epoch) override;
  ReadCounts take_reads() override;
  /// Of the parts with the most bytes, as if all their neighbours were in the macro-batch. Reads the lists of
  /// the hubs.
  MacroBytes max_bytes() const override;
  std::int64_t bytes() const override;

 private:
  /// The files, numbered as in the reader.
  enum File : std::uint8_t { row_pointers, lists, features };
  struct Array : ArrayFile {
    std::uint64_t element_bytes = 0;  ///< of a row pointer, an id or a feature row
  };
  /// Elements begin … end - 1 of an array: vertices or edges.
  struct Range {
    graph::VertexId begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
  };
  /// Elements of an array, and where they are read to.
  struct Wanted {
    File file = row_pointers;
    Range range;
    std::byte* to = nullptr;
  };
  /// What is read of a part before its features.
  struct PartLists {
    Range range;
    std::vector<std::int64_t> pointers;  ///< row pointers of the whole graph
    StoredLists lists;
    std::int64_t bytes() const {
      return static_cast<std::int64_t>(pointers.capacity() * sizeof(pointers[0])) + lists.bytes();
    }
  };
  /// Entries of the hubs' lists, by source.
  struct HubEntries {
    std::vector<std::int64_t> of_parts;  ///< vertices of each part that are no hubs
    std::int64_t of_hubs = 0;
  };
  /// The most vertices and edges of a macro-batch.
  struct Room {
    std::int64_t vertices = 0, edges = 0;
  };

  Range range_of(std::int32_t part) const;
  Range edges_of(Range vertices) const;
  std::int64_t num_hubs() const;
  Room largest_macro_batch() const;
  HubEntries count_hub_entries() const;
  const HubEntries& hub_entries() const;
  void read_hubs();
  /// Reads all at once. Consecutive ranges of one array ascend.
  void read(std::span<const Wanted> wanted);
  /// Makes room for the row pointers and lists of a part's vertices, and adds both to what is to be read.
  void want_lists(Range range, PartLists& part, std::vector<Wanted>& wanted) const;
  /// Starts a macro-batch, whose features are still to be read, with the hubs below its first part.
  std::unique_ptr<MacroBuild> begin_build(std::span<const std::int32_t> parts) const;
  static void add_part(MacroBuild& build, const PartLists& part);
  /// Returns the macro-batch of these parts.
  std::unique_ptr<MacroBuild> read_parts(std::span<const std::int32_t> parts);

  graph::Graph graph_;
  plan::Job job_;
  plan::Plan plan_;
  std::uint64_t row_bytes_;
  std::array<Array, 3> arrays_;  ///< by File
  BlockReader reader_;
  ReadCounts taken_;
  ResidentHubs hubs_;
  bool has_hubs_ = false;                          ///< they have been read
  std::array<PartLists, 2> part_lists_;            ///< of two parts: one being added, one being read
  mutable std::optional<HubEntries> hub_entries_;  ///< once they have been counted
  Room room_;
  std::shared_ptr<SpareArrays> spare_ = std::make_shared<SpareArrays>();  ///< outlived by macro-batches
};

}  // namespace gnomon::runtime
