#include "graph/store/checked_store.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>
#include <vector>

#include "base/document.h"
#include "base/error.h"
#include "graph/trainable.h"

namespace gnomon::graph {
namespace {

constexpr const char* mark_name = "checked.json";

struct FileMark {
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t changed_ns = 0;  ///< since the epoch of the file system's clock
  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("name", self.name);
    f.required("bytes", self.bytes);
    f.required("changed_ns", self.changed_ns);
  }
  bool operator==(const FileMark&) const = default;
};

/// The content of checked.json.
struct Mark {
  static constexpr std::string_view schema = "gnomon.checked/1";
  std::vector<FileMark> files;  ///< all that end in .npy, and meta.json, by name
  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("files", self.files);
  }
};

std::int64_t nanoseconds(std::filesystem::file_time_type time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

Mark mark_of(const std::filesystem::path& directory) {
  Mark mark;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".npy" || entry.path().filename() == "meta.json") {
      mark.files.push_back({entry.path().filename().string(), static_cast<std::int64_t>(entry.file_size()),
                            nanoseconds(entry.last_write_time())});
    }
  }
  std::sort(mark.files.begin(), mark.files.end(),
            [](const FileMark& a, const FileMark& b) { return a.name < b.name; });
  return mark;
}

/// Whether every change of a file since then would change its time, however coarse the clock is.
bool is_settled(const Mark& mark) {
  const std::int64_t now = nanoseconds(std::filesystem::file_time_type::clock::now());
  return std::all_of(mark.files.begin(), mark.files.end(),
                     [&](const FileMark& file) { return file.changed_ns < now - 1'000'000'000; });
}

bool is_marked(const std::filesystem::path& directory, const Mark& now) {
  try {
    const auto path = directory / mark_name;
    return std::filesystem::exists(path) && base::read_document<Mark>(path).files == now.files;
  } catch (const base::InputError&) {
    return false;  // not ours, or damaged: it is written anew
  }
}

}  // namespace

void validate_once(const Graph& graph, bool for_training) {
  if (graph.directory.empty()) {
    validate(graph, for_training);
    return;
  }
  const Mark before = mark_of(graph.directory);
  if (!is_marked(graph.directory, before)) {
    validate(graph, false);
    try {
      if (is_settled(before)) {
        base::write_document(graph.directory / mark_name, before);
      }
    } catch (const base::Failure&) {
      // A store that cannot be written is read again next time.
    }
  }
  if (for_training) {
    check_trainable(graph);
  }
}

}  // namespace gnomon::graph
