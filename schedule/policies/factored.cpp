#include <algorithm>
#include <optional>

#include "schedule/epoch.h"
#include "schedule/policies/policies.h"

namespace gnomon::schedule {
namespace {

/// GNNLab's factored design (EuroSys 2022): some devices sample, the others gather and train, connected by a
/// bounded queue in host memory. In each step every trainer takes one sample, in the order in which they are
/// ready; the gradients are averaged after the step. While the queue is full or nothing is left to sample, a
/// sampler may train from the queue without synchronising (a *standby trainer*). A single device alternates
/// between both roles.
class Factored {
 public:
  Factored(const plan::Plan& plan, std::int64_t batches, Machine& machine)
      : epoch_(plan, batches, machine),
        samplers_(plan.devices == 1 ? 1 : std::max(1, plan.samplers)),
        first_trainer_(plan.devices == 1 ? 0 : samplers_),
        trainers_(std::max(1, plan.devices - first_trainer_)),
        sampling_(static_cast<std::size_t>(samplers_), idle),
        training_(static_cast<std::size_t>(std::max(1, plan.devices))) {}

  EpochLog run() {
    while (true) {
      collect();
      start_trainers();
      start_samplers();
      if (trained_ == epoch_.batches()) {
        if (last_reduction_) {
          epoch_.wait_for(*last_reduction_, {});
        }
        return epoch_.finish();
      }
      wait();
    }
  }

 private:
  void collect() {
    for (auto& sampled : sampling_) {
      if (sampled.batch >= 0 && epoch_.done(sampled.ticket)) {
        queue_.push_back(sampled.batch);
        sampled = idle;
      }
    }
    for (auto& training : training_) {
      while (!training.empty() && epoch_.done(training.front())) {
        training.pop_front();
        ++trained_;
      }
    }
  }

  std::int64_t being_sampled() const {
    return std::count_if(sampling_.begin(), sampling_.end(),
                         [](const Pending& one) { return one.batch >= 0; });
  }

  bool queue_has_room() const { return std::ssize(queue_) + being_sampled() < epoch_.plan().cpu_buffer; }

  void start_samplers() {
    for (int device = 0; device < samplers_; ++device) {
      Pending& sampled = sampling_[static_cast<std::size_t>(device)];
      if (sampled.batch >= 0 || is_training(device)) {
        continue;
      }
      if (next_sample_ < epoch_.batches() && queue_has_room()) {
        sampled = {next_sample_, epoch_.start(Stage::device_batch, next_sample_, {}, device)};
        ++next_sample_;
      } else if (may_stand_by()) {
        train_on(device, {});
      }
    }
  }

  /// Whether a sampler has switched roles and trains. A single device always does both.
  bool is_training(int device) const {
    return first_trainer_ > 0 && !training_[static_cast<std::size_t>(device)].empty();
  }
  bool may_stand_by() const {
    return first_trainer_ > 0 && epoch_.plan().switch_roles && std::ssize(queue_) >= trainers_;
  }

  /// Starts the sample's transfer, the gathering and the training of the head of the queue.
  Ticket train_on(int device, const std::optional<Ticket>& after) {
    const std::int64_t batch = queue_.front();
    queue_.pop_front();
    const Ticket copied = epoch_.start(Stage::transfer, batch, {}, device);
    const Ticket gathered = epoch_.gather_after(batch, copied, device);
    const Ticket trained =
        after ? epoch_.train(batch, {gathered, *after}, device) : epoch_.train(batch, {gathered}, device);
    training_[static_cast<std::size_t>(device)].push_back(trained);
    return trained;
  }

  void start_trainers() {
    while (!queue_.empty()) {
      const int device = first_trainer_ + static_cast<int>(step_.size());
      if (std::ssize(training_[static_cast<std::size_t>(device)]) > epoch_.plan().device_buffer) {
        return;
      }
      step_.push_back(train_on(device, last_reduction_));
      if (static_cast<int>(step_.size()) == trainers_) {
        end_step();
      }
    }
  }

  /// The trainers' next updates wait for the all-reduce of this step's gradients.
  void end_step() {
    if (trainers_ > 1) {
      last_reduction_ = epoch_.start_after(Stage::all_reduce, steps_, step_);
    }
    ++steps_;
    step_.clear();
  }

  void wait() {
    std::vector<Ticket> tickets;
    for (const auto& sampled : sampling_) {
      if (sampled.batch >= 0) {
        tickets.push_back(sampled.ticket);
      }
    }
    for (const auto& training : training_) {
      if (!training.empty()) {
        tickets.push_back(training.front());
      }
    }
    epoch_.wait(tickets, {});
  }

  static constexpr Pending idle{-1, {}};

  Epoch epoch_;
  int samplers_;
  int first_trainer_;
  int trainers_;
  std::vector<Pending> sampling_;             ///< by sampler; batch -1 if it is idle
  std::vector<std::deque<Ticket>> training_;  ///< by device
  std::deque<std::int64_t> queue_;            ///< sampled batches
  std::vector<Ticket> step_;                  ///< trainings of the current, incomplete step
  std::optional<Ticket> last_reduction_;
  std::int64_t steps_ = 0;
  std::int64_t next_sample_ = 0;
  std::int64_t trained_ = 0;
};

}  // namespace

EpochLog run_factored(const plan::Plan& plan, std::int64_t batches, Machine& machine) {
  return Factored(plan, batches, machine).run();
}

}  // namespace gnomon::schedule
