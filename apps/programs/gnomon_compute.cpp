#include "apps/commands/commands.h"
#include "apps/program.h"
#include "nn/caching_allocator.h"

int main(int argc, char** argv) {
  using namespace gnomon::apps;
  gnomon::nn::install_caching_allocator();
  return run_program(argc, argv,
                     {{"machine", add_machine},
                      {"profile", add_profile},
                      {"validate", add_validate},
                      {"compare", add_compare},
                      {"train", add_train},
                      {"autotune", add_autotune},
                      {"demo", add_demo},
                      {"evaluate", add_evaluate},
                      {"predict", add_predict},
                      {"reproduce", add_measured_reproduce},
                      {"tune", add_measured_tune}});
}
