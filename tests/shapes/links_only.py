#!/usr/bin/env python3
"""A program of the core links no library of the adapters: links_only.py PROGRAM."""
import re
import subprocess
import sys

dynamic = subprocess.run(["readelf", "-d", sys.argv[1]], capture_output=True, text=True, check=True).stdout
libraries = set(re.findall(r"\(NEEDED\).*\[(\w[\w+-]*)\.so", dynamic))
print(", ".join(sorted(libraries)))
if "libc" not in libraries:
    sys.exit("this check cannot see what a program links")
adapters = [name for name in libraries if re.match(r"libssl|libcrypto|libboost|libyaml|libprometheus|libspdlog", name)]
if adapters:
    sys.exit(f"links {', '.join(adapters)}")
