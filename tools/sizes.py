#!/usr/bin/env python3
"""Reports sizes in lines of code without comments; fails only on the hard limits.

Usage: sizes.py [ROOT]
"""

import pathlib
import re
import sys

import cpp_source

HEADER_LINES = 300
SOURCE_LINES = 500
FUNCTION_LINES = 80
KERNEL_LINES = 120  # functions of the modules below
KERNEL_MODULES = ("kernels", "attention")
PARAMETERS = 6  # more are reported

_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b|extern\s*\"")
_QUALIFIER = re.compile(r"(const|noexcept|override|final|mutable|try|constexpr|HWY_ATTR)$")
_NAME = re.compile(r"([~\w:]+|operator\s*\S+?)\s*\($")


def lines_of_code(text):
    """Lines that hold something besides comments and blanks."""
    return sum(1 for line in cpp_source.without_comments(text).splitlines() if line.strip())


def without_directives(code):
    """Preprocessor lines and all but the first branch of each #if blanked; line numbers stay."""
    out, depth, skipped_from = [], 0, None
    continued = False
    for line in code.split("\n"):
        directive = continued or line.lstrip().startswith("#")
        word = re.match(r"\s*#\s*(\w+)", line) if not continued else None
        continued = directive and line.endswith("\\")
        if word and word.group(1).startswith("if"):
            depth += 1
        elif word and word.group(1) in ("else", "elif") and skipped_from is None:
            skipped_from = depth
        elif word and word.group(1) == "endif":
            if skipped_from == depth:
                skipped_from = None
            depth -= 1
        out.append("" if directive or skipped_from is not None else line)
    return "\n".join(out)


def closing(code, start):
    """The offset after the brace that closes the one at `start`."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, start):
        depth += 1 if match.group(0) == "{" else -1
        if depth == 0:
            return match.end()
    return len(code)


def parameter_list(head):
    """(name, number of parameters) of the function that `head` declares, or None."""
    depth = 0
    for i, c in enumerate(head):
        if c == "(":
            named = _NAME.search(head[: i + 1])
            if depth == 0 and named and named.group(1) not in ("decltype", "alignas", "noexcept"):
                break
            depth += 1
        elif c == ")":
            depth -= 1
    else:
        return None
    count, depth, seen = 0, 0, False
    for c in head[i:]:
        depth += (c in "(<[{") - (c in ")>]}")
        if depth == 0:
            break
        seen = seen or (depth >= 1 and not c.isspace() and c != "(")
        count += c == "," and depth == 1
    return named.group(1), count + 1 if seen else 0


def functions(text):
    """(name, first line, lines of code, parameters) of each function with a body.

    A heuristic: an opening brace at namespace or class level that follows a parameter list.
    """
    code = without_directives(cpp_source.without_comments(text))
    head_start = i = 0
    while i < len(code):
        c = code[i]
        if c in ";}":
            head_start = i + 1
        elif c == "{":
            head = code[head_start:i]
            end = closing(code, i)
            before = head.rstrip()
            parameters = parameter_list(head)
            assigned = re.search(r"(?<![=!<>])=(?!=)", re.sub(r"operator\s*\S+|\([^()]*\)", "", head))
            if _SCOPE.search(head) and not parameters and "enum" not in head:
                head_start = i + 1
            elif parameters and not assigned:
                # `: a_{1}, b_{2} {`: a brace right after a member's name is not the body.
                member = re.search(r"\)\s*:[^:]", head) and re.search(r"\w$", before)
                if member and not _QUALIFIER.search(before):
                    i = end
                    continue
                body = code[head_start:end]
                first = cpp_source.line_of(code, head_start + len(head) - len(head.lstrip()))
                lines = sum(1 for line in body.splitlines() if line.strip())
                yield parameters[0], first, lines, parameters[1]
                i = head_start = end
                continue
            else:
                # An initialiser, an enumeration, a requires clause: no code of ours inside.
                i = end
                continue
        i += 1


def declared_parameters(text):
    """(name, line, parameters) of each function declared in a header without a body."""
    code = without_directives(cpp_source.without_comments(text))
    for match in re.finditer(r"[^;{}]*\)[^;{}()=]*;", code):
        head = match.group(0)
        parameters = parameter_list(head)
        if parameters:
            yield parameters[0], cpp_source.line_of(code, match.end()), parameters[1]


def check(root, report=print):
    """Prints the report; returns the complaints about hard limits."""
    root = pathlib.Path(root)
    complaints, long_functions, wide_functions = [], [], []
    totals = {}
    for path in cpp_source.sources(root):
        name = str(path.relative_to(root))
        module = cpp_source.module_of(root, path)
        text = path.read_text(encoding="utf-8")
        lines = lines_of_code(text)
        test = cpp_source.is_test(path)
        kind = "test" if test else "header" if path.suffix == ".h" else "source"
        row = totals.setdefault(module, {"header": 0, "source": 0, "test": 0})
        row[kind] += lines
        limit = {"header": HEADER_LINES, "source": SOURCE_LINES}.get(kind)
        if limit and lines > limit:
            complaints.append(f"{name}: {lines} lines of code, limit {limit}")
        limit = KERNEL_LINES if module in KERNEL_MODULES else FUNCTION_LINES
        for function, first, length, parameters in functions(text):
            long_functions.append((length, f"{name}:{first} {function}"))
            if length > limit:
                complaints.append(f"{name}:{first}: {function} has {length} lines, limit {limit}")
            if parameters > PARAMETERS:
                wide_functions.append((parameters, f"{name}:{first} {function}"))
        if kind == "header":
            for function, line, parameters in declared_parameters(text):
                if parameters > PARAMETERS:
                    wide_functions.append((parameters, f"{name}:{line} {function}"))

    report(f"{'module':10} {'headers':>8} {'sources':>8} {'tests':>8} {'tests/code':>11}")
    sums = {kind: sum(row[kind] for row in totals.values()) for kind in ("header", "source", "test")}
    for module, row in sorted(totals.items()) + [("all", sums)]:
        code = row["header"] + row["source"]
        ratio = f"{row['test'] / code:.2f}" if code else "-"
        report(f"{module:10} {row['header']:8} {row['source']:8} {row['test']:8} {ratio:>11}")
    report("longest functions:")
    for length, where in sorted(long_functions, key=lambda f: (-f[0], f[1]))[:5]:
        report(f"  {length:4} lines  {where}")
    report(f"functions with more than {PARAMETERS} parameters: {len(wide_functions)}")
    for parameters, where in sorted(wide_functions, key=lambda f: (-f[0], f[1]))[:20]:
        report(f"  {parameters:4}  {where}")
    return complaints


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent
    complaints = check(root)
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
