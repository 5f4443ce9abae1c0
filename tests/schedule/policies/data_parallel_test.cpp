#include "schedule/policies/data_parallel.h"

#include <gtest/gtest.h>

#include <vector>

namespace gnomon::schedule {
namespace {

/// A machine on which the second stage ends right after it was first asked for, and the first one while it is
/// waited for.
class EndsMeanwhile : public Machine {
 public:
  Ticket start_on(int, Stage, std::int64_t, std::span<const Ticket>) override { return {started_++}; }
  bool done(Ticket ticket) override { return ticket.number == 0 ? first_is_done_ : second_was_asked_++ > 0; }
  void wait_any(std::span<const Ticket> tickets) override {
    ASSERT_FALSE(tickets.empty()) << "nothing would end this wait";
    first_is_done_ = true;
    ++waits_;
  }
  double now_s() override { return 0; }
  StageSpan span(Ticket) override { return {}; }
  int waits() const { return waits_; }

 private:
  std::int64_t started_ = 0;
  int second_was_asked_ = 0;
  bool first_is_done_ = false;
  int waits_ = 0;
};

TEST(DataParallel, DoesNotWaitForWhatEndedSinceItLooked) {
  EndsMeanwhile machine;
  DataParallelMachine steps(machine, 1, 2);
  const Ticket first = steps.start(Stage::cpu_batch, 0, {});
  const Ticket second = steps.start(Stage::cpu_batch, 1, {});
  steps.wait_any(std::vector{second});
  EXPECT_EQ(machine.waits(), 1);  // it had not ended when it was asked for
  steps.wait_any(std::vector{first});
  EXPECT_EQ(machine.waits(), 1);
}

}  // namespace
}  // namespace gnomon::schedule
