#include "graph/import/id_lines.h"

namespace gnomon::graph {

bool IdLines::next(std::string_view& id) {
  std::string_view line;
  if (!reader_.next_content(line)) {
    return false;
  }
  if (!fields_.split(line, '\n')) {  // a separator that no line contains: the whole line is one field
    fail("has an unclosed quote, or text after a closing quote; a quote inside of quotes is \"\"");
  }
  id = fields_[0];
  return true;
}

}  // namespace gnomon::graph
