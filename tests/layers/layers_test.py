"""tools/layers.py refuses trees that break a rule and accepts those that keep it."""

import subprocess
import sys
import unittest

import tree
import layers


class Layers(tree.TreeTest):
    def test_a_good_tree_has_no_complaints(self):
        self.write("regard/base/error.h", "#pragma once\n#include <string>\n#include <sys/stat.h>\n")
        self.write("regard/text/word.h", '#include "regard/base/error.h"\n')
        self.write("regard/text/word.cc", '#include "regard/text/word.h"\n#include <utf8proc.h>\n')
        self.write("regard/text/word_test.cc", '#include "regard/text/word.h"\n#include <gtest/gtest.h>\n')
        self.assertEqual(layers.check(self.root), [])

    def test_an_upward_include_is_found_in_headers_sources_and_tests(self):
        self.write("regard/train/trainer.h", "")
        for name in ("regard/text/a.h", "regard/text/b.cc", "regard/text/c_test.cc"):
            with self.subTest(name):
                self.write(name, '\n#include "regard/train/trainer.h"\n')
                complaints = layers.check(self.root)
                self.assert_one(complaints, f"{name}:2", "text may not include train")
                (self.root / name).unlink()

    def test_a_sideways_include_is_found(self):
        self.write("regard/nn/linear.h", "")
        self.write("regard/search/beam.cc", '#include "regard/nn/linear.h"\n')
        self.assert_one(layers.check(self.root), "search may not include nn")

    def test_an_include_in_a_comment_is_none(self):
        self.write("regard/train/trainer.h", "")
        self.write("regard/text/a.h", '// #include "regard/train/trainer.h"\n/*\n#include "regard/no.h"\n*/\n')
        self.assertEqual(layers.check(self.root), [])

    def test_a_cycle_of_headers_is_found(self):
        self.write("regard/base/a.h", '#include "regard/base/b.h"\n')
        self.write("regard/base/b.h", '#include "regard/base/c.h"\n')
        self.write("regard/base/c.h", '#include "regard/base/a.h"\n')
        self.assert_one(layers.check(self.root), "cycle", "a.h", "b.h", "c.h")

    def test_a_header_that_includes_itself_through_another_module_is_two_complaints(self):
        self.write("regard/base/a.h", '#include "regard/text/b.h"\n')
        self.write("regard/text/b.h", '#include "regard/base/a.h"\n')
        self.assertEqual(len(layers.check(self.root)), 2)

    def test_a_third_party_header_in_a_public_header_is_found(self):
        self.write("regard/text/a.h", "#include <utf8proc.h>\n")
        self.assert_one(layers.check(self.root), "utf8proc.h", "public header")

    def test_an_inner_header_of_the_right_module_may_have_one(self):
        self.write("regard/kernels/simd-inl.h", '#include "hwy/highway.h"\n')
        self.assertEqual(layers.check(self.root), [])

    def test_a_dependency_stays_in_its_modules(self):
        self.write("regard/search/beam.cc", "#include <nlohmann/json.hpp>\n")
        self.assert_one(layers.check(self.root), "nlohmann", "not for search")

    def test_an_unknown_dependency_is_found(self):
        self.write("regard/base/a.cc", "#include <boost/any.hpp>\n")
        self.assert_one(layers.check(self.root), "boost/any.hpp", "not among the dependencies")

    def test_test_headers_stay_in_tests(self):
        self.write("regard/base/x_test_util.h", "#include <gtest/gtest.h>\n")
        self.write("regard/base/a.cc", '#include "regard/base/x_test_util.h"\n')
        self.assert_one(layers.check(self.root), "for tests only")
        self.write("regard/base/a.cc", "#include <gtest/gtest.h>\n")
        self.assert_one(layers.check(self.root), "for tests only")

    def test_a_missing_header_a_short_path_and_an_unknown_module_are_found(self):
        self.write("regard/base/a.cc", '#include "regard/base/none.h"\n')
        self.assert_one(layers.check(self.root), "no file regard/base/none.h")
        self.write("regard/base/a.cc", '#include "a.h"\n')
        self.assert_one(layers.check(self.root), "whole path")
        self.write("regard/base/a.cc", "")
        self.write("regard/misc/a.cc", "")
        self.assert_one(layers.check(self.root), "no module")

    def test_the_program_fails_on_a_bad_tree(self):
        self.write("regard/train/trainer.h", "")
        self.write("regard/text/a.h", '#include "regard/train/trainer.h"\n')
        run = subprocess.run([sys.executable, layers.__file__, self.root], capture_output=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"regard/text/a.h:1:", run.stdout)


if __name__ == "__main__":
    unittest.main()
