#!/usr/bin/env python3
"""Checks that the program the README shows is the compiled one, and that links between pages lead somewhere."""
import re
import sys

import source_tree


def main() -> int:
    tree = source_tree.root()
    problems = []
    readme, example = tree / "README.md", tree / "examples/readme.cpp"
    if readme.exists():
        blocks = re.findall(r"^```cpp\n(.*?)^```$", readme.read_text(), re.MULTILINE | re.DOTALL)
        if not example.exists() or example.read_text() not in blocks:
            problems.append("README.md: no ```cpp block is examples/readme.cpp, word for word")
    pages = [p for p in source_tree.files(tree, ["."], {".md"}) if "tests" not in p.relative_to(tree).parts]
    for page in pages:
        prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)", prose):
            if "://" not in target and not (page.parent / target).exists():
                problems.append(f"{page.relative_to(tree)}: {target} does not exist")
    return source_tree.report(f"{len(pages)} pages", problems)


if __name__ == "__main__":
    sys.exit(main())
