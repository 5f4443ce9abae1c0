#include "base/pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace gnomon::base {

Pipe::Pipe(const std::string& purpose) {
  if (::pipe2(ends_, O_CLOEXEC) != 0) {
    throw Failure(purpose, std::string("cannot be started: ") + std::strerror(errno));
  }
}

Pipe::~Pipe() {
  close_end(0);
  close_end(1);
}

void Pipe::close_end(int end) {
  if (ends_[end] >= 0) {
    ::close(ends_[end]);
    ends_[end] = -1;
  }
}

}  // namespace gnomon::base
