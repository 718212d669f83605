#!/usr/bin/env python3
"""Proves that the lint scripts find what they are for: a small tree with one fault of each kind."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PRAGMA = "#pragma once\n"
# (script, file, its text, what the script must say)
FAULTS = [
    ("include_layers.py", "include/agones_alloc/model/a.hpp", PRAGMA + "#include <boost/json.hpp>\n", "may not include boost/json.hpp"),
    ("include_layers.py", "include/agones_alloc/select/a.hpp", PRAGMA + "#include <agones_alloc/async/x.hpp>\n", "'select' may not include"),
    ("include_layers.py", "include/agones_alloc/impl/flow/a.ipp", PRAGMA + "#include <boost/asio/post.hpp>\n", "'flow' may not include"),
    ("include_layers.py", "include/agones_alloc/port/a.hpp", PRAGMA + "#include <agones_alloc/flow/x.hpp>\n", "'port' may not include"),
    ("include_layers.py", "include/agones_alloc/async/a.hpp", PRAGMA + "#include <boost/asio/ssl.hpp>\n", "'async' may not include"),
    ("include_layers.py", "include/agones_alloc/stray/a.hpp", PRAGMA, "in no layer"),
    ("include_layers.py", "tests/a.cpp", "#include <agones_alloc/impl/error.ipp>\n", "not a public header"),
    ("sizes.py", "include/agones_alloc/model/a.hpp", PRAGMA + "\n" * 400, "lines, 150 wanted"),
    ("words.py", "include/agones_alloc/model/a.hpp", "int a();\n", "has no #pragma once"),
    ("words.py", "include/agones_alloc/model/a.hpp", PRAGMA + "#define X 1\n", "macros are in config.hpp only"),
    ("words.py", "include/agones_alloc/impl/model/a.ipp", PRAGMA + "auto t = std::chrono::system_clock::now();\n", "timer port"),
    ("words.py", "tests/model/a.cpp", "std::this_thread::sleep_for(1s);\n", "timer port"),
    ("words.py", "tests/model/a.cpp", "std::random_device d;\n", "random port"),
    ("words.py", "include/agones_alloc/model/a.hpp", PRAGMA + "inline void f() { std::cout << 1; }\n", "prints nothing"),
    ("words.py", "README.md", "see /" + "home/me/x\n", "a path of one machine"),
    ("words.py", "include/agones_alloc/model/string_utils.hpp", PRAGMA, "the name says nothing"),
    ("documents.py", "README.md", "see [the guide](docs/missing.md)\n", "links to docs/missing.md"),
    ("documents.py", "examples/readme.cpp", "int main() {}\n", "shows no C++ program"),
    ("readme.py", "README.md", "```cpp\nint main() {}\n```\n", "word for word"),
    ("readme.py", "docs/guide.md", "see [there](nowhere.md)\n", "nowhere.md does not exist"),
    ("listed.py", "tests/model/forgotten.cpp", "int a;\n", "no meson.build names it"),
    ("listed.py", "include/agones_alloc/impl/model/new.ipp", PRAGMA, "run tools/list_bodies"),
]


def run(script: str, tree: pathlib.Path) -> tuple[int, str]:
    done = subprocess.run([sys.executable, str(HERE / script), str(tree)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def clean_tree(tree: pathlib.Path) -> None:
    for folder in ("include/agones_alloc/impl/model", "src", "tools", "tests", "examples", "benchmarks"):
        (tree / folder).mkdir(parents=True)
    (tree / "tools/list_bodies").write_text((HERE.parents[1] / "tools/list_bodies").read_text())
    (tree / "src/meson.build").write_text("files('model.cpp')\n")


def main() -> int:
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder, "clean")
        clean_tree(tree)
        for script in sorted({fault[0] for fault in FAULTS}):
            code, output = run(script, tree)
            if code != 0:
                wrong.append(f"{script} complains about a clean tree: {output}")
        for number, (script, name, text, expected) in enumerate(FAULTS):
            tree = pathlib.Path(folder, str(number))
            clean_tree(tree)
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text)
            code, output = run(script, tree)
            if code != 1 or expected not in output:
                wrong.append(f"{script} does not find '{expected}' in {name}: exit {code}, {output}")
    print("\n".join(wrong) or f"{len(FAULTS)} faults found as they should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
