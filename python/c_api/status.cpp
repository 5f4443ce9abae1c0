#include "python/c_api/status.h"

#include <unistd.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "base/error.h"

namespace gnomon::c_api {
namespace {

class Forked : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string& message() {
  thread_local std::string text;
  return text;
}

gnomon_status failed(gnomon_status status, const char* what) noexcept {
  try {
    message() = what;
  } catch (...) {
    message().clear();
  }
  return status;
}

}  // namespace

gnomon_status guarded(const std::function<gnomon_status()>& work) noexcept {
  try {
    return work();
  } catch (const base::InputError& error) {
    return failed(GNOMON_INVALID_INPUT, error.what());
  } catch (const Forked& error) {
    return failed(GNOMON_FORKED, error.what());
  } catch (const base::Interrupted& error) {
    return failed(GNOMON_CANCELLED, error.what());
  } catch (const std::bad_alloc&) {
    return failed(GNOMON_FAILURE, "out of memory");
  } catch (const std::exception& error) {
    return failed(GNOMON_FAILURE, error.what());
  } catch (...) {
    return failed(GNOMON_FAILURE, "unknown error");
  }
}

const char* last_error() noexcept { return message().c_str(); }

void require(const void* pointer, const char* argument) {
  if (pointer == nullptr) {
    throw base::InputError(argument, "is null");
  }
}

OwnProcess::OwnProcess() : id_(::getpid()) {}

bool OwnProcess::is_current() const { return ::getpid() == id_; }

void OwnProcess::check(const char* what) const {
  if (!is_current()) {
    throw Forked(std::string(what) + ": was made in process " + std::to_string(id_) +
                 ", of which this process (" + std::to_string(::getpid()) +
                 ") is a fork; make it in the child, or start the child by 'spawn'");
  }
}

}  // namespace gnomon::c_api
