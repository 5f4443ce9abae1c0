#include "graph/import/parse_edges.h"

#include <exception>
#include <optional>
#include <utility>

#include "base/usable.h"
#include "graph/workers.h"

namespace gnomon::graph {
namespace {

/// Up to `count` pieces; fewer at the end of the file.
std::vector<TextPiece> take_pieces(LineReader& file, int count) {
  constexpr std::size_t piece_bytes = std::size_t{1} << 20;
  std::vector<TextPiece> pieces;
  while (std::ssize(pieces) < count) {
    TextPiece piece = file.take_piece(piece_bytes);
    if (piece.text.empty()) {
      break;
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace

void parse_edges(LineReader file, const std::filesystem::path& path, const ParseEdges& parse,
                 const EdgeVisitor& visit) {
  const int at_once = base::usable_cores();
  std::vector<std::vector<Edge>> edges(static_cast<std::size_t>(at_once));
  std::optional<Workers> workers;
  for (auto pieces = take_pieces(file, at_once); !pieces.empty();) {
    std::vector<TextPiece> next;
    std::exception_ptr unreadable;  // the input after these pieces
    const auto parse_piece = [&](std::size_t i) {
      LineReader lines(path, std::move(pieces[i]));
      edges[i].clear();
      parse(lines, edges[i]);
    };
    if (std::ssize(pieces) == at_once) {
      if (!workers) {
        workers.emplace(at_once);
      }
      workers->for_each(at_once + 1, [&](std::int64_t i) {
        if (i > 0) {
          parse_piece(static_cast<std::size_t>(i - 1));
          return;
        }
        try {
          next = take_pieces(file, at_once);
        } catch (...) {
          unreadable = std::current_exception();
        }
      });
    } else {
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        parse_piece(i);
      }
    }
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      visit(edges[i]);
    }
    if (unreadable) {
      std::rethrow_exception(unreadable);
    }
    pieces = std::move(next);
  }
}

}  // namespace gnomon::graph
