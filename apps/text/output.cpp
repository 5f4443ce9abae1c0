#include "apps/text/output.h"

#include <iostream>

namespace gnomon::apps {
void print_json(const base::Json& document) { std::cout << document.dump(2) << "\n"; }

}  // namespace gnomon::apps
