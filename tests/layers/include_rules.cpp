#include "include_rules.h"

#include <algorithm>
#include <array>
#include <optional>
#include <regex>
#include <sstream>

namespace gnomon::layers {
namespace {

constexpr std::array<std::string_view, 14> order{"base",      "graph",   "plan",     "schedule", "kernels",
                                                 "nn",        "runtime", "profiles", "sim",      "tuner",
                                                 "reproduce", "serve",   "apps",     "python"};

/// A library from outside, and the only places where its headers may be included.
struct Guest {
  std::string_view name;
  std::string_view headers;  ///< regular expression of what stands between < and >
  std::vector<std::string_view> places;
  bool sources_only = false;  ///< not in headers
};

const std::vector<Guest>& guests() {
  static const std::vector<Guest> all{
      {"LibTorch", "(torch|ATen|c10|caffe2)/.*", {"nn/", "runtime/", "profiles/measure/"}},
      {"METIS", "metis[.]h", {"graph/metis/"}, true},
      {"liburing", "liburing.*", {"runtime/uring/"}, true},
      {"Highway", "hwy/.*", {"kernels/cpu/"}},
      {"SimGrid", "(simgrid|xbt)/.*", {"sim/simgrid/"}, true},
      {"Eigen", "Eigen/.*", {"tuner/"}, true},
      {"XGBoost", "xgboost/.*", {"tuner/"}, true},
      {"cpp-httplib", "httplib[.]h", {"serve/http/"}, true},
      {"CUDA",
       "(cuda|cub/|thrust/|cooperative_groups|nccl|nvml|cupti|cublas|cusparse|curand).*",
       {"kernels/cuda/", "runtime/cuda/"}}};
  return all;
}

bool starts_with_any(std::string_view path, const std::vector<std::string_view>& places) {
  return std::any_of(places.begin(), places.end(),
                     [&](std::string_view place) { return path.starts_with(place); });
}

/// The place of a folder in the order of the layers; none for tests, bench and the like.
std::optional<std::size_t> layer_of(std::string_view path) {
  const auto folder = path.substr(0, path.find('/'));
  const auto found = std::find(order.begin(), order.end(), folder);
  if (found == order.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - order.begin());
}

/// What predicts and searches needs no LibTorch: only tuner/run/ and reproduce/measure/ tie it to what
/// measures and trains.
bool is_prediction(std::string_view path) {
  return starts_with_any(path, {"sim/", "tuner/", "reproduce/", "serve/"}) &&
         !starts_with_any(path, {"tuner/run/", "reproduce/measure/"});
}

std::string broken_by_own(std::string_view path, const std::string& header) {
  const auto here = layer_of(path);
  const auto there = layer_of(header);
  if (here && there && *there > *here) {
    return std::string(order[*here]) + " may not include " + header + ": " + std::string(order[*there]) +
           " is a later layer";
  }
  if (is_prediction(path) &&
      starts_with_any(header, {"nn/", "runtime/", "profiles/measure/", "tuner/run/", "reproduce/measure/"})) {
    return std::string(order[*here]) + " may not include " + header + ": it must link without LibTorch";
  }
  if (here && (header.starts_with("tests/") || header.starts_with("bench/"))) {
    return std::string(order[*here]) + " may not include " + header;
  }
  if (header.starts_with("../") || header.find("/../") != std::string::npos) {
    return header + " must be included from the project's root";
  }
  return "";
}

std::string broken_by_guest(std::string_view path, const std::string& header) {
  if (header == "torch/torch.h") {
    return "torch/torch.h takes seconds to compile: include the headers that are used";
  }
  if (!layer_of(path)) {
    return "";
  }
  for (const auto& guest : guests()) {
    if (!std::regex_match(header, std::regex(std::string(guest.headers)))) {
      continue;
    }
    if (!starts_with_any(path, guest.places)) {
      return std::string(guest.name) + " (" + header + ") has no place here";
    }
    if (guest.sources_only && path.ends_with(".h")) {
      return std::string(guest.name) + " (" + header + ") may be included in .cpp files only";
    }
  }
  return "";
}

}  // namespace

std::vector<std::string> broken_rules(std::string_view path, std::string_view text) {
  static const std::regex include_line(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
  std::vector<std::string> broken;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::smatch match;
    if (!std::regex_match(line, match, include_line)) {
      continue;
    }
    // A guest may be written with quotes and our own header with angle brackets: look for both.
    for (const auto& fault : {broken_by_own(path, match[2]), broken_by_guest(path, match[2])}) {
      if (!fault.empty()) {
        broken.push_back(std::string(path) + ":" + std::to_string(number) + ": " + fault);
      }
    }
  }
  return broken;
}

}  // namespace gnomon::layers
