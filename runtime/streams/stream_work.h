#pragma once

#include <algorithm>
#include <exception>
#include <utility>

#include "runtime/batch/device_batch.h"
#include "runtime/batch/device_work.h"
#include "runtime/streams/driver.h"

namespace gnomon::runtime {

template <Driver D>
class StreamMark final : public DeviceMark {
 public:
  StreamMark(typename D::Stream stream, typename D::Event event)
      : stream_(std::move(stream)), event_(std::move(event)) {}

  /// Orders what is started on a stream afterwards after the mark, unless it is on that stream itself.
  void order(D& driver, const typename D::Stream& later) const {
    if (!(later == stream_)) {
      driver.order(later, event_);
    }
  }

 private:
  typename D::Stream stream_;
  typename D::Event event_;
};

/// The work between two events in a stream.
template <Driver D>
class StreamWork final : public DeviceWork {
 public:
  using Event = typename D::Event;

  /// `batch` owns the memory that the work reads. `driver` must outlive it.
  StreamWork(D& driver, Event begin, Event end, DeviceBatch batch = {})
      : driver_(driver), begin_(std::move(begin)), end_(std::move(end)), batch_(std::move(batch)) {}
  ~StreamWork() override {
    try {
      StreamWork::wait();
    } catch (const std::exception&) {
      // The device has failed: it reads nothing any more.
    }
  }

  bool is_done() noexcept override { return driver_.has_passed(end_); }
  void wait() override {
    if (!driver_.has_passed(end_)) {
      driver_.wait_for(end_);
    }
  }
  WorkSpan span() override {
    const double begin_s = driver_.passed_at_s(begin_);
    return {begin_s, std::max(begin_s, driver_.passed_at_s(end_))};
  }
  bool orders_successors() const override { return true; }

 private:
  D& driver_;
  Event begin_, end_;
  DeviceBatch batch_;
};

}  // namespace gnomon::runtime
