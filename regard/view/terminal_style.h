// How the parts of a terminal heat map are painted: with colours, with shades, or in ASCII. Used by
// terminal.cc and steps.cc.
#pragma once

#include <string>
#include <string_view>

#include "regard/view/palette.h"
#include "regard/view/terminal.h"

namespace regard {

class TerminalStyle {
 public:
  TerminalStyle(TerminalColor color, bool ascii) : color_(color), ascii_(ascii) {}

  bool colored() const { return color_ != TerminalColor::kNone; }

  // One cell, `width` columns wide (2 or more). `percent` -1 stands for no number.
  std::string cell(int percent, int width, bool peak, bool digits) const;
  // What ends a row of cells.
  std::string reset() const { return colored() ? "\x1b[0m" : ""; }
  // A bar of `percent` of `width` columns, filled up with blanks.
  std::string bar(int percent, int width) const;
  // Text that stands back, or out.
  std::string faint(std::string_view text) const;
  std::string bold(std::string_view text) const;

  // The line between row labels and cells, two columns.
  std::string frame_left() const { return colored() ? "  " : ascii_ ? " |" : " \u2502"; }
  std::string frame_right() const { return colored() ? "  " : ascii_ ? "| " : "\u2502 "; }
  // Where a label on stairs turns down to its column, and the line that goes on.
  std::string_view corner() const { return ascii_ ? "." : "\u250c"; }
  std::string_view stem() const { return ascii_ ? "|" : "\u2502"; }

  std::string legend() const;

 private:
  std::string_view shade(int percent) const;
  std::string plain_cell(int percent, int width, bool peak, bool digits) const;
  std::string ground(int percent) const;
  std::string ink(int percent) const;

  TerminalColor color_;
  bool ascii_;
};

}  // namespace regard
