#pragma once

#include <string>

namespace gnomon::base {

/// Owns the two ends of a pipe. Both are closed on exec, so that started programs do not inherit them.
class Pipe {
 public:
  /// Throws Failure, which names what the pipe is for.
  explicit Pipe(const std::string& purpose);
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_write_end() { close_end(1); }

 private:
  void close_end(int end);
  int ends_[2] = {-1, -1};
};

}  // namespace gnomon::base
