#!/usr/bin/env python3
"""Finds what this project never does: calls whose bits differ between machines, prints and exits of
the library, what clang 14 lacks, and names of somebody's machine.

A line that has to break a rule says `check: allow(RULE) reason` in a comment.
Usage: forbidden.py [ROOT]
"""

import pathlib
import re
import subprocess
import sys

import cpp_source

_LIBM = r"(exp|exp2|expm1|log|log2|log10|log1p|pow|tanh|sinh|cosh|tan|sin|cos|atan|atan2|asin|acos|erf)"
_CLI = ("regard/cli/",)
_TESTS = ("tests",)
_REFERENCE = ("regard/kernels/reference/", "regard/attention/reference/")


def _words(*names):
    return r"\b(" + "|".join(names) + r")\b"


# rule: (pattern, why, where it is allowed: "tests" or the start of a path). Comments and literals are
# not looked at.
CODE_RULES = {
    "libm": (
        r"\bstd::" + _LIBM + r"[fl]?\s*\(|(?<![\w.>:])" + _LIBM + r"[fl]\s*\(",
        "libm's bits differ between versions: use regard/base/math.h or regard/kernels/math.h",
        _TESTS + _REFERENCE,
    ),
    "random": (
        r"\bstd::(\w+_distribution|shuffle|sample|random_device|mt19937(_64)?|default_random_engine)\b"
        r"|(?<![\w.>:])s?rand\s*\(",
        "not the same on every library: use regard/base/random.h",
        _TESTS,
    ),
    "estimate": (
        r"\bApproximateReciprocal(Sqrt)?\b|_mm\d*_(rcp|rsqrt)\w*|\bvrecpe\w*|\bvrsqrte\w*",
        "estimate instructions differ between processors: divide",
        (),
    ),
    "print": (
        _words("std::cout", "std::cerr", "std::clog", "printf", "std::printf", "puts", "perror")
        + r"|\bf(printf|puts|putc|write)\s*\(",
        "only the command prints",
        _TESTS + _CLI + ("regard/base/assert.h",),
    ),
    "exit": (
        r"\b(std::)?(_?exit|quick_exit|abort|terminate)\s*\(",
        "the library throws; it never ends the program",
        _TESTS + _CLI + ("regard/base/assert.h",),
    ),
    "locale": (
        r"\bsetlocale\s*\(|\bstd::locale\b|\bstd::sto[fdi]\w*\s*\(|\bstrto[fd]\s*\(|\bato[fi]\s*\(",
        "the locale is the program's: use std::from_chars and std::to_chars",
        _TESTS,
    ),
    "clang14": (
        r"\bstd::(views|ranges::views|source_location|format|jthread|stop_token)\b"
        r"|<(source_location|format)>",
        "clang 14 with the oldest library we support lacks it",
        (),
    ),
    "shared_ptr": (
        r"\bstd::(shared_ptr|make_shared)\b",
        "values own, views borrow",
        _TESTS,
    ),
}

# Spelt in parts, so that this file does not break its own rules.
_HOSTS = ("pypi" + ".org", "pythonhosted" + ".org", "crates" + ".io", "deb.debian" + ".org")
_FOLDERS = ("home", "root", "Users", "work", "farm", "tmp", "mnt")
# The same for every text file that git knows.
TEXT_RULES = {
    "fast-math": (
        r"-f" + r"fast-math|-O" + r"fast\b|-m(arch|tune)=" + r"native|-f" + r"p-contract=(fast|on)",
        "the numeric contract needs exact arithmetic, and packages run on other processors",
    ),
    "machine": (
        r"(?<![\w.$})*~-])/(" + "|".join(_FOLDERS) + r")/\w",
        "a path of somebody's machine",
    ),
    "host": (
        "|".join(re.escape(host) for host in _HOSTS),
        "the host of a package registry",
    ),
}


def allowed(rule, line):
    return f"check: allow({rule})" in line


def exempt(name, path, places):
    return any(cpp_source.is_test(path) if p == "tests" else name.startswith(p) for p in places)


def check_code(root):
    complaints = []
    for path in cpp_source.sources(root):
        name = str(path.relative_to(root))
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        code = cpp_source.without_comments(text)
        for rule, (pattern, why, places) in CODE_RULES.items():
            if exempt(name, path, places):
                continue
            for match in re.finditer(pattern, code):
                line = cpp_source.line_of(code, match.start())
                if not allowed(rule, lines[line - 1]):
                    complaints.append(f"{name}:{line}: {match.group(0).strip()} ({rule}): {why}")
    return complaints


def tracked_files(root):
    """What git knows or would take; every file where there is no repository."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False,
    )
    if listed.returncode == 0:
        return [root / name for name in listed.stdout.decode().split("\0") if name]
    outside = ("build", "out", "runs", ".git")
    return [p for p in root.rglob("*") if p.relative_to(root).parts[0] not in outside]


def check_text(root):
    complaints = []
    for path in tracked_files(root):
        if not path.is_file() or path.suffix in (".tsv", ".png"):
            continue
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        for rule, (pattern, why) in TEXT_RULES.items():
            for number, line in enumerate(lines, 1):
                match = re.search(pattern, line)
                if match and not allowed(rule, line):
                    name = path.relative_to(root)
                    complaints.append(f"{name}:{number}: {match.group(0)} ({rule}): {why}")
    return complaints


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    root = root.resolve()
    complaints = check_code(root) + check_text(root)
    for complaint in complaints:
        print(complaint)
    if not complaints:
        print(f"forbidden: none of {len(CODE_RULES) + len(TEXT_RULES)} rules is broken")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
