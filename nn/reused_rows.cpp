#include "nn/reused_rows.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "nn/dense/dense.h"
#include "nn/dense/products.h"
#include "nn/models.h"
#include "nn/sparse/sparse.h"

namespace gnomon::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// The gradient of the weight that multiplies the operand.
at::Tensor gradient_of_weight(const Operand& operand, const at::Tensor& gradient, const at::Tensor& weight) {
  if (operand.sparse.defined()) {
    return transposed_product(operand.sparse, gradient);
  }
  const GemmOperands operands(weight);
  return transposed_product(operands.of(operand.dense), operands.of(gradient));
}

/// One term of the layer: its value is `outputs`, and its derivative that of operand · weight, or of the bias
/// where there is no operand.
struct ReusedTerm : torch::autograd::Function<ReusedTerm> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& parameter, const at::Tensor& outputs,
                            const Operand& operand) {
    if (operand.sparse.defined()) {
      save_block(context, operand.sparse.entries);
    }
    context->save_for_backward({parameter, operand.dense, operand.sparse.values});
    return outputs.clone();
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto gradient = gradients[0].contiguous();
    if (saved[0].dim() == 1) {
      return {column_sums(gradient), {}, {}};
    }
    Operand operand{saved[1]};
    if (!operand.dense.defined()) {
      operand.sparse = {saved_block(context), saved[2]};
    }
    return {gradient_of_weight(operand, gradient, saved[0]), {}, {}};
  }
};

/// Sums rows of sparse features, one at a time.
class RowSum {
 public:
  explicit RowSum(std::int64_t columns) : sums_(static_cast<std::size_t>(columns)), is_in_(sums_.size()) {}

  void add(const SparseFeatures& x, std::int64_t row, float scale) {
    const auto* begins = x.entries->indptr().const_data_ptr<std::int64_t>();
    const auto* columns = x.entries->indices().const_data_ptr<std::int32_t>();
    const auto* values = x.values.defined() ? x.values.const_data_ptr<float>() : nullptr;
    for (std::int64_t entry = begins[row]; entry < begins[row + 1]; ++entry) {
      const auto column = static_cast<std::size_t>(columns[entry]);
      if (!is_in_[column]) {
        is_in_[column] = true;
        columns_.push_back(columns[entry]);
      }
      sums_[column] += scale * (values == nullptr ? 1 : values[entry]);
    }
  }
  void scale(float factor) {
    for (const auto column : columns_) {
      sums_[static_cast<std::size_t>(column)] *= factor;
    }
  }
  /// Appends the sum's entries in the order of the columns, and resets the sum.
  void take(std::vector<std::int32_t>& columns, std::vector<float>& values) {
    std::sort(columns_.begin(), columns_.end());
    for (const auto column : columns_) {
      const auto at = static_cast<std::size_t>(column);
      columns.push_back(column);
      values.push_back(sums_[at]);
      sums_[at] = 0;
      is_in_[at] = false;
    }
    columns_.clear();
  }

 private:
  std::vector<float> sums_;
  std::vector<bool> is_in_;
  std::vector<std::int32_t> columns_;  ///< that the sum has
};

SparseFeatures make_rows(std::int64_t columns, const std::vector<std::int64_t>& indptr,
                         const std::vector<std::int32_t>& indices, const std::vector<float>& values) {
  return {std::make_shared<const SparseBlock>(columns, at::tensor(indptr, at::kLong),
                                              at::tensor(indices, at::kInt)),
          at::tensor(values, at::kFloat)};
}

const float* floats(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr;
}

}  // namespace

SparseFeatures aggregate(const SparseBlock& block, const SparseFeatures& x,
                         const at::Tensor& destination_scale, const at::Tensor& source_scale,
                         const at::Tensor& own_scale) {
  const auto rows = block.by_destination();
  const auto of_destinations = destination_scale.contiguous();
  const auto of_sources = source_scale.defined() ? source_scale.contiguous() : source_scale;
  const auto of_own = own_scale.defined() ? own_scale.contiguous() : own_scale;
  std::vector<std::int64_t> indptr = {0};
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  RowSum sum(x.size(1));
  for (std::int64_t row = 0; row < rows.num_rows(); ++row) {
    const auto at = static_cast<std::size_t>(row);
    for (auto edge = rows.indptr[at]; edge < rows.indptr[at + 1]; ++edge) {
      const std::int32_t source = rows.columns[static_cast<std::size_t>(edge)];
      sum.add(x, source, of_sources.defined() ? floats(of_sources)[source] : 1);
    }
    sum.scale(floats(of_destinations)[row]);
    if (of_own.defined()) {
      sum.add(x, row, floats(of_own)[row]);
    }
    sum.take(columns, values);
    indptr.push_back(std::ssize(columns));
  }
  return make_rows(x.size(1), indptr, columns, values);
}

SparseFeatures select(const SparseFeatures& x, const at::Tensor& which) {
  const auto rows = which.contiguous();
  std::vector<std::int64_t> indptr = {0};
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  const auto* begins = x.entries->indptr().const_data_ptr<std::int64_t>();
  const auto* from = x.entries->indices().const_data_ptr<std::int32_t>();
  for (std::int64_t i = 0; i < rows.size(0); ++i) {
    const auto row = rows.const_data_ptr<std::int64_t>()[i];
    columns.insert(columns.end(), from + begins[row], from + begins[row + 1]);
    if (x.values.defined()) {
      values.insert(values.end(), floats(x.values) + begins[row], floats(x.values) + begins[row + 1]);
    } else {
      values.resize(columns.size(), 1);
    }
    indptr.push_back(std::ssize(columns));
  }
  return make_rows(x.size(1), indptr, columns, values);
}

SparseFeatures concatenate(const std::vector<SparseFeatures>& parts) {
  std::vector<std::int64_t> indptr = {0};
  std::vector<at::Tensor> columns, values;
  for (const auto& part : parts) {
    const auto* begins = part.entries->indptr().const_data_ptr<std::int64_t>();
    const std::int64_t first = indptr.back();
    for (std::int64_t row = 1; row <= part.size(0); ++row) {
      indptr.push_back(first + begins[row]);
    }
    columns.push_back(part.entries->indices());
    values.push_back(part.values.defined() ? part.values : at::ones({part.entries->num_edges()}));
  }
  return {std::make_shared<const SparseBlock>(parts.front().size(1), at::tensor(indptr, at::kLong),
                                              at::cat(columns)),
          at::cat(values)};
}

ReusedRows select(const ReusedRows& rows, const at::Tensor& which) {
  ReusedRows selected{rows.outputs.index_select(0, which), {}};
  for (const auto& operand : rows.operands) {
    selected.operands.push_back(operand.sparse.defined() ? Operand{{}, select(operand.sparse, which)}
                                                         : Operand{operand.dense.index_select(0, which)});
  }
  return selected;
}

at::Tensor outputs_of(const std::vector<Operand>& operands, const std::vector<at::Tensor>& parameters) {
  const at::NoGradGuard no_grad;
  at::Tensor sum;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto& [dense, sparse] = operands[i];
    const auto term = sparse.defined() ? product(sparse, parameters[i]) : dense::linear(dense, parameters[i]);
    sum = sum.defined() ? sum.add_(term) : term;
  }
  return sum.add_(parameters.back());
}

at::Tensor reuse(const ReusedRows& rows, const std::vector<at::Tensor>& parameters) {
  // Only the bias's term contributes to the value; the others contribute derivatives only.
  auto out = ReusedTerm::apply(parameters.back(), rows.outputs, Operand{});
  const auto nothing = at::zeros_like(rows.outputs);
  for (std::size_t i = 0; i < rows.operands.size(); ++i) {
    out = out + ReusedTerm::apply(parameters[i], nothing, rows.operands[i]);
  }
  return out;
}

ReusedRows bottom_rows(const Model& model, const std::vector<at::Tensor>& parameters,
                       const TensorBatch& batch, const std::optional<DropoutSpec>& dropout) {
  const at::NoGradGuard no_grad;
  ReusedRows rows;
  rows.operands = model.bottom_operands(batch, dropout);
  rows.outputs = outputs_of(rows.operands, parameters);
  return rows;
}

}  // namespace gnomon::nn
