#pragma once

#include "apps/command.h"

/// One function per command, in the file of the same name. See AddCommand.
namespace gnomon::apps {

// In gnomon.
Action add_import(CLI::App& app);
Action add_generate(CLI::App& app);
Action add_convert(CLI::App& app);
Action add_partition(CLI::App& app);
Action add_info(CLI::App& app);
Action add_catalog(CLI::App& app);
Action add_explore(CLI::App& app);
Action add_serve(CLI::App& app);
Action add_tune(CLI::App& app);
Action add_surrogate(CLI::App& app);
Action add_reproduce(CLI::App& app);
Action add_runs(CLI::App& app);
Action add_history(CLI::App& app);

// In gnomon-compute, which links LibTorch.
Action add_machine(CLI::App& app);
Action add_profile(CLI::App& app);
Action add_validate(CLI::App& app);
Action add_compare(CLI::App& app);
Action add_train(CLI::App& app);
Action add_autotune(CLI::App& app);
Action add_demo(CLI::App& app);
Action add_evaluate(CLI::App& app);
Action add_predict(CLI::App& app);
Action add_measured_reproduce(CLI::App& app);  ///< reproduce with --measure
Action add_measured_tune(CLI::App& app);       ///< tune with --device

}  // namespace gnomon::apps
