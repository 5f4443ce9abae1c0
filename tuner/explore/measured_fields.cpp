#include "tuner/explore/measured_fields.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "profiles/other_model.h"

namespace gnomon::tuner {
namespace {

constexpr std::string_view job = "workload.job.";
constexpr std::string_view workload = "workload.";

/// Of a job: how many epochs it has and how it is judged takes no part in an epoch's time.
constexpr std::array job_fields{"fanouts", "weighted", "batch_size", "norm", "skip"};
constexpr std::array graph_fields{
    "vertices",       "edges",          "max_degree",  "feature_columns", "feature_row_bytes",
    "train_vertices", "batch_vertices", "batch_edges", "batch_bytes",     "hops"};

/// Whether `path` is one of the fields below `prefix`, or a part of one.
template <std::size_t N>
bool names_one(std::string_view path, std::string_view prefix, const std::array<const char*, N>& fields) {
  if (!path.starts_with(prefix)) {
    return false;
  }
  const auto name = path.substr(prefix.size(), path.substr(prefix.size()).find_first_of(".["));
  return std::find(fields.begin(), fields.end(), name) != fields.end();
}

}  // namespace

void check_may_be_set(const std::string& path) {
  if (names_one(path, job, job_fields)) {
    throw base::InputError(
        path,
        "the profile's times are of its own job, of which model, hidden, heads, dropout and "
        "matmul_precision can be set; measure another one with gnomon profile");
  }
  if (names_one(path, workload, graph_fields)) {
    throw base::InputError(path,
                           "the profile's times are of its own mini-batches; workload.batches sets their "
                           "number, and gnomon profile measures another graph");
  }
}

bool sets_model(const std::string& path) {
  return path.starts_with(job) && profiles::is_of_model(path.substr(job.size()));
}

}  // namespace gnomon::tuner
