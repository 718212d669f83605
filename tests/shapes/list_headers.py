#!/usr/bin/env python3
"""Prints the public headers, one a line, as they are included: list_headers.py INCLUDE-FOLDER."""
import pathlib
import sys

base = pathlib.Path(sys.argv[1])
for path in sorted(base.rglob("*.hpp")):
    name = path.relative_to(base)
    if not {"impl", "detail"} & set(name.parts):
        print(name)
