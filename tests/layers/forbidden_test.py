"""tools/forbidden.py finds each forbidden thing, in code and not in comments."""

import unittest

import tree
import forbidden

BAD_CODE = {
    "libm": ["std::exp(x)", "std::tanh (x)", "std::logf(x)", "expf(x)", "powf(x, y)", "std::log1p(x)"],
    "random": ["std::shuffle(a, b, g)", "std::uniform_int_distribution<int> d", "std::mt19937 g", "rand()"],
    "estimate": ["hn::ApproximateReciprocal(x)", "_mm512_rcp14_ps(x)", "_mm256_rsqrt_ps(x)"],
    "print": ["std::cout << 1", 'printf("x")', "std::fprintf(f, s)", "fwrite(a, 1, 2, f)"],
    "exit": ["std::exit(1)", "abort()", "std::terminate()"],
    "locale": ["setlocale(LC_ALL, s)", "std::stof(s)", "strtod(s, e)", "atoi(s)"],
    "clang14": ["std::views::iota(0)", "std::format(s)", "std::source_location l"],
    "shared_ptr": ["std::make_shared<int>()"],
}
GOOD_CODE = [
    "exp(x)", "table.log(x)", "exp_double(x)", "random_below(1, 2, 3)", "std::snprintf(b, n, s)",
    "operand(x)", "std::unique_ptr<int> p", "std::from_chars(a, b, c)", "preview(x)",
]


class Forbidden(tree.TreeTest):
    def test_every_rule_of_code_finds_its_examples(self):
        self.assertEqual(set(BAD_CODE), set(forbidden.CODE_RULES))
        for rule, examples in BAD_CODE.items():
            for example in examples:
                with self.subTest(example):
                    self.write("regard/text/a.cc", f"void f() {{\n  {example};\n}}\n")
                    self.assert_one(forbidden.check_code(self.root), "regard/text/a.cc:2", f"({rule})")

    def test_what_looks_alike_is_no_offence(self):
        self.write("regard/text/a.cc", "void f() {\n" + "".join(f"  {g};\n" for g in GOOD_CODE) + "}\n")
        self.assertEqual(forbidden.check_code(self.root), [])

    def test_comments_and_strings_are_not_looked_at(self):
        self.write("regard/text/a.cc", '// std::exp(x)\n/* abort() */ const char* s = "std::cout";\n')
        self.assertEqual(forbidden.check_code(self.root), [])

    def test_places_that_may(self):
        self.write("regard/text/a_test.cc", "std::exp(x); std::shuffle(a, b, c);\n")
        self.write("regard/kernels/reference/a.h", "std::exp(x);\n")
        self.write("regard/cli/main.cc", "std::cout << 1;\n")
        self.assertEqual(forbidden.check_code(self.root), [])

    def test_a_line_may_say_why_it_is_allowed(self):
        self.write("regard/text/a.cc", "x = std::exp(y);  // check: allow(libm) not in a result\n")
        self.assertEqual(forbidden.check_code(self.root), [])
        self.write("regard/text/a.cc", "x = std::exp(y);  // check: allow(print) another rule\n")
        self.assertEqual(len(forbidden.check_code(self.root)), 1)

    def test_text_rules(self):
        bad = {
            "fast-math": "set(FLAGS -f" + "fast-math)",
            "machine": "see /" + "home/someone/file",
            "host": "https://pypi" + ".org/simple",
        }
        self.assertEqual(set(bad), set(forbidden.TEXT_RULES))
        for rule, line in bad.items():
            with self.subTest(rule):
                self.write("notes.md", f"fine\n{line}\n")
                self.assert_one(forbidden.check_text(self.root), "notes.md:2", f"({rule})")

    def test_paths_that_are_no_machines(self):
        work = "wo" + "rk"  # in two pieces, as above: this file is searched too
        paths = f"src/tmp/a regard/{work}/b $HOME/{work}/c ${{X}}/tmp/d ../{work}/e /usr/share/x"
        self.write("notes.md", paths + "\n")
        self.assertEqual(forbidden.check_text(self.root), [])


if __name__ == "__main__":
    unittest.main()
