#include "graph/import/class_map.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "base/error.h"
#include "graph/import/label_sets.h"

namespace gnomon::graph {
namespace {

/// The events of the parser. A file of a million vertices with a hundred classes each would take gigabytes as
/// a document.
class ClassMapReader : public nlohmann::json_sax<base::Json> {
 public:
  ClassMapReader(std::int64_t num_vertices, std::string where)
      : where_(std::move(where)), labels_(static_cast<std::size_t>(num_vertices), unseen) {}

  bool start_object(std::size_t) override {
    require(depth_++ == 0 && !in_array_, "must map each vertex to its class");
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool key(string_t& id) override {
    VertexId vertex = -1;
    const auto [end, fault] = std::from_chars(id.data(), id.data() + id.size(), vertex);
    const bool is_number = fault == std::errc() && end == id.data() + id.size();
    if (!is_number || vertex < 0 || vertex >= std::ssize(labels_)) {
      throw base::InputError(where_, "vertex \"" + id + "\" is out of range; use 0 to " +
                                         std::to_string(std::ssize(labels_) - 1));
    }
    if (labels_[static_cast<std::size_t>(vertex)] != unseen) {
      throw base::InputError(where_, "vertex " + id + " is repeated");
    }
    vertex_ = vertex;
    return true;
  }
  bool start_array(std::size_t) override {
    require(depth_ == 1, "must map each vertex to its class");
    require(!in_array_ && has_sets_.value_or(true), "must give each vertex one class, or each an array");
    in_array_ = true;
    row_.clear();
    return true;
  }
  bool end_array() override {
    in_array_ = false;
    has_sets_ = true;
    const auto of_vertex = " for vertex " + std::to_string(vertex_);
    if (!sets_) {
      require(!row_.empty(), "has an empty array" + of_vertex);
      sets_.emplace(std::ssize(row_), where_);
    }
    if (std::ssize(row_) != sets_->classes()) {
      throw base::InputError(where_, "has " + std::to_string(row_.size()) + " classes" + of_vertex +
                                         "; must be " + std::to_string(sets_->classes()) +
                                         " as for the others");
    }
    set_label(sets_->label_of(row_, vertex_));
    return true;
  }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool null() override { return refuse(); }
  bool boolean(bool value) override { return in_array_ ? number(value ? 1 : 0) : refuse(); }
  bool string(string_t&) override { return refuse(); }
  bool binary(binary_t&) override { return refuse(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    throw base::InputError(where_, "is not valid JSON at byte " + std::to_string(position));
  }

  void give(GraphSource& source) {
    for (auto& label : labels_) {
      label = std::max(label, -1);
    }
    source.labels = std::move(labels_);
    if (sets_) {
      source.label_sets = sets_->take_sets();
    }
  }

 private:
  static constexpr std::int32_t unseen = -2;

  void require(bool holds, const std::string& fault) const {
    if (!holds) {
      throw base::InputError(where_, fault);
    }
  }
  bool refuse() const {
    require(depth_ == 1, "must map each vertex to its class");
    throw base::InputError(where_, "must hold numbers; see vertex " + std::to_string(vertex_));
  }
  void set_label(std::int32_t label) { labels_[static_cast<std::size_t>(vertex_)] = label; }

  bool number(double value) {
    require(depth_ == 1, "must map each vertex to its class");
    if (in_array_) {
      row_.push_back(static_cast<float>(value));
      return true;
    }
    require(!has_sets_.value_or(false), "must give each vertex one class, or each an array");
    has_sets_ = false;
    set_label(class_of(value, vertex_, where_));
    return true;
  }

  std::string where_;
  std::vector<std::int32_t> labels_;
  std::optional<LabelSetCollector> sets_;
  std::optional<bool> has_sets_;  ///< whether vertices have arrays; absent before the first
  std::vector<float> row_;
  VertexId vertex_ = -1;
  int depth_ = 0;
  bool in_array_ = false;
};

}  // namespace

void add_class_map(GraphSource& source, const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw base::InputError(file.string(), "cannot be read");
  }
  ClassMapReader reader(source.num_vertices, file.string());
  base::Json::sax_parse(stream, &reader);
  reader.give(source);
}

}  // namespace gnomon::graph
