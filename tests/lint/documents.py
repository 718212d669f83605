#!/usr/bin/env python3
"""Checks that the documents are true where a machine can tell: links lead somewhere, the README shows its program."""
import pathlib
import re
import sys

import source_tree


def broken_links(tree: pathlib.Path) -> list[str]:
    problems = []
    for page in [*tree.glob("*.md"), *source_tree.files(tree, ["docs", "examples", "deploy"], {".md"})]:
        prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
            if "://" not in target and not (page.parent / target).exists():
                problems.append(f"{page.relative_to(tree)}: links to {target}, which does not exist")
    return problems


def stale_program(tree: pathlib.Path) -> list[str]:
    readme, program = tree / "README.md", tree / "examples/readme.cpp"
    if not program.exists():
        return []
    shown = re.search(r"^```cpp\n(.*?)^```$", readme.read_text() if readme.exists() else "", re.DOTALL | re.MULTILINE)
    if shown is None:
        return ["README.md: shows no C++ program"]
    if shown.group(1) != program.read_text():
        return ["README.md: its program is not examples/readme.cpp"]
    return []


def main() -> int:
    tree = source_tree.root()
    return source_tree.report("documents true", broken_links(tree) + stale_program(tree))


if __name__ == "__main__":
    sys.exit(main())
