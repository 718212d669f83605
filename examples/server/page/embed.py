#!/usr/bin/env python3
"""Writes a C++ source that holds files: embed.py OUTPUT FILE...

Each as it is and, where that is smaller, packed by gzip; the same files give the same source.
"""
import gzip
import hashlib
import pathlib
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def array(name: str, data: bytes) -> str:
    lines = [",".join(str(byte) for byte in data[at:at + 40]) for at in range(0, len(data), 40)]
    return f"constexpr unsigned char {name}[] = {{\n" + ",\n".join(lines) + "};\n"


def view(name: str) -> str:
    return f"{{reinterpret_cast<char const*>({name}), sizeof {name}}}"


def main() -> int:
    output, *names = sys.argv[1:]
    arrays, rows = [], []
    for number, path in enumerate(sorted(map(pathlib.Path, names), key=lambda one: one.name)):
        data = path.read_bytes()
        packed = gzip.compress(data, 9, mtime=0)
        arrays.append(array(f"plain_{number}", data))
        small = len(packed) < len(data)
        if small:
            arrays.append(array(f"packed_{number}", packed))
        tag = hashlib.sha256(data).hexdigest()[:24]
        rows.append(f'    {{"{path.name}", "{TYPES[path.suffix]}", "{tag}", {view(f"plain_{number}")}, '
                    f'{view(f"packed_{number}") if small else "{}"}}},\n')
    text = ("// Written by embed.py.\n#include \"page_files.hpp\"\n\nnamespace agones_alloc_server {\n\nnamespace {\n\n" + "\n".join(arrays) +
            "\n}  // namespace\n\nauto page_files() -> std::span<page_file const> {\n  static page_file const files[] = {\n" + "".join(rows) +
            "  };\n  return files;\n}\n\n}  // namespace agones_alloc_server\n")
    pathlib.Path(output).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
