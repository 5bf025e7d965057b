#include "regard/attention/checks.h"

#include <functional>
#include <string>

#include "regard/base/error.h"

namespace regard::attention {
namespace {

[[noreturn]] void fail(const char* function, const std::string& message) {
  throw ShapeError(std::string(function) + ": " + message);
}

const float* end_of(ConstMatrix m) { return m.data + (m.rows - 1) * m.stride + m.cols; }

bool overlap(ConstMatrix a, ConstMatrix b) {
  if (a.data == nullptr || b.data == nullptr || a.empty() || b.empty()) return false;
  const std::less<const float*> before;
  if (!before(a.data, end_of(b)) || !before(b.data, end_of(a))) return false;
  if (a.rows == 1) a.stride = b.stride;
  if (b.rows == 1) b.stride = a.stride;
  if (a.stride != b.stride || a.rows + b.rows == 2) return true;
  // Columns of one matrix: compare the column ranges, which may wrap around the end of a row.
  const Index stride = a.stride;
  Index offset = (b.data - a.data) % stride;
  if (offset < 0) offset += stride;
  return offset < a.cols || offset + b.cols > stride;
}

}  // namespace

void check_extent(const char* function, const char* what, Index wanted, Index got) {
  if (wanted == got) return;
  fail(function,
       std::string(what) + ": wanted " + std::to_string(wanted) + ", got " + std::to_string(got));
}

void check_at_least(const char* function, const char* what, Index wanted, Index got) {
  if (got >= wanted) return;
  fail(function, std::string(what) + ": wanted at least " + std::to_string(wanted) + ", got " +
                     std::to_string(got));
}

void check_stride(const char* function, const NamedMatrix& matrix) {
  if (matrix.view.rows <= 1 || matrix.view.stride >= matrix.view.cols) return;
  fail(function, std::string(matrix.name) + ": stride " + std::to_string(matrix.view.stride) +
                     " is less than its " + std::to_string(matrix.view.cols) + " columns");
}

void check_apart(const char* function, std::initializer_list<NamedMatrix> outputs,
                 std::initializer_list<NamedMatrix> inputs) {
  for (const NamedMatrix* out = outputs.begin(); out != outputs.end(); ++out) {
    for (const NamedMatrix& in : inputs) {
      if (overlap(out->view, in.view)) {
        fail(function, std::string("output ") + out->name + " shares memory with input " + in.name);
      }
    }
    for (const NamedMatrix* other = outputs.begin(); other != out; ++other) {
      if (overlap(out->view, other->view)) {
        fail(function,
             std::string("output ") + out->name + " shares memory with output " + other->name);
      }
    }
  }
}

}  // namespace regard::attention
