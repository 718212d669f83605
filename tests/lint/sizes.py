#!/usr/bin/env python3
"""Reports files over the house's size, and fails on files far over it."""
import sys

import source_tree

# Kind of file: lines it should have at most. Twice as many is a failure.
LIMITS = {".hpp": 150, ".ipp": 250, ".cpp": 400}


def main() -> int:
    tree = source_tree.root()
    notes, problems, wide = [], [], 0
    listed = source_tree.files(tree, ["include", "examples", "tests", "benchmarks"], set(LIMITS))
    for path in listed:
        text = path.read_text().splitlines()
        kind = ".ipp" if "impl" in path.parts else path.suffix
        lines, limit = len(text), LIMITS[kind]
        if lines > limit:
            (problems if lines > 2 * limit else notes).append(f"{path.relative_to(tree)}: {lines} lines, {limit} wanted")
        wide += sum(len(line) > 120 for line in text)
    if wide:
        notes.append(f"{wide} lines are wider than 120 columns")
    return source_tree.report(f"sizes of {len(listed)} files", problems, notes)


if __name__ == "__main__":
    sys.exit(main())
