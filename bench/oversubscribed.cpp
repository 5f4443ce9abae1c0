// What the runtime's threads cost beside their work, when there are more of them than cores: mini-batches
// without work go through a machine with many workers, and steps without work through a thread team. Prints
// one document with, for a batch or step: wall and processor time, and how often a thread of the process went
// to sleep and was woken up (voluntary context switches) or lost its core (involuntary ones); and the time
// that the scheduling thread spends in the machine's lock.
//
//     oversubscribed [WORKERS] [MEMBERS] [BATCHES]

#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <future>
#include <iostream>
#include <string>

#include "base/document.h"
#include "base/team.h"
#include "base/usable.h"
#include "runtime/host_machine.h"

namespace gnomon {
namespace {

using schedule::Stage;
using schedule::Ticket;

/// What the process has used so far.
struct Use {
  double wall_s = 0;
  double cpu_s = 0;
  double sleeps = 0;
  double preemptions = 0;
};

Use use_now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration<double>(now).count(), seconds(usage.ru_utime) + seconds(usage.ru_stime),
          static_cast<double>(usage.ru_nvcsw), static_cast<double>(usage.ru_nivcsw)};
}

/// What each of `count` repetitions inside `act` takes.
template <class Act>
base::Json measured(std::int64_t count, const Act& act) {
  const Use before = use_now();
  act();
  const Use after = use_now();
  const auto each = static_cast<double>(count);
  return {{"count", count},
          {"wall_ns", 1e9 * (after.wall_s - before.wall_s) / each},
          {"cpu_ns", 1e9 * (after.cpu_s - before.cpu_s) / each},
          {"sleeps", (after.sleeps - before.sleeps) / each},
          {"preemptions", (after.preemptions - before.preemptions) / each}};
}

runtime::StageWork idle_work() {
  const auto nothing = [](std::int64_t, int) {};
  return {nothing, nothing, nothing, nothing, nothing};
}

/// Starts the stages of a mini-batch on the CPU route; returns the last one.
Ticket start_batch(schedule::Machine& machine, std::int64_t position) {
  const Ticket prepared = machine.start(Stage::cpu_batch, position, {});
  const Ticket copied = machine.start(Stage::transfer, position, {{prepared}});
  return machine.start(Stage::train, position, {{copied}});
}

/// Mini-batches through the machine, as many at a time as a pipelined plan has slots.
base::Json batches_through(int workers, std::int64_t batches) {
  runtime::HostMachine machine(workers, idle_work());
  const auto run = [&](std::int64_t count) {
    std::deque<Ticket> trained;
    for (std::int64_t batch = 0; batch < count; ++batch) {
      trained.push_back(start_batch(machine, batch));
      if (std::ssize(trained) > workers + 4) {
        machine.wait_any({{trained.front()}});
        trained.pop_front();
      }
    }
    for (const Ticket ticket : trained) {
      machine.wait_any({{ticket}});
    }
    machine.begin_run();
  };
  run(batches / 10 + 1);
  return measured(batches, [&] { run(batches); });
}

/// What the scheduling thread spends in the machine's lock to start a mini-batch's stages and to read their
/// spans, while the workers wait for the first one.
base::Json critical_sections(int workers, std::int64_t batches) {
  std::promise<void> released;
  auto work = idle_work();
  work.cpu_batch = [open = released.get_future().share()](std::int64_t, int) { open.wait(); };
  runtime::HostMachine machine(workers, work);
  std::vector<Ticket> tickets;
  const Ticket first = start_batch(machine, 0);
  const auto starting = measured(batches, [&] {
    for (std::int64_t batch = 1; batch <= batches; ++batch) {
      tickets.push_back(start_batch(machine, batch));
    }
  });
  const auto asking = measured(batches, [&] {
    for (const Ticket ticket : tickets) {
      machine.done(ticket);
      machine.span(ticket);
    }
  });
  released.set_value();
  machine.wait_any({{first}});
  machine.wait_any({{tickets.back()}});
  return {{"start_ns", starting["wall_ns"]}, {"ask_ns", asking["wall_ns"]}};
}

base::Json steps_through(int members, std::int64_t steps) {
  base::Team team(members);
  const auto run = [&](std::int64_t count) {
    for (std::int64_t step = 0; step < count; ++step) {
      team.step([](int) {});
    }
  };
  run(steps / 10 + 1);
  return measured(steps, [&] { run(steps); });
}

void run(int workers, int members, std::int64_t batches) {
  const base::Json document{{"schema", "gnomon.oversubscribed/1"},
                            {"cores", base::usable_cores()},
                            {"workers", workers},
                            {"members", members},
                            {"batch", batches_through(workers, batches)},
                            {"batch_of_one_worker", batches_through(1, batches)},
                            {"critical_sections", critical_sections(workers, batches)},
                            {"step", steps_through(members, batches / 20)},
                            {"step_of_all_cores", steps_through(base::usable_cores(), batches)}};
  std::cout << document.dump(2) << "\n";
}

}  // namespace
}  // namespace gnomon

int main(int count, char** arguments) {
  const auto argument = [&](int i, int otherwise) { return count > i ? std::atoi(arguments[i]) : otherwise; };
  gnomon::run(argument(1, 64), argument(2, 64), argument(3, 20'000));
}
