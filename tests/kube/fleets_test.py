#!/usr/bin/env python3
"""Fleets of a real API server in the built server's directory: `fleets_test.py PROGRAM`. Prints a line per case."""
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree

import kit  # noqa: E402
from cases import fleets  # noqa: E402, F401  adds its cases


@kit.case("a cluster is up")
def _():
    kit.tool("up")
    kit.tool("status", "--name", "default")


if __name__ == "__main__":
    kit.cases.insert(0, kit.cases.pop())
    sys.exit(kit.run_cases())
