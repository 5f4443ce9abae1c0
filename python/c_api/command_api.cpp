// The functions of gnomon.h that run commands.
#include <cstdlib>
#include <cstring>
#include <new>

#include "python/c_api/command.h"
#include "python/c_api/gnomon.h"
#include "python/c_api/status.h"

using namespace gnomon::c_api;

extern "C" {

gnomon_status gnomon_run(const char* program, const char* request, gnomon_progress progress, void* data,
                         char** result) {
  return guarded([&] {
    require(request, "request");
    require(result, "result");
    const auto text = run_command(find_program(program), request, {progress, data});
    *result = ::strdup(text.c_str());
    if (*result == nullptr) {
      throw std::bad_alloc();
    }
    return GNOMON_OK;
  });
}

void gnomon_text_free(char* text) { std::free(text); }

}  // extern "C"
