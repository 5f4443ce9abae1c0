#include "nn/graphs/learned_room.h"

#include <span>
#include <stdexcept>

namespace gnomon::nn {
namespace {

void write(const BatchShape& shape, std::vector<std::int64_t>& numbers) {
  numbers.push_back(static_cast<std::int64_t>(shape.hops.size()));
  numbers.push_back(shape.seeds);
  for (const auto& hop : shape.hops) {
    numbers.insert(numbers.end(), {hop.vertices, hop.edges});
  }
}

std::int64_t next(std::span<const std::int64_t>& numbers) {
  if (numbers.empty() || numbers.front() < 0) {
    throw std::invalid_argument("not the state of a learned capacity: a number is missing or negative");
  }
  const std::int64_t number = numbers.front();
  numbers = numbers.subspan(1);
  return number;
}

BatchShape read(std::span<const std::int64_t>& numbers) {
  const std::int64_t hops = next(numbers);
  BatchShape shape{next(numbers), {}};
  for (std::int64_t hop = 0; hop < hops; ++hop) {
    const std::int64_t vertices = next(numbers);
    shape.hops.push_back({vertices, next(numbers)});
  }
  return shape;
}

}  // namespace

bool LearnedRoom::take(const BatchShape& shape, std::int64_t epoch) {
  if (epoch != epoch_) {
    if (is_exceeded_) {
      room_ = larger(room_, with_slack(largest_));
    }
    epoch_ = epoch;
    is_exceeded_ = false;
    largest_ = {};
  }
  largest_ = larger(largest_, shape);
  const bool has_room = fits(shape, room_);
  is_exceeded_ = is_exceeded_ || !has_room;
  return has_room;
}

std::vector<std::int64_t> LearnedRoom::numbers() const {
  std::vector<std::int64_t> numbers{epoch_ + 1, is_exceeded_ ? 1 : 0};
  write(largest_, numbers);
  write(room_, numbers);
  return numbers;
}

void LearnedRoom::restore(const std::vector<std::int64_t>& numbers) {
  std::span<const std::int64_t> left(numbers);
  LearnedRoom read_room;
  read_room.epoch_ = next(left) - 1;
  read_room.is_exceeded_ = next(left) != 0;
  read_room.largest_ = read(left);
  read_room.room_ = read(left);
  if (!left.empty()) {
    throw std::invalid_argument("not the state of a learned capacity: too many numbers");
  }
  *this = read_room;
}

}  // namespace gnomon::nn
