// The attention of a record as a heat map for a terminal, a pipe or a log.
//
// Rows are target tokens, columns source tokens, as in the record. Columns of any script line up
// (cells.h). The picture is never wider than asked for: labels stand flat where they fit, else as
// stairs or upright, and what is still too wide is cut into bands of columns.
#pragma once

#include <string>

#include "regard/translate/record.h"

namespace regard {

enum class TerminalColor {
  kNone,       // no escape sequence at all: pipes, files, NO_COLOR
  k256,        // the table of 256 colours
  kTruecolor,  // 24 bits
};

struct TerminalOptions {
  TerminalColor color = TerminalColor::kNone;
  int width = 80;       // columns; at least 40 are used
  bool ascii = false;   // frames and shades of ASCII; labels keep their script
  bool digits = true;   // per cent in cells that have room
  bool heading = true;  // what was read and what was written, above
  bool legend = true;   // how to read the picture, below
};

// The picture, lines ended by LF.
//
// Values   a blank line, and a model without attention, give a sentence that says so. A weight that
//          is no number shows as "?"; weights outside [0, 1] look like the nearer end. The largest
//          of a row (the first of equal ones, if above 0) is marked. No direction controls are
//          written: right-to-left labels stand alone on their line (column labels) or at its end
//          (row labels), where terminals keep the order of cells.
// Errors   ShapeError if the attention's extents are not those of the token lists.
// Threads  pure function.
std::string render_terminal(const Record& record, const TerminalOptions& options = {});

}  // namespace regard
