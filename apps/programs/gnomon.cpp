#include "apps/commands/commands.h"
#include "apps/program.h"

int main(int argc, char** argv) {
  using namespace gnomon::apps;
  return run_program(argc, argv,
                     {{"import", add_import},
                      {"generate", add_generate},
                      {"convert", add_convert},
                      {"partition", add_partition},
                      {"info", add_info},
                      {"catalog", add_catalog},
                      {"explore", add_explore},
                      {"serve", add_serve},
                      {"tune", add_tune},
                      {"surrogate", add_surrogate},
                      {"reproduce", add_reproduce},
                      {"runs", add_runs},
                      {"history", add_history}},
                     "gnomon-compute");
}
