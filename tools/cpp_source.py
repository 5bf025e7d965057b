"""C++ text for the checks: which files are ours, comments and literals taken out."""

import pathlib
import re

# A comment, a raw string, a string or a character literal, whichever starts first. A quote between
# digits separates them and starts nothing.
_TOKEN = re.compile(
    r'//[^\n]*(?:\\\n[^\n]*)*'
    r'|/\*.*?\*/'
    r'|R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)


def sources(root):
    """All headers and sources below root/regard, sorted."""
    folder = pathlib.Path(root) / "regard"
    return sorted(p for p in folder.rglob("*") if p.suffix in (".h", ".cc") and p.is_file())


def module_of(root, path):
    """The folder below regard/ that a file belongs to; "" for one directly in regard/."""
    parts = path.relative_to(pathlib.Path(root) / "regard").parts
    return parts[0] if len(parts) > 1 else ""


def is_test(path):
    """True for tests, benchmarks, fuzzers and what only they include."""
    return bool(re.search(r"_(test|bench|fuzz|test_util)\.(cc|h)$", path.name))


def without_comments(text, keep_literals=False):
    """The text with comments blanked, and literals emptied unless kept; line numbers stay."""

    def replace(match):
        token = match.group(0)
        newlines = "\n" * token.count("\n")
        if token.startswith(("//", "/*")):
            return " " + newlines
        if keep_literals:
            return token
        return ('""' if token.startswith(('"', "R")) else "' '") + newlines

    return _TOKEN.sub(replace, text)


def line_of(text, offset):
    """The line number, from 1, of a place in the text."""
    return text.count("\n", 0, offset) + 1
