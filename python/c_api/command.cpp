#include "python/c_api/command.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <vector>

#include "base/atomic_file.h"
#include "base/document.h"
#include "base/error.h"
#include "base/temporary_directory.h"
#include "base/watched_program.h"

namespace gnomon::c_api {
namespace {

namespace fs = std::filesystem;

/// The documents of a request, as files in a temporary directory, which is made for the first one and removed
/// with this object.
class Documents {
 public:
  /// Returns the file that holds the document.
  std::string file_of(const base::Json& document) {
    if (!directory_) {
      directory_.emplace();
    }
    const auto file = *directory_ / ("document" + std::to_string(count_++) + ".json");
    base::write_file_atomically(file, document.dump());
    return file.string();
  }

 private:
  std::optional<base::TemporaryDirectory> directory_;
  int count_ = 0;
};

struct Request {
  std::string command;
  std::vector<base::Json> arguments;
  base::Json options = base::Json::object();
};

Request read_request(std::string_view text) {
  const auto json = base::parse_json(std::string(text), "request");
  if (!json.is_object() || !json.contains("command") || !json["command"].is_string()) {
    throw base::InputError("request", "must be an object with the name of a command");
  }
  Request request{json["command"].get<std::string>(), {}, base::Json::object()};
  for (const auto& [key, value] : json.items()) {
    if (key == "arguments" && value.is_array()) {
      request.arguments.assign(value.begin(), value.end());
    } else if (key == "options" && value.is_object()) {
      request.options = value;
    } else if (key != "command") {
      throw base::InputError("request." + key, "is unknown or of the wrong type");
    }
  }
  return request;
}

std::string text_of(const base::Json& value, const std::string& where, Documents& documents) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  if (value.is_number()) {
    return value.dump();
  }
  if (value.is_object()) {
    return documents.file_of(value);
  }
  throw base::InputError(where, "must be a string, a number or a document, not " + value.dump());
}

/// "--edge-weights" of "edge_weights".
std::string flag_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

void add_option(std::vector<std::string>& line, const std::string& name, const base::Json& value,
                Documents& documents) {
  const auto flag = flag_of(name);
  if (value.is_array()) {
    for (const auto& each : value) {
      line.push_back(flag + "=" + text_of(each, name, documents));
    }
  } else if (value.is_boolean()) {
    if (value.get<bool>()) {
      line.push_back(flag);
    }
  } else if (!value.is_null()) {
    line.push_back(flag + "=" + text_of(value, name, documents));
  }
}

std::vector<std::string> command_line(const Request& request, Documents& documents) {
  std::vector<std::string> line{request.command};
  for (const auto& argument : request.arguments) {
    line.push_back(text_of(argument, "arguments", documents));
  }
  for (const auto& [name, value] : request.options.items()) {
    add_option(line, name, value, documents);
  }
  line.emplace_back("--json");
  return line;
}

/// Passes reports of the form "DONE TOTAL STAGE" to the callback, and repeats the last one in between.
class Reports {
 public:
  explicit Reports(const Callback& progress) : progress_(progress) {}
  bool operator()(std::string_view line) {
    if (progress_.function == nullptr) {
      return false;
    }
    read(line);
    return progress_.function(progress_.data, stage_.c_str(), done_, total_) != 0;
  }

 private:
  void read(std::string_view line) {
    const char* const end = line.data() + line.size();
    std::int64_t done = 0, total = 0;
    const auto first = std::from_chars(line.data(), end, done);
    if (first.ec != std::errc() || first.ptr == end) {
      return;
    }
    const auto second = std::from_chars(first.ptr + 1, end, total);
    if (second.ec == std::errc() && second.ptr != end) {
      stage_.assign(second.ptr + 1, end);
      done_ = done;
      total_ = total;
    }
  }
  Callback progress_;
  std::string stage_;
  std::int64_t done_ = 0, total_ = 0;
};

/// The last line of the error output, without the program's name.
std::string message_of(std::string error, const std::string& command) {
  while (error.ends_with('\n')) {
    error.pop_back();
  }
  error = error.substr(error.rfind('\n') + 1);
  const auto who = "gnomon " + command + ": ";
  return error.starts_with(who) ? error.substr(who.size()) : error;
}

}  // namespace

fs::path find_program(const char* given) {
  if (given != nullptr) {
    return given;
  }
  if (const char* named = std::getenv("GNOMON_PROGRAM")) {
    return named;
  }
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&gnomon_run), &self) != 0) {
    const auto folder = fs::absolute(self.dli_fname).parent_path();
    for (const auto& place : {folder, folder.parent_path()}) {
      if (fs::exists(place / "bin" / "gnomon")) {
        return place / "bin" / "gnomon";
      }
    }
  }
  throw base::Failure("gnomon",
                      "this installation has no program; build it and set GNOMON_PROGRAM to its path");
}

std::string run_command(const fs::path& program, std::string_view request, const Callback& progress) {
  const auto asked = read_request(request);
  Documents documents;
  auto outcome = base::run_watched(program.string(), command_line(asked, documents), Reports(progress));
  if (outcome.interrupted) {
    throw base::Interrupted();
  }
  if (outcome.exit_code == 2) {
    throw base::InputError(message_of(std::move(outcome.error), asked.command));
  }
  if (outcome.exit_code < 0) {
    throw base::Failure("gnomon " + asked.command,
                        "was killed by signal " + std::to_string(-outcome.exit_code));
  }
  if (outcome.exit_code != 0) {
    throw base::Failure(message_of(std::move(outcome.error), asked.command));
  }
  return std::move(outcome.out);
}

}  // namespace gnomon::c_api
