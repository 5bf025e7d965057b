// What the processor could do at best: the figure that every share of the peak is a share of.
#pragma once

namespace regard {

// Measures the most single-precision flops (two per fused multiply-add; on SSE4, one multiplication
// and one addition) that one core does on the current instruction set, in 10^9 a second: register
// operands alone, as many independent chains as hide the latency, the best of many short slices.
// Takes `seconds` of wall time. Measure again in each run: clocks differ from hour to hour.
double measure_fma_peak_gflops(double seconds = 0.1) noexcept;

}  // namespace regard
