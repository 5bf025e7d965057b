"""tools/sizes.py counts code, finds functions and fails on the hard limits alone."""

import unittest

import tree
import sizes


def function_of(lines, name="long_one"):
    return f"int {name}(int x) {{\n" + "  x += 1;\n" * (lines - 2) + "}\n"


class Counting(unittest.TestCase):
    def test_comments_blanks_and_strings(self):
        text = '// a comment\n\nint a; // code\n/* two\nlines */\nconst char* s = "// not { a comment";\n'
        self.assertEqual(sizes.lines_of_code(text), 2)

    def test_raw_strings_and_digit_separators(self):
        text = 'auto s = R"x(\n// inside { )" \n)x";\nint n = 1\'000\'000;\n// end\n'
        names = [f[0] for f in sizes.functions(text + "void f() {\n}\n")]
        self.assertEqual(names, ["f"])

    def test_functions_of_every_form(self):
        text = """
namespace a {
struct S {
  S(int x, int y) : x_(x), y_{y} {
    go();
  }
  ~S() {}
  int get() const noexcept { return x_; }
  bool operator==(const S& other) const { return true; }
  std::vector<int> values = {1, 2, 3};
  int x_{0}, y_;
};
enum class E { kA, kB };
constexpr int kTable[] = {1, 2};
template <typename T>
auto twice(const std::map<T, int>& m, T t = T{}) -> decltype(t + t) {
  auto f = [&](int a) { return a; };
  if (f(1)) {
    return t;
  }
  return t + t;
}
TEST(Suite, Name) {
  S s{1, 2};
}
}
"""
        found = [(name, length, count) for name, _, length, count in sizes.functions(text)]
        self.assertEqual(found, [
            ("S", 3, 2), ("~S", 1, 0), ("get", 1, 0), ("operator==", 1, 1), ("twice", 8, 2),
            ("TEST", 3, 2),
        ])

    def test_only_the_first_branch_of_an_if_counts(self):
        text = "#if A\nvoid f(int a) {\n#else\nvoid f(int a, int b) {\n#endif\n  g();\n}\nvoid h() {\n}\n"
        self.assertEqual([(f[0], f[3]) for f in sizes.functions(text)], [("f", 1), ("h", 0)])

    def test_declared_parameters(self):
        text = "void f(int a, std::map<int, int> b,\n  void (*c)(int, int));\nint g() noexcept;\n"
        self.assertEqual([(f[0], f[2]) for f in sizes.declared_parameters(text)], [("f", 3), ("g", 0)])


class Limits(tree.TreeTest):
    def check(self):
        self.report = []
        return sizes.check(self.root, self.report.append)

    def test_at_the_limits_nothing_is_wrong(self):
        self.write("regard/text/a.h", "int a;\n" * 300 + "// comment\n" * 50)
        self.write("regard/text/a.cc", "int a;\n" * 420 + function_of(80))
        self.write("regard/kernels/b.cc", function_of(120))
        self.write("regard/text/a_test.cc", "int a;\n" * 900)
        self.assertEqual(self.check(), [])

    def test_a_long_header_fails(self):
        self.write("regard/text/a.h", "int a;\n" * 301)
        self.assert_one(self.check(), "a.h", "301", "limit 300")

    def test_a_long_source_fails(self):
        self.write("regard/text/a.cc", "int a;\n" * 501)
        self.assert_one(self.check(), "a.cc", "501", "limit 500")

    def test_a_long_function_fails_and_kernels_have_more_room(self):
        self.write("regard/text/a.cc", "\n" + function_of(81))
        self.assert_one(self.check(), "a.cc:2", "long_one", "81", "limit 80")
        self.write("regard/text/a.cc", "")
        self.write("regard/kernels/a.cc", function_of(121))
        self.assert_one(self.check(), "limit 120")

    def test_many_parameters_are_reported_and_do_not_fail(self):
        parameters = ", ".join(f"int p{i}" for i in range(7))
        self.write("regard/text/a.h", f"void wide({parameters});\n")
        self.assertEqual(self.check(), [])
        self.assertIn("functions with more than 6 parameters: 1", self.report)


if __name__ == "__main__":
    unittest.main()
