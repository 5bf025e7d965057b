#!/usr/bin/env python3
"""Checks who includes whom below regard/.

Fails on an include of a module that is not below one's own, on a cycle among our headers, on an
include of a missing header, and on a third-party header outside of the modules and seams that may
know it.  Usage: layers.py [ROOT]
"""

import pathlib
import re
import sys

import cpp_source

# Who may include whom (docs/architecture.md). A module may always include itself.
_TRAIN = "base tensor kernels attention autograd text nn model search align translate eval"
LAYERS = {
    "base": "",
    "tensor": "base",
    "kernels": "base tensor",
    "attention": "base tensor kernels",
    "autograd": "base tensor kernels attention",
    "text": "base",
    "eval": "base text",
    "nn": "base tensor kernels attention autograd",
    "model": "base tensor kernels attention autograd nn text",
    "search": "base tensor attention autograd text model",
    "align": "base tensor text",
    "translate": "base tensor text model search align",
    "view": "base tensor text align translate",
    "train": _TRAIN,
    "serve": "base translate view",
    "cli": _TRAIN + " train view serve",
}
LAYERS = {module: set(below.split()) for module, below in LAYERS.items()}

# Third-party headers, by the start of their name: the modules that may include them.
THIRD_PARTY = {
    "hwy/": "kernels attention",
    "xxhash.h": "base",
    "utf8proc.h": "text eval view",
    "zlib.h": "text view",
    "zstd.h": "text",
    "nlohmann/": "model translate view train serve cli",
    "sentencepiece_": "train",
    "CLI/": "cli",
}
# What only tests and benchmarks include, anywhere.
TEST_ONLY = ("gtest/", "gmock/", "benchmark/", "rapidcheck", "dnnl")
# Headers of ours that exist to wrap a third-party header, and so may include it.
SEAMS = set()

# Headers of the system that are not C++'s own (those have neither dot nor slash in their name).
_SYSTEM = re.compile(
    r"(arpa|net|netinet|sys|linux)/\w+\.h"
    r"|(assert|dirent|dlfcn|errno|fcntl|fenv|float|limits|math|poll|pthread|sched|signal|stddef|stdint"
    r"|stdio|stdlib|string|termios|time|unistd|[a-z]*mmintrin|immintrin|cpuid|arm_neon)\.h"
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


def includes(path):
    """(line, quoted or not, name) of every include."""
    text = cpp_source.without_comments(path.read_text(encoding="utf-8"), keep_literals=True)
    for match in _INCLUDE.finditer(text):
        yield cpp_source.line_of(text, match.start(1)), match.group(1) == '"', match.group(2)


def check_ours(root, path, module, name):
    """The complaint about an include of a header of ours, or None."""
    if not (root / name).is_file():
        return f"no file {name}"
    other = cpp_source.module_of(root, root / name)
    if other != module and other not in LAYERS[module]:
        return f"{module} may not include {other} ({name})"
    if cpp_source.is_test(root / name) and not cpp_source.is_test(path):
        return f"{name} is for tests only"
    return None


def check_third_party(root, path, module, name):
    """The complaint about an include of somebody else's header, or None."""
    if re.fullmatch(r"\w+", name) or _SYSTEM.fullmatch(name):
        return None
    if name.startswith(TEST_ONLY):
        return None if cpp_source.is_test(path) else f"<{name}> is for tests only"
    allowed = [modules for start, modules in THIRD_PARTY.items() if name.startswith(start)]
    if not allowed:
        return f"<{name}> is not among the dependencies"
    if module not in allowed[0].split() and not cpp_source.is_test(path):
        return f"<{name}> is for {allowed[0]}, not for {module}"
    public = path.suffix == ".h" and not path.name.endswith("-inl.h") and not cpp_source.is_test(path)
    if public and str(path.relative_to(root)) not in SEAMS:
        return f"<{name}> in a public header: keep it to a .cc or an -inl.h file"
    return None


def find_cycle(graph):
    """A list of files that include each other in a ring, or None."""
    done, path = set(), []

    def visit(node):
        if node in path:
            return path[path.index(node):] + [node]
        if node in done:
            return None
        path.append(node)
        for other in sorted(graph.get(node, ())):
            cycle = visit(other)
            if cycle:
                return cycle
        path.pop()
        done.add(node)
        return None

    for node in sorted(graph):
        cycle = visit(node)
        if cycle:
            return cycle
    return None


def check(root):
    """All complaints about the tree below root/regard, as lines of text."""
    root = pathlib.Path(root)
    complaints, graph = [], {}
    for path in cpp_source.sources(root):
        name = str(path.relative_to(root))
        module = cpp_source.module_of(root, path)
        if module not in LAYERS:
            complaints.append(f"{name}:1: belongs to no module that this check knows")
            continue
        for line, quoted, other in includes(path):
            ours = other.startswith("regard/")
            # Highway's re-inclusion of a source by itself is no dependency.
            if other == name:
                continue
            if ours and other.endswith(".h") and path.suffix == ".h":
                graph.setdefault(name, set()).add(other)
            if ours:
                complaint = check_ours(root, path, module, other)
            elif quoted and "/" not in other:
                complaint = f'"{other}": headers of ours are included by their whole path'
            else:
                complaint = check_third_party(root, path, module, other)
            if complaint:
                complaints.append(f"{name}:{line}: {complaint}")
    cycle = find_cycle(graph)
    if cycle:
        complaints.append("include cycle: " + " -> ".join(cycle))
    return complaints


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent
    complaints = check(root)
    for complaint in complaints:
        print(complaint)
    if not complaints:
        print(f"layers: {len(cpp_source.sources(root))} files, no upward include, no cycle")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
