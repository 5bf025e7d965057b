// Elementary functions in double precision, with the same bits on every processor.
//
// libm's results differ between versions and processors; these are made of correctly rounded steps
// only (+, -, *, /, fused multiply-add), so training schedules, metrics and tables built from them
// do not. For kernels in float see regard/kernels; these are scalar, for set-up and reports.
//
// Values   NaN in, NaN out, unless a line below says otherwise. Results may be subnormal.
// Errors   none; all are noexcept.
// Threads  pure functions.
#pragma once

namespace regard {

// e^x within 1 ulp or so (tested: 3e-16 relative). exp(0) = 1, exp(-inf) = 0, exp(inf) = inf.
double exp_double(double x) noexcept;

// Natural logarithm (tested: 3e-16 relative). log(1) = 0, log(0) = -inf, log(inf) = inf; NaN for
// x < 0.
double log_double(double x) noexcept;

// x^a as exp(a log x); exactly 1 for a = 0 (whatever x is) and exactly x for a = 1.
// Values   x >= 0; NaN below (but for a = 0 and 1). Relative error about 2e-16 (1 + |a log x|), so
//          powers of two are not exact.
double pow_double(double x, double a) noexcept;

// Sine and cosine of x in radians (tested: 3e-16 relative, near the zeros too).
// Values   |x| <= 1e9; NaN beyond, where one double step is no longer small against a period.
double sin_double(double x) noexcept;
double cos_double(double x) noexcept;

}  // namespace regard
