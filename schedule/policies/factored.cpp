#include <algorithm>
#include <optional>
#include <utility>

#include "schedule/epoch.h"
#include "schedule/policies/policies.h"
#include "schedule/run_epoch.h"

namespace gnomon::schedule {
namespace {

/// GNNLab's factored design (EuroSys 2022): some devices sample, the others gather and train, connected by a
/// bounded queue in host memory. In each step every trainer takes one sample, by index or as they are ready;
/// the gradients are averaged after the step. With switched roles a sampler joins the current step (as a
/// *standby trainer*) while the queue is full or nothing is left to sample, so that the step averages more
/// mini-batches; a step then ends when its trainers are done. A single device alternates between both roles.
class Factored {
 public:
  Factored(const plan::Plan& plan, std::int64_t batches, Machine& machine)
      : epoch_(plan, batches, machine),
        samplers_(plan.devices == 1 ? 1 : std::max(1, plan.samplers)),
        first_trainer_(schedule::first_trainer(plan)),
        trainers_(std::max(1, plan.devices - first_trainer_)),
        switches_(first_trainer_ > 0 && plan.switch_roles),
        averages_(averages_gradients(plan)),
        sampling_(static_cast<std::size_t>(samplers_), idle),
        fetched_(static_cast<std::size_t>(std::max(1, plan.devices))),
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
  /// A training of the current step.
  struct Member {
    std::int64_t batch;
    int device;
    Ticket ticket;
  };

  bool is_trainer(int device) const { return device >= first_trainer_; }
  bool goes_by_index() const { return epoch_.plan().order == plan::Order::index; }
  std::deque<Ticket>& training(int device) { return training_[static_cast<std::size_t>(device)]; }
  std::deque<Pending>& fetched(int device) { return fetched_[static_cast<std::size_t>(device)]; }
  int end_of_trainers() const { return first_trainer_ + trainers_; }

  void collect() {
    for (auto& sampled : sampling_) {
      if (sampled.batch >= 0 && epoch_.done(sampled.ticket)) {
        const auto place =
            goes_by_index() ? std::lower_bound(queue_.begin(), queue_.end(), sampled.batch) : queue_.end();
        queue_.insert(place, sampled.batch);
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

  /// Whether the next sample to be trained is in the queue.
  bool has_next() const {
    return !queue_.empty() && (!goes_by_index() || first_trainer_ == 0 || queue_.front() == taken_);
  }
  std::int64_t take_next() {
    const std::int64_t batch = queue_.front();
    queue_.pop_front();
    ++taken_;
    return batch;
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
      } else if (switches_ && !is_in_step(device) && has_next() && std::ssize(queue_) >= trainers_) {
        train(device, fetch(device));
      }
    }
  }

  /// Whether a sampler has switched roles and trains. A single device always does both.
  bool is_training(int device) { return first_trainer_ > 0 && !training(device).empty(); }

  /// Starts the transfer and the gathering of the next sample.
  Pending fetch(int device) {
    const std::int64_t batch = take_next();
    const Ticket copied = epoch_.start(Stage::transfer, batch, {}, device);
    return {batch, epoch_.gather_after(batch, copied, device)};
  }

  /// Starts the training of a fetched batch as part of the current step.
  void train(int device, const Pending& fetched) {
    const auto [batch, gathered] = fetched;
    const Ticket ticket = last_reduction_
                              ? epoch_.start(Stage::train, batch, {gathered, *last_reduction_}, device)
                              : epoch_.start(Stage::train, batch, {gathered}, device);
    training(device).push_back(ticket);
    step_.push_back({batch, device, ticket});
  }

  void start_trainers() {
    if (switches_) {
      end_step_if_trained();
      fetch_ahead();
      end_step_if_trained();  // the last sample may be of a trainer in the step
      start_fetched();
      return;
    }
    while (has_next()) {
      const int device = first_trainer_ + static_cast<int>(step_.size());
      if (std::ssize(training(device)) > epoch_.plan().device_buffer) {
        break;
      }
      train(device, fetch(device));
      if (static_cast<int>(step_.size()) == trainers_) {
        end_step();
      }
    }
    if (!step_.empty() && taken_ == epoch_.batches()) {
      end_step();  // the last one may be smaller
    }
  }

  /// The trainer with the fewest batches fetches, so that every trainer has a batch for the next step.
  void fetch_ahead() {
    const auto held = [this](int device) {
      return std::ssize(fetched(device)) + std::ssize(training(device));
    };
    while (has_next()) {
      int fewest = first_trainer_;
      for (int device = first_trainer_ + 1; device < end_of_trainers(); ++device) {
        fewest = held(device) < held(fewest) ? device : fewest;
      }
      if (held(fewest) > epoch_.plan().device_buffer) {
        return;
      }
      fetched(fewest).push_back(fetch(fewest));
    }
  }

  bool is_in_step(int device) const {
    return std::any_of(step_.begin(), step_.end(), [&](const Member& one) { return one.device == device; });
  }

  void start_fetched() {
    for (int device = first_trainer_; device < end_of_trainers(); ++device) {
      if (!fetched(device).empty() && !is_in_step(device)) {
        train(device, fetched(device).front());
        fetched(device).pop_front();
      }
    }
  }

  /// Whether a trainer outside of the step has a batch for it.
  bool can_join() {
    for (int device = first_trainer_; device < end_of_trainers(); ++device) {
      if (!fetched(device).empty() && !is_in_step(device)) {
        return true;
      }
    }
    return false;
  }

  /// With switched roles: once every trainer that has a batch for the step has trained it, no other device
  /// joins the step.
  void end_step_if_trained() {
    std::int64_t trainers = 0;
    for (const Member& member : step_) {
      if (is_trainer(member.device)) {
        ++trainers;
        if (!epoch_.done(member.ticket)) {
          return;
        }
      }
    }
    // The last samples may be on few trainers, which then train alone.
    const bool is_last = taken_ == epoch_.batches() && !can_join();
    if (!step_.empty() && (trainers == trainers_ || is_last)) {
      end_step();
    }
  }

  /// The next updates wait for the all-reduce of this step's gradients, which are summed in the order of the
  /// trainers, followed by the samplers that acted as trainers.
  void end_step() {
    std::stable_sort(step_.begin(), step_.end(), [&](const Member& a, const Member& b) {
      return std::pair(!is_trainer(a.device), a.device) < std::pair(!is_trainer(b.device), b.device);
    });
    std::vector<Ticket> tickets;
    for (const Member& member : step_) {
      epoch_.note_update(member.batch);
      tickets.push_back(member.ticket);
    }
    if (averages_) {
      last_reduction_ = epoch_.start_after(Stage::all_reduce, steps_, tickets);
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
  bool switches_;
  bool averages_;
  std::vector<Pending> sampling_;             ///< by sampler; batch -1 if it is idle
  std::vector<std::deque<Pending>> fetched_;  ///< by device: batches whose training has not started
  std::vector<std::deque<Ticket>> training_;  ///< by device
  std::deque<std::int64_t> queue_;            ///< sampled batches
  std::vector<Member> step_;                  ///< the current step
  std::optional<Ticket> last_reduction_;
  std::int64_t steps_ = 0;
  std::int64_t next_sample_ = 0;
  std::int64_t taken_ = 0;  ///< from the queue
  std::int64_t trained_ = 0;
};

}  // namespace

EpochLog run_factored(const plan::Plan& plan, std::int64_t batches, Machine& machine) {
  return Factored(plan, batches, machine).run();
}

}  // namespace gnomon::schedule
