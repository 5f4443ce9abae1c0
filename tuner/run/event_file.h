#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// TensorBoard's event files: TFRecords (tensorflow/core/lib/io/record_writer.h) of the protocol buffer Event
/// (tensorflow/core/util/event.proto).
namespace gnomon::tuner {

/// CRC-32C (Castagnoli, polynomial 0x1EDC6F41, reflected), as in RFC 3720, B.4.
std::uint32_t crc32c(std::string_view bytes);

/// A number under its name in TensorBoard, such as {"loss/train", 0.3}.
struct Scalar {
  std::string tag;
  double value = 0;
};

/// Writes scalars for TensorBoard.
class EventFile {
 public:
  /// Creates the directory if needed and a new file events.out.tfevents.* in it; TensorBoard reads all of a
  /// directory's files as one run. Throws base::Failure.
  explicit EventFile(const std::filesystem::path& directory);

  /// Appends the scalars of a step (an epoch, counted from 1), as one event with the present time; scalars
  /// that are NaN are left out. Throws base::Failure.
  void append(std::int64_t step, const std::vector<Scalar>& scalars);

  const std::filesystem::path& path() const { return path_; }

 private:
  void append_record(const std::string& event);
  std::filesystem::path path_;
};

}  // namespace gnomon::tuner
