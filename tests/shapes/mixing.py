#!/usr/bin/env python3
"""A program whose parts take different shapes of the library must not link.

mixing.py COMPILED-PART HEADER-ONLY-PART INCLUDE-FOLDER COMPILER...
"""
import pathlib
import subprocess
import sys
import tempfile

PARTS, INCLUDE, COMPILER = sys.argv[1:3], sys.argv[3], sys.argv[4:]


def link(folder: str, compiled_flags: list[str]) -> subprocess.CompletedProcess:
    """Builds the two parts, the first with the flags, and links them."""
    objects = []
    for part, flags in zip(PARTS, (compiled_flags, [])):
        target = str(pathlib.Path(folder, pathlib.Path(part).stem + ".o"))
        subprocess.run([*COMPILER, "-std=c++20", f"-I{INCLUDE}", *flags, "-c", part, "-o", target], check=True)
        objects.append(target)
    return subprocess.run([*COMPILER, *objects, "-o", str(pathlib.Path(folder, "program")), "-pthread"],
                          capture_output=True, text=True, check=False)


with tempfile.TemporaryDirectory() as place:
    same = link(place, [])
    mixed = link(place, ["-DAGONES_ALLOC_COMPILED"])
if same.returncode != 0:
    sys.exit(f"two parts of one shape do not link.\n{same.stderr}")
if mixed.returncode == 0 or "v0_header_only" not in mixed.stderr or "ready_port" not in mixed.stderr:
    sys.exit(f"mixing shapes links, or fails for another reason:\n{mixed.stderr}")
print("mixing the shapes fails to link, as it should")
