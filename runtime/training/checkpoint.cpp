#include "runtime/training/checkpoint.h"

#include <torch/serialize/input-archive.h>
#include <torch/serialize/output-archive.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "base/atomic_file.h"
#include "base/philox.h"

namespace gnomon::runtime {
namespace {

/// Mixes up to `samples` numbers, evenly spread over `values`, into `hash`.
template <class T>
void mix_sample(std::span<const T> values, std::uint64_t& hash) {
  constexpr std::size_t samples = 1024;
  const std::size_t step = std::max<std::size_t>(1, values.size() / samples);
  for (std::size_t i = 0; i < values.size(); i += step) {
    const auto value = static_cast<std::uint64_t>(values[i]);
    const auto words =
        base::philox4x32({{static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32),
                           static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(hash >> 32)}},
                         0, 0);
    hash = (std::uint64_t{words.word[0]} << 32) | words.word[1];
  }
}

plan::Job without_length(plan::Job job) {
  if (!plan::depends_on_epochs(job.lr_schedule)) {
    job.epochs = 0;
  }
  job.patience = 0;
  return job;
}

/// Throws InputError for the first field in which two structs of the same table differ, with both values.
template <class T>
void require_equal(const T& found, const T& expected, const std::string& where) {
  const auto before = base::write_value(found);
  const auto now = base::write_value(expected);
  for (const auto& [field, value] : before.items()) {
    if (value != now[field]) {
      throw base::InputError(where + "." + field, "the run was started with " + value.dump() + ", not " +
                                                      now[field].dump() +
                                                      "; resume with that, or use a new run directory");
    }
  }
}

void write_weights(torch::serialize::OutputArchive& archive, const std::vector<at::Tensor>& weights) {
  archive.write("count", c10::IValue(static_cast<std::int64_t>(weights.size())));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    archive.write(std::to_string(i), weights[i].detach().cpu());
  }
}

std::vector<at::Tensor> read_weights(torch::serialize::InputArchive& archive) {
  c10::IValue count;
  archive.read("count", count);
  std::vector<at::Tensor> weights(static_cast<std::size_t>(count.toInt()));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    archive.read(std::to_string(i), weights[i]);
  }
  return weights;
}

void write_carried(torch::serialize::OutputArchive& archive, const CarriedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    archive.write(name, tensor.detach().cpu());
  }
}

/// Empty for checkpoints of versions without them.
CarriedTensors read_carried(torch::serialize::InputArchive& archive) {
  torch::serialize::InputArchive section;
  CarriedTensors tensors;
  if (archive.try_read("carried", section)) {
    for (const auto& name : section.keys()) {
      section.read(name, tensors[name]);
    }
  }
  return tensors;
}

RunState parse_state(const std::string& text, const std::string& where) {
  return base::from_document<RunState>(base::parse_json(text, where), where);
}

void check_same_run(const std::filesystem::path& path, const RunState& found, const RunState& expected) {
  require_equal(without_length(found.job), without_length(expected.job), path.string() + ": job");
  auto sizes = found.graph;
  sizes.sample = expected.graph.sample;
  require_equal(sizes, expected.graph, path.string() + ": graph");
  if (found.graph.sample != expected.graph.sample) {
    throw base::InputError(path.string() + ": graph",
                           "the run was started with a graph of the same sizes but other edges, labels, "
                           "features or training vertices; resume with that, or use a new run directory");
  }
}

RunState read_state(torch::serialize::InputArchive& archive, const std::filesystem::path& path) {
  archive.load_from(path.string());
  c10::IValue document, loss_sum;
  archive.read("state", document);
  auto found = parse_state(document.toStringRef(), path.string());
  archive.read("loss_sum", loss_sum);
  found.loss_sum = loss_sum.toDouble();
  torch::serialize::InputArchive best;
  archive.read("best", best);
  found.best_weights = read_weights(best);
  found.carried = read_carried(archive);
  return found;
}

void read_archive(const std::filesystem::path& path, RunState& state, nn::Learner& learner) {
  torch::serialize::InputArchive archive, weights;
  auto found = read_state(archive, path);
  check_same_run(path, found, state);
  found.job = state.job;
  archive.read("learner", weights);
  learner.load(weights);
  state = std::move(found);
}

/// Writes an archive without holding it in memory, which historical embeddings would take twice.
void save_to(base::AtomicFile& file, torch::serialize::OutputArchive& archive) {
  std::exception_ptr failed;  // must not pass through LibTorch's writer, which then writes on
  const auto write = [&](const void* bytes, std::size_t count) {
    try {
      file.write(bytes, count);
      return count;
    } catch (...) {
      failed = std::current_exception();
      return std::size_t{0};
    }
  };
  try {
    archive.save_to(write);
  } catch (const c10::Error&) {
    if (failed) {
      std::rethrow_exception(failed);
    }
    throw;
  }
}

/// Calls `read`, and reports what LibTorch throws as unreadable input.
template <class Read>
void readably(const std::filesystem::path& path, Read read) {
  try {
    read();
  } catch (const base::InputError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // LibTorch's, of several types and many lines
    constexpr std::size_t max_letters = 100;
    std::string why = error.what();
    why = why.substr(0, std::min(why.find('\n'), max_letters));
    throw base::InputError(path.string(), "is damaged, or no checkpoint: " + why);
  }
}

}  // namespace

GraphMark mark_of(const graph::Graph& graph) {
  GraphMark mark{graph.num_vertices(),    graph.num_edges(),       graph.features.columns, graph.num_classes,
                 std::ssize(graph.train), std::ssize(graph.valid), std::ssize(graph.test), 0,
                 graph.is_multilabel()};
  mix_sample(graph.indptr, mark.sample);
  graph.indices.visit([&](auto ids) { mix_sample(ids, mark.sample); });
  mix_sample(std::as_bytes(graph.edge_weights), mark.sample);
  mix_sample(graph.labels, mark.sample);
  if (graph.is_multilabel()) {
    mix_sample(graph.label_sets, mark.sample);
  }
  mix_sample(graph.train, mark.sample);
  mix_sample(graph.features.data_bytes(), mark.sample);
  mix_sample(graph.features.entry_columns, mark.sample);
  return mark;
}

void write_checkpoint(const std::filesystem::path& path, const RunState& state, const nn::Learner& learner) {
  torch::serialize::OutputArchive archive, best, carried, weights;
  archive.write("state", c10::IValue(base::to_document(state).dump()));
  archive.write("loss_sum", c10::IValue(state.loss_sum));
  write_weights(best, state.best_weights);
  archive.write("best", best);
  write_carried(carried, state.carried);
  archive.write("carried", carried);
  learner.save(weights);
  archive.write("learner", weights);
  base::AtomicFile file(path);
  save_to(file, archive);
  file.commit();
}

void read_checkpoint(const std::filesystem::path& path, RunState& state, nn::Learner& learner) {
  readably(path, [&] { read_archive(path, state, learner); });
}

void check_checkpoint(const std::filesystem::path& path, const RunState& expected) {
  readably(path, [&] {
    torch::serialize::InputArchive archive;
    const auto found = read_state(archive, path);
    check_same_run(path, found, expected);
    if (found.epoch > expected.job.epochs) {
      throw base::InputError(path.string() + ": job.epochs",
                             "the run has trained " + std::to_string(found.epoch) +
                                 " epochs; use at least as many, not " + std::to_string(expected.job.epochs));
    }
  });
}

RunState read_run(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) {
    throw base::InputError(path.string(), "does not exist; name the directory of a run of gnomon train");
  }
  torch::serialize::InputArchive archive;
  RunState found;
  readably(path, [&] { found = read_state(archive, path); });
  if (found.best_weights.empty()) {
    throw base::InputError(path.string(), "is of a run that has not finished an epoch; resume it first");
  }
  return found;
}

}  // namespace gnomon::runtime
