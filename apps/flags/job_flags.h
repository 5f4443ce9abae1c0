#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "graph/graph.h"
#include "plan/job.h"

namespace gnomon::apps {

/// The options that describe a plan::Job: one for each of its fields (`batch_size` is --batch-size). Must
/// live until the command line is parsed and stay where it is.
class JobFlags {
 public:
  /// Declares the options; `defaults` is what --help shows and job() gives.
  JobFlags(CLI::App& app, plan::Job defaults);
  JobFlags(const JobFlags&) = delete;
  JobFlags& operator=(const JobFlags&) = delete;

  /// The job of the command line. Throws InputError.
  plan::Job job() const;
  /// `base` with the fields that the command line names. Throws InputError.
  plan::Job job_over(const plan::Job& base) const;
  /// Sets what the command line does not name by the graph: epochs on a multi-label graph are judged by
  /// f1_micro.
  void fit_to(const graph::Graph& graph, plan::Job& job) const;
  /// Whether the command line names any field.
  bool any() const;

 private:
  plan::Job given_;
  std::map<std::string, CLI::Option*> options_;  ///< by field name
};

}  // namespace gnomon::apps
