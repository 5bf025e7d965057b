// What public entries check before any kernel runs. Each throws ShapeError with the function, the
// argument, what was wanted and what was got.
#pragma once

#include <initializer_list>

#include "regard/tensor/view.h"

namespace regard::attention {

// One argument of a call, as error messages name it.
struct NamedMatrix {
  const char* name;
  ConstMatrix view;
};

void check_extent(const char* function, const char* what, Index wanted, Index got);
// `got` may be larger.
void check_at_least(const char* function, const char* what, Index wanted, Index got);
// Rows must not overlap one another.
void check_stride(const char* function, const NamedMatrix& matrix);
// No output shares an element with an input or another output. Columns of one matrix that do not
// meet are apart.
void check_apart(const char* function, std::initializer_list<NamedMatrix> outputs,
                 std::initializer_list<NamedMatrix> inputs);

inline ConstMatrix as_matrix(ConstVector v) { return {v.data, v.data ? 1 : 0, v.size}; }

}  // namespace regard::attention
