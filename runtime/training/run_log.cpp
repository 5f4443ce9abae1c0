#include "runtime/training/run_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "base/atomic_file.h"
#include "base/document.h"
#include "base/error.h"
#include "base/write_all.h"
#include "schedule/timeline.h"

namespace gnomon::runtime {
namespace {

using base::Json;

/// The lines of the first `finished` epochs, up to the first incomplete or out-of-order one. Logs of earlier
/// versions, which count from 0, are rewritten to count from 1.
std::string kept_lines(const std::filesystem::path& path, std::int64_t finished) {
  std::istringstream lines(base::read_file(path));
  std::string kept;
  std::string line;
  std::int64_t first = 1;
  for (std::int64_t epoch = 0; epoch < finished && std::getline(lines, line); ++epoch) {
    auto json = Json::parse(line, nullptr, false);
    const auto number = json.is_object() ? json.value("epoch", std::int64_t{-1}) : -1;
    first = epoch == 0 && number == 0 ? 0 : first;
    if (number != first + epoch) {
      break;
    }
    json["epoch"] = epoch + 1;
    kept += json.dump() + "\n";
  }
  return kept;
}

void keep_first(const std::filesystem::path& path, std::int64_t finished) {
  if (std::filesystem::exists(path)) {
    base::write_file_atomically(path, kept_lines(path, finished));
  }
}

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw base::Failure(path.string(), std::string("cannot write: ") + std::strerror(errno));
}

int open_to_append(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) {
    fail(path);
  }
  return descriptor;
}

void append_line(const std::filesystem::path& path, const Json& json) {
  const auto line = json.dump() + "\n";
  const int descriptor = open_to_append(path);
  const auto closed = std::shared_ptr<void>(nullptr, [&](void*) { ::close(descriptor); });
  base::write_all(descriptor, path, line);
}

void flush_file(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) {
    return;  // before the first epoch's end
  }
  const int descriptor = open_to_append(path);
  const auto closed = std::shared_ptr<void>(nullptr, [&](void*) { ::close(descriptor); });
  if (::fsync(descriptor) != 0) {
    fail(path);
  }
}

Json log_line(const EpochReport& report) {
  Json line{{"epoch", report.epoch + 1},
            {"loss", report.loss},
            {"train_accuracy", report.train_accuracy},
            {"valid_accuracy", report.valid_accuracy},
            {"valid_loss", report.valid_loss},
            {"valid_metrics", to_json(report.valid_metrics)},
            {"seconds", report.seconds},
            {"evaluation_s", report.evaluation_s},
            {"cpu_batches", report.log.cpu_batches},
            {"blocked_on_cpu_s", report.log.blocked_on_cpu_s},
            {"blocked_on_device_s", report.log.blocked_on_device_s},
            {"stages", schedule::stages_document(report.timeline)}};
  if (report.disk_reads.reads > 0) {
    line["disk_reads"] = report.disk_reads.reads;
    line["disk_read_bytes"] = report.disk_reads.bytes;
  }
  if (const auto share = report.cache.row_hit_share()) {
    line["row_hit_share"] = *share;
  }
  if (const auto share = report.cache.list_hit_share()) {
    line["list_hit_share"] = *share;
  }
  if (const auto share = report.cache.row_peer_share()) {
    line["row_peer_share"] = *share;
  }
  if (const auto share = report.cache.list_peer_share()) {
    line["list_peer_share"] = *share;
  }
  if (const auto mean = report.history.mean()) {
    line["history_age_mean"] = *mean;
    line["history_age_max"] = report.history.max;
  }
  if (report.reuse) {
    line["vertices_not_sampled"] = report.reuse->vertices_not_sampled;
    line["edges_not_aggregated"] = report.reuse->edges_not_aggregated;
    line["bytes_not_gathered"] = report.reuse->bytes_not_gathered;
    for (const auto& of : report.reuse->super_batches) {
      line["super_batches"].push_back({{"hot", of.hot},
                                       {"refreshed", of.refreshed},
                                       {"staleness", of.staleness},
                                       {"epsilon", of.epsilon}});
    }
  }
  return line;
}

Json order_line(const EpochReport& report) {
  Json line{{"epoch", report.epoch + 1}, {"order", report.log.trained}};
  if (report.reuse) {
    for (const auto& of : report.reuse->super_batches) {
      line["hot"].push_back(of.hot);
    }
  }
  return line;
}

/// One line of an order.jsonl.
struct OrderLine {
  std::int64_t epoch = 0;
  std::vector<std::int64_t> order;
  std::vector<std::int64_t> hot{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("epoch", self.epoch, base::non_negative);
    f.required("order", self.order, base::non_negative);
    f("hot", self.hot, base::non_negative);
  }
};

}  // namespace

RunLog::RunLog(const std::filesystem::path& directory, std::int64_t finished)
    : log_(directory / "log.jsonl"), order_(directory / "order.jsonl") {
  keep_first(log_, finished);
  keep_first(order_, finished);
}

void RunLog::append(const EpochReport& report) {
  append_line(log_, log_line(report));
  append_line(order_, order_line(report));
}

void RunLog::flush() const {
  flush_file(log_);
  flush_file(order_);
}

namespace {

std::vector<OrderLine> read_order_lines(const std::filesystem::path& path) {
  std::istringstream lines(base::read_file(path));
  std::vector<OrderLine> orders;
  std::string line;
  std::int64_t first = 1;
  while (std::getline(lines, line)) {
    const auto where = path.string() + " line " + std::to_string(orders.size() + 1);
    OrderLine read;
    base::read_value(base::parse_json(line, where), read, where, {});
    first = orders.empty() && read.epoch == 0 ? 0 : first;
    if (const auto expected = first + std::ssize(orders); read.epoch != expected) {
      throw base::InputError(where + ": epoch", "must be " + std::to_string(expected));
    }
    orders.push_back(std::move(read));
  }
  if (orders.empty()) {
    throw base::InputError(path.string(), "holds no epochs");
  }
  return orders;
}

}  // namespace

std::vector<std::vector<std::int64_t>> read_orders(const std::filesystem::path& path) {
  std::vector<std::vector<std::int64_t>> orders;
  for (auto& line : read_order_lines(path)) {
    orders.push_back(std::move(line.order));
  }
  return orders;
}

std::vector<std::vector<std::int64_t>> read_hot_counts(const std::filesystem::path& path) {
  std::vector<std::vector<std::int64_t>> counts;
  for (auto& line : read_order_lines(path)) {
    counts.push_back(std::move(line.hot));
  }
  if (std::all_of(counts.begin(), counts.end(), [](const auto& of) { return of.empty(); })) {
    counts.clear();
  }
  return counts;
}

}  // namespace gnomon::runtime
