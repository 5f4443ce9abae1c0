#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/document.h"

// The enumerations used by a plan's fields, and their names in documents.

namespace gnomon::plan {

/// The order in which stages start. Each schedule is one function of schedule/policies/.
enum class Schedule : std::uint8_t {
  sequential,   ///< one mini-batch at a time
  pipelined,    ///< preparation, copies and training of different mini-batches overlap
  dual_buffer,  ///< each route fills a buffer, then both buffers are trained
  claim_ahead,  ///< both routes claim mini-batches, which are trained in the order of their indices
  mixed,        ///< each mini-batch takes the CPU route with a given probability; no buffers
  factored,     ///< some devices only sample, the others only train
  super_batch,  ///< the device prepares several mini-batches, then trains them; the CPU refreshes embeddings
  macro_batch,  ///< many mini-batches are drawn from one resident part of the graph, then the next is loaded
};

/// Where mini-batches are sampled: by CPU workers, followed by a copy to the device; on the device; or both.
enum class Route : std::uint8_t { cpu, device, both };

/// What gathers the features of a sampled mini-batch.
enum class Gather : std::uint8_t {
  sampler,  ///< the route that sampled it
  trainer,  ///< the device that trains it: from its cache and over the link
};

/// `index`: mini-batch i is update i, whatever the timing. `as_ready`: mini-batches are trained when they are
/// ready, each once; the order is logged and can be replayed.
enum class Order : std::uint8_t { index, as_ready };

/// Where data is stored. Data that its user does not store is read over the link or from the disk.
enum class Home : std::uint8_t { disk, host, device };

/// The vertices that a cache holds.
enum class CachePolicy : std::uint8_t {
  none,
  random,
  out_degree,    ///< vertices with the most neighbours (PaGraph)
  presample,     ///< vertices visited most in epochs sampled before training (PreSC, GNNLab)
  value_weight,  ///< adjacency lists and feature rows that save the most seconds per byte (DUCATI)
  recent,        ///< most recently used data, as in an operating system's page cache
  optimal,       ///< the best choice for the coming mini-batches, which must be known beforehand
};

/// The vertices whose embeddings are computed once and used by several mini-batches.
enum class Reuse : std::uint8_t {
  none,
  hot,   ///< frequently visited vertices: bottom-layer embeddings, refreshed by the CPU
  halo,  ///< vertices outside the resident macro-batch
  all,   ///< all vertices, in every layer: sampling stops after one hop
};

/// The cores on which CPU workers run.
enum class Pinning : std::uint8_t {
  none,   ///< chosen by the operating system
  cores,  ///< one core each, physical cores first (base/cores.h)
};

/// The NUMA node on which the graph and its features are stored.
enum class Placement : std::uint8_t {
  first_touch,  ///< the node of the thread that first reads or copies them
  interleave,   ///< spread over all nodes by pages
};

/// How the graph is divided into the parts of macro-batches.
enum class Partitioner : std::uint8_t { random, gnn_aware, metis };

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
  static constexpr std::array<std::pair<plan::Partitioner, std::string_view>, 3> values{
      {{plan::Partitioner::random, "random"},
       {plan::Partitioner::gnn_aware, "gnn_aware"},
       {plan::Partitioner::metis, "metis"}}};
};

}  // namespace gnomon::base
