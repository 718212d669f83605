#!/usr/bin/env python3
"""Checks that no source file is forgotten: each is named by a meson.build, each body by a translation unit."""
import importlib.machinery
import importlib.util
import pathlib
import re
import sys

import source_tree


def unnamed_sources(tree: pathlib.Path) -> list[str]:
    problems = []
    builds = {p: p.read_text() for p in source_tree.files(tree, ["."], {".build"})}
    for path in source_tree.files(tree, ["examples", "tests", "benchmarks"], {".cpp"}):
        # Named by a meson.build of its folder or one above, as a word of its own.
        word = re.compile(rf"""['/]{re.escape(path.stem)}(\.cpp)?'""")
        if not any(b.parent in path.parents and word.search(text) for b, text in builds.items()):
            problems.append(f"{path.relative_to(tree)}: no meson.build names it")
    return problems


def main() -> int:
    tree = source_tree.root()
    problems = unnamed_sources(tree)
    script = tree / "tools/list_bodies"
    loader = importlib.machinery.SourceFileLoader("list_bodies", str(script))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    bodies = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    loader.exec_module(bodies)
    for name, text in bodies.units().items():
        path = tree / "src" / name
        if not path.exists() or path.read_text() != text:
            problems.append(f"src/{name} is out of date: run tools/list_bodies")
        if f"'{name}'" not in (tree / "src/meson.build").read_text():
            problems.append(f"src/{name}: src/meson.build does not name it")
    return source_tree.report("sources named", problems)


if __name__ == "__main__":
    sys.exit(main())
