#include "graph/import/zip_archive.h"

#include <gtest/gtest.h>
#include <zip.h>
#include <zlib.h>

#include <random>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/fixtures/message_of.h"
#include "tests/fixtures/temporary_directory.h"
#include "tests/graph/files.h"
#include "tests/random_seed.h"

namespace gnomon::graph {
namespace {

class Zip : public testing::Test {
 protected:
  std::string error(const std::string& file, const std::string& array) {
    return test::message_of(directory_.path(), [&] { ZipArchive(directory_ / file).bytes(array); });
  }
  std::string noise(std::size_t bytes, std::uint32_t values) {
    std::string text(bytes, '\0');
    for (char& each : text) {
      each = static_cast<char>(random_() % values);
    }
    return text;
  }
  test::TemporaryDirectory directory_;
  const test::RandomSeed seed_{7};
  std::mt19937_64 random_{seed_};
};

/// Writes an archive by libzip, whose entries are deflated or only stored.
void write_by_libzip(const std::filesystem::path& path, const Arrays& arrays, zip_int32_t method) {
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  for (const auto& [name, bytes] : arrays) {
    const auto entry = zip_file_add(archive, (name + ".npy").c_str(),
                                    zip_source_buffer(archive, bytes.data(), bytes.size(), 0), 0);
    ASSERT_EQ(zip_set_file_compression(archive, static_cast<zip_uint64_t>(entry), method, 0), 0);
  }
  zip_set_archive_comment(archive, "PK\5\6 in a comment", 17);
  ASSERT_EQ(zip_close(archive), 0);
}

TEST_F(Zip, ReadsWhatLibzipWrites) {
  const Arrays arrays{
      {"small", "abc"}, {"empty", ""}, {"noise", noise(300000, 256)}, {"packs", noise(400000, 3)}};
  for (const auto method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    write_by_libzip(directory_ / "x.npz", arrays, method);
    const ZipArchive archive(directory_ / "x.npz");
    EXPECT_EQ(archive.entries(),
              (std::vector<std::string>{"small.npy", "empty.npy", "noise.npy", "packs.npy"}));
    for (const auto& [name, bytes] : arrays) {
      EXPECT_TRUE(archive.bytes(name) == bytes) << name << " by method " << method;
    }
    EXPECT_FALSE(archive.has("other"));
  }
}

template <class T>
std::string little_endian(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}
std::string u16(std::uint16_t value) { return little_endian(value); }
std::string u32(std::uint32_t value) { return little_endian(value); }
std::string u64(std::uint64_t value) { return little_endian(value); }

/// An archive of one stored entry, all of whose sizes and offsets are in the format's 64-bit fields.
std::string zip64_of(const std::string& name, const std::string& bytes) {
  const auto crc =
      static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  const auto in_extra = 0xFFFFFFFFU;
  const std::string sizes = u64(bytes.size()) + u64(bytes.size());
  const std::string common = u16(45) + u16(0) + u16(0) + u32(0) + u32(crc) + u32(in_extra) + u32(in_extra) +
                             u16(static_cast<std::uint16_t>(name.size()));
  const std::string local = "PK\3\4" + common + u16(20) + name + u16(1) + u16(16) + sizes + bytes;
  const std::string entry = "PK\1\2" + u16(45) + common + u16(28 + 8) + u16(0) + u16(0) + u16(0) + u32(0) +
                            u32(in_extra) + name + u16(7) + u16(4) + u32(0) +  // another field comes first
                            u16(1) + u16(24) + sizes + u64(0);
  const std::string end64 = "PK\6\6" + u64(44) + u16(45) + u16(45) + u32(0) + u32(0) + u64(1) + u64(1) +
                            u64(entry.size()) + u64(local.size());
  const std::string locator = "PK\6\7" + u32(0) + u64(local.size() + entry.size()) + u32(1);
  const std::string end =
      "PK\5\6" + u16(0) + u16(0) + u16(0xFFFF) + u16(0xFFFF) + u32(in_extra) + u32(in_extra) + u16(0);
  return local + entry + end64 + locator + end;
}

TEST_F(Zip, Reads64BitSizes) {
  write_text(directory_ / "x.npz", zip64_of("a.npy", "some bytes"));
  EXPECT_EQ(ZipArchive(directory_ / "x.npz").bytes("a"), "some bytes");
}

TEST_F(Zip, NamesWhatIsWrong) {
  write_by_libzip(directory_ / "x.npz", {{"a", noise(1000, 256)}}, ZIP_CM_STORE);
  EXPECT_EQ(error("none.npz", "a"), "none.npz: cannot be read as .npz: No such file");
  EXPECT_EQ(error("x.npz", "b"), "x.npz: b: is missing");
  write_text(directory_ / "text.npz", "no archive");
  EXPECT_EQ(error("text.npz", "a"), "text.npz: cannot be read as .npz: Not a zip archive");
  std::string damaged = base::read_file(directory_ / "x.npz");
  damaged[500] ^= 1;
  write_text(directory_ / "damaged.npz", damaged);
  EXPECT_EQ(error("damaged.npz", "a"), "damaged.npz: a: cannot be decompressed: its checksum is wrong");
  write_by_libzip(directory_ / "bz.npz", {{"a", noise(1000, 2)}}, ZIP_CM_BZIP2);
  EXPECT_EQ(error("bz.npz", "a"),
            "bz.npz: a: is compressed by method 12; use numpy.savez or numpy.savez_compressed");
}

/// A changed file is refused, or its arrays read as before. Holds for nearly all seeds: a change that turns
/// one array's name into the other's is not noticed.
TEST_F(Zip, ChangedFilesAreRefusedOrReadAsTheyWere) {
  const Arrays arrays{{"a", noise(2000, 4)}, {"b", noise(300, 256)}};
  write_by_libzip(directory_ / "x.npz", arrays, ZIP_CM_DEFLATE);
  const std::string whole = base::read_file(directory_ / "x.npz");
  int refused = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string bytes = whole;
    for (auto changes = 1 + random_() % 3; changes > 0; --changes) {
      bytes[random_() % bytes.size()] = static_cast<char>(random_());
    }
    bytes.resize(random_() % 4 == 0 ? random_() % bytes.size() : bytes.size());
    write_text(directory_ / "y.npz", bytes);
    try {
      const ZipArchive archive(directory_ / "y.npz");
      for (const auto& [name, expected] : arrays) {
        EXPECT_TRUE(!archive.has(name) || archive.bytes(name) == expected) << "round " << round;
      }
    } catch (const base::InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace gnomon::graph
