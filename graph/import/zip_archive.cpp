#include "graph/import/zip_archive.h"

#include <zip.h>

#include "base/error.h"

namespace gnomon::graph {

ZipArchive::ZipArchive(const std::filesystem::path& path) : path_(path.string()) {
  int code = 0;
  zip_t* const archive = zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (archive == nullptr) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    throw base::InputError(path_, "cannot be read as .npz: " + reason);
  }
  archive_ = std::shared_ptr<zip>(archive, zip_discard);
}

bool ZipArchive::has(const std::string& array) const {
  return zip_name_locate(archive_.get(), (array + ".npy").c_str(), 0) >= 0;
}

std::vector<std::string> ZipArchive::entries() const {
  std::vector<std::string> names;
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  for (zip_int64_t entry = 0; entry < count; ++entry) {
    const char* const name = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(entry), 0);
    names.emplace_back(name == nullptr ? "" : name);
  }
  return names;
}

std::string ZipArchive::bytes(const std::string& array) const {
  const ByteReader read = open(array);
  std::string bytes;
  for (std::size_t got = 1; got > 0;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + (std::size_t{1} << 16));
    got = read(bytes.data() + before, bytes.size() - before);
    bytes.resize(before + got);
  }
  return bytes;
}

NpyStream ZipArchive::array(const std::string& array) const { return {open(array), where(array)}; }

ByteReader ZipArchive::open(const std::string& array) const {
  if (!has(array)) {
    throw base::InputError(where(array), "is missing");
  }
  zip_file_t* const opened = zip_fopen(archive_.get(), (array + ".npy").c_str(), 0);
  if (opened == nullptr) {
    throw base::InputError(where(array), std::string("cannot be opened: ") + zip_strerror(archive_.get()));
  }
  const std::shared_ptr<zip_file_t> entry(opened, zip_fclose);
  return [entry, archive = archive_, name = where(array)](void* buffer, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
      const zip_int64_t got = zip_fread(entry.get(), static_cast<char*>(buffer) + done, bytes - done);
      if (got < 0) {
        throw base::InputError(name,
                               std::string("cannot be decompressed: ") + zip_file_strerror(entry.get()));
      }
      if (got == 0) {
        break;
      }
      done += static_cast<std::size_t>(got);
    }
    return done;
  };
}

}  // namespace gnomon::graph
