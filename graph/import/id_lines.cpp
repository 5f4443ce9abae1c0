#include "graph/import/id_lines.h"

namespace gnomon::graph {

bool IdLines::next(std::string_view& id) {
  std::string_view line;
  if (!reader_.next_content(line)) {
    return false;
  }
  if (!fields_.split(line, '\n')) {  // which no line holds: the line is one field
    fail("has a quote that is not closed, or text behind one that is; a quote inside of quotes is \"\"");
  }
  id = fields_[0];
  return true;
}

}  // namespace gnomon::graph
