#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/kernels/layer_norm.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/kernels/blocks-inl.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/layer_norm.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

// Lanes beyond the end of a row are filled so that they add exactly 0: with the mean where it is
// subtracted, with 0 elsewhere.
void layer_norm_forward_impl(ConstMatrix x, ConstVector gain, ConstVector bias, Matrix y,
                             const LayerNormRows& kept) noexcept {
  const Index n = x.cols;
  const float count = static_cast<float>(n);
  for (Index r = 0; r < x.rows; ++r) {
    const float* from = x.row(r);
    float* to = y.row(r);
    F16 sum = set(0.0f);
    for_blocks(n, [&](Index j, auto block) HWY_ATTR { sum = add(sum, load(from + j, block)); });
    const float mean = reduce_add(sum) / count;
    const F16 m = set(mean);
    F16 squares = set(0.0f);
    for_blocks(n, [&](Index j, auto block) HWY_ATTR {
      const F16 c = sub(load(from + j, block, mean), m);
      squares = fma(c, c, squares);
    });
    const float variance = reduce_add(squares) / count;
    const float scale = 1.0f / std::sqrt(variance + kLayerNormEpsilon);
    const F16 s = set(scale);
    for_blocks(n, [&](Index j, auto block) HWY_ATTR {
      const F16 h = mul(sub(load(from + j, block), m), s);
      store(fma(load(gain.data + j, block), h, load(bias.data + j, block)), to + j, block);
    });
    kept.mean.data[r] = mean;
    kept.scale.data[r] = scale;
  }
}

void layer_norm_backward_impl(ConstMatrix x, ConstVector gain, const LayerNormRows& kept,
                              ConstMatrix d_y, const LayerNormGradients& gradients) noexcept {
  const Index n = x.cols;
  const float count = static_cast<float>(n);
  for (Index r = 0; r < x.rows; ++r) {
    const float* x_row = x.row(r);
    const float* d_y_row = d_y.row(r);
    const float mean = kept.mean.data[r];
    const F16 m = set(mean), s = set(kept.scale.data[r]);
    F16 sum_g = set(0.0f), sum_gh = set(0.0f);
    for_blocks(n, [&](Index j, auto block) HWY_ATTR {
      const F16 h = mul(sub(load(x_row + j, block, mean), m), s);
      const F16 d = load(d_y_row + j, block);
      const F16 g = mul(d, load(gain.data + j, block));
      sum_g = add(sum_g, g);
      sum_gh = fma(g, h, sum_gh);
      float* d_gain = gradients.d_gain.data + j;
      float* d_bias = gradients.d_bias.data + j;
      store(fma(d, h, load(d_gain, block)), d_gain, block);
      store(add(load(d_bias, block), d), d_bias, block);
    });
    if (gradients.d_x.data == nullptr) continue;
    float* d_x_row = gradients.d_x.row(r);
    const F16 mean_g = set(reduce_add(sum_g) / count), mean_gh = set(reduce_add(sum_gh) / count);
    for_blocks(n, [&](Index j, auto block) HWY_ATTR {
      const F16 h = mul(sub(load(x_row + j, block), m), s);
      const F16 g = mul(load(d_y_row + j, block), load(gain.data + j, block));
      const F16 rest = fnma(h, mean_gh, sub(g, mean_g));
      store(fma(s, rest, load(d_x_row + j, block)), d_x_row + j, block);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace regard {
REGARD_DISPATCH_TABLE(layer_norm_forward_impl);
REGARD_DISPATCH_TABLE(layer_norm_backward_impl);

void layer_norm_forward(ConstMatrix x, ConstVector gain, ConstVector bias, Matrix y,
                        const LayerNormRows& kept) noexcept {
  REGARD_DISPATCH(layer_norm_forward_impl)(x, gain, bias, y, kept);
}
void layer_norm_backward(ConstMatrix x, ConstVector gain, const LayerNormRows& kept,
                         ConstMatrix d_y, const LayerNormGradients& gradients) noexcept {
  REGARD_DISPATCH(layer_norm_backward_impl)(x, gain, kept, d_y, gradients);
}
}  // namespace regard
#endif  // HWY_ONCE
