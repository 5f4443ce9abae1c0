#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/document.h"

// The words in which plans are written.

namespace gnomon::plan {

/// In which order stages are started; each is one function of schedule/epoch.h.
enum class Schedule : std::uint8_t {
  sequential,   ///< one batch at a time
  pipelined,    ///< preparation, copies and training of different batches overlap
  dual_buffer,  ///< both routes fill a buffer each, which are then flushed together
  claim_ahead,  ///< both routes claim batches, trained in the order of their indices
  mixed,        ///< each batch comes by the CPU route with a given probability, without buffers
  factored,     ///< some devices only sample, the others only train
  super_batch,  ///< the device prepares several batches, then trains them; the CPU refreshes embeddings
  macro_batch,  ///< a resident part of the graph at a time, from which many batches are drawn
};

/// Who samples mini-batches (systems.md §1): CPU workers followed by a copy, the device itself, or both.
enum class Route : std::uint8_t { cpu, device, both };

/// Who gathers the features of a sampled batch.
enum class Gather : std::uint8_t {
  sampler,  ///< whoever sampled it
  trainer,  ///< the device that trains it, from its cache and over the link
};

/// `index`: batch i is update i, whatever the timing. `as_ready`: batches are trained as they become ready,
/// each once; the order is logged and can be replayed.
enum class Order : std::uint8_t { index, as_ready };

/// Where data lives; what the one who uses it does not hold is read over the link or from the disk.
enum class Home : std::uint8_t { disk, host, device };

/// Which vertices a cache holds.
enum class CachePolicy : std::uint8_t {
  none,
  random,
  out_degree,    ///< the vertices with most neighbours (PaGraph)
  presample,     ///< those most visited in sampled epochs before training (PreSC, GNNLab)
  value_weight,  ///< adjacency lists and rows by seconds saved per byte (DUCATI)
  recent,        ///< those used last (an operating system's page cache)
  optimal,       ///< those that the epoch really uses most; needs to know it beforehand
};

/// Whose embeddings are computed once and used for several batches.
enum class Reuse : std::uint8_t {
  none,
  hot,   ///< bottom-layer embeddings of often visited vertices, refreshed by the CPU
  halo,  ///< those of vertices outside of the resident macro-batch
  all,   ///< every vertex and layer: sampling stops after one hop
};

/// Which cores CPU workers run on.
enum class Pinning : std::uint8_t {
  none,   ///< where the system puts them, and moves them
  cores,  ///< each on one core, physical cores first (base/cores.h)
};

/// On which node of memory the graph and its features lie, where there are several.
enum class Placement : std::uint8_t {
  first_touch,  ///< where who reads or copies them first runs
  interleave,   ///< spread over all nodes, page by page
};

/// How the parts of macro-batches are cut.
enum class Partitioner : std::uint8_t { random, gnn_aware };

}  // namespace gnomon::plan

namespace gnomon::base {

template <>
struct EnumNames<plan::Schedule> {
  static constexpr std::array<std::pair<plan::Schedule, std::string_view>, 8> values{
      {{plan::Schedule::sequential, "sequential"},
       {plan::Schedule::pipelined, "pipelined"},
       {plan::Schedule::dual_buffer, "dual_buffer"},
       {plan::Schedule::claim_ahead, "claim_ahead"},
       {plan::Schedule::mixed, "mixed"},
       {plan::Schedule::factored, "factored"},
       {plan::Schedule::super_batch, "super_batch"},
       {plan::Schedule::macro_batch, "macro_batch"}}};
};
template <>
struct EnumNames<plan::Pinning> {
  static constexpr std::array<std::pair<plan::Pinning, std::string_view>, 2> values{
      {{plan::Pinning::none, "none"}, {plan::Pinning::cores, "cores"}}};
};
template <>
struct EnumNames<plan::Placement> {
  static constexpr std::array<std::pair<plan::Placement, std::string_view>, 2> values{
      {{plan::Placement::first_touch, "first_touch"}, {plan::Placement::interleave, "interleave"}}};
};
template <>
struct EnumNames<plan::Route> {
  static constexpr std::array<std::pair<plan::Route, std::string_view>, 3> values{
      {{plan::Route::cpu, "cpu"}, {plan::Route::device, "device"}, {plan::Route::both, "both"}}};
};
template <>
struct EnumNames<plan::Gather> {
  static constexpr std::array<std::pair<plan::Gather, std::string_view>, 2> values{
      {{plan::Gather::sampler, "sampler"}, {plan::Gather::trainer, "trainer"}}};
};
template <>
struct EnumNames<plan::Order> {
  static constexpr std::array<std::pair<plan::Order, std::string_view>, 2> values{
      {{plan::Order::index, "index"}, {plan::Order::as_ready, "as_ready"}}};
};
template <>
struct EnumNames<plan::Home> {
  static constexpr std::array<std::pair<plan::Home, std::string_view>, 3> values{
      {{plan::Home::disk, "disk"}, {plan::Home::host, "host"}, {plan::Home::device, "device"}}};
};
template <>
struct EnumNames<plan::CachePolicy> {
  static constexpr std::array<std::pair<plan::CachePolicy, std::string_view>, 7> values{
      {{plan::CachePolicy::none, "none"},
       {plan::CachePolicy::random, "random"},
       {plan::CachePolicy::out_degree, "out_degree"},
       {plan::CachePolicy::presample, "presample"},
       {plan::CachePolicy::value_weight, "value_weight"},
       {plan::CachePolicy::recent, "recent"},
       {plan::CachePolicy::optimal, "optimal"}}};
};
template <>
struct EnumNames<plan::Reuse> {
  static constexpr std::array<std::pair<plan::Reuse, std::string_view>, 4> values{
      {{plan::Reuse::none, "none"},
       {plan::Reuse::hot, "hot"},
       {plan::Reuse::halo, "halo"},
       {plan::Reuse::all, "all"}}};
};
template <>
struct EnumNames<plan::Partitioner> {
  static constexpr std::array<std::pair<plan::Partitioner, std::string_view>, 2> values{
      {{plan::Partitioner::random, "random"}, {plan::Partitioner::gnn_aware, "gnn_aware"}}};
};

}  // namespace gnomon::base
