// The attention of a record as a picture in SVG.
//
// One file that needs nothing else: no script, no font, no reference. Colours follow the reader's
// light or dark theme. Text stays text; title and description say in words what the picture shows,
// and each cell tells its words and its weight where the pointer rests (up to kMostNamedCells).
#pragma once

#include <cstdint>
#include <string>

#include "regard/translate/record.h"

namespace regard {

inline constexpr std::int64_t kMostNamedCells = 10000;

// The picture, an XML document in UTF-8.
//
// Values   source tokens on top (leaning where they are long), target tokens at the left; per cent
// in
//          cells with room; the largest of a row is framed. A blank line, and a model without
//          attention, give a picture with a sentence. A weight that is no number shows as "?";
//          weights outside [0, 1] look like the nearer end.
//          Right-to-left labels carry their direction and are isolated; characters that XML forbids
//          are replaced (cells.h).
// Errors   ShapeError if the attention's extents are not those of the token lists.
// Threads  pure function.
std::string render_svg(const Record& record);

}  // namespace regard
