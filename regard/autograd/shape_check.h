// Checks of extents that ops share.
#pragma once

#include <string>

#include "regard/base/error.h"
#include "regard/tensor/view.h"

namespace regard {

inline std::string extents(Index rows, Index cols) {
  return "[" + std::to_string(rows) + "," + std::to_string(cols) + "]";
}

// Throws ShapeError unless `m` is [rows, cols].
template <class M>
void require_shape(const char* op, const char* argument, const M& m, Index rows, Index cols) {
  if (m.rows == rows && m.cols == cols) return;
  throw ShapeError(std::string(op) + ": " + argument + " is " + extents(m.rows, m.cols) +
                   ", wanted " + extents(rows, cols));
}

}  // namespace regard
