// exp, tanh, logistic and log on arrays: the entry to math-inl.h for tests and plain callers.
#pragma once

#include <cstdint>

namespace regard {

// y[i] = f(x[i]), i < n; x may equal y. At most 2 ulp; the same bits on every instruction set.
void exp_array(const float* x, float* y, std::int64_t n) noexcept;
void tanh_array(const float* x, float* y, std::int64_t n) noexcept;
void logistic_array(const float* x, float* y, std::int64_t n) noexcept;
void log_array(const float* x, float* y, std::int64_t n) noexcept;

}  // namespace regard
