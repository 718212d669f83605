#!/usr/bin/env python3
"""Checks for what has no place in the library or its tests: hidden clocks, sleeps, printing, stray macros, machine paths."""
import re
import sys

import source_tree

# (what, where it is forbidden, kinds of file, files that may, why)
RULES = [
    (r"\bsleep_(for|until)\b|\busleep\b|\bnanosleep\b", ["include", "tests"], source_tree.CODE, set(),
     "waits go through the timer port"),
    (r"\brandom_device\b|\bmt19937|\buniform_int_distribution\b|\bstd::shuffle\b", ["include", "tests"],
     source_tree.CODE, set(), "randomness goes through the random port"),
    (r"\b(system|steady|high_resolution)_clock::now\b|\bstd::time\(", ["include", "tests"], source_tree.CODE,
     {"include/agones_alloc/async/asio_timer.hpp", "include/agones_alloc/impl/async/asio_timer.ipp"},
     "time goes through the timer port"),
    (r"\bstd::(cout|cerr|clog)\b|\b(f|std::)?printf\s*\(|\bputs\s*\(|<iostream>", ["include"], {".hpp", ".ipp"}, set(),
     "the library prints nothing: the logger port"),
    (r"^\s*#\s*define\b", ["include"], {".hpp", ".ipp"}, {"include/agones_alloc/config.hpp"},
     "macros are in config.hpp only"),
    (r"^using namespace\b", ["include"], {".hpp", ".ipp"}, set(), "leaks into users' code"),
    (r"\bco_(await|return|yield)\b", ["include"], {".hpp", ".ipp"}, set(), "no coroutine inside the library"),
    (r"__builtin_prefetch", ["include"], {".hpp", ".ipp"}, {"include/agones_alloc/detail/bring_near.hpp"},
     "g++ drops calls of functions that only prefetch: detail::bring_near"),
    (r"(?<![\w.])/(work|home|root|Users)/\w|(?<![\w.\"'])/tmp/\w", ["."], source_tree.TEXT, {"tests/lint/words.py"},
     "a path of one machine"),
]
NAMES = re.compile(r"(^|[_/.])(utils?|commons?|helpers?|managers?)([_/.]|$)")
COMMENT = re.compile(r"//.*$")


def main() -> int:
    tree = source_tree.root()
    problems = []
    for pattern, folders, kinds, allowed, why in RULES:
        wanted = re.compile(pattern)
        paths = why == "a path of one machine"
        for path in source_tree.files(tree, folders, kinds):
            name = str(path.relative_to(tree))
            if name in allowed or (not paths and name.startswith("tests/lint/")):
                continue
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                text = line if paths else COMMENT.sub("", line)
                if wanted.search(text):
                    problems.append(f"{name}:{number}: {why}: {line.strip()[:100]}")
    headers = source_tree.files(tree, ["include"], {".hpp", ".ipp"})
    for path in headers:
        if not re.search(r"^#pragma once$", path.read_text(), re.MULTILINE):
            problems.append(f"{path.relative_to(tree)}: has no #pragma once")
    for path in source_tree.files(tree, ["include", "src", "examples", "tests", "benchmarks"], source_tree.CODE):
        if NAMES.search(str(path.relative_to(tree))):
            problems.append(f"{path.relative_to(tree)}: the name says nothing")
    return source_tree.report("words", problems)


if __name__ == "__main__":
    sys.exit(main())
