#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/kernels/activations.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/kernels/activations.h"
#include "regard/kernels/blocks-inl.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

template <class Fn>
HWY_INLINE void map_rows(ConstMatrix x, Matrix y, Fn fn) {
  for (Index r = 0; r < x.rows; ++r) {
    const float* from = x.row(r);
    float* to = y.row(r);
    for_blocks(x.cols, [&](Index j, auto block)
                           HWY_ATTR { store(fn(load(from + j, block)), to + j, block); });
  }
}

// d_x += slope(y, d_y).
template <class Fn>
HWY_INLINE void accumulate_rows(ConstMatrix y, ConstMatrix d_y, Matrix d_x, Fn slope) {
  for (Index r = 0; r < y.rows; ++r) {
    const float* y_row = y.row(r);
    const float* d_y_row = d_y.row(r);
    float* d_x_row = d_x.row(r);
    for_blocks(y.cols, [&](Index j, auto block) HWY_ATTR {
      const F16 d = slope(load(y_row + j, block), load(d_y_row + j, block));
      store(add(load(d_x_row + j, block), d), d_x_row + j, block);
    });
  }
}

void tanh_forward_impl(ConstMatrix x, Matrix y) noexcept {
  map_rows(x, y, [](const F16& v) HWY_ATTR { return tanh(v); });
}
void logistic_forward_impl(ConstMatrix x, Matrix y) noexcept {
  map_rows(x, y, [](const F16& v) HWY_ATTR { return logistic(v); });
}
void relu_forward_impl(ConstMatrix x, Matrix y) noexcept {
  map_rows(x, y, [](const F16& v) HWY_ATTR { return select(less(v, set(0.0f)), set(0.0f), v); });
}
void tanh_backward_impl(ConstMatrix y, ConstMatrix d_y, Matrix d_x) noexcept {
  accumulate_rows(y, d_y, d_x, [](const F16& v, const F16& d) HWY_ATTR {
    return mul(d, fnma(v, v, set(1.0f)));
  });
}
void logistic_backward_impl(ConstMatrix y, ConstMatrix d_y, Matrix d_x) noexcept {
  accumulate_rows(y, d_y, d_x, [](const F16& v, const F16& d) HWY_ATTR {
    return mul(d, mul(v, sub(set(1.0f), v)));
  });
}
// Where y is not positive it is 0 or NaN, and adding it does what is wanted of both.
void relu_backward_impl(ConstMatrix y, ConstMatrix d_y, Matrix d_x) noexcept {
  accumulate_rows(y, d_y, d_x, [](const F16& v, const F16& d) HWY_ATTR {
    return select(less(set(0.0f), v), d, v);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace regard {
REGARD_DISPATCH_TABLE(tanh_forward_impl);
REGARD_DISPATCH_TABLE(logistic_forward_impl);
REGARD_DISPATCH_TABLE(relu_forward_impl);
REGARD_DISPATCH_TABLE(tanh_backward_impl);
REGARD_DISPATCH_TABLE(logistic_backward_impl);
REGARD_DISPATCH_TABLE(relu_backward_impl);

void tanh_forward(ConstMatrix x, Matrix y) noexcept { REGARD_DISPATCH(tanh_forward_impl)(x, y); }
void logistic_forward(ConstMatrix x, Matrix y) noexcept {
  REGARD_DISPATCH(logistic_forward_impl)(x, y);
}
void relu_forward(ConstMatrix x, Matrix y) noexcept { REGARD_DISPATCH(relu_forward_impl)(x, y); }
void tanh_backward(ConstMatrix y, ConstMatrix d_y, Matrix d_x) noexcept {
  REGARD_DISPATCH(tanh_backward_impl)(y, d_y, d_x);
}
void logistic_backward(ConstMatrix y, ConstMatrix d_y, Matrix d_x) noexcept {
  REGARD_DISPATCH(logistic_backward_impl)(y, d_y, d_x);
}
void relu_backward(ConstMatrix y, ConstMatrix d_y, Matrix d_x) noexcept {
  REGARD_DISPATCH(relu_backward_impl)(y, d_y, d_x);
}
}  // namespace regard
#endif  // HWY_ONCE
