#include "graph/import/edge_layout.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>

#include "base/error.h"
#include "graph/import/line_reader.h"

namespace gnomon::graph {
namespace {

using Words = std::span<const std::string_view>;

// Lower case, letters only.
constexpr std::array<std::string_view, 18> source_words{
    "source", "src",   "from",    "u",   "sourceid", "srcid", "fromid",     "fromnode", "fromnodeid",
    "start",  "node1", "nodeid1", "id1", "startid",  "v1",    "sourcenode", "srcnode",  "numericid1"};
constexpr std::array<std::string_view, 20> destination_words{
    "target", "dst",        "to",      "v",     "targetid",    "dstid",     "toid",
    "tonode", "tonodeid",   "end",     "node2", "nodeid2",     "id2",       "endid",
    "v2",     "targetnode", "dstnode", "dest",  "destination", "numericid2"};
constexpr std::array<std::string_view, 5> weight_words{"weight", "weights", "w", "edgeweight", "value"};
constexpr std::array<std::string_view, 12> id_words{
    "id", "ids", "node", "nodes", "nodeid", "vertex", "name", "vertexid", "names", "index", "idx", "nodeids"};

std::string simplified(std::string_view word) {
  std::string letters;
  for (const unsigned char c : word) {
    if (std::isalnum(c) != 0) {
      letters += static_cast<char>(std::tolower(c));
    }
  }
  return letters;
}

bool is_one_of(std::string_view word, Words words) {
  return std::find(words.begin(), words.end(), simplified(word)) != words.end();
}

std::optional<std::size_t> column_of(const Fields& header, Words words) {
  for (std::size_t column = 0; column < header.size(); ++column) {
    if (is_one_of(header[column], words)) {
      return column;
    }
  }
  return std::nullopt;
}

/// The first lines of an edge list that are not comments, in fields.
struct FirstLines {
  Fields first, second;
  std::int64_t line = 0;    ///< number of the first
  bool well_formed = true;  ///< the first
  bool has_second = false;
  char separator = 0;
};

FirstLines read_first_lines(const std::string& path) {
  LineReader reader(path);
  FirstLines lines;
  std::string_view line;
  if (!reader.next_content(line)) {
    throw base::InputError(path, "has no edges; a line of an edge list is \"source destination\"");
  }
  lines.line = reader.line_number();
  lines.separator = separator_of(line);
  lines.well_formed = lines.first.split(line, lines.separator);
  lines.has_second = reader.next_content(line);
  if (lines.has_second) {
    lines.second.split(line, lines.separator);  // a bad quote is reported when the edges are read
  }
  return lines;
}

/// The number of ids that are numbers, of the two in a line; 0 if it lacks one.
int num_numeric(const Fields& fields, std::size_t source, std::size_t destination) {
  if (fields.size() <= std::max(source, destination)) {
    return 0;
  }
  return (is_number(fields[source]) ? 1 : 0) + (is_number(fields[destination]) ? 1 : 0);
}

/// Whether the first line is a header; `named`: it has words for source and destination.
bool has_header(const FirstLines& lines, Header header, bool named) {
  if (header != Header::automatic) {
    return header == Header::yes;
  }
  const bool like_a_header = lines.first.size() >= 2 && num_numeric(lines.first, 0, 1) == 0;
  return like_a_header && (named || num_numeric(lines.second, 0, 1) == 2);
}

void set_columns(EdgeLayout& layout, const FirstLines& lines, const std::string& path,
                 std::optional<std::size_t> source, std::optional<std::size_t> destination) {
  if (!source || !destination) {
    if (lines.first.size() > 0 && lines.first[0].empty()) {
      throw base::InputError(
          path + ": line " + std::to_string(lines.line),
          "has no name for the first column; name the columns of the ids source and target");
    }
    return;
  }
  layout.source = *source;
  layout.destination = *destination;
  layout.weight = 0;
  while (layout.weight == layout.source || layout.weight == layout.destination) {
    ++layout.weight;
  }
  layout.weight = column_of(lines.first, weight_words).value_or(layout.weight);
}

/// Whether ids are names, if that has to be inferred from the first edge.
bool has_names(const EdgeLayout& layout, const FirstLines& lines, Header header) {
  if (layout.header) {
    return lines.second.size() > std::max(layout.source, layout.destination) &&
           num_numeric(lines.second, layout.source, layout.destination) < 2;
  }
  const bool first_has_two = lines.first.size() >= 2;
  const bool others_are_numbers = header == Header::automatic && num_numeric(lines.second, 0, 1) == 2;
  return first_has_two && num_numeric(lines.first, 0, 1) < 2 && !others_are_numbers;
}

std::string first_line_note(const EdgeLayout& layout, const FirstLines& lines, Header header) {
  const std::string line = "line " + std::to_string(lines.line);
  const auto& first = lines.first;
  const bool complete = first.size() > std::max(layout.source, layout.destination);
  if (layout.header && complete) {
    return line + " is a header: edges go from column \"" + first[layout.source] + "\" to column \"" +
           first[layout.destination] + "\"";
  }
  if (layout.names && header == Header::automatic) {
    return line + " is read as an edge from \"" + first[0] + "\" to \"" + first[1] +
           "\"; if it names the columns, add --header yes";
  }
  return "";
}

}  // namespace

EdgeLayout find_layout(const std::string& path, Header header, IdKind ids) {
  const FirstLines lines = read_first_lines(path);
  EdgeLayout layout;
  if (!lines.well_formed) {
    layout.names = ids == IdKind::names;
    layout.separator = lines.separator;
    return layout;  // the fault is reported with its line when the edges are read
  }
  const auto source = column_of(lines.first, source_words);
  const auto destination = column_of(lines.first, destination_words);
  layout.header = has_header(lines, header, source && destination);
  if (layout.header) {
    if (!lines.has_second) {
      throw base::InputError(path, "has no edges, only a header");
    }
    set_columns(layout, lines, path, source, destination);
  }
  layout.names = ids == IdKind::automatic ? has_names(layout, lines, header) : ids == IdKind::names;
  const bool reordered = layout.source != 0 || layout.destination != 1 || layout.weight != 2;
  layout.separator = layout.names || reordered ? lines.separator : '\0';
  if (const auto note = first_line_note(layout, lines, header); !note.empty()) {
    layout.notes.push_back(note);
  }
  return layout;
}

bool names_an_id_column(std::string_view word) { return is_one_of(word, id_words); }

}  // namespace gnomon::graph
