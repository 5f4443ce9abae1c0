#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "profiles/catalog.h"
#include "tuner/tuning.h"

namespace gnomon::apps {

/// The options of `gnomon tune` that do not depend on whether it measures the profile first.
struct TuneFlags {
  std::string out;
  std::string strategy = "auto";
  std::string budget;
  std::string exact;
  int processes = 0;
  tuner::TuningOptions tuning;
  bool json = false;
};

/// Declares them.
void add_tune_flags(CLI::App& app, TuneFlags& flags);

/// Throws InputError if the options contradict each other, as tune_and_print() does; for commands that
/// measure first.
void check_tune_flags(const TuneFlags& flags);

/// Tunes a profile and prints the result. `where` names the profile in errors, `machine` the one to which it
/// was moved, if it was.
void tune_and_print(const TuneFlags& flags, const profiles::MovedProfile& moved, const std::string& where,
                    const std::string& machine = "");

}  // namespace gnomon::apps
