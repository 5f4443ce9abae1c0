#include <algorithm>
#include <string>
#include <utility>

#include "base/doubling.h"
#include "profiles/beliefs.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/rounds.h"
#include "runtime/preparation/device_room.h"

namespace gnomon::profiles {
namespace {

/// Rounds of all measurements before the stages alone get half of the time.
constexpr std::int64_t min_ratio_rounds = 3;

std::string several(const char* what, int count) { return std::to_string(count) + " " + what; }

}  // namespace

/// `passes` is the expected duration in passes of the warm-up.
void Rounds::add_part(std::string name, std::vector<std::string> informs, double passes,
                      void (Rounds::*method)(Measured&, std::int64_t)) {
  parts_.push_back(
      {{std::move(name), std::move(informs), passes * pass_s_, 0},
       [this, method](Measured& measured, std::int64_t epoch) { (this->*method)(measured, epoch); }});
}

void Rounds::add_part(std::string name, std::vector<std::string> informs, double passes, int threads,
                      void (Rounds::*method)(Measured&, std::int64_t, int)) {
  parts_.push_back({{std::move(name), std::move(informs), passes * pass_s_, 0},
                    [this, method, threads](Measured& measured, std::int64_t epoch) {
                      (this->*method)(measured, epoch, threads);
                    }});
}

void Rounds::make_parts() {
  const double each = static_cast<double>(chunk_ + 1) / 2;
  parts_.clear();
  std::vector<std::string> stages{"cpu_batch", "device_batch", "train"};
  if (has_link()) {
    stages.emplace_back("transfer");
  }
  add_part("the stages alone", std::move(stages), 2 * each, &Rounds::measure_alone);
  if (partial_share()) {
    add_part("the last mini-batch", {}, 2, &Rounds::measure_partial);
  }
  if (has_link()) {
    add_part("copies without features", {"structure_transfer_ratio"}, each, &Rounds::measure_structure);
    std::vector<std::string> informs{"cpu_sample_s"};
    for (const int threads : base::doubling(cores_)) {
      if (threads > 1) {
        informs.push_back(point_name("cpu_sample_speedup", threads));
      }
    }
    add_part("sampling on the CPU", std::move(informs), each, &Rounds::measure_sampling);
  }
  add_part("training on stored rows", {"fused_train_ratio", "device_sample_s"}, each, &Rounds::measure_fused);
  if (bench_.executes_graphs()) {
    add_part("recorded launches", {"graphs_train_ratio"}, each, &Rounds::measure_graphs);
  }
  add_parts_beside(each);
  for (const int threads : base::doubling(cores_)) {
    if (threads > 1) {
      add_parts_of_threads(threads);
    }
  }
}

/// Stages beside each other.
void Rounds::add_parts_beside(double each) {
  if (runs_pipelines()) {
    add_part("pipelines",
             {"transfer_beside_workers", "train_beside_workers", "workers_beside_device",
              "device_batch_beside_train", "train_beside_device_batch", "prepare_share_ratio"},
             4 * each, &Rounds::measure_pipelines);
    add_part("preparation beside workers", {"device_batch_beside_workers"}, 2 * each,
             &Rounds::measure_beside_workers);
  } else if (cores_ > 1) {
    std::vector<std::string> informs{"cpu_batch_beside_device_batch", "device_batch_beside_cpu_batch",
                                     "cpu_batch_beside_train", "train_beside_cpu_batch"};
    if (has_link()) {
      informs.insert(informs.end(), {"cpu_batch_beside_transfer", "transfer_beside_cpu_batch"});
    }
    if (has_link() && on_cores()) {
      informs.insert(informs.end(), {"transfer_beside_train", "train_beside_transfer",
                                     "device_batch_beside_train", "train_beside_device_batch"});
    }
    add_part("stages side by side", std::move(informs), 4 * each, &Rounds::measure_side_by_side);
  }
  if (on_cores() && devices_ > 1 && cores_ > 1) {
    add_part("two devices", {"train_beside_train", "device_batch_beside_device_batch"}, 4 * each,
             &Rounds::measure_devices);
  }
}

void Rounds::add_parts_of_threads(int threads) {
  const double each = static_cast<double>(chunk_ + 1) / 2;
  if (threads <= max_slots_) {
    add_part(several("workers", threads), {point_name("worker_efficiency", threads)}, 1.5, threads,
             &Rounds::measure_workers);
  }
  if (on_cores()) {
    std::vector<std::string> informs{point_name("train_speedup", threads),
                                     point_name("device_batch_speedup", threads)};
    if (threads == cores_) {
      informs.insert(informs.end(), {"crowded_team", "beside_crowded_team"});
    }
    add_part(several("device threads", threads), std::move(informs), (threads == cores_ ? 3 : 1) * each,
             threads, &Rounds::measure_threads);
  }
  add_part(several("threads of a worker", threads), {point_name("cpu_batch_speedup", threads)}, each / 2,
           threads, &Rounds::measure_sharing);
}

std::vector<Measurement> Rounds::measurements() const {
  std::vector<Measurement> all;
  for (const Part& part : parts_) {
    all.push_back(part.what);
    if (part.lacks_memory) {
      all.back().informs.clear();
    }
  }
  return all;
}

void Rounds::take(Part& part, Measured& measured, std::int64_t epoch) {
  if (part.lacks_memory) {
    return;
  }
  const Stopwatch watch;
  try {
    part.take(measured, epoch);
  } catch (const runtime::OutOfDeviceMemory&) {
    if (&part == &parts_.front()) {
      throw;
    }
    part.lacks_memory = true;
    bench_.reset();
  }
  part.seconds += watch.seconds();
  ++part.what.taken;
  part.what.seconds = part.seconds / part.what.taken;
}

void Rounds::run(Measured& measured, const std::function<bool()>& out_of_time) {
  const bool has_time_for_ratios =
      measured.rounds < min_ratio_rounds || time_on_ratios_s_ <= parts_.front().seconds;
  std::vector<std::size_t> all;
  for (std::size_t part = 1; has_time_for_ratios && part < parts_.size(); ++part) {
    all.push_back(part);
  }
  run(measured, all, out_of_time);
}

void Rounds::run(Measured& measured, std::span<const std::size_t> chosen,
                 const std::function<bool()>& out_of_time) {
  const std::int64_t epoch = round_++;
  take(parts_.front(), measured, epoch);
  for (const std::size_t part : chosen) {
    if (part == 0) {
      continue;
    }
    if (out_of_time()) {
      break;
    }
    const Stopwatch watch;
    take(parts_.at(part), measured, epoch);
    time_on_ratios_s_ += watch.seconds();
  }
  ++measured.rounds;
}

}  // namespace gnomon::profiles
