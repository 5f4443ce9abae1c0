#include "graph/import/graphsaint.h"

#include "base/document.h"
#include "base/error.h"
#include "graph/import/arrays.h"
#include "graph/import/class_map.h"
#include "graph/import/scipy.h"
#include "graph/import/zip_archive.h"

namespace gnomon::graph {
namespace {

constexpr const char* adjacency_file = "adj_full.npz";

std::vector<VertexId> ids_of(const base::Json& roles, const char* role, const std::string& where) {
  const auto found = roles.find(role);
  if (!roles.is_object() || found == roles.end() || !found->is_array()) {
    throw base::InputError(where, std::string("must have the vertices of \"") + role + "\"");
  }
  std::vector<VertexId> ids;
  ids.reserve(found->size());
  for (const auto& id : *found) {
    if (!id.is_number_integer()) {
      throw base::InputError(where, std::string("\"") + role + "\" has " + id.dump() + "; must be a vertex");
    }
    ids.push_back(id.get<VertexId>());
  }
  return ids;
}

Split split_of_roles(const std::filesystem::path& file) {
  const auto roles = base::parse_json(base::read_file(file), file.string());
  return {ids_of(roles, "tr", file.string()), ids_of(roles, "va", file.string()),
          ids_of(roles, "te", file.string())};
}

}  // namespace

bool is_graphsaint(const std::filesystem::path& directory) {
  return std::filesystem::exists(directory / adjacency_file);
}

GraphSource open_graphsaint(const ImportOptions& options) {
  const std::filesystem::path directory = options.source;
  if (!is_graphsaint(directory)) {
    throw base::InputError(options.source, std::string("has no ") + adjacency_file);
  }
  const ZipArchive adjacency(directory / adjacency_file);
  GraphSource source = open_scipy_matrix(adjacency);
  source.where = (directory / adjacency_file).string();
  if (options.takes_given_weights()) {
    add_weights(source, [adjacency] { return adjacency.array("data"); });
  }
  if (const auto features = directory / "feats.npy"; std::filesystem::exists(features)) {
    add_features(source, [features] { return open_npy_stream(features); });
  }
  if (const auto classes = directory / "class_map.json"; std::filesystem::exists(classes)) {
    add_class_map(source, classes);
  }
  if (const auto roles = directory / "role.json"; std::filesystem::exists(roles)) {
    source.split = split_of_roles(roles);
  }
  return source;
}

}  // namespace gnomon::graph
