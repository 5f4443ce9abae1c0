#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.h"

namespace gnomon::plan {

enum class ModelKind : std::uint8_t { gcn, sage, gat };

/// The precision of products of fp32 matrices, as in torch.set_float32_matmul_precision. Sums are fp32 in all
/// cases.
enum class MatmulPrecision : std::uint8_t {
  highest,  ///< fp32 factors
  high,     ///< a GPU may round factors to TF32
  medium,   ///< a CPU with bf16 instructions (AVX-512 BF16, AMX) may also round factors to bf16
};

/// Normalisation of the outputs of hidden layers, before the activation, with a learned gain and bias.
enum class Norm : std::uint8_t {
  none,
  batch,  ///< batch normalisation (Ioffe and Szegedy, ICML 2015) over the rows of a mini-batch
  layer,  ///< layer normalisation (Ba, Kiros and Hinton, 2016) over the columns of a row
};

/// The learning rate after the warm-up.
enum class LrSchedule : std::uint8_t {
  constant,
  step,    ///< multiplied by lr_decay every lr_step_epochs, as torch.optim.lr_scheduler.StepLR
  cosine,  ///< falls to 0 along half a cosine, as torch.optim.lr_scheduler.CosineAnnealingLR
};

/// Quality of predicted classes on vertices with a known label (nn/metrics.h).
enum class Metric : std::uint8_t { accuracy, roc_auc, f1_micro, f1_macro };

}  // namespace gnomon::plan

namespace gnomon::base {

template <>
struct EnumNames<plan::ModelKind> {
  static constexpr std::array<std::pair<plan::ModelKind, std::string_view>, 3> values{
      {{plan::ModelKind::gcn, "gcn"}, {plan::ModelKind::sage, "sage"}, {plan::ModelKind::gat, "gat"}}};
};
template <>
struct EnumNames<plan::MatmulPrecision> {
  static constexpr std::array<std::pair<plan::MatmulPrecision, std::string_view>, 3> values{
      {{plan::MatmulPrecision::highest, "highest"},
       {plan::MatmulPrecision::high, "high"},
       {plan::MatmulPrecision::medium, "medium"}}};
};
template <>
struct EnumNames<plan::Norm> {
  static constexpr std::array<std::pair<plan::Norm, std::string_view>, 3> values{
      {{plan::Norm::none, "none"}, {plan::Norm::batch, "batch"}, {plan::Norm::layer, "layer"}}};
};
template <>
struct EnumNames<plan::LrSchedule> {
  static constexpr std::array<std::pair<plan::LrSchedule, std::string_view>, 3> values{
      {{plan::LrSchedule::constant, "constant"},
       {plan::LrSchedule::step, "step"},
       {plan::LrSchedule::cosine, "cosine"}}};
};
template <>
struct EnumNames<plan::Metric> {
  static constexpr std::array<std::pair<plan::Metric, std::string_view>, 4> values{
      {{plan::Metric::accuracy, "accuracy"},
       {plan::Metric::roc_auc, "roc_auc"},
       {plan::Metric::f1_micro, "f1_micro"},
       {plan::Metric::f1_macro, "f1_macro"}}};
};

}  // namespace gnomon::base

namespace gnomon::plan {

/// What is trained: the model, its optimiser and its mini-batches. Together with the graph it determines the
/// result of every exact plan, bit for bit on one machine.
struct Job {
  static constexpr std::string_view schema = "gnomon.job/1";

  ModelKind model = ModelKind::sage;
  /// Neighbours per vertex in each hop, from the seeds outwards, one hop for each layer; -1 takes all.
  std::vector<int> fanouts = {15, 10, 5};
  /// Neighbours are drawn without replacement, with probabilities proportional to the edges' weights;
  /// otherwise uniformly. Edges of weight 0 are never drawn. Evaluation reads all neighbours in both cases.
  bool weighted = false;
  int batch_size = 1024;
  int hidden = 256;  ///< width of hidden layers (of all heads together for GAT)
  int heads = 4;     ///< GAT attention heads in hidden layers
  Norm norm = Norm::none;
  /// A skip connection round each layer: h' = act(norm(layer(h))) + S h, where S is the identity if h and h'
  /// have the same width and a learned matrix otherwise (He et al., CVPR 2016, equations 1 and 2).
  bool skip = false;
  double dropout = 0.5;
  double learning_rate = 0.003;
  double weight_decay = 0.0;  ///< L2 penalty on all parameters, added to the gradient (torch.optim.Adam)
  LrSchedule lr_schedule = LrSchedule::constant;
  int lr_step_epochs = 30;  ///< of the step schedule
  double lr_decay = 0.1;    ///< of the step schedule
  int warmup_epochs = 0;    ///< in which the learning rate rises linearly; the schedule follows
  int epochs = 10;
  /// Training stops after this many epochs without a higher validation metric (the first of `metrics`), or an
  /// equal one with a lower loss; 0: never.
  int patience = 0;
  /// Reported for each evaluation. The first one judges epochs: the weights of the best epoch are tested.
  std::vector<Metric> metrics = {Metric::accuracy};
  MatmulPrecision matmul_precision = MatmulPrecision::highest;
  std::uint64_t seed = 0;

  int layers() const { return static_cast<int>(fanouts.size()); }

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("model", self.model);
    f("fanouts", self.fanouts, base::Range{-1, 512});
    f("weighted", self.weighted);
    f("batch_size", self.batch_size, base::Range{1, 1 << 24});
    f("hidden", self.hidden, base::Range{1, 1 << 16});
    f("heads", self.heads, base::Range{1, 256});
    f("norm", self.norm);
    f("skip", self.skip);
    f("dropout", self.dropout, base::Range{0, 0.99});
    f("learning_rate", self.learning_rate, base::Range{0, 1e3});
    f("weight_decay", self.weight_decay, base::Range{0, 1e3});
    f("lr_schedule", self.lr_schedule);
    f("lr_step_epochs", self.lr_step_epochs, base::Range{1, 1e6});
    f("lr_decay", self.lr_decay, base::Range{0, 1});
    f("warmup_epochs", self.warmup_epochs, base::Range{0, 1e6});
    f("epochs", self.epochs, base::Range{1, 1e6});
    f("patience", self.patience, base::Range{0, 1e6});
    f("metrics", self.metrics);
    f("matmul_precision", self.matmul_precision);
    f("seed", self.seed, base::Range{0, 1.8e19});
  }
  bool operator==(const Job&) const = default;
};

/// Returns the learning rate of an epoch, counted from 0. With w warm-up epochs out of E, epoch e < w has
/// (e + 1) / w of the job's rate. Later ones have, with t = e - w: the rate itself (constant), the rate ·
/// lr_decay^⌊t / lr_step_epochs⌋ (step), or the rate · (1 + cos(π t / (E - w))) / 2 (cosine).
double learning_rate(const Job& job, std::int64_t epoch);

/// Whether the learning rate of an epoch depends on the job's number of epochs.
bool depends_on_epochs(LrSchedule schedule);

/// Throws InputError if there are no fanouts or more than 16, one is 0, `heads` does not divide `hidden`, an
/// option of the step schedule is set without it, or `metrics` is empty or names one twice.
void check(const Job& job, const std::string& where);

}  // namespace gnomon::plan
