#include "apps/commands/commands.h"
#include "apps/program.h"

int main(int argc, char** argv) {
  using namespace gnomon::apps;
  return run_program(argc, argv, {{"info", add_info}}, "gnomon-compute");
}
