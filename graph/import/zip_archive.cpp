#include "graph/import/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"

namespace gnomon::graph {
namespace {

/// Reads the packed bytes of an entry.
class PackedBytes {
 public:
  PackedBytes(std::shared_ptr<const PositionedFile> file, const ZipEntry& entry)
      : file_(std::move(file)), offset_(data_offset(*file_, entry)), left_(entry.packed_bytes) {}

  /// Reads up to `bytes` bytes; fewer only at the end.
  std::size_t read(void* buffer, std::size_t bytes) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, left_));
    file_->read(offset_, count, buffer);
    offset_ += count;
    left_ -= count;
    return count;
  }

 private:
  std::shared_ptr<const PositionedFile> file_;
  std::uint64_t offset_;
  std::uint64_t left_;
};

/// Decompresses an entry.
class Inflated {
 public:
  explicit Inflated(PackedBytes packed) : packed_(std::move(packed)) {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) {  // no header
      throw base::Failure("zlib", "has no memory");
    }
  }
  ~Inflated() { inflateEnd(&stream_); }
  Inflated(const Inflated&) = delete;
  Inflated& operator=(const Inflated&) = delete;

  std::size_t read(void* buffer, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes && !is_over_) {
      if (stream_.avail_in == 0) {
        stream_.avail_in = static_cast<uInt>(packed_.read(input_.data(), input_.size()));
        stream_.next_in = input_.data();
      }
      constexpr std::size_t most = std::size_t{1} << 30;
      const auto room = static_cast<uInt>(std::min(bytes - done, most));
      stream_.next_out = static_cast<Bytef*>(buffer) + done;
      stream_.avail_out = room;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      is_over_ = status == Z_STREAM_END;
      if (status != Z_OK && status != Z_STREAM_END) {
        throw base::InputError(status == Z_BUF_ERROR ? "its compressed data have no end"
                                                     : "its compressed data are damaged");
      }
    }
    return done;
  }

 private:
  PackedBytes packed_;
  z_stream stream_{};
  std::array<Bytef, std::size_t{1} << 16> input_{};
  bool is_over_ = false;
};

ByteReader unpacked(const std::shared_ptr<const PositionedFile>& file, const ZipEntry& entry) {
  if (entry.method == ZipEntry::Method::stored) {
    const auto stored = std::make_shared<PackedBytes>(file, entry);
    return [stored](void* buffer, std::size_t bytes) { return stored->read(buffer, bytes); };
  }
  const auto inflated = std::make_shared<Inflated>(PackedBytes(file, entry));
  return [inflated](void* buffer, std::size_t bytes) { return inflated->read(buffer, bytes); };
}

/// What was read of an entry.
class Check {
 public:
  explicit Check(const ZipEntry& entry) : left_(entry.bytes), expected_(entry.crc) {}

  /// Throws InputError for bytes that the entry does not have. `is_end`: no bytes follow.
  void add(const void* buffer, std::size_t bytes, bool is_end) {
    crc_ = static_cast<std::uint32_t>(crc32_z(crc_, static_cast<const Bytef*>(buffer), bytes));
    if (bytes > left_ || (is_end && bytes < left_)) {
      throw base::InputError("its size is not that of the directory");
    }
    left_ -= bytes;
    if (left_ == 0 && crc_ != expected_) {
      throw base::InputError("its checksum is wrong");
    }
  }

 private:
  std::uint64_t left_;
  std::uint32_t expected_;
  std::uint32_t crc_ = 0;
};

}  // namespace

ZipArchive::ZipArchive(const std::filesystem::path& path) : path_(path.string()) {
  try {
    file_ = std::make_shared<const PositionedFile>(path);
    entries_ = read_zip_directory(*file_);
  } catch (const base::InputError& error) {
    throw base::InputError(path_, std::string("cannot be read as .npz: ") + error.what());
  }
}

std::vector<std::string> ZipArchive::entries() const {
  std::vector<std::string> names;
  std::transform(entries_.begin(), entries_.end(), std::back_inserter(names),
                 [](const ZipEntry& entry) { return entry.name; });
  return names;
}

const ZipEntry* ZipArchive::find(const std::string& array) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(),
                   [name = array + ".npy"](const ZipEntry& entry) { return entry.name == name; });
  return found == entries_.end() ? nullptr : &*found;
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
  const ZipEntry* const entry = find(array);
  if (entry == nullptr) {
    throw base::InputError(where(array), "is missing");
  }
  if (entry->is_encrypted) {
    throw base::InputError(where(array), "is encrypted");
  }
  if (entry->method != ZipEntry::Method::stored && entry->method != ZipEntry::Method::deflated) {
    throw base::InputError(where(array), "is compressed by method " +
                                             std::to_string(static_cast<int>(entry->method)) +
                                             "; use numpy.savez or numpy.savez_compressed");
  }
  const std::string name = where(array);
  try {
    const auto check = std::make_shared<Check>(*entry);
    return [read = unpacked(file_, *entry), check, name](void* buffer, std::size_t bytes) {
      try {
        const std::size_t got = read(buffer, bytes);
        check->add(buffer, got, got < bytes);
        return got;
      } catch (const base::InputError& error) {
        throw base::InputError(name, std::string("cannot be decompressed: ") + error.what());
      }
    };
  } catch (const base::InputError& error) {
    throw base::InputError(name, std::string("cannot be opened: ") + error.what());
  }
}

}  // namespace gnomon::graph
