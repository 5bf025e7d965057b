// Prints a checksum of the outputs and gradients of many attention problems, one line each: every
// member of every axis alone and in pairs, and some random combinations. The lines of two
// processors, instruction sets or compilers are compared by tests/bits/run.
#include <cstdio>
#include <cstring>
#include <string>

#include "regard/attention/axes_case_test_util.h"
#include "regard/base/error.h"
#include "regard/kernels/isa.h"

namespace {

using namespace regard;
using attention::test::AxesCase;
using attention::test::Choice;
using attention::test::Numbers;

// NaN is one thing here, whatever its bits.
std::uint64_t digest(const Numbers<float>& all, std::uint64_t sum) {
  for (const auto& part : all) {
    for (float x : part) {
      if (x != x) x = 0x1p-149f;
      std::uint32_t bits;
      std::memcpy(&bits, &x, sizeof(bits));
      sum = mix(sum, bits);
    }
  }
  return sum;
}

void print(const Choice& choice, std::uint64_t seed) {
  const AxesCase c(choice, seed);
  const Numbers<float> in = c.floats();
  std::uint64_t sum = 0;
  try {
    const Numbers<float> out = c.forward(in);
    sum = digest(out, sum);
    Numbers<float> d_out = c.outputs<float>(), d;
    for (std::size_t o = 0; o < d_out.size(); ++o) {
      for (std::size_t n = 0; n < d_out[o].size(); ++n) {
        d_out[o][n] = uniform_float(static_cast<std::uint32_t>(random_bits(o, n))) - 0.5f;
      }
    }
    for (const auto& x : in) d.emplace_back(x.size(), 0.0f);
    c.backward(in, d_out, out, d);
    sum = digest(d, sum);
  } catch (const Error&) {
    sum = 1;  // refused
  }
  std::printf("%016llx %s\n", static_cast<unsigned long long>(sum),
              attention::test::name_of(choice).c_str());
}

}  // namespace

int main() {
  using attention::test::kAxes;
  using attention::test::members_of;
  std::fprintf(stderr, "%s\n", std::string(executed_isa()).c_str());
  for (int a = 0; a < kAxes; ++a) {
    for (int m = 0; m < members_of(a); ++m) {
      Choice choice;
      choice.member[a] = m;
      print(choice, 1);
      for (int b = a + 1; m > 0 && b < kAxes; ++b) {
        for (int n = 1; n < members_of(b); ++n) {
          choice.member[b] = n;
          print(choice, 2);
        }
        choice.member[b] = 0;
      }
    }
  }
  for (std::uint64_t i = 0; i < 300; ++i) {
    Choice choice;
    for (int axis = 0; axis < kAxes; ++axis) {
      choice.member[axis] =
          static_cast<int>(random_below(5, i * kAxes + static_cast<std::uint64_t>(axis),
                                        static_cast<std::uint64_t>(members_of(axis))));
    }
    print(choice, i);
  }
  return 0;
}
