#include "tests/runtime/kill_points.h"

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

namespace gnomon::runtime {
namespace {

struct Moment {
  std::string act;
  std::string name;
  int number = 0;
};

Moment moment_of_environment() {
  Moment moment;
  if (const char* text = std::getenv(kill_variable)) {
    std::istringstream(text) >> moment.act >> moment.name >> moment.number;
  }
  return moment;
}

/// Whether the moment has come; counts what is like it.
bool is_now(const std::string& act, const std::string& name) {
  static const Moment moment = moment_of_environment();
  static std::atomic<int> before = 0;
  return act == moment.act && name == moment.name && before++ == moment.number;
}

[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  while (true) {
    ::pause();
  }
}

/// The file's name, without the number of the process that a temporary's name ends with.
std::string name_of(int descriptor) {
  std::error_code ignored;
  const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), ignored);
  const std::string name = path.filename();
  const auto temporary = name.find(".tmp-");
  return temporary == std::string::npos ? name : name.substr(0, temporary + 4);
}

bool is_asked() {
  static const bool asked = std::getenv(kill_variable) != nullptr;
  return asked;
}

/// The system's function of this name, which the one below stands before.
template <class Function>
Function* system_function(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

void reach(const std::string& act, const std::string& name) {
  if (is_asked() && is_now(act, name)) {
    die();
  }
}

}  // namespace gnomon::runtime

// These stand before the C library's in this program and call them.

extern "C" ssize_t write(int descriptor, const void* bytes, size_t count) {
  static auto* const system = gnomon::runtime::system_function<ssize_t(int, const void*, size_t)>("write");
  if (gnomon::runtime::is_asked() && gnomon::runtime::is_now("write", gnomon::runtime::name_of(descriptor))) {
    static_cast<void>(system(descriptor, bytes, count / 2));
    gnomon::runtime::die();
  }
  return system(descriptor, bytes, count);
}

extern "C" int fsync(int descriptor) {
  static auto* const system = gnomon::runtime::system_function<int(int)>("fsync");
  if (gnomon::runtime::is_asked()) {
    gnomon::runtime::reach("flush", gnomon::runtime::name_of(descriptor));
  }
  return system(descriptor);
}

extern "C" int rename(const char* from, const char* to) noexcept {
  static auto* const system = gnomon::runtime::system_function<int(const char*, const char*)>("rename");
  const std::string name = std::filesystem::path(to).filename();
  gnomon::runtime::reach("rename", name);
  const int result = system(from, to);
  gnomon::runtime::reach("renamed", name);
  return result;
}
