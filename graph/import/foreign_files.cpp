#include "graph/import/foreign_files.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "graph/import/zip_archive.h"

namespace gnomon::graph {
namespace {

/// The first and the last bytes of a file.
struct Ends {
  std::string first, last;
  bool have(std::string_view magic) const { return first.starts_with(magic) && last.ends_with(magic); }
};

Ends ends_of(const std::filesystem::path& path) {
  constexpr std::streamsize count = 32;
  std::ifstream file(path, std::ios::binary);
  const auto take = [&] {
    std::string bytes(count, '\0');
    file.read(bytes.data(), count);
    bytes.resize(static_cast<std::size_t>(file.gcount()));
    file.clear();
    return bytes;
  };
  Ends ends;
  ends.first = take();
  file.seekg(-static_cast<std::streamoff>(ends.first.size()), std::ios::end);
  ends.last = take();
  return ends;
}

/// Throws "PATH: is WHAT, which only Python reads; convert it: LINES"; in the lines, IN stands for the file
/// and OUT for the converted file.
[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what, const char* extension,
                         std::string lines) {
  auto written = path.filename();
  written.replace_extension(extension);
  // OUT first, because it comes after IN, and file names may contain either.
  lines.replace(lines.rfind("OUT"), 3, "\"" + written.string() + "\"");
  lines.replace(lines.find("IN"), 2, "\"" + path.string() + "\"");
  throw base::InputError(path.string(), "is " + what + "; convert it with three lines of Python: " + lines);
}

[[noreturn]] void refuse_table(const std::filesystem::path& path, const std::string& what,
                               const std::string& read) {
  refuse(path, what, ".csv",
         "import pandas; edges = pandas." + read + "(IN); edges.to_csv(OUT, index=False)");
}

constexpr const char* save_data =
    "numpy.savez(OUT, edge_index=d.edge_index, x=d.x, y=d.y, train_mask=d.train_mask, val_mask=d.val_mask, "
    "test_mask=d.test_mask)";

[[noreturn]] void refuse_torch(const std::filesystem::path& path) {
  refuse(path, "a file of torch.save", ".npz",
         std::string("import numpy, torch; d = torch.load(IN, weights_only=False); ") + save_data);
}

[[noreturn]] void refuse_pickle(const std::filesystem::path& path) {
  refuse(path, "a pickle", ".npz",
         std::string("import numpy, pickle; d = pickle.load(open(IN, \"rb\")); ") + save_data);
}

[[noreturn]] void refuse_array(const std::filesystem::path& path) {
  refuse(path, "one NumPy array", ".npz",
         "import numpy; edges = numpy.load(IN); numpy.savez(OUT, edge_index=edges)");
}

bool is_zip_of_torch(const std::filesystem::path& path) {
  const auto entries = ZipArchive(path).entries();
  return std::any_of(entries.begin(), entries.end(),
                     [](const std::string& entry) { return entry.ends_with("/data.pkl"); });
}

}  // namespace

void refuse_foreign_file(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) {
    return;
  }
  const Ends ends = ends_of(path);
  const std::string& start = ends.first;
  if (ends.have("PAR1")) {
    refuse_table(path, "a Parquet file", "read_parquet");
  }
  if (ends.have("ARROW1") || ends.have("FEA1")) {
    refuse_table(path, "a Feather (Arrow) file", "read_feather");
  }
  if (start.starts_with("\x93NUMPY")) {
    refuse_array(path);
  }
  if (start.starts_with("PK\3\4") && is_zip_of_torch(path)) {
    refuse_torch(path);
  }
  // Pickles of protocol 2 to 5; torch.save's before 1.6 begin with a magic number.
  if (start.size() >= 2 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5) {
    start.find("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19") != std::string::npos ? refuse_torch(path)
                                                                                : refuse_pickle(path);
  }
}

}  // namespace gnomon::graph
